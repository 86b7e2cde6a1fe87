"""Converts named joint coordinates (a robot's encoders, or our own motion files) to configurations of a rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..coordinates import coordinate_lengths, joint_coordinates, joint_slices
from ..dynamics import Workspace, difference, integrate
from ..errors import InvalidValue
from ..formats.joint_coordinates import AXES
from ..joints import ROOT_NV
from ..motion import POSE, JointCoordinates, coordinate_numbers
from ..rig import Rig
from ..shape import ContactPolygon
from ..so3 import rotation_between, to_quaternion
from ..trial import Recording
from .opensim_motion import is_opensim_motion, opensim_configurations
from .values import Poses, TrialRecord

RADIANS_PER_DEGREE = np.pi / 180.0
OPENSIM_COORDINATES = ("pelvis_tilt", "pelvis_tx", "hip_flexion_r", "knee_angle_r")
"""Coordinates of OpenSim's usual models of people."""
FLATNESS_TOLERANCE = 1e-6
"""[m] Largest distance of a patch's corners from their plane; beyond it the patch has no defined normal."""


def convert_joint_recordings(
    rig: Rig, recordings: Sequence[Recording], standing: str | None = None
) -> tuple[TrialRecord, ...]:
    """Convert recordings with joint coordinates to trials of a rig; the others are returned without motion.

    Args:
        rig: whose joints they are.
        recordings: see `load`.
        standing: see `poses_of`.

    Raises:
        InvalidValue: see `poses_of`; the trial is named.
    """
    records = []
    for recording in recordings:
        if recording.joints is None:
            records.append(TrialRecord(recording))
            continue
        try:
            records.append(TrialRecord(recording, given=poses_of(rig, recording.joints, standing)))
        except InvalidValue as error:
            raise InvalidValue(f"trial {recording.name!r}: {error}") from None
    return tuple(records)


def poses_of(rig: Rig, joints: JointCoordinates, standing: str | None = None) -> Poses:
    """Configurations of a rig from named joint coordinates.

    Args:
        rig: whose links or joints the coordinates are named after.
        joints: every coordinate of the rig by name, in any order; numbered ones (`coordinate_numbers`) in the rig's.
        standing: contact patch, or link that carries it, that stays still on the floor throughout. It is only used if
            the recording has no pose of the root. The world's origin is then the middle of that patch, and the patch
            is oriented as when all joints are at zero.

    Returns:
        configurations; a frame with a missing value is interpolated and not known.

    Raises:
        InvalidValue: a coordinate that the rig does not have, a missing coordinate, a unit that contradicts the joint,
            or an unknown pose of the root.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> solver.study.poses_of(robot.rig, robot.recordings[0].joints).q.shape  # frames, numbers of a configuration
        (600, 37)
    """
    q, known = compute_configurations(rig, joints, standing)
    if known.sum() < 2:
        raise InvalidValue("fewer than two frames are complete")
    return Poses(joints.times, _fill_gaps(rig, joints.times, q, known), known)


