"""Reduces the keys of a recorded action, in a copy that an animator can edit."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

import bpy
import numpy as np

from ..base.bpy_access import require
from ..base.solver_api import central_slopes, select_keys
from .action import BEZIER, SAMPLED, assign_action, curves_of, key_frames

ALIGNED = 3
"""Number of the handle type Aligned in `Keyframe.handle_left_type`."""
BONE_PATH = "pose.bones["
LOCATION_PATH = ".location"


def reduce_keys(body: bpy.types.Object, angle: float, distance: float) -> tuple[int, int]:
    """Give a body a copy of its action with fewer keys.

    Args:
        body: rig with an action.
        angle: [rad] largest change of a bone's rotation at any earlier key.
        distance: [m] largest change of a bone's location.

    Returns:
        number of keys before and after.
    """
    animation = require(body.animation_data, "animation")
    recorded = require(animation.action, "action")
    slot = require(animation.action_slot, "slot").identifier
    recorded.use_fake_user = True
    made = require(recorded.copy(), "copy of the action")
    made.name = f"{recorded.name} edited"
    for key in list(made.keys()):
        del made[key]
    assign_action(body, made, made.slots[slot])
    bones = [curve for curve in curves_of(body) if curve.data_path.startswith(BONE_PATH)]
    before = now = 0
    for path, group in groupby(sorted(bones, key=attrgetter("data_path")), attrgetter("data_path")):
        curves = list(group)
        frames = key_frames(curves[0])
        before += sum(len(curve.keyframe_points) for curve in curves)
        if len(frames) > 2 and all(np.array_equal(key_frames(curve), frames) for curve in curves):
            values = np.stack([_key_values(curve) for curve in curves], axis=1)
            # a quaternion's components change by half the angle
            allowed = distance if path.endswith(LOCATION_PATH) else angle / (2.0 if len(curves) == 4 else 1.0)
            kept, slopes = select_keys(frames, values, allowed), central_slopes(frames, values)
            for column, curve in enumerate(curves):
                _replace_keys(curve, frames[kept], values[kept, column], slopes[kept, column])
        now += sum(len(curve.keyframe_points) for curve in curves)
    return before, now


def _key_values(curve: bpy.types.FCurve) -> np.ndarray:
    both = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", both)
    return both[1::2].astype(float)


def _replace_keys(curve: bpy.types.FCurve, frames: np.ndarray, values: np.ndarray, derivatives: np.ndarray) -> None:
    """Replace a curve's keys by cubics: handles at a third of the interval, along the derivative."""
    points = curve.keyframe_points
    points.clear()
    points.add(len(frames))
    after = np.diff(frames, append=frames[-1] + 1.0) / 3.0
    back = np.diff(frames, prepend=frames[0] - 1.0) / 3.0
    handles = {"handle_left": -back, "co": np.zeros_like(back), "handle_right": after}
    count = len(frames)
    points.foreach_set("interpolation", np.full(count, BEZIER, np.int32))
    points.foreach_set("type", np.full(count, SAMPLED, np.int32))
    for side in ("left", "right"):
        points.foreach_set(f"handle_{side}_type", np.full(count, ALIGNED, np.int32))
    for name, away in handles.items():
        points.foreach_set(
            name, np.stack([frames + away, values + away * derivatives], axis=1).astype(np.float32).ravel()
        )
    curve.update()
