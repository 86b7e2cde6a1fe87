"""An armature's motion as a recording: position and rotation of each bone, frame by frame."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from .action import FIRST_FRAME, frame_rate
from .convert import to_array
from .solver_api import RestPose, SegmentPoses


def record_segments(armature: bpy.types.Object, scene: bpy.types.Scene) -> SegmentPoses:
    """Record every evaluated bone in all frames of the scene; the current frame is restored."""
    current, bones = scene.frame_current, list(armature.pose.bones)
    rotations, positions = [], []
    try:
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            found = [_rotation_and_position(armature.matrix_world @ bone.matrix) for bone in bones]
            rotations.append([rotation for rotation, _ in found])
            positions.append([position for _, position in found])
    finally:
        scene.frame_set(current)
    rest = [_rotation_and_position(armature.matrix_world @ bone.bone.matrix_local) for bone in bones]
    tips = [np.array(armature.matrix_world @ bone.bone.tail_local, dtype=float) for bone in bones]
    times = (np.arange(scene.frame_start, scene.frame_end + 1) - FIRST_FRAME) / frame_rate(scene)
    names = tuple(bone.name for bone in bones)
    at_rest = RestPose(
        np.array([rotation for rotation, _ in rest]),
        np.array([position for _, position in rest]),
        np.array(tips),
        tuple(-1 if bone.parent is None else names.index(bone.parent.name) for bone in bones),
    )
    return SegmentPoses(times, names, np.array(rotations), np.array(positions), at_rest)


def _rotation_and_position(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and position (3,) [m] of a matrix that may contain scale."""
    return to_array(matrix.to_quaternion().to_matrix()), np.array(matrix.to_translation(), dtype=float)
