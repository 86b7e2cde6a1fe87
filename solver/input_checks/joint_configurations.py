"""Configurations of a rig from named joint coordinates: a robot's encoders, or our own motion files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import rotation_between, to_quaternion
from ..dynamics import Workspace, integrate
from ..dynamics.anatomical_angles import angle_names, coordinates_of_angles
from ..dynamics.coordinates import coordinate_lengths, joint_slices
from ..formats.joint_coordinates import AXES
from ..skeleton.rig import Rig
from ..values.joints import ROOT_NV
from ..values.motion import POSE, JointCoordinates, coordinate_numbers
from ..values.shape import ContactPolygon
from .opensim_configurations import is_opensim_motion, opensim_configurations

RADIANS_PER_DEGREE = np.pi / 180.0
"""By definition."""
OPENSIM_COORDINATES = ("pelvis_tilt", "pelvis_tx", "hip_flexion_r", "knee_angle_r")
"""Coordinates of OpenSim's usual models of people."""
FLATNESS_TOLERANCE = 1e-6
"""[m] Largest distance of a patch's corners from their plane; beyond it the patch has no defined normal."""


def compute_configurations(
    rig: Rig, joints: JointCoordinates, standing: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (N, nq) from named joint coordinates, and (N,) True where they are complete; see `study.poses_of`.

    Raises:
        InvalidValue: see `study.poses_of`.
    """
    return configuration_function(rig, joints.names, joints.units, standing)(joints.values, joints.root)


def configuration_function(
    rig: Rig, names: tuple[str, ...], units: tuple[str, ...], standing: str | None = None
) -> Callable[[np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray]]:
    """What `compute_configurations` does to values (N, n) and poses of the root (N, 7), or None without: a stream
    matches the names once.

    Raises:
        InvalidValue: see `study.poses_of`.
    """
    if is_opensim_motion(rig, names):
        return lambda values, root: opensim_configurations(
            rig, JointCoordinates(np.arange(float(len(values))), names, values, units, root)
        )
    to_tangents = _tangent_function(rig, names, units)

    def configure(values: np.ndarray, root: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        tangents = to_tangents(values)
        known = np.isfinite(tangents).all(axis=1)
        q = np.full((len(values), rig.nq), np.nan)
        q[known] = integrate(rig, rig.neutral, tangents[known])
        if root is not None:
            q[:, :POSE] = root
            q[:, 3:POSE] /= np.linalg.norm(q[:, 3:POSE], axis=1, keepdims=True)
        else:
            _place_root(rig, q, known, _find_standing_patch(rig, standing))
        return q, known & np.isfinite(q).all(axis=1)

    return configure


def joint_tangents(rig: Rig, joints: JointCoordinates) -> np.ndarray:
    """Joint coordinates (N, nv) [rad, m] in the rig's order, with zeros for the root.

    Raises:
        InvalidValue: see `study.poses_of`.
    """
    return _tangent_function(rig, joints.names, joints.units)(joints.values)


def _tangent_function(rig: Rig, names: tuple[str, ...], units: tuple[str, ...]) -> Callable[[np.ndarray], np.ndarray]:
    """What `joint_tangents` does to values (N, n)."""
    if _is_anatomical(rig, names):
        order = [names.index(name) for name in angle_names(rig)]
        factor = RADIANS_PER_DEGREE if units[0] == "deg or m" else 1.0
        return lambda values: coordinates_of_angles(rig, factor * values[:, order])
    columns = _map_columns(rig, names, units)

    def scale(values: np.ndarray) -> np.ndarray:
        tangents = np.zeros((len(values), rig.nv))
        for place, (column, factor) in columns.items():
            tangents[:, place] = factor * values[:, column]
        return tangents

    return scale


def _is_anatomical(rig: Rig, names: tuple[str, ...]) -> bool:
    """Whether columns are the anatomical joint angles that are written beside a person's coordinates."""
    return rig.is_person and set(names) == set(angle_names(rig))


def _map_columns(rig: Rig, names: tuple[str, ...], units: tuple[str, ...]) -> Mapping[int, tuple[int, float]]:
    """Column of the recording and its factor to SI, by coordinate of the rig's tangent space."""
    coordinates = list_coordinates(rig)
    places = {title: (place, slides) for (_, title), place, slides in coordinates}
    places |= {link: (place, slides) for (link, _), place, slides in coordinates}  # a link's name takes precedence
    unknown = [name for name in names if name not in places]
    choices = ", ".join(link for (link, _), *_ in coordinates)
    if unknown and names == coordinate_numbers(len(names)):
        if len(names) != len(coordinates):
            raise InvalidValue(
                f"{len(names)} joint coordinates without names, but {rig.name} has {len(coordinates)}: {choices}"
            )
        names, unknown = tuple(link for (link, _), *_ in coordinates), []
    if len(set(OPENSIM_COORDINATES) & set(names)) >= 2:
        raise InvalidValue(
            f"{', '.join(unknown)} are angles of another body, whose joints and axes are not those of {rig.name} "
            f"({choices}); give their OpenSim model (.osim) or rig.json as the rig, or track the recorded markers"
        )
    if unknown:
        raise InvalidValue(f"{', '.join(unknown)}: not joints of {rig.name}; known: {choices}")
    result: dict[int, tuple[int, float]] = {}
    for column, name in enumerate(names):
        place, slides = places[name]
        if place in result:
            raise InvalidValue(f"{names[result[place][0]]} and {name} are the same coordinate of {rig.name}")
        unit = units[column]
        if unit == ("rad" if slides else "m"):
            kind = "prismatic" if slides else "revolute"
            raise InvalidValue(f"{name} is a {kind} joint, but its values are in {unit}; correct the unit")
        result[place] = column, RADIANS_PER_DEGREE if unit == "deg or m" and not slides else 1.0
    lacking = [link for (link, _), place, _ in coordinates if place not in result]
    if len(lacking) > len(result):  # fewer are fixed, with a note; so many mean another robot
        raise InvalidValue(
            f"no column for {', '.join(lacking)} of {rig.name}: give every joint, with zeros if it does not move"
        )
    return result


def find_missing_joints(rig: Rig, joints: JointCoordinates) -> list[str]:
    """Coordinates of a rig that have no column; they stay at zero.

    Raises:
        InvalidValue: see `study.poses_of`.
    """
    if is_opensim_motion(rig, joints.names) or _is_anatomical(rig, joints.names):
        return []
    known = _map_columns(rig, joints.names, joints.units)
    return [link for (link, _), place, _ in list_coordinates(rig) if place not in known]


def list_coordinates(rig: Rig) -> list[tuple[tuple[str, str], int, bool]]:
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
