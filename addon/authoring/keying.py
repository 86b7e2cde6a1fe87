"""Keys postures with roles and contacts, and removes generated keys between postures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import bpy
import numpy as np

from ..base import bpy_access
from ..base.change_cache import cached_until_change
from ..base.solver_api import PARTS, Rig, SceneStrip, errors
from ..scene.action import (
    AUTO_CLAMPED,
    BEZIER,
    CHANNELS,
    EULER,
    FIRST_FRAME,
    LINEAR,
    ensure_local_action,
    frame_rate,
    frames_at,
    key_frames,
)
from ..scene.armature import rig_of
from .dance_import import CONTACTS_GROUP, contact_keys
from .pose_sampling import pose_curves
from .timeline import (
    CONTACT_PREFIX,
    FRAME_TOLERANCE,
    GENERATED,
    KEY_TYPE_NUMBERS,
    ROLE_TYPES,
    contact_curves,
    contact_path,
    contact_value,
    motion_range,
    read_key_roles,
    read_keyed_strips,
    read_posture_names,
    read_strips,
    sample_timeline,
    times_at_frames,
)

KEY_FIELDS = {
    **{"co": 2, "handle_left": 2, "handle_right": 2},
    **dict.fromkeys(("handle_left_type", "handle_right_type", "interpolation", "easing", "type"), 1),
    **dict.fromkeys(("select_control_point", "select_left_handle", "select_right_handle"), 1),
    **dict.fromkeys(("amplitude", "back", "period"), 1),
}
"""Properties of a keyframe and their sizes."""
INTEGER_FIELDS = ("handle_left_type", "handle_right_type", "interpolation", "easing", "type")
BOOLEAN_FIELDS = ("select_control_point", "select_left_handle", "select_right_handle")
LISTED_STRIPS = 5
"""Number of strips listed before and after the current frame."""


def current_frame(scene: bpy.types.Scene) -> float:
    """Current frame of a scene, with its fraction."""
    return float(scene.frame_current) + scene.frame_subframe


def key_posture(scene: bpy.types.Scene, body: bpy.types.Object, role: str, *, between: bool = True) -> None:
    """Key all joints of a rig in their current pose, with a role.

    Args:
        scene: scene with the current frame.
        body: a rig.
        role: one of `ROLE_TYPES`.
        between: whether to remove the generated keys up to the neighbouring postures, which led to the old posture.

    Raises:
        InvalidValue: a channel of the rig cannot be keyed.
    """
    rig, frame, kind = rig_of(body), current_frame(scene), ROLE_TYPES[role]
    ensure_local_action(body)
    _refuse_locked(body)
    for link, joint in zip(rig.links, rig.joints, strict=True):
        bone = bpy_access.pose_bones(body)[link]
        channel, _ = CHANNELS.get(bone.rotation_mode, EULER)
        if joint.slides:
            _insert_key(bone, "location", frame=frame, group=link, keytype=kind)
        if joint.kind != "prismatic":
            hinge = joint.hinge and channel == EULER[0]
            for index in hinge_axes(bone) if hinge else [-1]:
                _insert_key(bone, channel, index=index, frame=frame, group=link, keytype=kind)
    set_role(body, role, frame=frame)  # inserting a key at a generated key keeps its type
    if between:
        clear_inbetweens(body, *_neighbours(body, frame))


def _local_curves(body: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Curves of the rig's bones, in an action that can be keyed; empty without an action."""
    if pose_curves(body):
        ensure_local_action(body)
    return pose_curves(body)


def _refuse_locked(body: bpy.types.Object) -> None:
    """Raise an error if channels of the rig are locked, because they would keep their old keys.

    Raises:
        InvalidValue: some channels are locked.
    """
    locked = [curve for curve in pose_curves(body) if curve.lock or (curve.group is not None and curve.group.lock)]
    names = sorted({curve.group.name if curve.group is not None else curve.data_path for curve in locked})
    if names:
        raise errors.InvalidValue(
            f"no posture was keyed: channels of {', '.join(names)} are locked; unlock them in the Dope Sheet"
        )


