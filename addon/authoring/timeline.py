"""Reads the timeline of a rig as values: keys with roles, contact strips, and sampled poses.

Roles are Blender's keyframe types, so that the Dope Sheet displays and sets them. Contact of a patch with the floor is
a keyed custom property of the armature object: 0 without contact, else the number in `PARTS`, from 1, of what touches:
the whole patch (1), or the heel, ball or toes of a sole that rolls. Names of postures are pose markers of the action.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import pairwise

import bpy
import numpy as np

from ..base import bpy_access, convert
from ..base.bpy_access import find_by_session_id, run_at_once, session_id
from ..base.solver_api import PARTS, Rig, SceneKey, SceneStrip, SceneTimeline, errors, flights_between_strips, so3
from ..scene.action import FIRST_FRAME, curves_of, frame_range, frame_rate, frames_at, key_frames
from ..scene.armature import require_unscaled, rig_of
from ..scene.check_settings import read_checks
from ..scene.inertials import rig_with_inertials
from .pose_sampling import evaluate_curves, evaluated_links, pose_curves, step_frames
from .pose_sampling import needs_frame_stepping as needs_frame_stepping

ROLE_TYPES = {"fixed": "EXTREME", "preferred": "KEYFRAME", "free": "BREAKDOWN"}
"""Keyframe type of each role, most binding first; other types count as preferred."""
GENERATED, SAMPLED = "GENERATED", "JITTER"
"""Keyframe types of keys that the solver generated, and of samples of a recording; neither are postures."""
KEY_TYPE_NUMBERS = {"KEYFRAME": 0, "EXTREME": 1, "BREAKDOWN": 2, SAMPLED: 3, "MOVING_HOLD": 4, GENERATED: 5}
"""Numbers of the keyframe types in `Keyframe.type`."""
ROLE_RANKS = np.array([1, 0, 2, 1, 1, 1])
"""Rank in `ROLE_TYPES` of the role of each keyframe type number."""
CONTACT_PREFIX = "on floor: "
"""Prefix, before the patch's name, of a custom property of the armature object."""
FRAME_TOLERANCE = 0.01
"""Keys closer than this are simultaneous, because a curve's frames have single precision."""
EDGE_TOLERANCE = 1e-4
"""An edge of a strip this close to a frame is at the frame; in a jump, 0.01 frames change the force by 10 %."""
NEAR_FLOOR = 0.08
"""Height, as a fraction of the leg length, below which a sole without a contact curve counts as on the floor."""
FLIGHT_MARGIN = 0.1
"""[s] Time before a take-off and after a landing in which keys lie between frames, because the leg forces end and
begin within hundredths of a second."""
MAX_FRAMES = 400_000
"""Largest number of frames, about an hour at 100 Hz. More frames mean a misplaced key, and take minutes to sample."""
GROUND = 0.0
"""[m] Height of the floor."""


def contact_path(patch: str) -> str:
    """Data path of a patch's contact curve on the armature object."""
    return f'["{bpy.utils.escape_identifier(CONTACT_PREFIX + patch)}"]'


def times_at_frames(scene: bpy.types.Scene, frames: np.ndarray) -> np.ndarray:
    """Times [s] of frames; the inverse of `action.frames_at`."""
    return (np.asarray(frames, float) - FIRST_FRAME) / frame_rate(scene)


def contact_curves(armature: bpy.types.Object) -> dict[str, bpy.types.FCurve]:
    """Contact curves by patch."""
    found = {curve.data_path: curve for curve in curves_of(armature)}
    paths = {name: contact_path(name) for name in rig_of(armature).patches}
    return {name: found[path] for name, path in paths.items() if path in found}


def read_key_roles(armature: bpy.types.Object) -> dict[float, str]:
    """Roles of postures by frame, in order; the most binding role of all keys at a frame."""
    return merge_roles(posture_keys(curve) for curve in pose_curves(armature))


