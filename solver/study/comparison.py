"""Compares measured wrenches of further trials with those that identified and prior parameters predict."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.errors import InvalidValue
from ..base.files import AnyPath, Paths
from ..base.progress import PartialProgress, Progress, silent
from ..calibration.calibration import Calibration
from ..identification.comparison import Comparison
from ..identification.comparison import compare as compare_trial
from ..identification.error_model.frequency_weights import UNWEIGHTED, PairedWeights
from ..options.study import Settings
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from .identification import choose_base_link
from .pipeline import prepare
from .plates.finding import format_warnings
from .recordings import load_body, load_recordings, require_rates
from .tracking import collect_warnings, compute_poses
from .values import require_settings


def compare(  # noqa: PLR0913 the recordings, the body, and the result of an identification
    recordings: Sequence[Recording] | Paths,
    body: Calibration | Rig | AnyPath,
    identified: InertialParameters,
    prior: InertialParameters,
    settings: Settings | None = None,
    progress: Progress = silent,
    *,
    weights: PairedWeights = UNWEIGHTED,
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Compare how well identified and prior parameters predict the wrenches of further trials; also returns warnings.

    Args:
        recordings, body: see `track`.
        identified, prior: parameters to compare, of the rig's links.
        settings: those of the identification: filter, base link, standing patch, known plates.
        progress: receives progress.
        weights: `Identification.frequency_weights`; by default the wrenches follow from the unweighted tracked motion.

    Raises:
        InvalidValue: no trial has motion, forces and a frame that counts.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> found, warnings = solver.compare(robot.recordings, robot.rig, robot.truth, robot.rig.prior)
        >>> bool((found[0].ratio < 1.0).all())  # RMSE of the truth over RMSE of the prior, per axis
        True
    """
    settings = require_settings(settings)
    recordings, body = load_recordings(recordings), load_body(body)
    require_rates(recordings, settings)
    rig, records = compute_poses(recordings, body, settings, PartialProgress(progress, 0.0, 0.9))
    rig, base = rig.with_prior(prior), choose_base_link(rig, settings)
    moved = [record for record in records if record.poses is not None]
    prepared = prepare(rig, moved, settings, stated_mass=prior.total_mass)
    found = tuple(
        compare_trial(rig, record.trial, identified, prior, base=base, weights=weights)
        for record in prepared.records
        if record.trial is not None and record.trial.counted.any()
    )
    if not found:
        raise InvalidValue("no trial has motion, forces and a frame that counts")
    calibration = body if isinstance(body, Calibration) else None
    return found, (*collect_warnings(records, calibration), *format_warnings(prepared.findings), *prepared.warnings)