def compute_configurations(
    rig: Rig, joints: JointCoordinates, standing: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (N, nq) from named joint coordinates, and (N,) True where they are complete; see `poses_of`.

    Raises:
        InvalidValue: see `poses_of`.
    """
    if is_opensim_motion(rig, joints.names):
        return opensim_configurations(rig, joints)
    columns = _map_columns(rig, joints)
    tangents = np.zeros((len(joints), rig.nv))
    for place, (column, factor) in columns.items():
        tangents[:, place] = factor * joints.values[:, column]
    known = np.isfinite(tangents).all(axis=1)
    q = np.full((len(joints), rig.nq), np.nan)
    q[known] = integrate(rig, rig.neutral, tangents[known])
    if joints.root is not None:
        q[:, :POSE] = joints.root
        q[:, 3:POSE] /= np.linalg.norm(q[:, 3:POSE], axis=1, keepdims=True)
    else:
        _place_root(rig, q, known, _find_standing_patch(rig, standing))
    return q, known & np.isfinite(q).all(axis=1)


def joints_of(rig: Rig, times: np.ndarray, q: np.ndarray) -> JointCoordinates:
    """The reverse of `poses_of`: configurations as named joint coordinates.

    Args:
        rig: whose joints they are.
        times: (N,) [s].
        q: (N, nq) configurations, Pinocchio's layout.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.hoap3()
        >>> joints = solver.study.joints_of(rig, np.arange(2.0), np.tile(rig.neutral, (2, 1)))
        >>> joints.values.shape  # frames, coordinates
        (2, 21)
    """
    found = _list_coordinates(rig)
    units = tuple("m" if slides else "rad" for _, _, slides in found)
    values = joint_coordinates(rig, np.asarray(q, float))
    return JointCoordinates(times, tuple(names[0] for names, *_ in found), values, units, q[:, :POSE])


def _fill_gaps(rig: Rig, times: np.ndarray, q: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Configurations (N, nq) in which unknown ones are interpolated, or constant at the ends."""
    frames = np.flatnonzero(known)
    result = q.copy()
    for frame in np.flatnonzero(~known):
        after = int(np.searchsorted(frames, frame))
        first, last = frames[max(after - 1, 0)], frames[min(after, len(frames) - 1)]
        way = 0.0 if first == last else (times[frame] - times[first]) / (times[last] - times[first])
        step = float(np.clip(way, 0.0, 1.0)) * difference(rig, q[first], q[last])
        result[frame] = integrate(rig, q[first], step)
    return result


def _map_columns(rig: Rig, joints: JointCoordinates) -> Mapping[int, tuple[int, float]]:
    """Column of the recording and its factor to SI, by coordinate of the rig's tangent space."""
    coordinates = _list_coordinates(rig)
    places = {title: (place, slides) for (_, title), place, slides in coordinates}
    places |= {link: (place, slides) for (link, _), place, slides in coordinates}  # a link's name takes precedence
    unknown = [name for name in joints.names if name not in places]
    choices = ", ".join(names[0] for names, *_ in coordinates)
    names = joints.names
    if unknown and names == coordinate_numbers(len(names)):
        if len(names) != len(coordinates):
            raise InvalidValue(
                f"{len(names)} joint coordinates without names, but {rig.name} has {len(coordinates)}: {choices}"
            )
        names, unknown = tuple(link for (link, _), *_ in coordinates), []
    if len(set(OPENSIM_COORDINATES) & set(joints.names)) >= 2:
        raise InvalidValue(
            f"{', '.join(unknown)} are coordinates of an OpenSim model, whose joints and axes are not those of "
            f"{rig.name} ({choices}); give that model (.osim) as the rig, or track the recorded markers"
        )
    if unknown:
        raise InvalidValue(f"{', '.join(unknown)}: not joints of {rig.name}; known: {choices}")
    result: dict[int, tuple[int, float]] = {}
    for column, name in enumerate(names):
        place, slides = places[name]
        if place in result:
            raise InvalidValue(f"{names[result[place][0]]} and {name} are the same coordinate of {rig.name}")
        unit = joints.units[column]
        if unit == ("rad" if slides else "m"):
            kind = "prismatic" if slides else "revolute"
            raise InvalidValue(f"{name} is a {kind} joint, but its values are in {unit}; correct the unit")
        result[place] = column, RADIANS_PER_DEGREE if unit == "deg or m" and not slides else 1.0
    lacking = [link for (link, _), place, _ in coordinates if place not in result]
    if lacking:
        raise InvalidValue(
            f"no column for {', '.join(lacking)} of {rig.name}: give every joint, with zeros if it does not move"
        )
    return result


def _list_coordinates(rig: Rig) -> list[tuple[tuple[str, str], int, bool]]:
    """Names after link and joint, index in the tangent space, and whether it is prismatic, of every coordinate."""
    found = []
    lengths = coordinate_lengths(rig)
    for link, (joint, _, moves) in zip(rig.links[1:], joint_slices(rig)[1:]):
        pairs = zip(_coordinate_names(link, joint.nv), _coordinate_names(joint.name, joint.nv))
        found += [(pair, place, bool(lengths[place - ROOT_NV])) for place, pair in enumerate(pairs, start=moves.start)]
    return found


def _coordinate_names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}_{AXES[k] if count <= len(AXES) else k}" for k in range(count)]


def _find_standing_patch(rig: Rig, standing: str | None) -> ContactPolygon:
    """The patch that is specified to stay still."""
    if standing is None:
        names = [name for contact in rig.contacts for name in (contact.name, contact.link)]
        raise InvalidValue(
            "the pose of the root is unknown: give it (columns root_tx, root_ty, root_tz [m] and root_rx, root_ry, "
            "root_rz [rad] or root_qx ... root_qw), or specify what stays still on the floor all the time "
            f"(standing = {' or '.join(names) or 'a contact patch, of which this rig has none'}); moments are then "
            "about the middle of that sole"
        )
    return rig.find_patch(standing)


def _place_root(rig: Rig, q: np.ndarray, known: np.ndarray, patch: ContactPolygon) -> None:
    """Set the root's pose (in place) so that a patch lies flat on the world's origin, oriented as at zero."""
    link, workspace = rig.index(patch.link), Workspace(rig)
    wanted = _level_rotation(patch, rig.rest[0][link])
    at_origin = rig.neutral[:POSE]
    for frame in np.flatnonzero(known):
        q[frame, :POSE] = at_origin
        workspace.update_positions(q[frame])
        turn = wanted @ workspace.rotations[link].T
        q[frame, :3] = -wanted @ patch.centroid - turn @ workspace.positions[link]
        q[frame, 3:POSE] = to_quaternion(turn)


def _level_rotation(patch: ContactPolygon, rotation: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) nearest to ``rotation`` for which the patch's outward normal points straight down."""
    corners = patch.vertices - patch.centroid
    normal = np.linalg.svd(corners)[2][2]
    if np.abs(corners @ normal).max() > FLATNESS_TOLERANCE:
        raise InvalidValue(f"the patch {patch.name} is not flat")
    turned = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
    up = -np.sign(turned @ normal) * (rotation @ normal)
    return rotation_between(up, np.array([0.0, 0.0, 1.0])) @ rotation
