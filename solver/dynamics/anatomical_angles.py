"""Joint angles of a person in the joint coordinate systems of the International Society of Biomechanics (ISB).

Hip, knee, ankle, trunk, neck, elbow and wrist, as Grood and Suntay (1983) and Wu et al. (2002, 2005): flexion about the
lateral axis of the proximal segment, adduction about the floating axis, axial rotation about the long axis of the
distal segment; Cardan sequence ZXY. Shoulder, Wu et al. (2005), thorax to humerus: plane of elevation about the long
axis of the thorax, elevation, axial rotation about the long axis of the humerus; Euler sequence YXY.

In the rig's neutral posture every segment has the axes X forward, Y up and Z to the right, by gravity and the line
between the hips, and all angles are zero; a built-in person then stands in the anatomical position, palms forward.
Angles of left limbs are those of the mirrored body: a movement has the same sign on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..base.errors import InvalidValue, checked
from ..base.file_arrays import FileRows
from ..base.so3 import exp, log
from ..skeleton.rig import PARTS, Rig
from ..values.motion import Motion
from ..values.person import LINKS, SIDES
from .kinematics import motion_pieces

X, Y, Z = range(3)
JOINTS = (
    ("pelvis", "thigh", Z, ("hip_flexion", "hip_adduction", "hip_rotation"), (1, 1, 1)),
    ("thigh", "shank", Z, ("knee_angle", "knee_adduction", "knee_rotation"), (-1, 1, 1)),
    ("shank", "foot", Z, ("ankle_angle", "ankle_inversion", "ankle_rotation"), (1, 1, 1)),
    ("pelvis", "torso", Z, ("trunk_flexion", "trunk_bending", "trunk_rotation"), (-1, 1, 1)),
    ("torso", "head", Z, ("neck_flexion", "neck_bending", "neck_rotation"), (-1, 1, 1)),
    ("torso", "upper_arm", Y, ("shoulder_plane", "shoulder_elevation", "shoulder_rotation"), (1, -1, 1)),
    ("upper_arm", "forearm", Z, ("elbow_flexion", "elbow_adduction", "elbow_pronation"), (1, 1, 1)),
    ("forearm", "hand", Z, ("wrist_flexion", "wrist_deviation", "wrist_pronation"), (1, 1, 1)),
)
"""Proximal and distal segment, first axis, names of the angles, and their signs about first axis, X and Y.

Positive: flexion (``knee_angle``), dorsiflexion (``ankle_angle``), adduction, inversion, ulnar deviation, internal
rotation, pronation; of trunk and neck bending to the right and rotation to the left. The plane of elevation is 0 in
abduction and 90 degrees in flexion. Sequences and axes: Wu et al. 2002 and 2005."""


OTHER_AXIS = 1e-5
"""[rad] Largest rotation about an axis that a joint does not have. Derived: files hold nine digits of degrees."""


@dataclass(frozen=True, slots=True)
class JointAngles:
    """Angles of a person's joints, three for each joint.

    Attributes:
        names: C, those of limbs end on ``_r`` or ``_l``.
        links: (C,) index of the distal link.
        values: (N, C) [rad], without jumps by full turns.
        axes: (N, C, 3) unit vectors, world, about which the distal segment turns if this angle alone increases.
    """

    names: tuple[str, ...]
    links: np.ndarray
    values: np.ndarray
    axes: np.ndarray


class _AnatomicalJoint(NamedTuple):
    """Names of its angles, links, first axis, signs of the angles, and reflection (3, 3) of a left limb."""

    names: tuple[str, ...]
    proximal: int
    distal: int
    first: int
    signs: tuple[int, ...]
    mirror: np.ndarray


@checked
def joint_angles(rig: Rig, motion: Motion) -> JointAngles:
    """Angles of all joints between segments that the rig has.

    Of an arm that hangs down only the sum of plane of elevation and axial rotation is determined: an error of the
    arm's direction [rad] enters both, divided by the sine of the elevation.

    Args:
        rig: a person.
        motion: N frames.

    Raises:
        InvalidValue: the rig is no person.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.human(1.75, 70.0, "male")
        >>> q = rig.neutral
        >>> q[rig.q_slices[rig.index("left_shank")]] = np.radians(60.0)
        >>> still = solver.Motion([0.0], [q], np.zeros((1, rig.nv)), np.zeros((1, rig.nv)))
        >>> found = solver.dynamics.joint_angles(rig, still)
        >>> f"{np.degrees(found.values[0, found.names.index('knee_angle_l')]):.1f} degrees"
        '60.0 degrees'
    """
    if not rig.is_person:
        raise InvalidValue(f"rig {rig.name!r} is no person: its joints have no anatomical angles")
    still, joints = _find_joints(rig)
    names = angle_names(rig)
    values, axes, last = FileRows(), FileRows(), np.zeros((0, len(names)))
    for _, piece in motion_pieces(rig, motion):
        segments = piece.rotation.transpose(3, 2, 0, 1) @ still
        angles, about = zip(*(_angles_between(segments, joint) for joint in joints))
        continued = np.unwrap(np.concatenate([last, np.concatenate(angles, axis=1)]), axis=0)
        values.add(continued[len(last) :])
        axes.add(np.concatenate(about, axis=1))
        last = continued[-1:]
    links = np.repeat([joint.distal for joint in joints], len(names) // len(joints))
    return JointAngles(names, links, values.finish(), axes.finish())


def angle_names(rig: Rig) -> tuple[str, ...]:
    """Names of the angles that `joint_angles` gives of a person's rig."""
    return tuple(name for joint in _find_joints(rig)[1] for name in joint.names)


