"""Filters and weighs trials whose motion is known, and corrects their plates: steps 4 to 7 of `workflow.pipeline`."""

from __future__ import annotations

from collections.abc import Sequence

from ..options.study import Settings
from ..signals import preset_of
from ..signals.plate_errors import NO_ERRORS
from ..skeleton.rig import Rig
from .identification import choose_base_link
from .plates.checks import check_recordings, leave_out
from .plates.plate_fit import fit_plates
from .preparation import adapt_cutoff, add_posture_wrenches, build_trial, filter_trial, find_trial_windows
from .values import StudyData, TrialRecord
from .weighing import weigh, weigh_roughly


def prepare(
    rig: Rig,
    records: Sequence[TrialRecord],
    settings: Settings | None = None,
    *,
    stated_mass: float | None = None,
) -> StudyData:
    """Filter and weigh trials whose motion is known, and correct their plates; nothing is identified yet.

    The order matters: windows need a rough mass, the mass needs windows, and the fit of the plates needs both.

    Args:
        rig: calibrated.
        records: with poses, tracked or given.
        settings: filter of both sides of the equations, whose cut-off is lowered if every motion is mostly noise above;
            and options of the plate checks.
        stated_mass: mass that the user specifies [kg].

    Raises:
        InvalidValue: a trial has no motion, or a plate check refuses the trials.
    """
    settings = settings or Settings()
    requested, plates = preset_of(settings.filter), settings.plates
    preset = adapt_cutoff(rig, requested, records)
    trials = [filter_trial(rig, record, preset) for record in records]
    rough = weigh_roughly(rig, trials, stated_mass, plates)
    trials, mismatches = check_recordings(rig, leave_out(trials, rough.findings), preset, rough.mass, plates)
    trials = [find_trial_windows(rig, trial, preset, rough.mass) for trial in trials]
    weighed = weigh(rig, trials, rough, stated_mass, plates)
    trials = leave_out(trials, weighed.findings)
    groups = () if weighed.mass is None else [group.trials for group in weighed.mass.groups]
    fit = fit_plates(weighed.rig, trials, preset, plates, groups)
    built = [
        build_trial(trial, preset, fit.errors.get(trial.name, NO_ERRORS)) for trial in leave_out(trials, fit.findings)
    ]
    base = choose_base_link(weighed.rig, settings)
    layouts = list(dict.fromkeys(record.trial.wrenches.frames for record in built if record.trial))
    built = [add_posture_wrenches(weighed.rig, record, base, fit.tolerances, layouts) for record in built]
    lowered = (
        f"above {preset.cutoff:.1f} Hz the motion is mostly noise: motion and forces were filtered at that cut-off "
        f"instead of {requested.cutoff:g} Hz",
    ) * (preset.cutoff < requested.cutoff)
    return StudyData(
        weighed.rig,
        settings,
        tuple(built),
        mass=weighed.mass,
        lag=fit.lag,
        warnings=(*lowered, *weighed.warnings),
        findings=(*rough.findings, *mismatches, *weighed.findings, *fit.findings),
    )
