"""A live pose on an armature's bones, not keyed."""

from __future__ import annotations

import bpy
import numpy as np

from .. import bpy_access as typed
from .. import convert
from ..armature import bone_axes, rig_of
from ..solver_api import SceneMotion, ScenePose, errors


class PoseWriter:
    """Puts poses on the bones of one armature.

    Raises:
        InvalidValue: it is none of ours, or its bones are no longer the rig's.
    """

    def __init__(self, body: bpy.types.Object) -> None:
        self._rig = rig_of(body)
        self._rest, self._axes = convert.rest_matrices(self._rig), bone_axes(body, self._rig)
        self._frames = [convert.bone_frame(self._rig, index) for index in range(len(self._rig.links))]

    def show(self, body: bpy.types.Object, pose: ScenePose) -> None:
        """Move the bones as in a pose in the world, wherever the rig was put.

        Raises:
            InvalidValue: the pose is of another rig.
        """
        if len(pose.rotations) != len(self._rig.links):
            raise errors.InvalidValue(f"the stream moves {len(pose.rotations)} links, {body.name} has another number")
        turns, places = convert.transform(body.matrix_world.inverted(), pose.rotations[:1], pose.root[None])
        self._pose_bones(body, places[0], np.concatenate([turns, pose.rotations[1:]]), pose.translations)

    def show_frame(self, body: bpy.types.Object, motion: SceneMotion, frame: int) -> None:
        """Move the bones as in a frame of a motion of the rig."""
        self._pose_bones(body, motion.root[frame], motion.rotations[frame], motion.translations[frame])

    def _pose_bones(
        self, body: bpy.types.Object, root_position: np.ndarray, rotations: np.ndarray, translations: np.ndarray
    ) -> None:
        bones = typed.pose_bones(body)
        for index, (link, joint) in enumerate(zip(self._rig.links, self._rig.joints, strict=True)):
            bone = bones[link]
            shift = root_position if index == 0 else translations[index]
            root = self._rest[0] if index == 0 else None
            turn, place = convert.pose_basis(rotations[index][None], shift[None], self._axes[index], root)
            if joint.slides:
                bone.location = place[0].tolist()
            mode = bone.rotation_mode
            if joint.hinge and mode not in ("QUATERNION", "AXIS_ANGLE"):
                frame = self._frames[index]
                angle = frame.sign * convert.hinge_angles(rotations[index][None], joint.axes[0])
                bone.rotation_euler[frame.axis] = float(angle[0])
            elif joint.kind != "prismatic":
                values = convert.channel_values(mode, turn)[0].tolist()
                if mode == "QUATERNION":
                    bone.rotation_quaternion = values
                elif mode == "AXIS_ANGLE":
                    bone.rotation_axis_angle = values
                else:
                    bone.rotation_euler = values


def show_frame(body: bpy.types.Object, motion: SceneMotion, frame: int) -> None:
    """Pose an armature as in a frame of a motion of its rig, not keyed."""
    PoseWriter(body).show_frame(body, motion, frame)


def read_pose(body: bpy.types.Object) -> list[np.ndarray]:
    """Basis matrices (4, 4) of all bones, to put them back."""
    return [convert.to_array(bone.matrix_basis) for bone in typed.pose_bones(body)]


def restore_pose(body: bpy.types.Object, matrices: list[np.ndarray]) -> None:
    """Put the bones where they were."""
    for bone, matrix in zip(typed.pose_bones(body), matrices):
        bone.matrix_basis = convert.to_matrix(matrix)
