"""Samples the joints of a rig, from its curves or by stepping through the frames."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..base import bpy_access, convert
from ..base.bpy_access import find_by_session_id, session_id
from ..base.scene_rigs import is_rig
from ..base.solver_api import Rig
from ..scene.action import CHANNELS, EULER, curves_of
from ..scene.armature import SCALE_TOLERANCE, bone_axes, is_limit_constraint, rig_of
from ..scene.character_bones import posed_by_others
from ..scene.toes import is_toe_driver

OBJECT_CHANNELS = ("location", "rotation", "scale", "delta")
KEY_TOLERANCE = 1e-6
"""[frames] Distance from a key within which a curve has the key's value."""


def bone_path(link: str) -> str:
    """Data path of a link's bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(link)}"]'


def pose_curves(armature: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Curves of the rig's bones, in each bone's current rotation mode."""
    paths = set()
    for bone in bpy_access.pose_bones(armature):
        path = bone_path(bone.name)
        paths |= {f"{path}.location", f"{path}.{CHANNELS.get(bone.rotation_mode, EULER)[0]}"}
    return [curve for curve in curves_of(armature) if curve.data_path in paths and not curve.mute]


def needs_frame_stepping(armature: bpy.types.Object) -> bool:
    """Whether anything but the action's curves moves the rig, so that its motion must be sampled frame by frame."""
    animation = armature.animation_data
    if any(_is_active(constraint) for constraint in armature.constraints):
        return True
    if any(
        _is_active(c) and not is_limit_constraint(bone, c)
        for bone in bpy_access.pose_bones(armature)
        for c in bone.constraints
    ):
        return True
    if is_rig(armature) and posed_by_others(armature, rig_of(armature), curves_of(armature)):
        return True
    if armature.parent is not None or bpy_access.armature(armature).pose_position != "POSE":
        return True
    if animation is None:
        return False
    layered = animation.use_tweak_mode or (
        animation.use_nla and any(not track.mute and len(track.strips) for track in animation.nla_tracks)
    )
    partly = animation.action_blend_type != "REPLACE" or animation.action_influence < 1.0
    others = any(
        curve.data_path.startswith(OBJECT_CHANNELS)
        or (
            curve.data_path.endswith(".scale")
            and any(abs(point.co[1] - 1.0) > SCALE_TOLERANCE for point in curve.keyframe_points)
        )
        for curve in curves_of(armature)
    )
    return layered or partly or others or not all(map(is_toe_driver, animation.drivers))


