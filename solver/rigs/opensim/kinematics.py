"""Forward kinematics of an OpenSim model: poses of its bodies from its coordinates, by its own joint definitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...so3 import exp
from ..root_and_up_axis import FILE_TO_WORLD
from .document import GROUND, OpenSimJoint, OpenSimModel, TransformAxis


@dataclass(frozen=True, slots=True)
class BodyPoses:
    """Poses of bodies: axes (N, 3, 3) and origins (N, 3) [m] by the body's name."""

    rotations: Mapping[str, np.ndarray]
    positions: Mapping[str, np.ndarray]


def body_poses(model: OpenSimModel, values: Mapping[str, np.ndarray]) -> BodyPoses:
    """Poses of all bodies in the world, z up.

    Args:
        model: whose bodies they are.
        values: (N,) [rad or m] of every coordinate, by its name.
    """
    count = max((len(value) for value in values.values()), default=1)
    rotations = {GROUND: np.tile(FILE_TO_WORLD[model.up], (count, 1, 1))}
    positions = {GROUND: np.zeros((count, 3))}
    for joint in model.joints:
        turn, move = relative_pose(joint, values, count)
        base = rotations[joint.parent.body]
        rotations[joint.child.body] = base @ turn
        # frames n, axes i of the world, axes j of the parent body
        positions[joint.child.body] = positions[joint.parent.body] + np.einsum("nij,nj->ni", base, move)
    return BodyPoses(rotations, positions)


def relative_pose(joint: OpenSimJoint, values: Mapping[str, np.ndarray], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Axes (N, 3, 3) and origin (N, 3) [m] of a joint's child body in its parent body."""
    turn, move = joint_transform(joint, values, count)
    parent, child = joint.parent, joint.child
    rotation = parent.rotation @ turn @ child.rotation.T
    position = parent.position + move @ parent.rotation.T - rotation @ child.position
    return rotation, position


def joint_transform(joint: OpenSimJoint, values: Mapping[str, np.ndarray], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Axes (N, 3, 3) and origin (N, 3) [m] of a joint's child frame in its parent frame."""
    sliding, move = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
    for axis in joint.rotations[:3]:
        sliding = sliding @ exp(evaluate(axis, values, count)[:, None] * axis.axis)
    turn = sliding
    for axis in joint.rotations[3:]:
        turn = turn @ exp(evaluate(axis, values, count)[:, None] * axis.axis)
    for axis in joint.translations:
        move = move + evaluate(axis, values, count)[:, None] * axis.axis
    if joint.radii is not None:
        move = move + sliding[:, :, 2] * joint.radii
    if joint.pivot is not None:
        move = move + (sliding - turn) @ joint.pivot
    return turn, move


def evaluate(axis: TransformAxis, values: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """Angles (N,) [rad] about an axis, or distances [m] along it."""
    given = np.column_stack([values[name] for name in axis.coordinates]) if axis.coordinates else np.zeros((count, 1))
    return np.broadcast_to(axis.function.evaluate(given), (count,))
