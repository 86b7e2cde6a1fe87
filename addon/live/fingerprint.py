"""Fingerprint of everything that the live check depends on, to detect changes without relying on events."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np

from .. import bpy_access, convert
from ..action import curves_of, frame_rate
from ..inertials import rig_with_inertials

BEZIER = 2
"""Number, in `Keyframe.interpolation`, of the only interpolation that uses handles."""
HANDLES = (("handle_left", 2, np.float32), ("handle_right", 2, np.float32))
KEY_FIELDS = (("co", 2, np.float32),
              ("interpolation", 1, np.int32), ("easing", 1, np.int32), ("type", 1, np.int32))  # fmt: skip
CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")


def fingerprint(scene: bpy.types.Scene, body: bpy.types.Object, options: Mapping[str, object]) -> int:
    """A number that changes with the timeline, the inertial parameters or the settings, but not with the frame."""
    preview = (scene.frame_preview_start, scene.frame_preview_end) if scene.use_preview_range else ()
    parts: list[object] = [scene.frame_start, scene.frame_end, preview, frame_rate(scene), tuple(options.items())]
    animated = set()
    for curve in curves_of(body):
        animated.add((curve.data_path, curve.array_index))
        fields = {name: _key_numbers(curve, name, width, kind) for name, width, kind in KEY_FIELDS}
        if (fields["interpolation"] == BEZIER).any():
            fields |= {name: _key_numbers(curve, name, width, kind) for name, width, kind in HANDLES}
        parts += [values.tobytes() for values in fields.values()]
        parts += [curve.data_path, curve.array_index, curve.mute, curve.extrapolation, len(curve.modifiers)]
    parts += [rig_with_inertials(body), _object_matrix(body), *_unkeyed_values(body, animated), *_pose_markers(body)]
    return hash(tuple(parts))


def _key_numbers(curve: bpy.types.FCurve, name: str, width: int, kind: type) -> np.ndarray:
    values: np.ndarray = np.empty(width * len(curve.keyframe_points), kind)
    curve.keyframe_points.foreach_get(name, values)
    return values


def _object_matrix(body: bpy.types.Object) -> tuple[float, ...]:
    """Transform of the object, unless curves animate it."""
    return tuple(convert.to_array(body.matrix_basis).ravel().tolist()) if not _has_object_curves(body) else ()


def _has_object_curves(body: bpy.types.Object) -> bool:
    return any(curve.data_path.startswith(("location", "rotation", "scale", "delta")) for curve in curves_of(body))


def _unkeyed_values(body: bpy.types.Object, animated: set[tuple[str, int]]) -> list[object]:
    """Values of bones that no curve animates."""
    found: list[object] = []
    for bone in bpy_access.pose_bones(body):
        found.append((bone.rotation_mode, len(bone.constraints), sum(c.mute for c in bone.constraints)))
        path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
        for channel in CHANNELS:
            values = getattr(bone, channel)
            found += [v for k, v in enumerate(values) if (f"{path}.{channel}", k) not in animated]
    return found


def _pose_markers(body: bpy.types.Object) -> list[object]:
    action = body.animation_data.action if body.animation_data else None
    return [] if action is None else [(marker.frame, marker.name) for marker in action.pose_markers]