def evaluate_curves(
    scene: bpy.types.Scene, armature: bpy.types.Object, rig: Rig, frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Movement of the joints from the curves alone: rotations (N, L, 4) xyzw and translations (N, L, 3) [m]."""
    found = {(curve.data_path, curve.array_index): curve for curve in pose_curves(armature)}
    rest, axes = convert.rest_matrices(rig), bone_axes(armature, rig)
    rotations, translations = np.empty((len(frames), len(rig.links), 4)), np.empty((len(frames), len(rig.links), 3))
    for index, link in enumerate(rig.links):
        bone = bpy_access.pose_bones(armature)[link]
        name, size = CHANNELS.get(bone.rotation_mode, EULER)
        channels = []
        for channel, count in ((name, size), ("location", 3)):
            values = np.tile(np.array(getattr(bone, channel), float), (len(frames), 1))
            for component in range(count):
                curve = found.get((f"{bone_path(link)}.{channel}", component))
                if curve is not None:
                    values[:, component] = evaluate_curve(curve, frames)
            channels.append(_apply_limits(bone, values) if channel == EULER[0] else values)
        basis = convert.basis_quaternions(bone.rotation_mode, channels[0])
        root = rest[0] if index == 0 else None
        rotations[:, index], translations[:, index] = convert.joint_movement(basis, channels[1], axes[index], root)
    rotations[:, 0], translations[:, 0] = convert.transform(armature.matrix_world, rotations[:, 0], translations[:, 0])
    return rotations, translations


def _is_active(constraint: bpy.types.Constraint) -> bool:
    return constraint.enabled and not constraint.mute and constraint.influence > 0.0


def _apply_limits(bone: bpy.types.PoseBone, angles: np.ndarray) -> np.ndarray:
    """Euler angles (N, 3) [rad], clipped by the add-on's joint limits if they are enabled."""
    result = angles
    for constraint in bone.constraints:
        if _is_active(constraint) and is_limit_constraint(bone, constraint):
            result = result.copy()
            for axis, name in enumerate("xyz"):
                if getattr(constraint, f"use_limit_{name}"):
                    low, high = getattr(constraint, f"min_{name}"), getattr(constraint, f"max_{name}")
                    result[:, axis] = np.clip(result[:, axis], low, high)
    return result


def evaluate_curve(curve: bpy.types.FCurve, frames: np.ndarray) -> np.ndarray:
    """Values (N,) of a curve at frames. Values at keys are read directly, because Blender's evaluation is slow."""
    keys = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", keys)
    keyed = keys[::2].astype(float)
    if not len(keyed) or len(curve.modifiers):
        return np.array([curve.evaluate(frame) for frame in frames])
    nearest = np.clip(np.searchsorted(keyed, frames), 1, max(len(keyed) - 1, 1)) - 1
    nearest += np.abs(keyed[np.minimum(nearest + 1, len(keyed) - 1)] - frames) < np.abs(keyed[nearest] - frames)
    nearest = np.minimum(nearest, len(keyed) - 1)
    values = keys[1::2].astype(float)[nearest]
    for index in np.flatnonzero(np.abs(keyed[nearest] - frames) > KEY_TOLERANCE):
        values[index] = curve.evaluate(frames[index])
    return values


def step_frames(
    scene: bpy.types.Scene, armature: bpy.types.Object, rig: Rig, frames: np.ndarray
) -> Generator[float, None, tuple[np.ndarray, np.ndarray]]:
    """Movement of the joints sampled frame by frame, with everything that moves the rig; yields the fraction done.

    Raises:
        InvalidValue: scene, armature or a bone were removed in the meantime.
    """
    poses, where, own = [], session_id(scene), session_id(armature)
    with _restore_frame(scene, armature):
        for count, frame in enumerate(frames):
            yield count / len(frames)
            armature = find_by_session_id(bpy.data.objects, own)
            find_by_session_id(bpy.data.scenes, where).frame_set(int(frame // 1), subframe=float(frame % 1.0))
            rig_of(armature)  # its bones are still those of the rig
            poses.append(evaluated_links(bpy.context.evaluated_depsgraph_get(), armature, rig))
    rotations, origins = (np.array(part) for part in zip(*poses))
    return convert.joint_movements(rig, rotations, origins)


def evaluated_links(graph: bpy.types.Depsgraph, armature: bpy.types.Object, rig: Rig) -> tuple[np.ndarray, np.ndarray]:
    """Axes (L, 3, 3) and origins (L, 3) [m] of the links in the world, as evaluated by Blender."""
    body = armature.evaluated_get(graph)
    world = convert.to_array(body.matrix_world)
    bones = world @ np.array([convert.to_array(bpy_access.pose_bones(body)[link].matrix) for link in rig.links])
    rotations = bones[:, :3, :3] / np.linalg.norm(bones[:, :3, :3], axis=1, keepdims=True)
    return rotations @ bone_axes(armature, rig).transpose(0, 2, 1), bones[:, :3, 3]


@contextmanager
def _restore_frame(scene: bpy.types.Scene, armature: bpy.types.Object) -> Iterator[None]:
    """Restore frame and pose afterwards, including a pose that is not keyed."""
    where, own, frame, part = session_id(scene), session_id(armature), scene.frame_current, scene.frame_subframe
    channels = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
    pose = {bone.name: [tuple(getattr(bone, name)) for name in channels] for bone in bpy_access.pose_bones(armature)}
    try:
        yield
    finally:
        find_by_session_id(bpy.data.scenes, where).frame_set(frame, subframe=part)
        bones = bpy_access.pose_bones(find_by_session_id(bpy.data.objects, own))
        for name in pose.keys() & bones.keys():
            for channel, value in zip(channels, pose[name]):
                setattr(bones[name], channel, value)
