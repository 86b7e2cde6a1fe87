"""What the animator's timeline says, as plain values: keys with roles, when which foot stands, and the poses between.

Roles are Blender's own types of keyframes, so the Dope Sheet shows them and its menu sets them. Contact of a patch with
the floor is a keyed custom property of the armature object, 1 or 0. Names of postures are the action's pose markers.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from .. import bpy_access as typed
from .. import convert
from ..action import FIRST_FRAME, curves_of, frame_rate, frames_at, key_frames
from ..armature import rig_of
from ..check_settings import read_checks
from ..inertials import rig_with_inertials
from ..solver_api import Rig, SceneKey, SceneStrip, SceneTimeline, errors, flights_between_strips, so3
from .pose_sampling import evaluate_curves, evaluated_links, pose_curves, require_unscaled, step_frames
from .pose_sampling import needs_frame_stepping as needs_frame_stepping

ROLE_TYPES = {"fixed": "EXTREME", "preferred": "KEYFRAME", "free": "BREAKDOWN"}
"""Type of the keyframes of each role, the most binding first; other types count as preferred."""
GENERATED, SAMPLED = "GENERATED", "JITTER"
"""Types of the keyframes between postures that the solver made, and of a recording's samples: they are no postures."""
KEY_TYPE_NUMBERS = {"KEYFRAME": 0, "EXTREME": 1, "BREAKDOWN": 2, SAMPLED: 3, "MOVING_HOLD": 4, GENERATED: 5}
"""Of the types in `Keyframe.type`."""
ROLE_RANKS = np.array([1, 0, 2, 1, 1, 1])
"""Place in `ROLE_TYPES` of the role of each of those numbers."""
CONTACT_PREFIX = "on floor: "
"""Custom property of the armature object, before the patch's name."""
FRAME_TOLERANCE = 0.01
"""Keys nearer than this are at one time; a curve's frames have single precision."""
EDGE_TOLERANCE = 1e-4
"""An edge of a strip this near to a frame is at it: a hundredth of a frame is a tenth of the weight in a jump."""
NEAR_FLOOR = 0.08
"""Share of the standing height up to which a patch without a contact curve counts as on the floor."""
FLIGHT_MARGIN = 0.1
"""[s] before a take-off and after a landing within which keys stand between frames: the legs' force ends and begins
within hundredths of a second, which frames do not hold."""
MAX_FRAMES = 400_000
"""An hour of a recording at 100 Hz, and some: beyond it a key was set by mistake, and sampling takes minutes."""
GROUND = 0.0
"""[m] Height of the floor."""


def contact_path(patch: str) -> str:
    """Data path of a patch's contact curve on the armature object."""
    return f'["{bpy.utils.escape_identifier(CONTACT_PREFIX + patch)}"]'


def times_at_frames(scene: bpy.types.Scene, frames: np.ndarray) -> np.ndarray:
    """Times [s] of frames; the reverse of `action.frames_at`."""
    return (np.asarray(frames, float) - FIRST_FRAME) / frame_rate(scene)


def contact_curves(armature: bpy.types.Object) -> dict[str, bpy.types.FCurve]:
    """The contact curve of each patch that has one."""
    found = {curve.data_path: curve for curve in curves_of(armature)}
    paths = {name: contact_path(name) for name in rig_of(armature).patches}
    return {name: found[path] for name, path in paths.items() if path in found}


def read_key_roles(armature: bpy.types.Object) -> dict[float, str]:
    """Role of every posture by its frame, in order; the most binding of all keys at that frame."""
    return merge_roles(posture_keys(curve) for curve in pose_curves(armature))


def posture_keys(curve: bpy.types.FCurve) -> tuple[np.ndarray, np.ndarray]:
    """Frames (K,) of the keys of a curve that belong to postures, and their types (K,) as numbers."""
    kind = np.empty(len(curve.keyframe_points), np.int32)
    curve.keyframe_points.foreach_get("type", kind)
    keep = (kind != KEY_TYPE_NUMBERS[GENERATED]) & (kind != KEY_TYPE_NUMBERS[SAMPLED])
    if not keep.any():  # most curves of a recording have no posture, and reading their frames takes as long again
        return np.zeros(0), np.zeros(0, np.int32)
    return key_frames(curve)[keep], kind[keep]


