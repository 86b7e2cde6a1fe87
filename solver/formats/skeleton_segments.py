"""Segments of a recorded skeleton: its landmarks, vertical axis, unit of length and rest pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..skeleton.limbs import find_limbs
from ..values.joints import chain_poses
from ..values.motion import RestPose, SegmentPoses
from .axes_and_units import (
    UNIT_NAMES,
    Landmarks,
    find_landmarks,
    length_in_metres,
    resolve_up,
    to_z_up,
    up_from_landmarks,
)
from .text_files import Warn

SKELETON_EXTENTS = {
    "m": (0.7, 2.6),
    "cmu": (22.0, 45.0),
    "inch": (45.0, 100.0),
    "cm": (100.0, 260.0),
    "mm": (700.0, 2600.0),
}
"""Heights of adults' skeletons at rest in each unit; the unit of smaller skeletons must be stated."""


@dataclass(frozen=True, slots=True)
class SegmentSkeleton:
    """Joints of a file: names, index of each parent (-1 of the root), and (B, 3) offsets from it at zero angles."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: np.ndarray


@dataclass(frozen=True, slots=True)
class SkeletonMotion:
    """Motion of a skeleton in the axes and unit of its file.

    Attributes:
        times: (N,) [s].
        rotations: (N, B, 3, 3) of the joints; identities at zero angles.
        positions: (N, B, 3) of the joints.
        find_tips: gives the ends (B, 3) of the bones, NaN where unknown, from heads (B, 3) and axes (B, 3, 3).
    """

    times: np.ndarray
    rotations: np.ndarray
    positions: np.ndarray
    find_tips: Callable[[np.ndarray, np.ndarray], np.ndarray]


def build_segments(  # noqa: PLR0913 what a file holds, and what the user states about it
    path: str | Path,
    skeleton: SegmentSkeleton,
    motion: SkeletonMotion,
    up: str,
    units: str | None,
    remedy: str,
    warn: Warn,
) -> tuple[SegmentPoses, str]:
    """Segment poses in metres, z up, and the file's vertical axis.

    Args:
        path: of the file, for messages.
        skeleton: of the file.
        motion: of the skeleton.
        up: the file's vertical axis, or ``"auto"``.
        units: of lengths; None: from the height of the skeleton.
        remedy: for a file that no segments can have.
        warn: receives messages about what was found.

    Raises:
        InputError: a skeleton whose unit, vertical axis or rest pose cannot be determined.
    """
    times, rotations, positions = motion.times, motion.rotations, motion.positions
    axes = np.tile(np.eye(3), (len(skeleton.offsets), 1, 1))
    heads = chain_poses(skeleton.parents, axes, skeleton.offsets)[1]
    ends = find_skeleton_landmarks(skeleton.names, skeleton.parents, skeleton.offsets)
    zeros = bool(is_standing(ends, heads))
    if not zeros and not is_standing(ends, positions).any():
        problem = "its skeleton does not stand upright with all channels at zero, nor in any frame"
        raise InputError(path, problem, remedy="Add a frame of upright standing")
    places = heads[None] if zeros else positions
    axis = resolve_up(up, up_from_landmarks(ends, places), path)
    upright = to_z_up(axis)
    if not zeros:
        if (frame := find_standing_frame(ends, positions @ upright.T)) is None:
            problem = f"the skeleton stands upright along {axis} in no frame"
            raise InputError(path, problem, remedy="State the vertical axis (--up), or add a frame of upright standing")
        heads, axes = positions[frame], rotations[frame]
        warn(f"{Path(path).name}: its pose with all channels at zero is not upright standing: the pose at "
             f"{times[frame]:.2f} s is used as the rest pose")  # fmt: skip
    tips = motion.find_tips(heads, axes)
    extent = np.ptp(np.vstack([heads, tips[np.isfinite(tips).all(axis=1)]]) @ upright.T, axis=0)[2]
    metres = _unit_in_metres(path, float(extent), units, warn)
    rest = RestPose(upright @ axes, metres * heads @ upright.T, metres * tips @ upright.T, skeleton.parents)
    try:
        found = SegmentPoses(times, skeleton.names, upright @ rotations, metres * positions @ upright.T, rest)
    except InvalidValue as error:
        raise InputError(path, str(error), remedy=remedy) from error
    return found, axis


def _unit_in_metres(path: str | Path, extent: float, units: str | None, warn: Warn) -> float:
    """The file's unit of length in metres, as stated or from the skeleton's height."""
    if units is not None:
        return length_in_metres(units, path)
    if not (fitting := [unit for unit, (low, high) in SKELETON_EXTENTS.items() if low <= extent <= high]):
        problem = f"its skeleton is {extent:.3g} high, not an adult's height in any of {', '.join(SKELETON_EXTENTS)}"
        raise InputError(path, problem, remedy="State the unit (--units)")
    unit = fitting[0]
    metres = length_in_metres(unit, path)
    warn(
        f"{Path(path).name}: the skeleton is {extent:.3g} high: lengths are taken to be in "
        f"{UNIT_NAMES.get(unit, unit)}, which gives {metres * extent:.2f} m"
    )
    return metres


def find_skeleton_landmarks(names: Sequence[str], parents: Sequence[int], offsets: np.ndarray) -> Landmarks:
    """Joints of a skeleton that are low, in the middle and high when it stands.

    Args:
        names: M joints, the root first, parents before their children.
        parents: (M,) index of each joint's parent, -1 of the root.
        offsets: (M, 3) from the parent, any axes, any unit.
    """
    named, limbs = find_landmarks(names), find_limbs(parents, np.linalg.norm(offsets, axis=1).tolist())
    if limbs is None:
        return named
    ends = tuple(leg[-1] for leg in limbs.legs)
    return Landmarks(named.low or ends, named.middle or (limbs.pelvis,), named.high or (limbs.chest,))


def is_standing(landmarks: Landmarks, positions: np.ndarray) -> np.ndarray:
    """Whether low and high landmarks are on opposite sides of the root (...); True without landmarks.

    Args:
        landmarks: of M joints, the root first.
        positions: (..., M, 3), any axes, any unit.
    """
    if not landmarks.low or not landmarks.high:
        return np.ones(positions.shape[:-2], bool)
    feet, head = (
        positions[..., there, :].mean(axis=-2) - positions[..., 0, :] for there in (landmarks.low, landmarks.high)
    )
    return np.asarray((feet * head).sum(axis=-1) < 0.0)


def find_standing_frame(landmarks: Landmarks, positions: np.ndarray) -> int | None:
    """The frame in which a body stands tallest, among the slower half of them; None if it never stands.

    Args:
        landmarks: of M joints, the root first.
        positions: (N, M, 3), z up, any unit.
    """
    if not landmarks.low or not landmarks.high:
        return None
    heights = positions[:, landmarks.high, 2].mean(axis=1) - positions[:, landmarks.low, 2].mean(axis=1)
    speeds = np.zeros(len(positions))
    if len(positions) > 1:
        speeds = np.linalg.norm(np.gradient(positions, axis=0), axis=2).mean(axis=1)
    fit = is_standing(landmarks, positions) & (heights > 0.0) & np.isfinite(speeds)
    if not fit.any():
        return None
    fit &= speeds <= np.median(speeds[fit])
    return int(np.argmax(np.where(fit, heights, -np.inf)))
