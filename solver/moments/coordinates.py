"""Coordinates of joints and the motions that they cause: of a rig, and of an OpenSim model with moving axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..coordinates import coordinate_lengths
from ..dynamics import link_motions
from ..engine import FrameDynamics
from ..errors import InvalidValue
from ..formats.joint_coordinates import coordinate_names
from ..joints import ROOT_NV
from ..motion import Motion
from ..person import SIDES
from ..rig import Rig
from ..rigs.opensim.document import GROUND
from ..rigs.opensim.kinematics import find_coordinates, unit_motion
from ..rigs.opensim.rig import body_placements, is_opensim, model_of


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
        if not joint.coordinates or joint.parent.body == GROUND or child.carrier == 0:
            continue
        parent = placements[joint.parent.body]
        rotation, position = turns[:, parent.carrier] @ parent.rotation, turns[:, child.carrier] @ child.rotation
        base = origins[:, parent.carrier] + turns[:, parent.carrier] @ parent.position
        end = origins[:, child.carrier] + turns[:, child.carrier] @ child.position
        back = rotation.swapaxes(1, 2)
        # frames n, axes i of the parent body, axes j of the world
        values, error = find_coordinates(joint, back @ position, np.einsum("nij,nj->ni", back, end - base))
        if error > worst:
            worst, culprit = error, joint.name
        for coordinate in joint.coordinates:
            omega, speed = unit_motion(joint, values, coordinate.name)
            omega, speed = (np.einsum("nij,nj->ni", rotation, each) for each in (omega, speed))
            twists.append(np.concatenate([speed - np.cross(omega, end), omega], axis=1))
            names.append(coordinate.name)
            lengths.append(not any(coordinate.name in axis.coordinates for axis in joint.rotations))
            links.append(child.carrier)
    if not names:
        raise InvalidValue(f"model {model.path.name} has no coordinate besides those of its root")
    notes = (
        f"filtered poses of the bodies differ from those of the model's joints by up to {1e3 * worst:.1f} mm or mrad "
        f"({culprit})",
    ) * bool(worst > 1e-3)
    return CoordinateAxes(tuple(names), tuple(lengths), np.array(links), np.stack(twists, axis=1), notes)


PERSON = "human"
MEANINGS = {
    "torso_x": "trunk bending to the right", "torso_y": "trunk flexion", "torso_z": "trunk rotation to the left",
    "thigh_y": "hip extension", "shank": "knee flexion", "foot_y": "ankle plantarflexion",
    "right_thigh_x": "hip adduction", "left_thigh_x": "hip abduction",
    "right_thigh_z": "hip internal rotation", "left_thigh_z": "hip external rotation",
    "forearm": "elbow flexion", "upper_arm_y": "shoulder extension",
}  # fmt: skip
"""By coordinate, with or without its side; axes x forward, y to the left, z up in the neutral pose."""


def describe_coordinates(rig: Rig, names: Sequence[str]) -> tuple[str, ...]:
    """For each coordinate the direction in which it increases, such as ``left hip extension``; empty if unnamed."""
    if rig.provenance.get("kind") != PERSON:
        return ("",) * len(names)
    return tuple(map(_describe, names))


def _describe(name: str) -> str:
    side = next((side for side in SIDES if name.startswith(f"{side}_")), "")
    meaning = MEANINGS.get(name) or MEANINGS.get(name.removeprefix(f"{side}_"), "")
    return f"{side} {meaning}".strip() if meaning else ""
