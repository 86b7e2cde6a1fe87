"""Compares measured wrenches of further trials with those that identified and prior parameters predict."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.errors import InvalidValue
from ..base.files import Paths
from ..base.progress import PartialProgress, Progress, silent
from ..calibration.calibration import Calibration
from ..identification.comparison import Comparison
from ..identification.comparison import compare as compare_trial
from ..identification.result import Identification
from ..options.study import Settings
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from .identification import choose_base_link
from .plates.finding import format_warnings
from .prepare import prepare
from .recordings import load_recordings, require_rates
from .tracking import collect_warnings, compute_poses


def compare_recordings(
    recordings: Sequence[Recording] | Paths,
    body: Calibration | Rig,
    found: Identification,
    settings: Settings,
    progress: Progress = silent,
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Compare how well identified and prior parameters predict the wrenches of further trials; also returns warnings.

    Args:
        recordings: see `track`.
        body: that was identified.
        found: its parameters, prior and frequency weights.
        settings: those of the identification: filter, base link, standing patch, known plates.
        progress: receives progress.

    Raises:
        InvalidValue: no trial has motion, forces and a frame that counts.
    """
    recordings, prior = load_recordings(recordings), found.prior
    require_rates(recordings, settings)
    rig, records = compute_poses(recordings, body, settings, PartialProgress(progress, 0.0, 0.9))
    rig, base = rig.with_prior(prior), choose_base_link(rig, settings)
    moved = [record for record in records if record.poses is not None]
    prepared = prepare(rig, moved, settings, stated_mass=prior.total_mass)
    compared = tuple(
        compare_trial(rig, record.trial, found.parameters, prior, base=base, weights=found.frequency_weights)
        for record in prepared.records
        if record.trial is not None and record.trial.counted.any()
    )
    if not compared:
        raise InvalidValue("no trial has motion, forces and a frame that counts")
    calibration = body if isinstance(body, Calibration) else None
    return compared, (*collect_warnings(records, calibration), *format_warnings(prepared.findings), *prepared.warnings)