def merge_roles(keys: Iterable[tuple[np.ndarray, np.ndarray]]) -> dict[float, str]:
    """Role of every posture by its frame, in order, from the posture keys of each curve."""
    parts = [(np.zeros(0), np.zeros(0, np.int32)), *keys]
    every, kinds = (np.concatenate(part) for part in zip(*parts))
    if not len(every):
        return {}
    order = np.argsort(every, kind="stable")
    every, ranks = every[order], ROLE_RANKS[kinds[order]]
    starts = np.flatnonzero(np.diff(every, prepend=-np.inf) > FRAME_TOLERANCE)
    names = list(ROLE_TYPES)
    most_binding = np.minimum.reduceat(ranks, starts)
    return {_round_frame(frame): names[rank] for frame, rank in zip(every[starts], most_binding)}


def read_keys(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[SceneKey, ...]:
    """The postures that somebody keyed."""
    names, roles = read_posture_names(armature), read_key_roles(armature)
    times = times_at_frames(scene, np.array(list(roles)))
    return tuple(
        SceneKey(float(time), role, names.get(round(frame), "")) for time, (frame, role) in zip(times, roles.items())
    )


def read_posture_names(armature: bpy.types.Object) -> dict[int, str]:
    """Names of postures by frame: the pose markers of the action."""
    action = armature.animation_data.action if armature.animation_data else None
    return {marker.frame: marker.name for marker in action.pose_markers} if action else {}


def motion_range(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[float, float]:
    """First and last frame of the rig's motion; the scene's range where no bone is keyed twice."""
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
    """When which patch stands on the floor between two frames: as keyed, otherwise where the motion has it there.

    What is no sole stands where it is keyed only: a hand that passes near the floor does not carry.
    """
    rig, found = rig_of(armature), contact_curves(armature)
    if all(sole.name in found for sole in rig.soles):
        return read_keyed_strips(scene, rig, found, first, last)
    return sample_timeline(scene, armature, first, last).strips


def flight_spans(scene: bpy.types.Scene, strips: Iterable[SceneStrip]) -> list[tuple[float, float]]:
    """Whole frames around every flight between strips, from which to which keys may stand between frames."""
    flights = np.array(flights_between_strips((strip.start, strip.stop) for strip in strips)).reshape(-1, 2)
    first, last = (
        np.floor(frames_at(scene, flights[:, 0] - FLIGHT_MARGIN)),
        np.ceil(frames_at(scene, flights[:, 1] + FLIGHT_MARGIN)),
    )
    return list(zip(first.tolist(), last.tolist()))


def sample_timeline(
    scene: bpy.types.Scene, armature: bpy.types.Object, first: float | None = None, last: float | None = None
) -> SceneTimeline:
    """The rig's motion with its keys and strips.

    Args:
        scene: whose clock counts.
        armature: a rig.
        first, last: frames; the scene's (preview) range by default.

    Returns:
        poses at both ends, at every whole frame between and, instead of a frame beside it, at every key; around flights
        also at the keys that the solver made.

    Raises:
        InvalidValue: the object is no rig, or last is not after first.
    """
    rig, span = rig_of(armature), _frame_range(scene, first, last)
    require_unscaled(armature)
    keyed = dict(zip(read_key_roles(armature), read_keys(scene, armature)))
    keyed = {frame: key for frame, key in keyed.items() if span[0] <= frame <= span[1]}
    frames = _sample_frames(span, [*keyed, *_generated_flight_frames(scene, armature, rig, span)])
    poses = (step_frames if needs_frame_stepping(armature) else evaluate_curves)(scene, armature, rig, frames)
    return _build_timeline(scene, armature, rig, frames, poses, tuple(keyed.values()))


def sample_posture(context: bpy.types.Context, armature: bpy.types.Object) -> SceneTimeline:
    """What the viewport shows now, one frame long; it need not be keyed."""
    scene, rig = typed.scene(context), rig_of(armature)
    require_unscaled(armature)
    turns, places = evaluated_links(context.evaluated_depsgraph_get(), armature, rig)
    frames = np.array([scene.frame_current + scene.frame_subframe])
    return _build_timeline(scene, armature, rig, frames, convert.joint_movements(rig, turns[None], places[None]), ())


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
    """Strips between two frames of the patches whose contact curves were found."""
    strips = []
    for name in rig.patches:
        if name in found:
            keys = np.array([_round_frame(frame, EDGE_TOLERANCE) for frame in key_frames(found[name])])
            inside = keys[(keys > first + FRAME_TOLERANCE) & (keys < last - FRAME_TOLERANCE)]
            edges = np.array([first, *inside, last])
            on = [found[name].evaluate(frame + FRAME_TOLERANCE) > 0.5 for frame in edges[:-1]]
            strips += [SceneStrip(name, *span) for span in _runs(times_at_frames(scene, edges), np.array(on, bool))]
    return tuple(strips)


def _strips_by_motion(
    rig: Rig, times: np.ndarray, rotations: np.ndarray, translations: np.ndarray, names: list[str]
) -> list[SceneStrip]:
    """Spans in which the motion has a sole on the floor."""
    if not names:
        return []
    turns, places = convert.link_poses(rig, rotations, translations)
    strips = []
    for patch in rig.soles:
        if patch.name in names:
            index = rig.index(patch.link)
            heights = turns[:, index, 2] @ patch.vertices.T + places[:, index, 2:]
            on = heights.mean(axis=1) < GROUND + NEAR_FLOOR * rig.leg_length
            strips += [SceneStrip(patch.name, *span) for span in _runs(times, on[:-1] | on[1:] if len(on) > 1 else on)]
    return strips


def _runs(times: np.ndarray, on: np.ndarray) -> list[tuple[float, float]]:
    """From and to [s] of the runs of intervals that are on; of one single time, that time."""
    if len(times) == 1:
        return [(float(times[0]), float(times[0]))] if on[0] else []
    steps = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [(float(times[start]), float(times[stop])) for start, stop in steps.reshape(-1, 2)]


def _frame_range(scene: bpy.types.Scene, first: float | None, last: float | None) -> tuple[float, float]:
    preview = scene.use_preview_range
    start = scene.frame_preview_start if preview else scene.frame_start
    stop = scene.frame_preview_end if preview else scene.frame_end
    span = float(start if first is None else first), float(stop if last is None else last)
    if not span[1] > span[0]:
        raise errors.InvalidValue(f"frames {span[0]:g} to {span[1]:g} are no range: let the last follow the first")
    if span[1] - span[0] > MAX_FRAMES:
        far, count = max(span, key=abs), f"{span[1] - span[0]:.0f} frames, {MAX_FRAMES} are the most"
        raise errors.InvalidValue(f"the dance has {count}: delete the key at frame {far:.0f}, or shorten the range")
    return span


def _sample_frames(span: tuple[float, float], keyed: list[float]) -> np.ndarray:
    """Whole frames in a span with both of its ends; a key takes the place of frames nearer than half a frame."""
    whole = np.arange(np.ceil(span[0]), np.floor(span[1]) + 0.5)
    exact = np.unique(np.array([*span, *keyed]))
    exact = exact[np.diff(exact, prepend=-np.inf) > FRAME_TOLERANCE]
    away = np.abs(whole[:, None] - exact[None, :]).min(axis=1)
    return np.sort(np.concatenate([whole[away > 0.5 - FRAME_TOLERANCE], exact]))


def _generated_flight_frames(
    scene: bpy.types.Scene, armature: bpy.types.Object, rig: Rig, span: tuple[float, float]
) -> list[float]:
    """Frames of the keys around flights that the solver made."""
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
    """The whole frame that single precision meant."""
    tolerance = max(tolerance, float(np.spacing(np.float32(abs(frame)))))
    return float(round(frame)) if abs(frame - round(frame)) <= tolerance else float(frame)
