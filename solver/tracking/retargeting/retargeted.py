"""A motion as a rig follows it, and how it is to follow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...contacts.schedule import Schedule
from ...coordinates import joint_coordinates
from ...errors import InvalidValue
from ...filter_presets import FilterPreset
from ...motion import Motion
from ...rig import ROOT_NV, Rig
from ...so3 import continuous, to_matrix, to_quaternion
from ..bone_mapping import BoneMapping
from ..track import manifold_velocities
from .between import both_around
from .footing import Footing
from .pace import eased, instants, pace_at, poses_at
from .posing import Poses
from .whole_motion import configurations

QUIET = FilterPreset("retargeting", 2, 6.0, "poses of a followed motion")
SETTING_OFF = 0.6
"""[s] of a motion within which it sets off from rest, and comes to rest; each takes as long again."""


@dataclass(frozen=True, slots=True)
class RetargetOptions:
    """How to follow.

    Attributes:
        keep_pace: joints may be faster than their limits, which is told, instead of the motion slower.
        quiet: low-pass of the poses.
        slower: ratio of the duration to the recorded one, besides what limits ask for.
        stride: ratio of horizontal ways to the recorded ones, scaled.
        wider: [m] by which feet are farther apart sideways than the followed ones, scaled.
        apart: links that overlap are kept apart.
        whole_steps: where the recording begins or ends in the middle of a step, that is begun and finished.
    """

    keep_pace: bool = False
    quiet: FilterPreset = QUIET
    slower: float = 1.0
    stride: float = 1.0
    wider: float = 0.0
    apart: bool = True
    whole_steps: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.stride) and self.stride > 0.0):
            raise InvalidValue(f"ways cannot be {self.stride:g} times as long")
        if not np.isfinite(self.wider):
            raise InvalidValue(f"feet cannot be {self.wider:g} m farther apart")
        if not (np.isfinite(self.slower) and self.slower > 0.0):
            raise InvalidValue(f"a motion cannot last {self.slower:g} times as long")


@dataclass(frozen=True, slots=True, repr=False)
class Retargeted:
    """A motion followed by a rig.

    Attributes:
        rig: that follows.
        motion: at the recording's rate.
        footing: where its feet go, and when they stand, at the motion's times.
        mapping: that was used.
        pace: (N,) [s] time in the recording of each frame; beyond its ends where a step is begun or finished.
        converged: (N,) the frame came to rest.
        told: what was assumed, done, or could not be.
    """

    rig: Rig
    motion: Motion
    footing: Footing
    mapping: BoneMapping
    pace: np.ndarray
    converged: np.ndarray
    told: tuple[str, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """Of its contacts."""
        return self.footing.schedule()

    @property
    def poses(self) -> Poses:
        """Of its frames."""
        q, y = self.motion.q, np.zeros((len(self.motion), self.rig.nv))
        y[:, :3], y[:, ROOT_NV:] = q[:, :3], joint_coordinates(self.rig, q)
        return Poses(to_matrix(q[:, 3:7]), y)

    def posed(self, poses: Poses, converged: np.ndarray | None = None) -> Retargeted:
        """The same with other poses at its times."""
        motion = posed_motion(self.rig, self.motion.times, poses)
        return replace(self, motion=motion, converged=self.converged if converged is None else converged)

    def at_pace(self, clock: np.ndarray, pace: np.ndarray) -> Retargeted:
        """The same at times (M,) [s] of a clock that shows these times (M,) of it."""
        times, limits = self.motion.times, self.rig.limits
        poses = poses_at(times, self.poses, pace)
        joints = np.clip(poses.y[:, ROOT_NV:], limits.lower, limits.upper)
        poses = Poses(poses.turn, np.concatenate([poses.y[:, :ROOT_NV], joints], axis=1))
        return replace(
            self,
            motion=posed_motion(self.rig, clock, poses),
            footing=self.footing.paced(clock, pace),
            pace=np.interp(pace, times, self.pace),
            converged=both_around(times, self.converged, pace),
        )

    def stretched(self, ends: np.ndarray) -> Retargeted:
        """The same with its frames at times (N,) [s] instead of its own, in samples as far apart."""
        clock = instants(ends, float(np.median(np.diff(self.motion.times))))
        return self.at_pace(clock, pace_at(ends, self.motion.times, clock))

    def from_rest(self) -> Retargeted:
        """The same, setting off from rest and coming to rest."""
        times = self.motion.times
        length, step = float(times[-1] - times[0]), float(np.median(np.diff(times)))
        clock = times[0] + step * np.arange(int(np.ceil((length + 2.0 * min(SETTING_OFF, 0.5 * length)) / step)) + 1)
        return self.at_pace(clock, times[0] + eased(clock - times[0], length, float(clock[-1] - times[0])))

    @property
    def slowed(self) -> float:
        """How many times as long as recorded it lasts."""
        recorded = float(self.pace[-1] - self.pace[0])
        return float(self.motion.times[-1] - self.motion.times[0]) / recorded


def posed_motion(rig: Rig, times: np.ndarray, poses: Poses) -> Motion:
    """The motion through poses at times (N,) [s]."""
    q = configurations(rig, continuous(to_quaternion(poses.turn)), poses.y)
    v = manifold_velocities(rig, times, q)
    return Motion(times, q, v, np.gradient(v, times, axis=0))
