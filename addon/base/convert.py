"""Conversion between rigs and Blender: quaternion order (wxyz), bone axes (y along the bone), mathutils.

A link frame N_k (rest pose, armature space) and its bone B_k have the same origin and differ by a constant rotation
O_k: B_k = N_k O_k. The pose basis of a joint that moved by J_k from its neutral position is O_k^-1 J_k O_k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from .solver_api import REST_PLACEMENT, Rig, SceneMotion, so3

SHORTEST_BONE = 0.02
"""[m] Blender deletes bones of zero length."""
LARGEST_TWIST_COSINE = np.cos(np.radians(45.0))
"""A revolute axis at a larger angle to the bone than this becomes the bone's x axis, otherwise its y axis."""
NEARLY_PARALLEL = 0.95
SHORTEST_PART = 0.3
"""Part of a direction that is long enough to be a direction itself."""
MAIN_DIRECTION = 0.9
"""Of two components, the first is the main one from this fraction of the second on: no side is decided by rounding."""
TINY = 1e-12
DEGENERATE_COSINES = -np.cos(np.radians(2.0)), -np.cos(np.radians(7.5))
"""Range of the cosine between bone and parent in which Blender's rest matrices lose digits and err by 1e-5."""
TILT_ANGLE = 0.2
"""[rad] Angle about its hinge, or its x axis, by which such a bone is tilted."""


@dataclass(frozen=True, slots=True)
class BoneFrame:
    """Axes of a bone relative to its link.

    Attributes:
        axes: (3, 3) O_k, columns are the bone's x, y, z in link axes.
        length: [m].
        axis: index of the bone axis of a revolute or prismatic joint, or -1.
        sign: sign of the joint's axis along that bone axis.
    """

    axes: np.ndarray
    length: float
    axis: int = -1
    sign: float = 1.0


def bone_frame(rig: Rig, link: int) -> BoneFrame:
    """Bone axes of a link: y toward the tip, a hinge's axis exactly along one of them.

    The axes of a left and a right link mirror each other, and x of a link in the middle is lateral, where the robot is
    symmetric: Blender mirrors a pose by keeping rotations about x and reversing those about y and z.
    No bone points almost opposite to its parent, because Blender's rest matrices lose orthogonality there.
    """
    frame, parent = _frame_without_tilt(rig, link), rig.parents[link]
    if parent < 0:
        return frame
    rotations, _ = rig.rest
    toward_parent = rotations[link].T @ rotations[parent] @ bone_frame(rig, parent).axes[:, 1]
    if not DEGENERATE_COSINES[0] < toward_parent @ frame.axes[:, 1] < DEGENERATE_COSINES[1]:
        return frame
    if frame.axis == 1:
        return BoneFrame(_complete_axes(-frame.axes[:, 1], rotations[link]), frame.length, 1, -frame.sign)
    about = np.eye(3)[2 if frame.axis == 2 else 0]
    tilted = [frame.axes @ so3.exp(angle * about) for angle in (-TILT_ANGLE, TILT_ANGLE)]
    axes = max(tilted, key=lambda candidate: float(toward_parent @ candidate[:, 1]))
    return BoneFrame(axes, frame.length, frame.axis, frame.sign)


def hinge_axis(axes: np.ndarray, axis: np.ndarray) -> tuple[int, float]:
    """Index of the bone axis along a hinge, and the sign of the hinge's axis along it.

    Args:
        axes: (3, 3) O_k of the bone.
        axis: (3,) of the hinge, link axes.
    """
    along = axes.T @ axis
    index = int(np.argmax(np.abs(along)))
    return index, float(np.sign(along[index]))


