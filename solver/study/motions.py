"""From motions that are known to a study: prepared, identified, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import InvalidValue
from ..identification.identify import IdentifyOptions, identify_trials
from ..identification.result import Identification
from ..progress import PartialProgress, Progress, silent
from ..rig import Rig
from ..signals import preset_of
from .clock import StageTimer
from .flights import identify_flights
from .plates.finding import format_warnings
from .preparation import PreparedTrials, prepare
from .unexplained import warn_if_worse_than_prior
from .values import Settings, Study, TrialRecord


def identify_motions(
    rig: Rig,
    records: Sequence[TrialRecord],
    *,
    stated_mass: float | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Study:
    """From trials whose motion is known (tracked, or given) to a study; without forces, one without a result.

    Args:
        rig: of the person or robot.
        records: see `preparation.prepare`.
        stated_mass: [kg]
        settings: every choice of method.
        progress: receives progress.

    Raises:
        InvalidValue: no frame counts in any trial.

    Example:
        >>> import numpy as np, solver
        >>> robot = solver.simulated_robot()
        >>> poses = solver.poses_of(robot.rig, robot.recordings[0].joints)
        >>> record = solver.TrialRecord(robot.recordings[0], given=poses)
        >>> quick = solver.Settings(bootstrap=0, cross_validate=False)
        >>> solver.identify_motions(robot.rig, [record], settings=quick).identification.trials
        ('dance',)
    """
    settings = Settings() if settings is None else settings
    clock = StageTimer()
    with clock.measure("preparation"):
        progress(0.0, "filters, windows, body mass, time lag")
        prepared = prepare_with_settings(rig, records, settings, stated_mass)
    warnings = [*format_warnings(prepared.findings), *prepared.warnings]
    result, flights = None, None
    if settings.flight_only:
        with clock.measure("identification"):
            options = replace(
                build_identify_options(prepared, settings), total_mass=_find_total_mass(prepared, stated_mass)
            )
            result, flights = identify_flights(prepared, options, settings.preset, PartialProgress(progress, 0.2, 1.0))
        warnings += flights.warnings
    elif any(record.trial is not None for record in prepared.records):
        with clock.measure("identification"):
            result = _identify_trials(prepared, settings, PartialProgress(progress, 0.2, 1.0))
        unused = [r.name for r in prepared.records if r.trial is not None and r.name not in result.trials]
        warnings += [f"{name}: no frame counts, left out of the identification" for name in unused]
        warnings += warn_if_worse_than_prior(result.comparisons, result.parameters.total_mass)
    return Study(
        rig=prepared.rig,
        settings=settings,
        records=prepared.records,
        mass=prepared.mass,
        identification=result,
        lag=prepared.lag,
        warnings=tuple(warnings),
        seconds=clock.seconds,
        assumptions=_list_assumptions(prepared, settings) if result is not None else (),
        findings=prepared.findings,
        flights=flights,
    )


def prepare_with_settings(
    rig: Rig, records: Sequence[TrialRecord], settings: Settings, stated_mass: float | None
) -> PreparedTrials:
    return prepare(
        rig,
        records,
        preset_of(settings.preset),
        stated_mass=stated_mass,
        synchronise=settings.synchronise,
        plates=settings.plates,
    )


def _list_assumptions(prepared: PreparedTrials, settings: Settings) -> tuple[str, ...]:
    """What an identification took for granted where the settings leave the choice open."""
    person = prepared.rig.provenance.get("kind") == "human"
    told = []
    if settings.base is None:
        told.append(f"base link {choose_base_link(prepared.rig, settings)}: the rig's choice, none was stated")
    if settings.symmetric is None and settings.method == "consistent":
        alike = "held alike, as of a healthy person" if person else "not held alike, as of a robot"
        told.append(f"left and right were {alike}: nothing was stated")
    if settings.standing is not None and any(r.given for r in prepared.records):
        told.append(f"{settings.standing} was taken to stand still where no pose of the root was recorded")
    if prepared.mass is not None:
        told.append(f"the masses sum to the {prepared.mass.mass:.2f} kg that the plates weigh")
    return tuple(told)


def choose_base_link(rig: Rig, settings: Settings) -> str:
    return settings.base or str(rig.provenance.get("base_link", rig.links[0]))


def build_identify_options(prepared: PreparedTrials, settings: Settings) -> IdentifyOptions:
    return IdentifyOptions(
        method=settings.method,
        base=choose_base_link(prepared.rig, settings),
        total_mass=prepared.mass.mass if prepared.mass is not None else None,
        symmetric=settings.symmetric,
        bootstrap=settings.bootstrap,
        cross_validate=settings.cross_validate,
        seed=settings.seed,
        jobs=settings.jobs,
    )


def _identify_trials(prepared: PreparedTrials, settings: Settings, progress: Progress) -> Identification:
    trials = [record.trial for record in prepared.records if record.trial is not None]
    flights = {r.name: r.windows.flight & r.trial.counted for r in prepared.records if r.windows and r.trial}
    return identify_trials(
        prepared.rig, trials, build_identify_options(prepared, settings), flights=flights, progress=progress
    )


def _find_total_mass(prepared: PreparedTrials, stated: float | None) -> float:
    """Total mass [kg] of a body that is identified from flight alone.

    Raises:
        InvalidValue: nothing tells it.
    """
    if prepared.mass is not None:
        return prepared.mass.mass
    if stated is None:
        raise InvalidValue("flight alone tells masses only up to a common factor: state the body's mass")
    return stated
