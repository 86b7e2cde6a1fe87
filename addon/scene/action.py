"""Motions and recordings as actions: inserts many keys at once, on Blender 5.x and 4.5."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np
from bpy_extras import anim_utils

from ..base import bpy_access, convert
from ..base.scene_rigs import assigning_problem
from ..base.solver_api import SceneMotion, errors
from .armature import bone_axes, rig_of
from .character_bones import require_posable

FIRST_FRAME = 1.0
"""The frame at which time is zero."""
LAST_FRAME = 1_048_574.0
"""Blender's last frame number."""
LINEAR, CONSTANT, BEZIER = 1, 0, 2
"""Numbers of the interpolation types in `Keyframe.interpolation`. Measured curves are dense enough for linear."""

SAMPLED, GENERATED, AUTO_CLAMPED = 3, 5, 4
"""Numbers of the key types in `Keyframe.type` for recorded keys (Jitter, Blender's type for baked keys) and for keys
that the solver generated between postures, and of the handle type in `Keyframe.handle_left_type`."""


def frame_rate(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return scene.render.fps / scene.render.fps_base


def set_frame_rate(scene: bpy.types.Scene, rate: float) -> None:
    """Set the frame rate [1/s], which need not be an integer."""
    scene.render.fps = max(1, round(rate))
    scene.render.fps_base = scene.render.fps / rate


def can_change_frame_rate(scene: bpy.types.Scene, excluding: Iterable[bpy.types.Object] = ()) -> bool:
    """Whether nothing but the excluded objects is animated, so that another frame rate changes no other motion."""
    excepted = {item.session_uid for item in excluding}
    return not any(curves_of(item) for item in scene.objects if item.session_uid not in excepted)


def frames_at(scene: bpy.types.Scene, times: np.ndarray) -> np.ndarray:
    """Frame numbers of times [s]. They are fractional where the rates differ, so that nothing is resampled."""
    return FIRST_FRAME + np.asarray(times) * frame_rate(scene)


def current_time(scene: bpy.types.Scene) -> float:
    """Time [s] of the scene's current frame; the inverse of `frames_at`."""
    return (scene.frame_current + scene.frame_subframe - FIRST_FRAME) / frame_rate(scene)


def frame_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame of a scene's preview range if it is used, otherwise of its range."""
    preview = scene.frame_preview_start, scene.frame_preview_end
    return preview if scene.use_preview_range else (scene.frame_start, scene.frame_end)


def moving_frames(scene: bpy.types.Scene, item: bpy.types.Object) -> range:
    """Frames in which an object moves: the preview range if it is used, else from the first to the last key or NLA
    strip, else the scene's range; by the scene's frame step."""
    tracks = item.animation_data.nla_tracks if item.animation_data else ()
    ends = [(strip.frame_start, strip.frame_end) for track in tracks if not track.mute for strip in track.strips]
    ends += [(curve.keyframe_points[0].co.x, curve.keyframe_points[-1].co.x) for curve in curves_of(item)]
    if scene.use_preview_range or not ends:
        ends = [frame_range(scene)]
    first, last = min(end[0] for end in ends), max(end[1] for end in ends)
    return range(int(np.floor(first)), int(np.ceil(last)) + 1, scene.frame_step)


def set_frame_range(scene: bpy.types.Scene, first: float, last: float) -> None:
    """Set the scene's range to these frames and go to the first."""
    scene.frame_start, scene.frame_end = (
        int(np.floor(_clip_frame(first) + 1e-3)),
        int(np.ceil(_clip_frame(last) - 1e-3)),
    )
    scene.frame_set(scene.frame_start)


def set_frame(scene: bpy.types.Scene, frame: float) -> None:
    """Go to a frame, which may be fractional."""
    whole = np.floor(_clip_frame(frame))
    scene.frame_set(int(whole), subframe=float(_clip_frame(frame) - whole))


def _clip_frame(frame: float) -> float:
    """Clip a frame to the range that Blender supports."""
    return float(np.clip(np.nan_to_num(frame), -LAST_FRAME, LAST_FRAME))


CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
"""Rotation property of a bone and its size by rotation mode. All other modes are orders of Euler angles."""
EULER = ("rotation_euler", 3)


class ActionCurves:
    """An action's curves for one object. Several objects may share the action, each with its own slot.

    The action is assigned to the target object; a target of None leaves all assignments unchanged.
    """

    def __init__(
        self, action: bpy.types.Action, target: bpy.types.Object | None, slot: bpy.types.ActionSlot | None = None
    ) -> None:
        if slot is None:
            slot = action.slots.new(id_type="OBJECT", name=bpy_access.require(target, "object").name)
        if target is not None:
            assign_action(target, action, slot)
        self.action = action
        self._bag = _channelbag(action, slot)
        self._curves = self._bag.fcurves

    def add(
        self,
        path: str,
        frames: np.ndarray,
        values: np.ndarray,
        *,
        group: str = "",
        index: int = 0,
        interpolation: int = LINEAR,
    ) -> None:
        """Key a property with values (N, C), one curve per component from ``index`` on; NaN leaves a gap."""
        values = np.asarray(values, float).reshape(len(frames), -1)
        for component in range(values.shape[1]):
            keep = np.isfinite(values[:, component])
            curve = self._curves.new(path, index=index + component)
            if group:
                curve.group = self._group(group)
            curve.keyframe_points.add(int(keep.sum()))
            keys = np.stack([frames[keep], values[keep, component]], axis=1)
            curve.keyframe_points.foreach_set("co", keys.astype(np.float32).ravel())
            curve.keyframe_points.foreach_set("interpolation", np.full(len(keys), interpolation, np.int32))
            curve.update()

    def remove(self, paths: set[str]) -> None:
        """Remove the curves with these data paths."""
        for curve in [curve for curve in self._curves if curve.data_path in paths]:
            self._curves.remove(curve)

    def set_key_types(self, frames: np.ndarray, types: np.ndarray, paths: set[str] | None = None) -> None:
        """Set the key types (K,), as numbers, of all curves that have a key at each of these frames (K,).

        Keys of postures get Bezier interpolation, recorded and generated keys, which are dense, linear interpolation.

        Args:
            frames: (K,) of the keys.
            types: (K,) numbers of `Keyframe.type`.
            paths: data paths of the curves; None for all.
        """
        soft = np.where(np.isin(types, (SAMPLED, GENERATED)), LINEAR, BEZIER).astype(np.int32)
        handles = np.full(len(frames), AUTO_CLAMPED, np.int32)
        for curve in self._curves:
            if (paths is None or curve.data_path in paths) and len(curve.keyframe_points) == len(frames):
                points = curve.keyframe_points
                points.foreach_set("type", types)
                points.foreach_set("interpolation", soft)
                points.foreach_set("handle_left_type", handles)
                points.foreach_set("handle_right_type", handles)
                curve.update()

    def _group(self, name: str) -> bpy.types.ActionGroup:
        groups = self._bag.groups
        return groups.get(name) or groups.new(name)


def assign_action(item: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot | None) -> None:
    """Let an object play an action.

    Raises:
        InvalidValue: the object is in tweak mode, in which Blender lets nothing replace the strip's action.
    """
    if problem := assigning_problem(item):
        raise errors.InvalidValue(f"{item.name} cannot get the action {action.name!r}: {problem}")
    animation = item.animation_data or item.animation_data_create()
    animation.action, animation.action_slot = action, slot


def ensure_local_action(item: bpy.types.Object) -> bpy.types.Action:
    """An object's action that can be keyed: a new one if it has none, a local copy if its action is linked.

    A library override still uses the action of its library, and Blender does not key linked actions.
    """
    animation = item.animation_data or item.animation_data_create()
    played = animation.action
    if played is None:  # Blender's default name would duplicate the object's name
        animation.action = bpy.data.actions.new(f"{item.name} dance")
    elif played.library is not None or played.override_library is not None:
        slot, made = animation.action_slot, bpy_access.local_copy(played)
        assign_action(item, made, None if slot is None else made.slots[slot.identifier])
    return bpy_access.require(animation.action, "action")


def curves_of(item: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Curves of an object's current action; empty without an action."""
    return [] if item.animation_data is None else curves_in(item.animation_data.action, item.animation_data.action_slot)


def curves_in(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None) -> list[bpy.types.FCurve]:
    """Curves of an action's slot; empty without one."""
    bag = None if action is None or slot is None else anim_utils.action_get_channelbag_for_slot(action, slot)
    return [] if bag is None else list(bag.fcurves)


def key_frames(curve: bpy.types.FCurve) -> np.ndarray:
    """Frames (K,) of a curve's keys."""
    both = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", both)
    return both[::2].astype(float)


def add_motion_action(
    scene: bpy.types.Scene, armature: bpy.types.Object, motion: SceneMotion, name: str
) -> bpy.types.Action:
    """Add a recorded motion of a rig as an action of its armature; the keys are samples, not postures.

    Raises:
        InvalidValue: the motion belongs to another rig.
    """
    rig = rig_of(armature)
    if motion.links != rig.links:
        raise errors.InvalidValue(f"motion {name!r} has other links than the rig {rig.name!r}")
    action = bpy.data.actions.new(name)
    curves, frames = ActionCurves(action, armature), frames_at(scene, motion.times)
    key_motion(curves, armature, motion, frames)
    curves.set_key_types(frames, np.full(len(frames), SAMPLED, np.int32))
    return action


def key_motion(curves: ActionCurves, armature: bpy.types.Object, motion: SceneMotion, frames: np.ndarray) -> None:
    """Key the bone of every link with a motion of its rig, in the bone's rotation mode.

    Raises:
        InvalidValue: something else moves the bones of a character.
    """
    rig = rig_of(armature)
    require_posable(armature, rig)
    rest, axes = convert.rest_matrices(rig), bone_axes(armature, rig)
    for index, (link, joint) in enumerate(zip(rig.links, rig.joints, strict=True)):
        bone = f'pose.bones["{bpy.utils.escape_identifier(link)}"]'
        root = rest[0] if index == 0 else None
        shift = motion.root if index == 0 else motion.translations[:, index]
        rotation, location = convert.pose_basis(motion.rotations[:, index], shift, axes[index], root)
        if joint.slides:
            curves.add(f"{bone}.location", frames, location, group=link)
        mode = bpy_access.pose_bones(armature)[link].rotation_mode
        if joint.hinge and mode not in CHANNELS:
            axis, sign = convert.hinge_axis(axes[index], joint.axes[0])
            angles = sign * convert.hinge_angles(motion.rotations[:, index], joint.axes[0])
            curves.add(f"{bone}.rotation_euler", frames, angles, group=link, index=axis)
        elif joint.kind != "prismatic":
            channel, _ = CHANNELS.get(mode, EULER)
            curves.add(f"{bone}.{channel}", frames, convert.channel_values(mode, rotation), group=link)


def _channelbag(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> bpy.types.ActionChannelbag:
    if hasattr(anim_utils, "action_ensure_channelbag_for_slot"):
        return anim_utils.action_ensure_channelbag_for_slot(action, slot)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")  # Blender 4.5
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    assert isinstance(strip, bpy.types.ActionKeyframeStrip)
    return bpy_access.require(strip.channelbag(slot, ensure=True), "channelbag")
