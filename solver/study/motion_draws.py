"""Motions that the tracked markers allow as well: draws of soft-tissue motion and of joint centres.

If the joint centres are elsewhere, or the markers move with the skin, the true motion differs from the tracked one.
Every draw of a calibration's `CalibrationErrorDraws` is one such body. Its poses follow from the
tracked ones by the linear response of the least-squares tracker to displaced points. The skin is assumed to move in
every trial as it did in calibration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from ..calibration.calibration import Calibration
from ..calibration.error_draws import CalibrationErrorDraws, ResidualDraws
from ..calibration.fit import LinearisedFrames, Unknowns
from ..dynamics import integrate
from ..filter_presets import FilterPreset
from ..motion import Motion
from ..rig import ROOT_NV, Rig
from ..signals import smooth_motion
from ..tracking.kinematics import Kinematics
from ..tracking.options import TrackingOptions
from ..tracking.tasks import Targets

SKIN, SKELETON = "skin", "skeleton"
"""Causes of a draw."""
MAX_FRAMES = 4096
"""Frames of a trial beyond which the motions of all draws need too much memory: twenty seconds at 200 frames a second.
"""
CHUNK_FRAMES = 256
"""Frames whose normal equations are in memory at once."""


def draw_motions(
    rig: Rig, calibration: Calibration, targets: Targets, q: np.ndarray, preset: FilterPreset
) -> Iterator[tuple[str, Rig, Motion]]:
    """Cause, body and filtered motion of every draw of skin motion and joint centres.

    Args:
        rig: with the calibration's joint centres.
        calibration: with its draws.
        targets: N frames of measured markers.
        q: (N, nq) configurations tracked from them.
        preset: filter of the motions.
    """
    draws = calibration.error_draws
    assert draws is not None
    joints = np.array([joint.position for joint in rig.joints])
    for cause, steps in _TrackedBody.from_configurations(rig, targets, q).pose_changes(draws).items():
        for points, step in zip({SKIN: draws.soft_tissue, SKELETON: draws.prior}[cause], steps):
            moved = rig.with_joint_positions(joints + np.vstack([np.zeros(3), points[: len(joints) - 1]]))
            yield cause, moved, smooth_motion(moved, targets.times, integrate(moved, q, step), preset)


@dataclass(frozen=True, slots=True)
class _TrackedBody:
    """Tracked frames, with the linear response of their poses to displaced points.

    Attributes:
        names: of the markers.
        frames: linearised at their poses.
        unknowns: which point moves which marker.
        skin_motion: of the skin.
    """

    names: tuple[str, ...]
    frames: LinearisedFrames
    unknowns: Unknowns
    skin_motion: ResidualDraws

    @staticmethod
    def from_configurations(rig: Rig, targets: Targets, q: np.ndarray) -> _TrackedBody:
        """From frames tracked at configurations (N, nq)."""
        assert targets.positions is not None
        task, measured = targets.positions.task, targets.positions.positions
        kinematics = Kinematics(rig)
        rotations = np.empty((len(q), *kinematics.rotations.shape))
        jacobian = np.empty((len(q), *kinematics.jacobian.shape))
        points = np.empty(measured.shape)
        for k, pose in enumerate(q):
            kinematics.update_kinematics(pose)
            rotations[k], jacobian[k] = kinematics.rotations, kinematics.jacobian
            points[k] = kinematics.points(task.links, task.offsets)
        visible = np.isfinite(measured).all(axis=2)
        residuals = np.where(visible[:, :, None], measured - points, 0.0)
        price = np.where(np.arange(rig.nv) < ROOT_NV, 0.0, TrackingOptions().posture_weight)
        weights, none = np.where(visible, task.weights, 0.0), np.zeros((len(q), rig.nv))
        own_price = np.broadcast_to(np.diag(price), (len(q), rig.nv, rig.nv))
        frames = LinearisedFrames(rotations, jacobian, points, residuals, weights, own_price, none)
        return _TrackedBody(
            tuple(task.names),
            frames,
            Unknowns.from_kinematics(kinematics, task.links),
            ResidualDraws.from_fit(frames, task.links, task.names),
        )

    def pose_changes(self, error_draws: CalibrationErrorDraws) -> dict[str, np.ndarray]:
        """Pose changes (K, N, nv) in the tangent space, by cause, for the K error draws."""
        joints, count = len(self.unknowns.parents), len(error_draws.soft_tissue)
        place = {name: joints + k for k, name in enumerate(error_draws.markers)}
        rows = np.array([*range(joints), *(place.get(name, -1) for name in self.names)])
        both = np.concatenate([error_draws.soft_tissue, error_draws.prior])[:, rows]
        theta = np.where(rows[:, None] >= 0, both, 0.0).reshape(len(both), -1)
        skins = np.empty((*self.frames.points.shape, count))
        for draw in range(count):
            skins[..., draw] = self.skin_motion.with_draw(self.frames, draw).residuals
        frames, result = self.frames, np.empty((len(theta), *self.frames.gradient.shape))
        for start in range(0, len(frames.points), CHUNK_FRAMES):
            piece = slice(start, start + CHUNK_FRAMES)
            cut = replace(frames, **{each.name: getattr(frames, each.name)[piece] for each in fields(frames)})
            blocks = cut.build_equations(self.unknowns, exact=False)
            right = -blocks.cross[:, :, :-1] @ theta.T
            pulls = cut.weights[:, :, None, None] * skins[piece]
            for axis, pose in enumerate(cut.marker_jacobians(self.unknowns)):
                right[:, :, :count] += pose @ pulls[:, :, axis]
            result[:, piece] = np.linalg.solve(blocks.pose_hessian, right).transpose(2, 0, 1)
        return {SKIN: result[:count], SKELETON: result[count:]}