def posture_keys(curve: bpy.types.FCurve) -> tuple[np.ndarray, np.ndarray]:
    """Frames (K,) and type numbers (K,) of a curve's keys that belong to postures."""
    kind = np.empty(len(curve.keyframe_points), np.int32)
    curve.keyframe_points.foreach_get("type", kind)
    keep = (kind != KEY_TYPE_NUMBERS[GENERATED]) & (kind != KEY_TYPE_NUMBERS[SAMPLED])
    if not keep.any():  # most curves of a recording have no posture, and reading their frames would double the time
        return np.zeros(0), np.zeros(0, np.int32)
    return key_frames(curve)[keep], kind[keep]


def merge_roles(keys: Iterable[tuple[np.ndarray, np.ndarray]]) -> dict[float, str]:
    """Roles of postures by frame, in order, from the posture keys of each curve."""
    parts = [(np.zeros(0), np.zeros(0, np.int32)), *keys]
    frames, kinds = (np.concatenate(part) for part in zip(*parts))
    if not len(frames):
        return {}
    order = np.argsort(frames, kind="stable")
    frames, ranks = frames[order], ROLE_RANKS[kinds[order]]
    starts = np.flatnonzero(np.diff(frames, prepend=-np.inf) > FRAME_TOLERANCE)
    names = list(ROLE_TYPES)
    most_binding = np.minimum.reduceat(ranks, starts)
    return {_round_frame(frame): names[rank] for frame, rank in zip(frames[starts], most_binding)}


