"""An armature's motion as a recording: where each bone stood and how it was turned, frame by frame."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from .action import FIRST_FRAME, frame_rate
from .convert import to_array
from .solver_api import RestPose, SegmentPoses


def record_segments(armature: bpy.types.Object, scene: bpy.types.Scene) -> SegmentPoses:
    """Every bone as it is evaluated in the scene's frames, whatever moves it; the current frame stays."""
    now, bones = scene.frame_current, list(armature.pose.bones)
    rotations, places = [], []
    try:
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            found = [_rotation_and_position(armature.matrix_world @ bone.matrix) for bone in bones]
            rotations.append([turn for turn, _ in found])
            places.append([place for _, place in found])
    finally:
        scene.frame_set(now)
    rest = [_rotation_and_position(armature.matrix_world @ bone.bone.matrix_local) for bone in bones]
    tips = [np.array(armature.matrix_world @ bone.bone.tail_local, dtype=float) for bone in bones]
    times = (np.arange(scene.frame_start, scene.frame_end + 1) - FIRST_FRAME) / frame_rate(scene)
    at_rest = RestPose(np.array([turn for turn, _ in rest]), np.array([place for _, place in rest]), np.array(tips))
    names = tuple(bone.name for bone in bones)
    return SegmentPoses(times, names, np.array(rotations), np.array(places), at_rest)


def _rotation_and_position(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and place (3,) [m] of a matrix that may scale."""
    return to_array(matrix.to_quaternion().to_matrix()), np.array(matrix.to_translation(), dtype=float)
