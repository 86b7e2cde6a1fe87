"""Joint moments of a study's trials, from its folder or from one trial's motion and body."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..base.errors import InvalidValue
from ..base.progress import Progress, silent
from ..calibration.calibration import CALIBRATION, Calibration
from ..centroidal.estimate import Body, read_study_trials
from ..scene.motion_record import MotionRecord
from ..scene.study_folder import CALIBRATION_FILE
from ..signals import smooth_motion
from ..skeleton.rig import Rig
from ..storage.manifest import stored_file
from ..study.motion_draws import MAX_FRAMES, draw_motions
from ..values.motion import Motion
from .contact_links import assign_wrenches
from .inverse_dynamics import compute_moments
from .values import INERTIALS, PLATES, JointMoments

NO_INTERVALS = "no intervals: the study has no covariance of its inertial parameters"
NO_MOTION_ERROR = (
    "intervals do not contain errors of the motion: it was not tracked from markers of a calibrated person"
)
NO_FILTER = "intervals do not contain errors of the motion: the study does not hold its filter; identify again"
LONG_TRIAL = f"intervals do not contain errors of the motion: the trial has more than {MAX_FRAMES} frames"
PRIOR_USED = "inertial parameters are those of the prior, without intervals"


def moments_of_study(
    folder: str | Path,
    *,
    trials: Sequence[str] = (),
    prior: bool = False,
    feet: Sequence[str] = (),
    progress: Progress = silent,
) -> dict[str, JointMoments]:
    """Joint moments of a study's trials with forces.

    Args:
        folder: that `identify` wrote.
        trials: names; all with forces by default.
        prior: with the prior's inertial parameters instead of the identified ones.
        feet: links that touch the plates; found by default.
        progress: receives progress.

    Raises:
        InputError: no such folder, or no trial with forces in it.
        UnknownName: no such trial.
        InvalidValue: moments of a trial cannot be computed; it is named.

    Example:
        >>> from solver.moments import moments_of_study
        >>> moments_of_study("results")["squats1"].peaks  # doctest: +SKIP
    """
    records, body = read_study_trials(folder, trials, prior=prior)
    calibrated = stored_file(folder, CALIBRATION_FILE)
    calibration = CALIBRATION.read(calibrated) if os.path.exists(calibrated) else None
    found = {}
    for number, (name, record) in enumerate(records.items()):
        progress(number / len(records), f"inverse dynamics of {name}")
        try:
            found[name] = moments_of_trial(record, body, calibration, feet=feet)
        except InvalidValue as error:
            raise InvalidValue(f"trial {name!r}: {error}") from None
    progress(1.0, "computed")
    return found


def moments_of_trial(
    record: MotionRecord,
    body: Body | None,
    calibration: Calibration | None = None,
    *,
    feet: Sequence[str] = (),
) -> JointMoments:
    """Joint moments of one trial of a study.

    Args:
        record: motion with wrenches.
        body: identified parameters and a square root (M, L, 10) of their covariance; None: the prior, without
            intervals.
        calibration: of the person, with the errors of the motion; None without one.
        feet: links that touch the plates; found by default.

    Raises:
        InvalidValue: moments cannot be computed, see `compute_moments`.
    """
    rig, trial, wrenches = record.rig, record.trial, record.wrenches
    if trial is None or wrenches is None:
        raise InvalidValue(f"trial {record.name!r} has no forces")
    parameters, root = (None, None) if body is None else body
    contacts = assign_wrenches(rig, record.motion, wrenches, feet)
    motions = () if root is None else _draw_motions(record, calibration)
    result = compute_moments(rig, trial, parameters, covariance_root=root, motions=motions, contacts=contacts)
    notes = [PRIOR_USED] * (body is None) + [NO_INTERVALS] * (body is not None and root is None)
    if root is not None and len(result.std_by_source) <= len((INERTIALS, PLATES)):
        tracked = calibration is not None and calibration.motion_errors is not None
        missing = NO_FILTER if tracked and record.preset is None else NO_MOTION_ERROR
        notes.append(LONG_TRIAL if len(record) > MAX_FRAMES else missing)
    return result.with_notes(notes)


def _draw_motions(record: MotionRecord, calibration: Calibration | None) -> Iterator[tuple[str, Rig, Motion]]:
    """The recorded motion, filtered as its draws are, and the draws of its error; none if they are unknown."""
    errors = None if calibration is None else calibration.motion_errors
    if errors is None or record.preset is None or len(record) > MAX_FRAMES:
        return
    rig, times, q = record.rig, record.motion.times, record.motion.q
    yield "", rig, smooth_motion(rig, times, q, record.preset)
    yield from draw_motions(rig, errors, times, q, record.preset)
