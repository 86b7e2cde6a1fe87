"""Poses that an animator names: the design varies the amplitude, side and timing of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...base.arrays import Array, ArrayValue
from ...base.errors import InvalidValue
from ...base.so3 import exp, log, rotation_between
from ...dynamics import link_poses
from ...dynamics.coordinates import to_flat
from ...skeleton.rig import ROOT_NV, Rig
from ...trajectory.legged_rig import Footing, LeggedRig
from .mirror import MIRRORED_SIDE, Mirror

AMPLITUDE_RANGE = (0.5, 1.15)
"""Range of the fraction of the way from home to a named pose that is drawn, so that the pose stays recognisable."""
LIFTED_HEIGHT = 0.03
"""[m] Height of a foot above the other from which the pose defines the posture of a lifted leg."""


@dataclass(frozen=True, slots=True)
class NamedPose(ArrayValue):
    """A pose that an animator keyed and named; the design chooses the stance and how far the knees bend.

    Attributes:
        name: of the pose.
        q: (nq,) the rig's configuration.
    """

    name: str
    q: Annotated[np.ndarray, Array(None)]

    def require_consistent(self) -> None:
        if not self.name.strip():
            raise InvalidValue("a named pose needs a name that is not empty")


class PoseVariations:
    """Variations of named poses in one stance.

    Args:
        legged: the rig with its limits.
        poses: at least one.
        footing: of the stance.
        home: (D,) neutral posture from which the poses are reached.

    Raises:
        InvalidValue: a pose of another rig.
    """

    def __init__(self, legged: LeggedRig, poses: Sequence[NamedPose], footing: Footing, home: np.ndarray) -> None:
        self.names = tuple(pose.name for pose in poses)
        self._legged, self._home = legged, home
        try:
            self._mirror: Mirror | None = Mirror(legged)
        except InvalidValue:  # asymmetric rig: poses are not mirrored
            self._mirror = None
        raised = [side for side in legged.leg_columns if side not in footing.solved]
        given = [self._read_pose(pose) for pose in poses]
        images = [self._mirror_pose(*pose) for pose in given]
        self._offsets = np.array([[self._select_columns(*pose, raised) for pose in part] for part in (given, images)])

    def draw(self, generator: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Variations (count, D) and the index (count,) of the pose of each; standing legs are not yet solved."""
        which = np.arange(count) % len(self.names)
        side = np.zeros(count, int) if self._mirror is None else generator.integers(0, 2, count)
        share = generator.uniform(*AMPLITUDE_RANGE, count)
        y = self._home + share[:, None] * self._offsets[side, which]
        moved = np.concatenate([self._legged.trunk, *self._legged.leg_columns.values()])
        y[:, moved] = np.clip(y[:, moved], self._legged.lower[moved], self._legged.upper[moved])
        return y, which

    def _read_pose(self, pose: NamedPose) -> tuple[np.ndarray, str]:
        """Flat coordinates (nv,) of a pose, and the side of its lifted leg."""
        rig = self._legged.rig
        if len(pose.q) != len(rig.neutral):
            raise InvalidValue(
                f"pose {pose.name!r} has {len(pose.q)} coordinates, rig {rig.name!r} has {len(rig.neutral)}"
            )
        return to_flat(rig, pose.q), _lifted_side(rig, pose.q)

    def _mirror_pose(self, flat: np.ndarray, lifted: str) -> tuple[np.ndarray, str]:
        """The mirror image of a pose; the pose itself of a rig that has none."""
        if self._mirror is None:
            return flat, lifted
        whole = np.pad(flat, (0, self._legged.size - len(flat)))
        return self._mirror.image(whole)[: len(flat)], MIRRORED_SIDE.get(lifted, "")

    def _select_columns(self, flat: np.ndarray, lifted: str, raised: Sequence[str]) -> np.ndarray:
        """(D,) Offset from home: trunk and arms, the lifted leg of pose and stance, and the pelvis lean."""
        legged, way = self._legged, np.zeros(self._legged.size)
        columns = legged.trunk
        for side in raised:
            if side == lifted:
                columns = np.concatenate([columns, legged.swing_leg_columns[side]])
        way[columns] = flat[columns] - self._home[columns]
        turn = exp(flat[3:ROOT_NV])
        upright = turn @ legged.rig.rest[0][0].T
        lean = rotation_between(np.array([0.0, 0.0, 1.0]), upright @ np.array([0.0, 0.0, 1.0]))
        way[3:ROOT_NV] = np.where(legged.root_free[3:], _without_heading(turn, lean), 0.0)
        return way


def _without_heading(turn: np.ndarray, lean: np.ndarray) -> np.ndarray:
    """(3,) Rotation vector of the pelvis lean without its heading."""
    heading = lean.T @ turn
    angle = np.arctan2(heading[1, 0], heading[0, 0])
    back = exp(np.array([0.0, 0.0, -angle]))
    return np.asarray(log(back @ lean @ back.T))


def _lifted_side(rig: Rig, q: np.ndarray) -> str:
    """The side whose sole is off the floor in a posture; empty if both are on it."""
    turns, places = link_poses(rig, q)
    heights = {}
    for side, name in rig.sides.items():
        patch = rig.patch(name)
        link = rig.index(patch.link)
        heights[side] = float((patch.vertices @ turns[link].T + places[link])[:, 2].min())
    high = max(heights, key=lambda side: heights[side])
    return high if heights[high] - min(heights.values()) > LIFTED_HEIGHT else ""
