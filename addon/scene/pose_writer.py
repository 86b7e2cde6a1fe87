"""Applies poses to an armature's bones without keying them."""

from __future__ import annotations

import bpy
import numpy as np

from ..base import bpy_access, convert
from ..base.solver_api import SceneMotion, ScenePose, errors, so3
from .armature import bone_axes, rig_of
from .character_bones import require_posable

ROTATION_CHANNELS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
"""Channels of the rotation modes that are not Euler angles."""
CHANNEL_SIZES = {"location": 3, "rotation_quaternion": 4, "rotation_axis_angle": 4, "rotation_euler": 3}


class PoseWriter:
    """Applies poses to the bones of one rig.

    Raises:
        InvalidValue: the object is not a rig, its bones no longer match, or something else moves them.
    """

    def __init__(self, body: bpy.types.Object) -> None:
        self._rig = rig_of(body)
        require_posable(body, self._rig)
        self._rest, self._axes = convert.rest_matrices(self._rig), bone_axes(body, self._rig)
        self._hinges = [
            convert.hinge_axis(axes, joint.axes[0]) if joint.hinge else (0, 0.0)
            for joint, axes in zip(self._rig.joints, self._axes, strict=True)
        ]
        signed = [
            sign * np.asarray(joint.axes[0]) if joint.hinge else np.zeros(3)
            for joint, (_, sign) in zip(self._rig.joints, self._hinges, strict=True)
        ]
        self._hinge_axes, self._offsets = np.array(signed), so3.to_quaternion(self._axes)

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
        bases, locations = self._bases(root_position, rotations, translations)
        angles = 2.0 * np.arctan2(np.einsum("li,li->l", rotations[:, :3], self._hinge_axes), rotations[:, 3])
        bones = bpy_access.pose_bones(body)
        places = {bone.name: place for place, bone in enumerate(bones)}
        channels = {name: _read_channel(bones, name, size) for name, size in CHANNEL_SIZES.items()}
        for index, (link, joint) in enumerate(zip(self._rig.links, self._rig.joints, strict=True)):
            place = places[link]
            mode = bones[place].rotation_mode
            channel = ROTATION_CHANNELS.get(mode, "rotation_euler")
            if joint.slides:
                channels["location"][place] = locations[index]
            if joint.hinge and channel == "rotation_euler":
                channels[channel][place, self._hinges[index][0]] = angles[index]
            elif joint.kind != "prismatic":
                channels[channel][place] = convert.channel_values(mode, bases[index][None])[0]
        for name, values in channels.items():
            bones.foreach_set(name, values.ravel())
        body.update_tag(refresh={"DATA"})

    def _bases(
        self, root_position: np.ndarray, rotations: np.ndarray, translations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pose bases of all bones: quaternions (L, 4) wxyz and locations (L, 3) [m], by `convert.pose_basis`."""
        root = convert.pose_basis(rotations[:1], root_position[None], np.eye(3), self._rest[0])
        turns = np.concatenate([root[0][:, [1, 2, 3, 0]], rotations[1:]])
        shifts = np.concatenate([root[1], translations[1:]])
        bases = so3.product(so3.product(so3.conjugate(self._offsets), turns), self._offsets)
        return bases[:, [3, 0, 1, 2]], np.einsum("li,lij->lj", shifts, self._axes)


def _read_channel(bones: bpy.types.bpy_prop_collection, name: str, size: int) -> np.ndarray:
    """Values (B, size) of a channel of all bones."""
    values = np.empty((len(bones), size), np.float32)
    bones.foreach_get(name, values.ravel())
    return values


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