def coordinates_of_angles(rig: Rig, values: np.ndarray) -> np.ndarray:
    """Coordinates (N, nv) [rad] in the rig's order, zeros for the root, of angles (N, C) [rad]: undoes `joint_angles`.

    Raises:
        InvalidValue: the rig has other joints between two segments, or one that cannot turn so.
    """
    still, joints = _find_joints(rig)
    result = np.zeros((len(values), rig.nv))
    for angles, own in zip(np.split(values, len(joints), axis=1), joints):
        joint, mirror = rig.joints[own.distal], own.mirror
        if joint.parent != own.proximal or joint.kind not in ("spherical", "universal", "revolute"):
            proximal, distal = rig.links[own.proximal], rig.links[own.distal]
            raise InvalidValue(
                f"joint angles do not determine the joints of {rig.name} between {proximal} and {distal}; give the "
                "coordinates that are written beside them (.joints.mot)"
            )
        turns = np.eye(3)
        for angle, sign, axis in zip(angles.T, own.signs, np.eye(3)[[own.first, X, Y]]):
            turns = turns @ exp(sign * angle[:, None] * axis)
        turns = joint.rotation.T @ still[own.proximal] @ mirror @ turns @ mirror @ still[own.distal].T
        if joint.kind == "spherical":
            result[:, rig.v_slices[own.distal]] = log(turns)
            continue
        column = rig.v_slices[own.distal].start
        if joint.kind == "universal":  # the first axis turns the second one
            axis, carried = joint.axes
            across, moved = np.cross(axis, carried), turns @ carried
            result[:, column] = np.arctan2(moved @ across, moved @ np.cross(across, axis))
            turns = exp(-result[:, column, None] * axis) @ turns
            column += 1
        vectors, axis = log(turns), joint.axes[-1]
        result[:, column] = vectors @ axis
        if np.nanmax(np.abs(vectors - result[:, column, None] * axis), initial=0.0) > OTHER_AXIS:
            raise InvalidValue(
                f"joint angles turn {rig.links[own.distal]} about axes that its joint in {rig.name} does not have; "
                "give the rig that was tracked (rig.json, which lies beside them)"
            )
    return result


def _angles_between(segments: np.ndarray, joint: _AnatomicalJoint) -> tuple[np.ndarray, np.ndarray]:
    """Angles (n, 3) [rad] between two of the segments (n, L, 3, 3), and their axes (n, 3, 3), world."""
    proximal, mirror, signs = segments[:, joint.proximal], joint.mirror, joint.signs
    turns = mirror @ proximal.swapaxes(1, 2) @ segments[:, joint.distal] @ mirror
    angles, about = _decompose(turns, joint.first)
    # an axis of rotation keeps its sense in a mirror that it is normal to
    world = proximal @ mirror * np.linalg.det(mirror)
    return angles * signs, about * np.reshape(signs, (3, 1)) @ world.swapaxes(1, 2)


def _find_joints(rig: Rig) -> tuple[np.ndarray, list[_AnatomicalJoint]]:
    """Anatomical axes (L, 3, 3) of the segments in their links, and the joints between segments that the rig has."""
    known: Mapping[str, str] = rig.provenance.get(PARTS, {link: link for link in rig.links})  # type: ignore[assignment]
    places = {part: rig.index(link) for part, link in known.items()}
    joints = []
    for *ends, first, own, signs in JOINTS:
        for side in ("",) if ends[1] in LINKS else SIDES:
            proximal, distal = (places.get(end if end in LINKS else f"{side}_{end}", -1) for end in ends)
            if min(proximal, distal) >= 0:
                mirror = np.diag([1.0, 1.0, -1.0 if side == "left" else 1.0])
                names = tuple(f"{name}_{side[0]}" if side else name for name in own)
                joints.append(_AnatomicalJoint(names, proximal, distal, first, signs, mirror))
    return rig.rest[0].swapaxes(1, 2) @ _anatomical_axes(rig, places), joints


def _anatomical_axes(rig: Rig, places: Mapping[str, int]) -> np.ndarray:
    """Axes (3, 3) of all segments in the neutral posture: columns forward, up and to the right, world."""
    right, left = (rig.rest[1][places[f"{side}_thigh"]] for side in SIDES)
    across = (right - left) * [1.0, 1.0, 0.0]
    across /= np.linalg.norm(across)
    up = np.array([0.0, 0.0, 1.0])
    return np.column_stack([np.cross(up, across), up, across])


def _decompose(turns: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles (N, 3) [rad] of rotations (N, 3, 3) about Z (or Y, with a second angle of 0 to -180 degrees), X and Y.

    The second value is the axes (N, 3, 3), rows, in the proximal axes. The product of the three rotations is the given
    one, also where the first axis and the last one are parallel and the first angle is any.
    """
    x, y, z = turns[:, :, 1].T + 0.0  # long axis of the distal segment; never -0
    start = np.arctan2(-x, y if first == Z else -z)
    axis = np.eye(3)[first]
    after = exp(start[:, None] * axis)
    rest = after.swapaxes(1, 2) @ turns
    angles = np.column_stack(
        [start, np.arctan2(rest[:, 2, 1], rest[:, 1, 1]), np.arctan2(rest[:, 0, 2], rest[:, 0, 0])]
    )
    return angles, np.stack([np.broadcast_to(axis, after[:, :, 0].shape), after[:, :, 0], turns[:, :, 1]], axis=1)
