"""Applies poses to an armature's bones without keying them."""

from __future__ import annotations

import bpy
import numpy as np

from . import bpy_access, convert
from .armature import bone_axes, rig_of
from .solver_api import SceneMotion, ScenePose, errors


class PoseWriter:
    """Applies poses to the bones of one rig.

    Raises:
        InvalidValue: the object is not a rig, or its bones no longer match.
    """

    def __init__(self, body: bpy.types.Object) -> None:
        self._rig = rig_of(body)
        self._rest, self._axes = convert.rest_matrices(self._rig), bone_axes(body, self._rig)
        self._frames = [convert.bone_frame(self._rig, index) for index in range(len(self._rig.links))]

    def show(self, body: bpy.types.Object, pose: ScenePose) -> None:
        """Apply a pose in world coordinates, independent of the rig's placement.

        Raises:
            InvalidValue: the pose belongs to another rig.
        """
        self.show_posture(body, pose.rotations, np.concatenate([pose.root[None], pose.translations[1:]]))

    def show_posture(self, body: bpy.types.Object, rotations: np.ndarray, translations: np.ndarray) -> None:
        """Apply a posture in world coordinates: rotations (L, 4) xyzw and translations (L, 3) [m] from neutral.

        Those of the root, the first, are its orientation and position in the world.

        Raises:
            InvalidValue: the posture belongs to another rig.
        """
        if len(rotations) != len(self._rig.links):
            raise errors.InvalidValue(
                f"the posture has {len(rotations)} links, but {body.name} has {len(self._rig.links)}"
            )
        root_rotation, root_position = convert.transform(body.matrix_world.inverted(), rotations[:1], translations[:1])
        self._pose_bones(body, root_position[0], np.concatenate([root_rotation, rotations[1:]]), translations)

    def show_frame(self, body: bpy.types.Object, motion: SceneMotion, frame: int) -> None:
        """Apply a frame of a motion of the rig."""
        self._pose_bones(body, motion.root[frame], motion.rotations[frame], motion.translations[frame])

    def _pose_bones(
        self, body: bpy.types.Object, root_position: np.ndarray, rotations: np.ndarray, translations: np.ndarray
    ) -> None:
        bones = bpy_access.pose_bones(body)
        for index, (link, joint) in enumerate(zip(self._rig.links, self._rig.joints, strict=True)):
            bone = bones[link]
            shift = root_position if index == 0 else translations[index]
            root = self._rest[0] if index == 0 else None
            rotation, location = convert.pose_basis(rotations[index][None], shift[None], self._axes[index], root)
            if joint.slides:
                bone.location = location[0].tolist()
            mode = bone.rotation_mode
            if joint.hinge and mode not in ("QUATERNION", "AXIS_ANGLE"):
                frame = self._frames[index]
                angle = frame.sign * convert.hinge_angles(rotations[index][None], joint.axes[0])
                bone.rotation_euler[frame.axis] = float(angle[0])
            elif joint.kind != "prismatic":
                values = convert.channel_values(mode, rotation)[0].tolist()
                if mode == "QUATERNION":
                    bone.rotation_quaternion = values
                elif mode == "AXIS_ANGLE":
                    bone.rotation_axis_angle = values
                else:
                    bone.rotation_euler = values


def show_frame(body: bpy.types.Object, motion: SceneMotion, frame: int) -> None:
    """Pose an armature as in one frame of a motion of its rig, without keys."""
    PoseWriter(body).show_frame(body, motion, frame)


def read_pose(body: bpy.types.Object) -> list[np.ndarray]:
    """Basis matrices (4, 4) of all bones."""
    return [convert.to_array(bone.matrix_basis) for bone in bpy_access.pose_bones(body)]


def restore_pose(body: bpy.types.Object, matrices: list[np.ndarray]) -> None:
    """Restore the basis matrices of all bones."""
    for bone, matrix in zip(bpy_access.pose_bones(body), matrices):
        bone.matrix_basis = convert.to_matrix(matrix)