def read_keys(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[SceneKey, ...]:
    """The keyed postures."""
    names, roles = read_posture_names(armature), read_key_roles(armature)
    times = times_at_frames(scene, np.array(list(roles)))
    return tuple(
        SceneKey(float(time), role, names.get(round(frame), "")) for time, (frame, role) in zip(times, roles.items())
    )


def read_posture_names(armature: bpy.types.Object) -> dict[int, str]:
    """Names of postures by frame, from the pose markers of the action."""
    action = armature.animation_data.action if armature.animation_data else None
    return {marker.frame: marker.name for marker in action.pose_markers} if action else {}


def motion_range(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[float, float]:
    """First and last frame of the rig's motion; the scene's range if no bone has two keys."""
    ends = [
        (curve.keyframe_points[0].co.x, curve.keyframe_points[-1].co.x)
        for curve in pose_curves(armature)
        if len(curve.keyframe_points)
    ]
    first, last = (min(end[0] for end in ends), max(end[1] for end in ends)) if ends else (0.0, 0.0)
    if last - first < 1.0:
        return float(scene.frame_start), float(scene.frame_end)
    return _round_frame(first), _round_frame(last)


def read_strips(
    scene: bpy.types.Scene, armature: bpy.types.Object, first: float, last: float
) -> tuple[SceneStrip, ...]:
    """Contact strips between two frames, from contact keys, or from the motion for soles without keys.

    Patches that are not soles need keys: a hand that passes near the floor does not support the body.
    """
    rig, found = rig_of(armature), contact_curves(armature)
    if all(sole.name in found for sole in rig.soles):
        return read_keyed_strips(scene, rig, found, first, last)
    return sample_timeline(scene, armature, first, last).strips


def flight_spans(scene: bpy.types.Scene, strips: Iterable[SceneStrip]) -> list[tuple[float, float]]:
    """Ranges of integer frames around every flight, in which keys may lie between frames."""
    flights = np.array(flights_between_strips((strip.start, strip.stop) for strip in strips)).reshape(-1, 2)
    first, last = (
        np.floor(frames_at(scene, flights[:, 0] - FLIGHT_MARGIN)),
        np.ceil(frames_at(scene, flights[:, 1] + FLIGHT_MARGIN)),
    )
    return list(zip(first.tolist(), last.tolist()))


def sample_timeline(
    scene: bpy.types.Scene, armature: bpy.types.Object, first: float | None = None, last: float | None = None
) -> SceneTimeline:
    """The rig's motion with its keys and strips, as `sample_in_steps` finds it, without a break."""
    return run_at_once(sample_in_steps(scene, armature, first, last))


def sample_in_steps(
    scene: bpy.types.Scene, armature: bpy.types.Object, first: float | None = None, last: float | None = None
) -> Generator[float, None, SceneTimeline]:
    """The rig's motion with its keys and strips. Yields the fraction done; between steps, undo may exchange all data.

    Args:
        scene: scene with the frame rate.
        armature: a rig.
        first, last: frames; by default the scene's (preview) range.

    Returns:
        poses at both ends, at all integer frames, and at keys between frames, which replace the nearest frame; around
        flights also at generated keys.

    Raises:
        InvalidValue: the object is not a rig, last is not after first, or the rig was changed in the meantime.
    """
    rig, span = rig_of(armature), _frame_range(scene, first, last)
    require_unscaled(armature)
    keyed = dict(zip(read_key_roles(armature), read_keys(scene, armature)))
    keyed = {frame: key for frame, key in keyed.items() if span[0] <= frame <= span[1]}
    frames = _sample_frames(span, [*keyed, *_generated_flight_frames(scene, armature, rig, span)])
    if needs_frame_stepping(armature):
        where, own = session_id(scene), session_id(armature)
        poses = yield from step_frames(scene, armature, rig, frames)
        scene, armature = find_by_session_id(bpy.data.scenes, where), find_by_session_id(bpy.data.objects, own)
    else:
        poses = evaluate_curves(scene, armature, rig, frames)
    return _build_timeline(scene, armature, rig, frames, poses, tuple(keyed.values()))


def sample_posture(context: bpy.types.Context, armature: bpy.types.Object) -> SceneTimeline:
    """The displayed pose as a timeline of one frame; it need not be keyed."""
    scene, rig = bpy_access.scene(context), rig_of(armature)
    require_unscaled(armature)
    rotations, origins = evaluated_links(context.evaluated_depsgraph_get(), armature, rig)
    frames = np.array([scene.frame_current + scene.frame_subframe])
    return _build_timeline(
        scene, armature, rig, frames, convert.joint_movements(rig, rotations[None], origins[None]), ()
    )


def _build_timeline(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    rig: Rig,
    frames: np.ndarray,
    poses: tuple[np.ndarray, np.ndarray],
    keys: tuple[SceneKey, ...],
) -> SceneTimeline:
    rotations, translations = so3.continuous_signs(poses[0]), np.array(poses[1])
    found = contact_curves(armature)
    strips = [*read_keyed_strips(scene, rig, found, frames[0], frames[-1])]
    times = times_at_frames(scene, frames)
    soles = [sole.name for sole in rig.soles if sole.name not in found]
    strips += _strips_by_motion(rig, times, rotations, translations, soles)
    root = translations[:, 0].copy()
    for link, joint in enumerate(rig.joints):
        if not joint.slides or link == 0:
            translations[:, link] = 0.0
    action = armature.animation_data.action if armature.animation_data else None
    return SceneTimeline(
        name=action.name if action else armature.name,
        rig=rig_with_inertials(armature),
        times=times,
        root=root,
        rotations=rotations,
        translations=translations,
        keys=keys,
        strips=tuple(strips),
        ground=GROUND,
        checks=read_checks(armature),
    )


def read_keyed_strips(
    scene: bpy.types.Scene, rig: Rig, found: dict[str, bpy.types.FCurve], first: float, last: float
) -> tuple[SceneStrip, ...]:
    """Strips between two frames of the patches with contact curves."""
    strips = []
    for name in rig.patches:
        if name in found:
            keys = np.array([_round_frame(frame, EDGE_TOLERANCE) for frame in key_frames(found[name])])
            inside = keys[(keys > first + FRAME_TOLERANCE) & (keys < last - FRAME_TOLERANCE)]
            edges = np.array([first, *inside, last])
            values = [contact_value(found[name], frame) for frame in edges[:-1]]
            strips += _runs(name, times_at_frames(scene, edges), np.array(values, int))
    return tuple(strips)


def _strips_by_motion(
    rig: Rig, times: np.ndarray, rotations: np.ndarray, translations: np.ndarray, names: list[str]
) -> list[SceneStrip]:
    """Strips in which the motion has a sole on the floor."""
    if not names:
        return []
    link_rotations, origins = convert.link_poses(rig, rotations, translations)
    strips = []
    for patch in rig.soles:
        if patch.name in names:
            index = rig.index(patch.link)
            heights = link_rotations[:, index, 2] @ patch.vertices.T + origins[:, index, 2:]
            on = heights.mean(axis=1) < GROUND + NEAR_FLOOR * rig.leg_length
            strips += _runs(patch.name, times, (on[:-1] | on[1:] if len(on) > 1 else on).astype(int))
    return strips


def _runs(patch: str, times: np.ndarray, values: np.ndarray) -> list[SceneStrip]:
    """Strips of runs of intervals with one value of the contact; for a single time, of no duration."""
    edges = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan))
    runs = [(start, min(stop, len(times) - 1), values[start]) for start, stop in pairwise(edges.tolist())]
    return [SceneStrip(patch, float(times[a]), float(times[b]), PARTS[value - 1]) for a, b, value in runs if value]


