"""Kinematics of an OpenSim model: poses of its bodies from its coordinates, by its own joint definitions, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...base.so3 import exp, log
from ...qp.least_squares import solve_least_squares
from ..root_and_up_axis import FILE_TO_WORLD
from .document import GROUND, OpenSimJoint, OpenSimModel, TransformAxis

STEP = 1e-6
"""[rad or m] Half the interval of central differences; the error of a derivative is about 1e-10."""
SAMPLES = 1001
"""Values of a coordinate's range among which the search begins."""
CONVERGED = 1e-10
"""[rad or m] Largest last correction of a coordinate."""


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
    return rotation, parent.position + move @ parent.rotation.T - rotation @ child.position


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


def find_coordinates(joint: OpenSimJoint, turn: np.ndarray, move: np.ndarray) -> tuple[dict[str, np.ndarray], float]:
    """Coordinates (N,) that come nearest to axes (N, 3, 3) and origin (N, 3) [m] of the child body in its parent.

    Levenberg-Marquardt iterations, all frames at once; the largest remaining error [rad and m] is also returned.
    """
    names = [coordinate.name for coordinate in joint.coordinates]

    def named(values: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(names, values.T))

    def residual(values: np.ndarray, active: np.ndarray) -> np.ndarray:
        return _pose_error(joint, named(values), turn[active], move[active])

    def equations(values: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        columns = [np.concatenate(unit_motion(joint, named(values), name), axis=1) for name in names]
        across = np.stack(columns, axis=1)
        return across @ across.swapaxes(1, 2), (across @ residual(values, active)[:, :, None])[:, :, 0]

    start = _first_values(joint, turn, move)
    values, error = solve_least_squares(
        np.column_stack([start[name] for name in names]),
        equations,
        lambda values, active: (residual(values, active) ** 2).sum(axis=1),
        converged=CONVERGED,
    )
    return named(values), float(np.sqrt(error.max()))


def _first_values(joint: OpenSimJoint, turn: np.ndarray, move: np.ndarray) -> dict[str, np.ndarray]:
    """Defaults; of a single coordinate the best of its range, since the angle may not rise with it, as of a patella."""
    count = len(turn)
    values = {coordinate.name: np.full(count, coordinate.default) for coordinate in joint.coordinates}
    if len(values) > 1:
        return values
    (coordinate,) = joint.coordinates
    choices = np.linspace(max(coordinate.lower, -np.pi), min(coordinate.upper, np.pi), SAMPLES)
    turns, moves = relative_pose(joint, {coordinate.name: choices}, SAMPLES)
    wanted, own = (
        np.concatenate([a.reshape(-1, 9) * np.sqrt(0.5), b], axis=1) for a, b in ((turn, move), (turns, moves))
    )
    # squared distances [rad^2 and m^2] but for a term that does not depend on the choice
    return {coordinate.name: choices[np.argmin((own**2).sum(axis=1) - 2.0 * wanted @ own.T, axis=1)]}


def _pose_error(
    joint: OpenSimJoint, values: Mapping[str, np.ndarray], turn: np.ndarray, move: np.ndarray
) -> np.ndarray:
    """Rotation vector [rad] and displacement [m] (N, 6) from the joint's pose to the wanted one, parent axes."""
    own, place = relative_pose(joint, values, len(turn))
    return np.concatenate([log(turn @ own.swapaxes(1, 2)), move - place], axis=1)


def unit_motion(joint: OpenSimJoint, values: Mapping[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and velocity of the child's origin (N, 3), parent axes, per unit of a coordinate."""
    count = len(values[name])
    before, after = (relative_pose(joint, {**values, name: values[name] + step}, count) for step in (-STEP, STEP))
    omega = log(after[0] @ before[0].swapaxes(1, 2)) / (2.0 * STEP)
    return omega, (after[1] - before[1]) / (2.0 * STEP)
