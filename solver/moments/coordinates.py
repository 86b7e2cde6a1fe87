"""Coordinates of joints and the motions that they cause: of a rig, and of an OpenSim model with moving axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..coordinates import coordinate_lengths
from ..dynamics import link_motions
from ..engine import FrameDynamics
from ..errors import InvalidValue
from ..formats.joint_coordinates import coordinate_names
from ..joints import ROOT_NV
from ..motion import Motion
from ..rig import Rig
from ..rigs.opensim.document import GROUND, OpenSimJoint
from ..rigs.opensim.kinematics import relative_pose
from ..rigs.opensim.rig import body_placements, is_opensim, model_of
from ..so3 import log

STEP = 1e-6
"""[rad or m] Half the interval of central differences; the error of a derivative is about 1e-10."""
ITERATIONS = 30
SAMPLES = 1001
"""Values of a coordinate's range among which the search begins."""
CONVERGED = 1e-10
"""[rad or m] Largest last correction of a coordinate."""
MIN_DAMPING = 1e-9
"""Keeps the equations solvable where axes are parallel; more is used in frames whose last step made things worse."""


@dataclass(frozen=True, slots=True)
class CoordinateAxes:
    """Motion of a link, relative to its parent, per unit of each coordinate.

    Attributes:
        names: C coordinates.
        lengths: C; True for a length.
        links: (C,) index of the link that the coordinate moves with all links that it carries.
        twists: (N, C, 6) linear velocity of the world origin as a point of the link, then angular, world axes.
        notes: in plain sentences.
    """

    names: tuple[str, ...]
    lengths: tuple[bool, ...]
    links: np.ndarray
    twists: np.ndarray
    notes: tuple[str, ...] = ()


def coordinate_axes(rig: Rig, motion: Motion) -> CoordinateAxes:
    """Axes of the model's own coordinates for an OpenSim model, otherwise of the rig's.

    Raises:
        InputError: the model's file is missing or has changed.
        InvalidValue: poses that the model's joints cannot have.
    """
    return _opensim_axes(rig, motion) if is_opensim(rig) else _rig_axes(rig, motion)


def _rig_axes(rig: Rig, motion: Motion) -> CoordinateAxes:
    links = np.repeat(np.arange(len(rig.links)), [joint.nv for joint in rig.joints])[ROOT_NV:]
    _, twists = FrameDynamics(rig.model).jacobians(motion.q)
    lengths = tuple(map(bool, coordinate_lengths(rig)))
    return CoordinateAxes(coordinate_names(rig)[ROOT_NV:], lengths, links, twists[:, ROOT_NV:])


def _opensim_axes(rig: Rig, motion: Motion) -> CoordinateAxes:
    model, placements = model_of(rig), body_placements(rig)
    found = link_motions(rig, motion)
    turns, origins = found.rotation.transpose(3, 2, 0, 1), found.position.transpose(2, 1, 0)
    names: list[str] = []
    lengths: list[bool] = []
    links: list[int] = []
    twists: list[np.ndarray] = []
    worst, culprit = 0.0, ""
    for joint in model.joints:
        child = placements[joint.child.body]
        if not joint.coordinates or joint.parent.body == GROUND or child.link == 0:
            continue
        parent = placements[joint.parent.body]
        rotation, position = turns[:, parent.link] @ parent.rotation, turns[:, child.link] @ child.rotation
        base = origins[:, parent.link] + turns[:, parent.link] @ parent.position
        end = origins[:, child.link] + turns[:, child.link] @ child.position
        back = rotation.swapaxes(1, 2)
        # frames n, axes i of the parent body, axes j of the world
        values, error = _solve_coordinates(joint, back @ position, np.einsum("nij,nj->ni", back, end - base))
        if error > worst:
            worst, culprit = error, joint.name
        for coordinate in joint.coordinates:
            omega, speed = _derivative(joint, values, coordinate.name)
            omega, speed = (np.einsum("nij,nj->ni", rotation, each) for each in (omega, speed))
            twists.append(np.concatenate([speed - np.cross(omega, end), omega], axis=1))
            names.append(coordinate.name)
            lengths.append(not any(coordinate.name in axis.coordinates for axis in joint.rotations))
            links.append(child.link)
    if not names:
        raise InvalidValue(f"model {model.path.name} has no coordinate besides those of its root")
    notes = (
        f"filtered poses of the bodies differ from those of the model's joints by up to {1e3 * worst:.1f} mm or mrad "
        f"({culprit})",
    ) * bool(worst > 1e-3)
    return CoordinateAxes(tuple(names), tuple(lengths), np.array(links), np.stack(twists, axis=1), notes)


def _solve_coordinates(joint: OpenSimJoint, turn: np.ndarray, move: np.ndarray) -> tuple[dict[str, np.ndarray], float]:
    """Coordinates (N,) that come nearest to axes (N, 3, 3) and origin (N, 3) [m] of the child body in its parent.

    Levenberg-Marquardt iterations, all frames at once; the remaining error [rad or m] is also returned.
    """
    names = [coordinate.name for coordinate in joint.coordinates]
    values = _first_values(joint, turn, move)
    error, damping = _pose_error(joint, values, turn, move), np.full(len(turn), MIN_DAMPING)
    for _ in range(ITERATIONS):
        columns = np.stack([np.concatenate(_derivative(joint, values, name), axis=1) for name in names], axis=2)
        normal = columns.swapaxes(1, 2) @ columns + damping[:, None, None] * np.eye(len(names))
        step = np.linalg.solve(normal, columns.swapaxes(1, 2) @ error[:, :, None])[:, :, 0]
        tried = {name: values[name] + step[:, k] for k, name in enumerate(names)}
        new = _pose_error(joint, tried, turn, move)
        better = (new**2).sum(axis=1) <= (error**2).sum(axis=1)
        values = {name: np.where(better, tried[name], values[name]) for name in names}
        error = np.where(better[:, None], new, error)
        damping = np.where(better, np.maximum(0.1 * damping, MIN_DAMPING), 10.0 * damping)
        if np.abs(step).max() < CONVERGED:
            break
    return values, float(np.abs(error).max())


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
    distances = (own**2).sum(axis=1) - 2.0 * wanted @ own.T
    return {coordinate.name: choices[np.argmin(distances, axis=1)]}


def _pose_error(
    joint: OpenSimJoint, values: Mapping[str, np.ndarray], turn: np.ndarray, move: np.ndarray
) -> np.ndarray:
    """Rotation vector [rad] and displacement [m] (N, 6) from the joint's pose to the wanted one, parent axes."""
    own, place = relative_pose(joint, values, len(turn))
    return np.concatenate([log(turn @ own.swapaxes(1, 2)), move - place], axis=1)


def _derivative(joint: OpenSimJoint, values: Mapping[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and velocity of the child's origin (N, 3), parent axes, per unit of a coordinate."""
    count = len(values[name])
    before, after = (relative_pose(joint, {**values, name: values[name] + step}, count) for step in (-STEP, STEP))
    omega = log(after[0] @ before[0].swapaxes(1, 2)) / (2.0 * STEP)
    return omega, (after[1] - before[1]) / (2.0 * STEP)
