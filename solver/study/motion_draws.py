"""Motions that the tracked markers allow as well: draws of soft-tissue motion and of joint centres.

If the joint centres are elsewhere, or the markers move with the soft tissue, the true motion differs from the tracked
one by the tracker's response to them (`tracking.motion_errors`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..dynamics import integrate
from ..signals import smooth_motion
from ..skeleton.rig import Rig
from ..tracking.motion_errors import MotionErrors
from ..values.filter_presets import FilterPreset
from ..values.motion import Motion

SKIN, SKELETON = "skin", "skeleton"
"""Causes of a draw."""
DRAW_COUNT = 10
"""Number of draws of each cause; the standard deviation is known within a quarter. Derived: 1 / sqrt(2 (10 - 1)) =
.24."""
MAX_FRAMES = 4096
"""Frames of a trial beyond which the motions of all draws need too much memory. Derived: twenty seconds at 200 frames
a second."""


def draw_motions(
    rig: Rig, errors: MotionErrors, times: np.ndarray, q: np.ndarray, preset: FilterPreset
) -> Iterator[tuple[str, Rig, Motion]]:
    """Cause, body and filtered motion of every draw of soft tissue and joint centres.

    Args:
        rig: with the calibration's joint centres.
        errors: of its motions.
        times: (N,) [s].
        q: (N, nq) configurations tracked at a constant rate.
        preset: filter of the motions.
    """
    generator = np.random.default_rng(0)
    centres = np.array([joint.position for joint in rig.joints])
    angles, skin = errors.angles(rig, q), np.zeros((len(q), len(rig.links), 6, DRAW_COUNT))
    for link, coordinate in zip(*errors.pairs(rig)):
        gains = errors.soft_tissue[link] @ generator.standard_normal((6, DRAW_COUNT))
        skin[:, link] += angles[:, coordinate, None, None] * gains
    skin = skin.reshape(len(q), -1, DRAW_COUNT)
    skeleton = generator.standard_normal((DRAW_COUNT, len(errors.skeleton))) @ errors.skeleton
    joints = skeleton.shape[1] - skin.shape[1]
    steps = np.empty((2 * DRAW_COUNT, len(q), rig.nv))
    first = 0
    for poses in errors.responses(rig, q):
        own = slice(first, first + len(poses.response))
        first = own.stop
        changes = poses.response[:, :, joints:] @ skin[own], poses.response @ skeleton.T
        steps[:, own] = np.concatenate(changes, axis=2).transpose(2, 0, 1)
    for draw, step in enumerate(steps):
        cause, moved = SKIN, rig
        if draw >= DRAW_COUNT:
            shifts = skeleton[draw - DRAW_COUNT, :joints].reshape(-1, 3)
            cause, moved = SKELETON, rig.with_joint_positions(centres + np.vstack([np.zeros(3), shifts]))
        yield cause, moved, smooth_motion(moved, times, integrate(moved, q, step), preset)