def _insert_key(owner: bpy.types.PoseBone | bpy.types.Object, path: str, **key: Any) -> None:
    """Insert a key; Blender can fail to do so without an error.

    Raises:
        InvalidValue: no key was inserted.
    """
    if not owner.keyframe_insert(path, **key):
        raise errors.InvalidValue(
            f"Blender set no key on {path} of {owner.name}: the channel is locked, baked, or overridden by the NLA"
        )


def hinge_axes(bone: bpy.types.PoseBone) -> list[int]:
    """Indices of a bone's unlocked Euler angles; -1 (all) if all are locked."""
    return [axis for axis in range(3) if not bone.lock_rotation[axis]] or [-1]  # type: ignore[index]


def set_role(body: bpy.types.Object, role: str, *, frame: float | None = None) -> int:
    """Set the role of the keys at a frame, or of the selected keys if the frame is None; returns their number.

    Generated keys become ordinary keys.
    """
    kind, count = KEY_TYPE_NUMBERS[ROLE_TYPES[role]], 0
    for curve in _local_curves(body):
        types, selected = _read_key_field(curve, "type"), _read_key_field(curve, "select_control_point") > 0
        chosen = selected if frame is None else np.abs(key_frames(curve) - frame) < FRAME_TOLERANCE
        if chosen.any():
            soft = _read_key_field(curve, "interpolation")
            types[chosen], soft[chosen] = kind, BEZIER
            curve.keyframe_points.foreach_set("type", types)
            curve.keyframe_points.foreach_set("interpolation", soft)
            curve.update()
            count += int(chosen.sum())
    return count


def next_posture(scene: bpy.types.Scene, body: bpy.types.Object, *, forward: bool) -> float | None:
    """Frame of the next or previous posture; None if there is none."""
    frames, frame = list(read_key_roles(body)), current_frame(scene)
    after = [key for key in frames if key > frame + FRAME_TOLERANCE]
    before = [key for key in frames if key < frame - FRAME_TOLERANCE]
    if forward:
        return after[0] if after else None
    return before[-1] if before else None


def posture_name_at_frame(scene: bpy.types.Scene, body: bpy.types.Object) -> str:
    """Name of the posture at the current frame; empty without one."""
    return read_posture_names(body).get(scene.frame_current, "")


def name_posture(scene: bpy.types.Scene, body: bpy.types.Object, name: str) -> None:
    """Name the posture at the current frame; an empty name removes its marker.

    Raises:
        InvalidValue: nothing is keyed yet.
    """
    if body.animation_data is None or body.animation_data.action is None:
        raise errors.InvalidValue(f"{body.name!r} has no posture to name: key a posture first")
    action = ensure_local_action(body)
    for marker in [marker for marker in action.pose_markers if marker.frame == scene.frame_current]:
        action.pose_markers.remove(marker)
    if name:
        action.pose_markers.new(name).frame = scene.frame_current


def standing_patches(scene: bpy.types.Scene, body: bpy.types.Object) -> dict[str, str]:
    """Parts, as of a strip, of the patches with contact at the current frame, from the keys."""
    values = {name: contact_value(curve, current_frame(scene)) for name, curve in contact_curves(body).items()}
    return {name: PARTS[value - 1] for name, value in values.items() if value}


def standing_patches_by_motion(scene: bpy.types.Scene, body: bpy.types.Object) -> dict[str, str]:
    """The same, from the keys, or from the motion for patches without keys."""
    known, frame = contact_curves(body), float(times_at_frames(scene, np.array(current_frame(scene))))
    if all(sole.name in known for sole in rig_of(body).soles):
        return standing_patches(scene, body)
    first, last = motion_range(scene, body)
    strips = read_strips(scene, body, min(first, current_frame(scene)), max(last, current_frame(scene)))
    moved = {s.patch: s.part for s in strips if s.patch not in known and s.start - 1e-6 <= frame <= s.stop + 1e-6}
    return standing_patches(scene, body) | moved


