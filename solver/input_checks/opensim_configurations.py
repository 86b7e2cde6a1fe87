"""Configurations of OpenSim models' rigs from joint angles or poses of bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import list_names
from ..base.errors import InvalidValue
from ..base.so3 import log, to_quaternion
from ..dynamics.coordinates import joint_slices
from ..rigs.opensim.document import Coordinate, OpenSimModel, body_fixed_xyz
from ..rigs.opensim.joint_poses import BodyPoses, body_poses
from ..rigs.opensim.rig import body_placements, is_opensim, model_of
from ..rigs.root_and_up_axis import FILE_TO_WORLD
from ..skeleton.rig import Rig
from ..values.motion import POSE, JointCoordinates

VALUE_ENDING, OTHER_ENDINGS = "/value", ("/speed", "/activation", "/fiber_length")
"""Endings of columns of OpenSim's states: coordinates, and others that are left out."""
POINT_ENDINGS = ("_tx", "_ty", "_tz", "_px", "_py", "_pz")
"""Endings of the columns of a marker's position, which SIMM adds to joint angles."""
POSITION_ENDINGS, ANGLE_ENDINGS = ("_X", "_Y", "_Z"), ("_Ox", "_Oy", "_Oz")
"""Endings of the columns of OpenSim's BodyKinematics: centre of mass [m], and body-fixed x, y, z angles."""
MAX_EXCESS = 1.0
"""Largest excess of a clamped coordinate beyond its range, relative to the range, that is no other unit or model."""


def is_opensim_motion(rig: Rig, names: Sequence[str]) -> bool:
    """Whether columns are of OpenSim's programs, not of this program's own files, whose columns are links."""
    return is_opensim(rig) and not set(names) & set(rig.links[1:])


def opensim_configurations(rig: Rig, joints: JointCoordinates) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (N, nq) of a model's rig, and (N,) True where they are complete.

    Args:
        rig: of an OpenSim model.
        joints: coordinates of the model by name, angles in rad or deg; or poses of its bodies (BodyKinematics).

    Raises:
        InvalidValue: coordinates of another model, or values far outside of their ranges.
        InputError: the model's file is missing or has changed.
    """
    model = model_of(rig)
    columns = dict(zip(joints.names, joints.values.T))
    degrees = dict(zip(joints.names, (unit.startswith("deg") for unit in joints.units)))
    if all(f"{body}{end}" in columns for body in model.bodies for end in (*POSITION_ENDINGS, *ANGLE_ENDINGS)):
        poses = _recorded_poses(model, columns, degrees)
    else:
        poses = body_poses(model, _coordinate_values(model, columns, degrees))
    q = to_configurations(rig, poses)
    return q, np.isfinite(q).all(axis=1)


def _coordinate_values(
    model: OpenSimModel, columns: dict[str, np.ndarray], degrees: dict[str, bool]
) -> dict[str, np.ndarray]:
    """(N,) [rad or m] of every coordinate: recorded, else coupled to others, else the default if locked."""
    coordinates, angles = model.coordinates, _angles(model)
    followers = {coupling.dependent for coupling in model.couplings}
    names = {_coordinate_name(name): name for name in columns}
    strange = [
        name for name in names if name not in coordinates and not name.endswith((*POINT_ENDINGS, *OTHER_ENDINGS))
    ]
    lacking = [
        name for name, each in coordinates.items() if name not in names and name not in followers and not each.locked
    ]
    if lacking or (strange and not set(names) & set(coordinates)):
        parts = [f"no column for its coordinates {list_names(lacking)}"] * bool(lacking)
        parts += [f"columns {list_names(strange)} that it does not have"] * bool(strange)
        raise InvalidValue(
            f"the joint angles are of another model than {model.path.name}: {', and '.join(parts)}; give the inverse "
            "kinematics of this model, or the model that the angles belong to"
        )
    if strange:
        raise InvalidValue(
            f"the joint angles are of another model: {model.path.name} has no coordinate {list_names(strange)}; "
            "give the inverse kinematics of this model"
        )
    count = len(next(iter(columns.values())))
    values: dict[str, np.ndarray] = {}
    for name, coordinate in coordinates.items():
        if (column := names.get(name)) is None:
            values[name] = np.full(count, coordinate.default)
            continue
        values[name] = np.radians(columns[column]) if degrees[column] and name in angles else columns[column]
        if name not in followers:
            _check_range(model, coordinate, values[name])
    for coupling in model.couplings:
        given = np.column_stack([values[name] for name in coupling.independent])
        values[coupling.dependent] = coupling.scale * np.asarray(coupling.function.evaluate(given))
    return values


def _coordinate_name(column: str) -> str:
    """Name of the coordinate in a column, which OpenSim's states give with its path."""
    if column.startswith("/") and column.endswith(VALUE_ENDING):
        return column.removesuffix(VALUE_ENDING).rpartition("/")[2]
    return column


