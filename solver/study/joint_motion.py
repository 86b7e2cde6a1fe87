"""Converts recordings of named joint coordinates (a robot's encoders, or our own motion files) to trials of a rig."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.errors import InvalidValue, checked
from ..dynamics import difference, integrate
from ..dynamics.coordinates import joint_coordinates
from ..input_checks.joint_configurations import compute_configurations, list_coordinates
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..values.motion import POSE, JointCoordinates
from .values import Poses, TrialRecord


def convert_joint_recordings(
    rig: Rig, recordings: Sequence[Recording], standing: str | None = None
) -> tuple[TrialRecord, ...]:
    """Convert recordings with joint coordinates to trials of a rig; the others are returned without motion.

    Args:
        rig: whose joints they are.
        recordings: see `load`.
        standing: see `poses_of`.

    Raises:
        InvalidValue: see `poses_of`; the trial is named.
    """
    records = []
    for recording in recordings:
        if recording.joints is None:
            records.append(TrialRecord(recording))
            continue
        try:
            records.append(TrialRecord(recording, given=poses_of(rig, recording.joints, standing)))
        except InvalidValue as error:
            raise InvalidValue(f"trial {recording.name!r}: {error}") from None
    return tuple(records)


@checked
def poses_of(rig: Rig, joints: JointCoordinates, standing: str | None = None) -> Poses:
    """Configurations of a rig from named joint coordinates.

    Args:
        rig: whose links or joints the coordinates are named after.
        joints: every coordinate of the rig by name, in any order; numbered ones (`coordinate_numbers`) in the rig's.
        standing: contact patch, or link that carries it, that stays still on the floor throughout. It is only used if
            the recording has no pose of the root. The world's origin is then the middle of that patch, and the patch
            is oriented as when all joints are at zero.

    Returns:
        configurations; a frame with a missing value is interpolated and not known.

    Raises:
        InvalidValue: a coordinate that the rig does not have, a missing coordinate, a unit that contradicts the joint,
            or an unknown pose of the root.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> solver.study.poses_of(robot.rig, robot.recordings[0].joints).q.shape  # frames, numbers of a configuration
        (600, 37)
    """
    q, known = compute_configurations(rig, joints, standing)
    if known.sum() < 2:
        raise InvalidValue("fewer than two frames are complete")
    return Poses(joints.times, _fill_gaps(rig, joints.times, q, known), known)


@checked
def joints_of(rig: Rig, times: np.ndarray, q: np.ndarray) -> JointCoordinates:
    """The reverse of `poses_of`: configurations as named joint coordinates.

    Args:
        rig: whose joints they are.
        times: (N,) [s].
        q: (N, nq) configurations, Pinocchio's layout.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.hoap3()
        >>> joints = solver.study.joints_of(rig, np.arange(2.0), np.tile(rig.neutral, (2, 1)))
        >>> joints.values.shape  # frames, coordinates
        (2, 21)
    """
    found = list_coordinates(rig)
    units = tuple("m" if slides else "rad" for _, _, slides in found)
    values = joint_coordinates(rig, np.asarray(q, float))
    return JointCoordinates(times, tuple(names[0] for names, *_ in found), values, units, q[:, :POSE])


def _fill_gaps(rig: Rig, times: np.ndarray, q: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Configurations (N, nq) in which unknown ones are interpolated, or constant at the ends."""
    frames = np.flatnonzero(known)
    result = q.copy()
    for frame in np.flatnonzero(~known):
        after = int(np.searchsorted(frames, frame))
        first, last = frames[max(after - 1, 0)], frames[min(after, len(frames) - 1)]
        way = 0.0 if first == last else (times[frame] - times[first]) / (times[last] - times[first])
        step = float(np.clip(way, 0.0, 1.0)) * difference(rig, q[first], q[last])
        result[frame] = integrate(rig, q[first], step)
    return result
