"""The only place that knows Blender's quaternion order (wxyz), bone axes (y along the bone) and mathutils.

A link frame N_k (rest pose, armature space) and its bone B_k share the origin and differ by a constant rotation
O_k: B_k = N_k O_k. A joint that moved by J_k since neutral then has the pose basis O_k^-1 J_k O_k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from .solver_api import Rig, SceneMotion, so3

SHORTEST_BONE = 0.02
"""[m] Blender deletes bones without length."""
LARGEST_TWIST_COSINE = np.cos(np.radians(45.0))
"""A revolute axis further than this from the bone's direction becomes the bone's x axis, otherwise its y axis."""
NEARLY_PARALLEL = 0.95
TINY = 1e-12
DEGENERATE_COSINES = -np.cos(np.radians(2.0)), -np.cos(np.radians(7.5))
"""Cosines to the parent between which Blender's rest matrix of a bone cancels digits and errs by 1e-5."""
TILT_ANGLE = 0.2
"""[rad] by which such a bone is turned away about its x axis."""


@dataclass(frozen=True, slots=True)
class BoneFrame:
    """Bone axes on a link.

    Attributes:
        axes: (3, 3) O_k, columns are the bone's x, y, z in link axes.
        length: [m].
        axis: index of the bone axis a revolute or prismatic joint moves along, or -1.
        sign: of the joint's axis against that bone axis.
    """

    axes: np.ndarray
    length: float
    axis: int = -1
    sign: float = 1.0


def bone_frame(rig: Rig, link: int) -> BoneFrame:
    """Bone axes of a link: y toward the tip, a hinge's axis exactly on x (or y), z forward where nothing else rules.

    No bone points nearly against its parent (some degrees off): there Blender's own rest matrices lose orthogonality.
    """
    frame, parent = _unadjusted_frame(rig, link), rig.parents[link]
    if parent < 0:
        return frame
    turns, _ = rig.rest
    ahead = turns[link].T @ turns[parent] @ bone_frame(rig, parent).axes[:, 1]
    if not DEGENERATE_COSINES[0] < ahead @ frame.axes[:, 1] < DEGENERATE_COSINES[1]:
        return frame
    if frame.axis == 1:
        return BoneFrame(_complete_axes(-frame.axes[:, 1]), frame.length, 1, -frame.sign)
    tilted = [frame.axes @ _rotation_about_x(angle) for angle in (-TILT_ANGLE, TILT_ANGLE)]
    axes = max(tilted, key=lambda candidate: float(ahead @ candidate[:, 1]))
    return BoneFrame(axes, frame.length, frame.axis, frame.sign)


def _rotation_about_x(angle: float) -> np.ndarray:
    return so3.exp(np.array([angle, 0.0, 0.0]))


def _unadjusted_frame(rig: Rig, link: int) -> BoneFrame:
    toward, joint = _direction(rig, link), rig.joints[link]
    length = max(float(np.linalg.norm(toward)), SHORTEST_BONE)
    y = toward / np.linalg.norm(toward)
    if len(joint.axes) == 1:
        axis = joint.axes[0]
        along = float(axis @ y)
        if abs(along) > LARGEST_TWIST_COSINE:
            sign = float(np.sign(along))
            return BoneFrame(_complete_axes(sign * axis), length, 1, sign)
        y = y - along * axis
        y /= np.linalg.norm(y)
        return BoneFrame(np.column_stack([axis, y, np.cross(axis, y)]), length, 0)
    return BoneFrame(_complete_axes(y), length)


def rest_matrices(rig: Rig) -> np.ndarray:
    """Link frames at rest (L, 4, 4) in armature space: the neutral pose, standing on the floor."""
    result = np.tile(np.eye(4), (len(rig.links), 1, 1))
    turns, places = rig.rest
    result[:, :3, :3] = turns
    result[:, :3, 3] = places - places[0]
    result[:, 2, 3] += rig.standing_height
    return result