def contact_value(curve: bpy.types.FCurve, frame: float) -> int:
    """Number in `PARTS`, from 1, of what touches from a frame on; 0 without contact."""
    return min(max(round(curve.evaluate(frame + FRAME_TOLERANCE)), 0), len(PARTS))


def _frame_range(scene: bpy.types.Scene, first: float | None, last: float | None) -> tuple[float, float]:
    start, stop = frame_range(scene)
    span = float(start if first is None else first), float(stop if last is None else last)
    if not span[1] > span[0]:
        raise errors.InvalidValue(
            f"frames {span[0]:g} to {span[1]:g} are not a range: the last frame must follow the first"
        )
    if span[1] - span[0] > MAX_FRAMES:
        far, count = max(span, key=abs), f"{span[1] - span[0]:.0f} frames, {MAX_FRAMES} are the most"
        raise errors.InvalidValue(f"the dance has {count}: delete the key at frame {far:.0f}, or shorten the range")
    return span


def _sample_frames(span: tuple[float, float], keyed: list[float]) -> np.ndarray:
    """Integer frames in an interval and both ends; a key replaces frames closer than half a frame."""
    integers = np.arange(np.ceil(span[0]), np.floor(span[1]) + 0.5)
    exact = np.unique(np.array([*span, *keyed]))
    exact = exact[np.diff(exact, prepend=-np.inf) > FRAME_TOLERANCE]
    distances = np.abs(integers[:, None] - exact[None, :]).min(axis=1)
    return np.sort(np.concatenate([integers[distances > 0.5 - FRAME_TOLERANCE], exact]))


def _generated_flight_frames(
    scene: bpy.types.Scene, armature: bpy.types.Object, rig: Rig, span: tuple[float, float]
) -> list[float]:
    """Frames of generated keys around flights."""
    flights = flight_spans(scene, read_keyed_strips(scene, rig, contact_curves(armature), *span))
    found: set[float] = set()
    for curve in pose_curves(armature) if flights else []:
        kind = np.empty(len(curve.keyframe_points), np.int32)
        curve.keyframe_points.foreach_get("type", kind)
        frames = key_frames(curve)[kind == KEY_TYPE_NUMBERS[GENERATED]]
        for first, last in flights:
            found.update(frames[(frames >= max(first, span[0])) & (frames <= min(last, span[1]))].tolist())
    return sorted(found)


def _round_frame(frame: float, tolerance: float = FRAME_TOLERANCE) -> float:
    """Round a frame to the integer that it stands for in single precision."""
    tolerance = max(tolerance, float(np.spacing(np.float32(abs(frame)))))
    return float(round(frame)) if abs(frame - round(frame)) <= tolerance else float(frame)
