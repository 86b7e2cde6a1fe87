"""The motion of a rig that follows a performer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...contacts.schedule import Schedule
from ...coordinates import joint_coordinates
from ...motion import Motion
from ...rig import ROOT_NV, Rig
from ...so3 import continuous_signs, to_matrix, to_quaternion
from ..bone_mapping import BoneMapping
from ..track import manifold_velocities
from .batch_kinematics import to_configurations
from .foot_paths import FootPaths
from .interpolation import ease_ends, even_times, holds_around, interpolate_poses, interpolate_recording_times
from .pose_solver import Poses

EASE_TIME = 0.6
"""[s] of a motion in which it starts from rest, and comes to rest; each takes as long again."""


@dataclass(frozen=True, slots=True, repr=False)
class RetargetedMotion:
    """The motion of a rig that follows a performer.

    Attributes:
        rig: the rig.
        motion: at the recording's rate.
        foot_paths: paths and stances of its feet, at the motion's times.
        mapping: that was used.
        recording_times: (N,) [s] time in the recording of each frame; outside it where a step is completed.
        converged: (N,) True if the frame converged.
        notes: what was assumed or changed, or is not met.
    """

    rig: Rig
    motion: Motion
    foot_paths: FootPaths
    mapping: BoneMapping
    recording_times: np.ndarray
    converged: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """Schedule of its contacts."""
        return self.foot_paths.schedule()

    @property
    def poses(self) -> Poses:
        """Poses of its frames."""
        q, y = self.motion.q, np.zeros((len(self.motion), self.rig.nv))
        y[:, :3], y[:, ROOT_NV:] = q[:, :3], joint_coordinates(self.rig, q)
        return Poses(to_matrix(q[:, 3:7]), y)

    def with_poses(self, poses: Poses, converged: np.ndarray | None = None) -> RetargetedMotion:
        """The motion with other poses at its times."""
        motion = motion_from_poses(self.rig, self.motion.times, poses)
        return replace(self, motion=motion, converged=self.converged if converged is None else converged)

    def resample(self, clock: np.ndarray, pace: np.ndarray) -> RetargetedMotion:
        """The motion at times (M,) [s] of a clock that corresponds to times (M,) ``pace`` of this motion."""
        times, limits = self.motion.times, self.rig.limits
        poses = interpolate_poses(times, self.poses, pace)
        joints = np.clip(poses.y[:, ROOT_NV:], limits.lower, limits.upper)
        poses = Poses(poses.root_rotations, np.concatenate([poses.y[:, :ROOT_NV], joints], axis=1))
        return replace(
            self,
            motion=motion_from_poses(self.rig, clock, poses),
            foot_paths=self.foot_paths.resample(clock, pace),
            recording_times=np.interp(pace, times, self.recording_times),
            converged=holds_around(times, self.converged, pace),
        )

    def stretch(self, ends: np.ndarray) -> RetargetedMotion:
        """The motion with its frames at times (N,) [s] instead of its own, at the same sample interval."""
        clock = even_times(ends, float(np.median(np.diff(self.motion.times))))
        return self.resample(clock, interpolate_recording_times(ends, self.motion.times, clock))

    def ease_ends(self) -> RetargetedMotion:
        """The motion starting from rest and coming to rest."""
        times = self.motion.times
        length, step = float(times[-1] - times[0]), float(np.median(np.diff(times)))
        clock = times[0] + step * np.arange(int(np.ceil((length + 2.0 * min(EASE_TIME, 0.5 * length)) / step)) + 1)
        return self.resample(clock, times[0] + ease_ends(clock - times[0], length, float(clock[-1] - times[0])))

    @property
    def duration_ratio(self) -> float:
        """Ratio of its duration to the recorded one."""
        recorded = float(self.recording_times[-1] - self.recording_times[0])
        return float(self.motion.times[-1] - self.motion.times[0]) / recorded


def motion_from_poses(rig: Rig, times: np.ndarray, poses: Poses) -> Motion:
    """The motion through poses at times (N,) [s]."""
    q = to_configurations(rig, continuous_signs(to_quaternion(poses.root_rotations)), poses.y)
    v = manifold_velocities(rig, times, q)
    return Motion(times, q, v, np.gradient(v, times, axis=0))