def pose_basis(
    rotations: np.ndarray, translations: np.ndarray, axes: np.ndarray, rest: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Pose basis of a bone from its joint's movement.

    Args:
        rotations: (N, 4) J_k, xyzw, joint axes (the root's in the world).
        translations: (N, 3) [m] the same.
        axes: (3, 3) O_k as the bone has it.
        rest: (4, 4) rest frame of the root link; None for other links.

    Returns:
        quaternions (N, 4) wxyz and locations (N, 3) [m], bone axes.
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
    """Joint's movement from the pose basis of its bone: the reverse of `pose_basis`, whose arguments these are.

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
    """Rotations (N, 4) xyzw and points (N, 3) of an object's own space, in the world."""
    world = to_array(matrix)
    turn = so3.to_quaternion(to_array(matrix.to_quaternion().to_matrix()))
    return so3.product(turn, rotations), points @ world[:3, :3].T + world[:3, 3]


def transform_motion(matrix: Matrix, motion: SceneMotion) -> SceneMotion:
    """A motion whose root is seen in an object's own space, with its root in the world."""
    rotations, root = transform(matrix, motion.rotations[:, 0], motion.root)
    return replace(motion, rotations=np.concatenate([rotations[:, None], motion.rotations[:, 1:]], axis=1), root=root)


def basis_quaternions(mode: str, values: np.ndarray) -> np.ndarray:
    """Rotations of a bone (N, 4) wxyz from its channels in a rotation mode.

    Args:
        mode: of the bone, ``"QUATERNION"``, ``"AXIS_ANGLE"`` or an order of Euler angles such as ``"XYZ"``.
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
    for letter in mode:  # the first letter turns first
        index, step = "XYZ".index(letter), np.zeros((len(values), 4))
        step[:, index], step[:, 3] = np.sin(0.5 * values[:, index]), np.cos(0.5 * values[:, index])
        result = so3.product(step, result)
    return result[:, [3, 0, 1, 2]]


def channel_values(mode: str, quaternions: np.ndarray) -> np.ndarray:
    """Channels of a bone (N, C) from rotations (N, 4) wxyz: the reverse of `basis_quaternions`, continuous in time."""
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


def joint_movements(rig: Rig, link_rotations: np.ndarray, link_origins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Movement of every joint from the links' frames in the world.

    Args:
        rig: whose links they are.
        link_rotations: (N, L, 3, 3) axes of the links.
        link_origins: (N, L, 3) [m] their origins.

    Returns:
        rotations (N, L, 4) xyzw and translations (N, L, 3) [m] from the neutral pose, in joint axes; the root's in the
        world.
    """
    rotations, translations = np.empty((*link_origins.shape[:2], 4)), np.array(link_origins)
    for link, joint in enumerate(rig.joints):
        turn, parent = link_rotations[:, link], joint.parent
        if parent >= 0:
            back = (link_rotations[:, parent] @ joint.rotation).swapaxes(1, 2)
            turn = back @ turn
            away = link_origins[:, link] - link_origins[:, parent] - link_rotations[:, parent] @ joint.position
            # frames n, axes i of the joint, axes j of the world
            translations[:, link] = np.einsum("nij,nj->ni", back, away)
        rotations[:, link] = so3.to_quaternion(turn)
    return rotations, translations


def link_poses(rig: Rig, rotations: np.ndarray, translations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Links' axes (N, L, 3, 3) and origins (N, L, 3) [m] in the world: the reverse of `joint_movements`."""
    turns, places = so3.to_matrix(rotations), np.array(translations)
    for link, joint in enumerate(rig.joints):
        parent = joint.parent
        if parent >= 0:
            base = turns[:, parent] @ joint.rotation
            # frames n, axes i of the world, axes j of the joint
            ahead = np.einsum("nij,nj->ni", base, translations[:, link])
            places[:, link] = places[:, parent] + turns[:, parent] @ joint.position + ahead
            turns[:, link] = base @ turns[:, link]
    return turns, places


def roll_error(target: np.ndarray, matrix: Matrix) -> float:
    """Angle [rad] by which a bone with matrix ``got`` must still roll about its y axis to match ``wanted`` (4, 4)."""
    actual = to_array(matrix)
    across = target[:3, 0]
    return -float(np.arctan2(across @ actual[:3, 2], across @ actual[:3, 0]))


def to_matrix(matrix: np.ndarray) -> Matrix:
    """mathutils' form of a (3, 3) or (4, 4) array."""
    return Matrix(np.asarray(matrix, float).tolist())


def to_array(matrix: Matrix) -> np.ndarray:
    """Array of a mathutils matrix."""
    return np.array(matrix, dtype=float)


def rotations_to(directions: np.ndarray) -> np.ndarray:
    """Quaternions (N, 4) wxyz that turn +z onto directions (N, 3); the shortest way, continuous in time."""
    result, last = np.zeros((len(directions), 4)), Quaternion()
    for frame, direction in enumerate(directions):
        turn = Vector((0.0, 0.0, 1.0)).rotation_difference(Vector(direction))
        turn.make_compatible(last)
        result[frame], last = turn, turn
    return result


def _direction(rig: Rig, link: int) -> np.ndarray:
    """From the joint to the far end (3,) [m], link axes; never zero."""
    for candidate in (rig.tips[link], rig.boxes[link].mean(axis=0)):
        if np.linalg.norm(candidate) > SHORTEST_BONE / 2:
            return np.asarray(candidate)
    return np.array([0.0, 0.0, SHORTEST_BONE])


def _complete_axes(y: np.ndarray) -> np.ndarray:
    """Right-handed axes (3, 3) around a unit y: z as far forward (link x) as possible, or up where y points forward."""
    forward = np.array([1.0, 0.0, 0.0])
    z = forward if abs(y @ forward) < NEARLY_PARALLEL else np.array([0.0, 0.0, 1.0])
    z = z - (z @ y) * y
    z /= np.linalg.norm(z)
    return np.column_stack([np.cross(y, z), y, z])