def key_contacts(scene: bpy.types.Scene, body: bpy.types.Object, standing: Mapping[str, str]) -> int:
    """Key that only these patches, each with a part of `PARTS`, are in contact from this frame on, until the next key.

    Patches without contact keys are first keyed as the motion has them, so that earlier contacts do not change. At the
    motion's first frame this is not necessary.

    Returns:
        number of patches that were keyed as the motion has them.
    """
    rig, frame = rig_of(body), current_frame(scene)
    unknown = set(standing) - set(rig.patches)
    if unknown:
        raise errors.InvalidValue(f"rig {rig.name!r} has no contact patch {', '.join(sorted(unknown))}")
    known, past = contact_curves(body), frame > motion_range(scene, body)[0] + FRAME_TOLERANCE
    missing = [name for name in rig.patches if name not in known] if past else []
    if missing:
        _key_contacts_by_motion(scene, body, rig, missing)
    for name in rig.patches:
        _key_contact(body, name, frame, 1 + PARTS.index(standing[name]) if name in standing else 0)
    return len(missing)


def key_strips(scene: bpy.types.Scene, body: bpy.types.Object, strips: Iterable[SceneStrip]) -> None:
    """Key the contacts of the whole motion from strips, replacing all contact keys."""
    first, last = motion_range(scene, body)
    span, strip_list = times_at_frames(scene, np.array([first, last])), tuple(strips)
    ensure_local_action(body)
    for name in rig_of(body).patches:
        earlier = contact_curves(body).get(name)
        if earlier is not None:
            earlier.keyframe_points.clear()
        times, values = contact_keys(strip_list, name, *span.tolist())
        for frame, value in zip(frames_at(scene, times), values):
            _key_contact(body, name, float(frame), value)


def nearby_strips(scene: bpy.types.Scene, body: bpy.types.Object) -> list[tuple[SceneStrip, float, bool]]:
    """Keyed strips near the current frame, with their first frame and whether they contain the current frame."""
    found, rate = contact_curves(body), frame_rate(scene)
    sizes = tuple(len(curve.keyframe_points) for curve in found.values())
    played = body.animation_data.action.session_uid if found else 0
    mark = (rate, scene.frame_start, scene.frame_end, sizes, played)
    strips = cached_until_change(
        "contact strips",
        body,
        lambda: _read_sorted_strips(scene, body, found),
        kinds=("ACTION", "ARMATURE"),
        state=mark,
    )
    frames = [FIRST_FRAME + strip.start * rate for strip in strips]
    seconds = (current_frame(scene) - FIRST_FRAME) / rate
    past = sum(strip.start <= seconds for strip in strips)
    near = slice(max(past - LISTED_STRIPS, 0), past + LISTED_STRIPS)
    return [
        (strip, frame, strip.start - 1e-6 <= seconds < strip.stop) for strip, frame in zip(strips[near], frames[near])
    ]


def _read_sorted_strips(
    scene: bpy.types.Scene, body: bpy.types.Object, found: dict[str, bpy.types.FCurve]
) -> list[SceneStrip]:
    strips = read_keyed_strips(scene, rig_of(body), found, *motion_range(scene, body))
    return sorted(strips, key=lambda strip: (strip.start, strip.patch))


def clear_inbetweens(body: bpy.types.Object, first: float, last: float, *, selected: bool = False) -> int:
    """Remove the generated keys between two frames, or only the selected ones; returns their number.

    The postures stay, and Blender interpolates between them.
    """
    count = 0
    for curve in _local_curves(body):
        frames, types = key_frames(curve), _read_key_field(curve, "type")
        removed = (
            (types == KEY_TYPE_NUMBERS[GENERATED])
            & (frames > first - FRAME_TOLERANCE)
            & (frames < last + FRAME_TOLERANCE)
        )
        if selected:
            removed &= _read_key_field(curve, "select_control_point") > 0
        if removed.any():
            _filter_keys(curve, ~removed)
            count += int(removed.sum())
    return count


def has_keys_between(body: bpy.types.Object, first: float, last: float) -> bool:
    """Whether a bone has keys of a recording, or generated ones, between two frames."""
    for curve in pose_curves(body):
        frames = key_frames(curve)
        if ((frames > first + FRAME_TOLERANCE) & (frames < last - FRAME_TOLERANCE)).any():
            return True
    return False