def _frame_without_tilt(rig: Rig, link: int) -> BoneFrame:
    toward, joint, rotation = _direction(rig, link), rig.joints[link], rig.rest[0][link]
    length, side = max(float(np.linalg.norm(toward)), SHORTEST_BONE), _side(rig, link)
    y = toward / np.linalg.norm(toward)
    if side == 0.0 and rig.pairs:
        y = _within_symmetry_plane(y, rotation)
    if len(joint.axes) == 1:
        axis = joint.axes[0]
        along = float(axis @ y)
        if abs(along) > LARGEST_TWIST_COSINE:
            sign = float(np.sign(along))
            return BoneFrame(_complete_axes(sign * axis, rotation), length, 1, sign)
        y = y - along * axis
        y /= np.linalg.norm(y)
        sign = _mirrored_sign(rotation @ axis, side)
        if sign == 0.0:
            return BoneFrame(np.column_stack([np.cross(y, axis), y, axis]), length, 2)
        return BoneFrame(np.column_stack([sign * axis, y, np.cross(sign * axis, y)]), length, 0, sign)
    return BoneFrame(_complete_axes(y, rotation), length)


def _within_symmetry_plane(y: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Direction (3,), link axes, of a bone in the middle without its lateral part; up if nothing else is left."""
    _, lateral, up = rotation
    level = y - (y @ lateral) * lateral
    length = float(np.linalg.norm(level))
    return level / length if length > SHORTEST_PART else up


def _side(rig: Rig, link: int) -> float:
    """1 for a link on the left, -1 on the right, 0 in the middle."""
    name = rig.links[link]
    return float(any(name == left for left, _ in rig.pairs)) - float(any(name == right for _, right in rig.pairs))


def _mirrored_sign(axis: np.ndarray, side: float) -> float:
    """Sign of a hinge's axis (3,), world, along the bone's x axis; 0 if x cannot lie along it.

    x is along world y where that is the axis's main direction. Otherwise x is opposite on the two sides, and the bone
    of a link in the middle has the hinge along z.
    """
    x, y, z = axis
    if abs(y) > MAIN_DIRECTION * max(abs(x), abs(z)):
        return float(np.sign(y))
    return side * float(np.sign(x if abs(x) > MAIN_DIRECTION * abs(z) else z))


def rest_matrices(rig: Rig) -> np.ndarray:
    """Link frames at rest (L, 4, 4) in armature space: the neutral pose on the floor, or where a character stands."""
    result = np.tile(np.eye(4), (len(rig.links), 1, 1))
    rotations, origins = rig.rest
    result[:, :3, :3] = rotations
    result[:, :3, 3] = origins - origins[0]
    if REST_PLACEMENT in rig.provenance:
        return np.asarray(rig.provenance[REST_PLACEMENT], float) @ result
    result[:, 2, 3] += rig.standing_height
    return result


def pose_basis(
    rotations: np.ndarray, translations: np.ndarray, axes: np.ndarray, rest: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Pose basis of a bone from the movement of its joint.

    Args:
        rotations: (N, 4) J_k, xyzw, in joint axes (world axes for the root).
        translations: (N, 3) [m], in the same axes.
        axes: (3, 3) O_k of the bone.
        rest: (4, 4) rest frame of the root link; None for other links.

    Returns:
        quaternions (N, 4) wxyz and locations (N, 3) [m] in bone axes.
    """
    offset = so3.to_quaternion(axes)
    if rest is not None:
        rotations = so3.product(so3.conjugate(so3.to_quaternion(rest[:3, :3])), rotations)
        translations = (translations - rest[:3, 3]) @ rest[:3, :3]
    basis = so3.product(so3.product(so3.conjugate(offset), rotations), offset)
    return basis[:, [3, 0, 1, 2]], translations @ axes


def hinge_angles(rotations: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Angles (N,) [rad] about an axis of rotations (N, 4) xyzw about that axis, continuous in time."""
    return np.unwrap(2.0 * np.arctan2(rotations[:, :3] @ axis, rotations[:, 3]))


def joint_movement(
    quaternions: np.ndarray, locations: np.ndarray, axes: np.ndarray, rest: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Movement of a joint from the pose basis of its bone: the inverse of `pose_basis`, with the same arguments.

    Returns:
        rotations (N, 4) xyzw and translations (N, 3) [m].
    """
    offset = so3.to_quaternion(axes)
    rotations = so3.product(so3.product(offset, quaternions[:, [1, 2, 3, 0]]), so3.conjugate(offset))
    translations = locations @ axes.T
    if rest is not None:
        rotations = so3.product(so3.to_quaternion(rest[:3, :3]), rotations)
        translations = translations @ rest[:3, :3].T + rest[:3, 3]
    return rotations, translations


def transform(matrix: Matrix, rotations: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Transform rotations (N, 4) xyzw and points (N, 3) from an object's space to the world."""
    world = to_array(matrix)
    rotation = so3.to_quaternion(to_array(matrix.to_quaternion().to_matrix()))
    return so3.product(rotation, rotations), points @ world[:3, :3].T + world[:3, 3]


def transform_motion(matrix: Matrix, motion: SceneMotion) -> SceneMotion:
    """Transform the root of a motion from an object's space to the world."""
    rotations, root = transform(matrix, motion.rotations[:, 0], motion.root)
    return replace(motion, rotations=np.concatenate([rotations[:, None], motion.rotations[:, 1:]], axis=1), root=root)


def basis_quaternions(mode: str, values: np.ndarray) -> np.ndarray:
    """Rotations of a bone (N, 4) wxyz from its channels in a rotation mode.

    Args:
        mode: rotation mode, ``"QUATERNION"``, ``"AXIS_ANGLE"`` or an order of Euler angles such as ``"XYZ"``.
        values: (N, 4) wxyz, (N, 4) angle [rad] and axis, or (N, 3) angles [rad].
    """
    if mode == "QUATERNION":
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        whole = np.array([1.0, 0.0, 0.0, 0.0])
        return np.where(lengths > TINY, values / np.maximum(lengths, TINY), whole)
    if mode == "AXIS_ANGLE":
        lengths = np.linalg.norm(values[:, 1:], axis=1, keepdims=True)
        axis = np.where(lengths > TINY, values[:, 1:] / np.maximum(lengths, TINY), np.array([0.0, 1.0, 0.0]))
        half = 0.5 * values[:, :1]
        return np.concatenate([np.cos(half), np.sin(half) * axis], axis=1)
    result = np.tile([0.0, 0.0, 0.0, 1.0], (len(values), 1))
    for letter in mode:  # the first letter is the first rotation
        index, step = "XYZ".index(letter), np.zeros((len(values), 4))
        step[:, index], step[:, 3] = np.sin(0.5 * values[:, index]), np.cos(0.5 * values[:, index])
        result = so3.product(step, result)
    return result[:, [3, 0, 1, 2]]


def channel_values(mode: str, quaternions: np.ndarray) -> np.ndarray:
    """Channels of a bone (N, C) from rotations (N, 4) wxyz: the inverse of `basis_quaternions`, continuous in time."""
    if mode == "QUATERNION":
        return quaternions
    if mode == "AXIS_ANGLE":
        half = np.unwrap(2.0 * np.arctan2(np.linalg.norm(quaternions[:, 1:], axis=1), quaternions[:, 0])) / 2.0
        lengths = np.linalg.norm(quaternions[:, 1:], axis=1, keepdims=True)
        axis = np.where(lengths > TINY, quaternions[:, 1:] / np.maximum(lengths, TINY), np.array([0.0, 1.0, 0.0]))
        return np.concatenate([2.0 * half[:, None], axis], axis=1)
    angles, last = np.empty((len(quaternions), 3)), Euler((0.0, 0.0, 0.0), mode)  # type: ignore[arg-type]
    for frame, quaternion in enumerate(quaternions):
        last = Quaternion(quaternion.tolist()).to_euler(mode, last)  # type: ignore[arg-type]
        angles[frame] = last
    return angles


def channel_values_near(mode: str, quaternions: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Channels of a bone (N, C) from rotations (N, 4) wxyz: those nearest to others (N, C)."""
    if mode == "QUATERNION":
        return quaternions * np.where((quaternions * near).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
    if mode == "AXIS_ANGLE":
        values = channel_values(mode, quaternions)
        values *= np.where((values[:, 1:] * near[:, 1:]).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
        values[:, 0] += 2.0 * np.pi * np.round((near[:, 0] - values[:, 0]) / (2.0 * np.pi))
        return values
    angles = [
        Quaternion(quaternion.tolist()).to_euler(mode, Euler(other.tolist(), mode))  # type: ignore[arg-type]
        for quaternion, other in zip(quaternions, near, strict=True)
    ]
    return np.array(angles)


def joint_movements(rig: Rig, link_rotations: np.ndarray, link_origins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Movement of every joint from the link poses in the world.

    Args:
        rig: rig with L links.
        link_rotations: (N, L, 3, 3) axes of the links.
        link_origins: (N, L, 3) [m] their origins.

    Returns:
        rotations (N, L, 4) xyzw and translations (N, L, 3) [m] from the neutral pose, in joint axes; world axes for the
        root.
    """
    rotations, translations = np.empty((*link_origins.shape[:2], 4)), np.array(link_origins)
    for link, joint in enumerate(rig.joints):
        rotation, parent = link_rotations[:, link], joint.parent
        if parent >= 0:
            to_joint = (link_rotations[:, parent] @ joint.rotation).swapaxes(1, 2)
            rotation = to_joint @ rotation
            offset = link_origins[:, link] - link_origins[:, parent] - link_rotations[:, parent] @ joint.position
            # frames n, axes i of the joint, axes j of the world
            translations[:, link] = np.einsum("nij,nj->ni", to_joint, offset)
        rotations[:, link] = so3.to_quaternion(rotation)
    return rotations, translations


def link_poses(rig: Rig, rotations: np.ndarray, translations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes (N, L, 3, 3) and origins (N, L, 3) [m] of the links in the world: the inverse of `joint_movements`."""
    axes, origins = so3.to_matrix(rotations), np.array(translations)
    for link, joint in enumerate(rig.joints):
        parent = joint.parent
        if parent >= 0:
            base = axes[:, parent] @ joint.rotation
            # frames n, axes i of the world, axes j of the joint
            offset = np.einsum("nij,nj->ni", base, translations[:, link])
            origins[:, link] = origins[:, parent] + axes[:, parent] @ joint.position + offset
            axes[:, link] = base @ axes[:, link]
    return axes, origins


def roll_error(target: np.ndarray, matrix: Matrix) -> float:
    """Angle [rad] by which a bone must roll about its y axis to get from its matrix to ``target`` (4, 4)."""
    actual = to_array(matrix)
    across = target[:3, 0]
    return -float(np.arctan2(across @ actual[:3, 2], across @ actual[:3, 0]))


def to_matrix(matrix: np.ndarray) -> Matrix:
    """mathutils matrix of a (3, 3) or (4, 4) array."""
    return Matrix(np.asarray(matrix, float).tolist())


def to_array(matrix: Matrix) -> np.ndarray:
    """Array of a mathutils matrix."""
    return np.array(matrix, dtype=float)


def rotations_to(directions: np.ndarray) -> np.ndarray:
    """Shortest rotations (N, 4) wxyz from +z to directions (N, 3), continuous in time."""
    result, last = np.zeros((len(directions), 4)), Quaternion()
    for frame, direction in enumerate(directions):
        rotation = Vector((0.0, 0.0, 1.0)).rotation_difference(Vector(direction))
        rotation.make_compatible(last)
        result[frame], last = rotation, rotation
    return result


def _direction(rig: Rig, link: int) -> np.ndarray:
    """Vector (3,) [m] from the joint to the tip in link axes; never zero."""
    for candidate in (rig.tips[link], rig.boxes[link].mean(axis=0)):
        if np.linalg.norm(candidate) > SHORTEST_BONE / 2:
            return np.asarray(candidate)
    return np.array([0.0, 0.0, SHORTEST_BONE])


def _complete_axes(y: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Right-handed axes (3, 3) with unit y: z as close as possible to forward, or to up if y is forward.

    Args:
        y: (3,) link axes.
        rotation: (3, 3) of the link at rest, world.
    """
    forward, _, up = rotation
    z = forward if abs(y @ forward) < NEARLY_PARALLEL else up
    z = z - (z @ y) * y
    z /= np.linalg.norm(z)
    return np.column_stack([np.cross(y, z), y, z])