def _angles(model: OpenSimModel) -> set[str]:
    """Coordinates that are angles: all that a rotation depends on."""
    return {name for joint in model.joints for axis in joint.rotations for name in axis.coordinates}


def _check_range(model: OpenSimModel, coordinate: Coordinate, values: np.ndarray) -> None:
    width = coordinate.upper - coordinate.lower
    if not coordinate.clamped or not np.isfinite(width) or width <= 0.0 or not np.isfinite(values).any():
        return
    excess = max(float(np.nanmax(values)) - coordinate.upper, coordinate.lower - float(np.nanmin(values)))
    if excess > MAX_EXCESS * width:
        raise InvalidValue(
            f"coordinate {coordinate.name} reaches {np.nanmin(values):.3g} to {np.nanmax(values):.3g}, far outside of "
            f"its range {coordinate.lower:.3g} to {coordinate.upper:.3g} in {model.path.name}; check the unit of the "
            "angles (inDegrees), and that they are of this model"
        )


def _recorded_poses(model: OpenSimModel, columns: dict[str, np.ndarray], degrees: dict[str, bool]) -> BodyPoses:
    """Poses of the bodies in the world, z up, from those that BodyKinematics wrote."""
    turn = FILE_TO_WORLD[model.up]
    rotations, positions = {}, {}
    for name, body in model.bodies.items():
        centre = np.column_stack([columns[f"{name}{end}"] for end in POSITION_ENDINGS])
        angles = np.column_stack([columns[f"{name}{end}"] for end in ANGLE_ENDINGS])
        axes = body_fixed_xyz(np.radians(angles) if degrees[f"{name}{ANGLE_ENDINGS[0]}"] else angles)
        rotations[name] = turn @ axes
        positions[name] = (centre - axes @ body.com) @ turn.T
    return BodyPoses(rotations, positions)


def to_configurations(rig: Rig, poses: BodyPoses) -> np.ndarray:
    """Configurations (N, nq) of the rig whose links have the bodies' poses."""
    rotations, origins = {}, {}
    for body, place in body_placements(rig).items():
        if place.carrier not in rotations and body in poses.rotations:
            turn = poses.rotations[body] @ place.rotation.T
            rotations[place.carrier], origins[place.carrier] = turn, poses.positions[body] - turn @ place.position
    q = np.empty((len(rotations[0]), rig.nq))
    for link, (joint, entries, _) in enumerate(joint_slices(rig)):
        turn, move = rotations[link], origins[link]
        if joint.parent >= 0:
            base = rotations[joint.parent]
            # frames n, axes i of the world, axes j of the parent link, axes k of the link
            move = np.einsum("nij,ni->nj", base, move - origins[joint.parent]) - joint.position
            turn = joint.rotation.T @ np.einsum("nij,nik->njk", base, turn)
            move = move @ joint.rotation
        if joint.kind == "free":
            q[:, entries.start : entries.start + 3] = move
            q[:, entries.start + 3 : entries.start + POSE] = to_quaternion(turn)
        elif joint.kind == "spherical":
            q[:, entries] = to_quaternion(turn)
        elif joint.kind == "prismatic":
            q[:, entries.start] = move @ joint.axes[0]
        else:
            q[:, entries.start] = _unwrap(log(turn) @ joint.axes[0])
    return q


def _unwrap(angles: np.ndarray) -> np.ndarray:
    known, result = np.isfinite(angles), angles.copy()
    result[known] = np.unwrap(angles[known])
    return result
