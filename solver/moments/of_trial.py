"""Joint moments of one trial of a study, with intervals from the errors of parameters, motion and plates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..signals import smooth_motion
from ..skeleton.rig import Rig
from ..study.motion_draws import MAX_FRAMES, draw_motions
from ..study.values import StudyData, TrialRecord
from ..values.inertials import InertialParameters
from ..values.motion import Motion
from .contact_links import assign_wrenches
from .inverse_dynamics import compute_moments
from .values import INERTIALS, PLATES, JointMoments

Body = tuple[InertialParameters, np.ndarray | None]
"""Inertials, and a square root (M, L, 10) of their covariance if it is known."""
NO_INTERVALS = "no intervals: the study has no covariance of its inertial parameters"
NO_MOTION_ERROR = (
    "intervals do not contain errors of the motion: it was not tracked from markers of a calibrated person"
)
LONG_TRIAL = f"intervals do not contain errors of the motion: the trial has more than {MAX_FRAMES} frames"
PRIOR_USED = "inertial parameters are those of the prior, without intervals"


def moments_of_trial(
    study: StudyData, record: TrialRecord, body: Body | None, feet: Sequence[str] = ()
) -> JointMoments:
    """Joint moments of one trial of a study.

    Args:
        study: with the rig, and the calibration with the errors of the motion.
        record: with forces.
        body: identified parameters and a square root (M, L, 10) of their covariance; None: the prior, without
            intervals.
        feet: links that touch the plates; found by default.

    Raises:
        InvalidValue: moments cannot be computed, see `compute_moments`.
    """
    rig, trial = study.rig, record.filtered_trial
    parameters, root = (None, None) if body is None else body
    contacts = assign_wrenches(rig, trial.motion, trial.wrenches, feet)
    motions = () if root is None else _draw_motions(study, record)
    result = compute_moments(rig, trial, parameters, covariance_root=root, motions=motions, contacts=contacts)
    notes = [PRIOR_USED] * (body is None) + [NO_INTERVALS] * (body is not None and root is None)
    if root is not None and len(result.std_by_source) <= len((INERTIALS, PLATES)):
        notes.append(LONG_TRIAL if len(trial.motion) > MAX_FRAMES else NO_MOTION_ERROR)
    return result.with_notes(notes)


def _draw_motions(study: StudyData, record: TrialRecord) -> Iterator[tuple[str, Rig, Motion]]:
    """The recorded motion, filtered as its draws are, and the draws of its error; none if they are unknown."""
    errors, trial = None if study.calibration is None else study.calibration.motion_errors, record.trial
    if errors is None or trial is None or trial.preset is None or len(trial.motion) > MAX_FRAMES:
        return
    rig, times, q = study.rig, trial.motion.times, trial.motion.q
    yield "", rig, smooth_motion(rig, times, q, trial.preset)
    yield from draw_motions(rig, errors, times, q, trial.preset)