def add_generated_keys(curve: bpy.types.FCurve, frames: np.ndarray, values: np.ndarray) -> None:
    """Add generated keys to a curve at frames (K,) where it has none."""
    count = len(frames)
    points = np.stack([frames, values], axis=1)
    added = {name: np.zeros((count, size)) for name, size in KEY_FIELDS.items()}
    added |= {"co": points, "handle_left": points, "handle_right": points}
    added["type"][:] = KEY_TYPE_NUMBERS[GENERATED]
    added["interpolation"][:] = LINEAR
    for name in ("handle_left_type", "handle_right_type"):
        added[name][:] = AUTO_CLAMPED
    before = {name: _read_key_field(curve, name) for name in KEY_FIELDS}
    order = np.argsort(np.concatenate([before["co"].reshape(-1, 2)[:, 0], frames]), kind="stable")
    curve.keyframe_points.add(count)
    for name, size in KEY_FIELDS.items():
        old = before[name].reshape(-1, size)
        values_of_all = np.concatenate([old, added[name].astype(old.dtype)])[order]
        curve.keyframe_points.foreach_set(name, values_of_all.ravel())
    curve.update()


def _neighbours(body: bpy.types.Object, frame: float) -> tuple[float, float]:
    """Frames of the postures before and after a frame; infinite if there is none."""
    frames = list(read_key_roles(body))
    before = [key for key in frames if key < frame - FRAME_TOLERANCE]
    after = [key for key in frames if key > frame + FRAME_TOLERANCE]
    return (before[-1] if before else -np.inf), (after[0] if after else np.inf)


def _read_key_field(curve: bpy.types.FCurve, name: str) -> np.ndarray:
    kind = np.int32 if name in INTEGER_FIELDS else bool if name in BOOLEAN_FIELDS else np.float32
    values = np.empty(KEY_FIELDS[name] * len(curve.keyframe_points), kind)
    curve.keyframe_points.foreach_get(name, values)
    return values


def _filter_keys(curve: bpy.types.FCurve, keep: np.ndarray) -> None:
    """Keep the selected keys of a curve. Removing keys one by one would take a second per thousand."""
    parts = {name: _read_key_field(curve, name).reshape(len(keep), -1)[keep].ravel() for name in KEY_FIELDS}
    curve.keyframe_points.clear()
    curve.keyframe_points.add(int(keep.sum()))
    for name, values in parts.items():
        curve.keyframe_points.foreach_set(name, values)
    curve.update()


def _key_contacts_by_motion(scene: bpy.types.Scene, body: bpy.types.Object, rig: Rig, names: list[str]) -> None:
    first, last = motion_range(scene, body)
    strips = sample_timeline(scene, body, first, last).strips
    for name in names:
        patch_strips = [strip for strip in strips if strip.patch == name]
        _key_contact(
            body, name, first, bool(patch_strips) and patch_strips[0].start <= 1e-6 + (first - 1.0) / frame_rate(scene)
        )
        for strip in patch_strips:
            start, stop = (float(frame) for frame in frames_at(scene, np.array([strip.start, strip.stop])))
            _key_contact(body, name, max(start, first), True)
            if stop < last - FRAME_TOLERANCE:
                _key_contact(body, name, stop, False)


def _key_contact(body: bpy.types.Object, name: str, frame: float, value: float) -> None:
    body[CONTACT_PREFIX + name] = float(value)
    parts = ", ".join(f"{number}: {part}" for number, part in enumerate(PARTS, start=1))
    ui = body.id_properties_ui(CONTACT_PREFIX + name)
    meaning = f"What of {name} touches the floor from this key on. 0: nothing, {parts}"
    ui.update(min=0.0, max=len(PARTS), description=meaning)
    ensure_local_action(body)
    _insert_key(body, contact_path(name), frame=frame, group=CONTACTS_GROUP)
    for point in contact_curves(body)[name].keyframe_points:
        point.interpolation = "CONSTANT"
