"""Rigs of OpenSim models: every body's motion can be represented, whatever its joint.

A joint with one axis of rotation becomes revolute, one with one axis of translation prismatic, and one with several
axes of rotation through a fixed centre spherical. Any other joint, such as a knee whose axis moves with its angle, gets
six free coordinates: identification only needs how each body moves, and motions come from the model's own kinematics
(`input_checks.opensim_configurations`). Links keep the axes of their bodies, except the root, whose z axis points up.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ...base.arrays import list_names
from ...base.errors import InputError, InvalidValue, checked
from ...base.files import Paths, as_paths
from ...skeleton.rig import Rig
from ...values.shape import Shape
from ..meshes import MeshSource, load_hull
from ..moving_bodies import LinkPlacement, MovingBodies
from ..robot_files import DIGEST, model_digest, require_unchanged
from ..urdf import build_robot
from ..urdf_document import UrdfDocument, UrdfJoint, UrdfLink
from ..urdf_geometry import MESH_POLICIES, LinkGeometry, transform_shape
from .document import OpenSimJoint, OpenSimModel, TransformAxis, read_opensim
from .joint_poses import evaluate, joint_transform, relative_pose
from .people import as_person, find_parts

KIND = "opensim"
PLACEMENTS, APPROXIMATED = "placements", "approximated"
"""Keys of the provenance: pose of each body in its link; what differs from OpenSim."""
MESH_FOLDERS = ("", "Geometry", "geometry")
"""Folders beside a model in which its meshes are searched."""
RANGE_SAMPLES = 201
"""Values of a coordinate at which the range of its angle is measured."""
MIN_THICKNESS = 1e-4
"""Smallest second moment of a body relative to its largest: a hundredth of its extent."""


@checked
def from_opensim(
    path: str | Path,
    packages: Paths = (),
    *,
    meshes: str = "found",
    feet: Sequence[str] | None = None,
    base_link: str | None = None,
) -> Rig:
    """Rig of an OpenSim model (.osim, version 2, 3 or 4) with a free-flyer root.

    Args:
        path: the model.
        packages: folders in which meshes are searched, after those beside the model.
        meshes: ``"found"`` reads existing meshes and notes missing ones, ``"required"`` requires all, ``"none"`` none.
        feet: bodies that touch the ground; found by their names or shapes by default.
        base_link: body at which wrenches are expressed; the root by default.

    Returns:
        Rig; its notes and ``provenance["approximated"]`` list what differs from the model.

    Raises:
        InputError: see `read_opensim`; with ``meshes="required"`` a mesh that is missing or unreadable.
        UnknownLink: a name in ``feet`` or ``base_link`` that is not in the model.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> model = Path(tempfile.mkdtemp()) / "block.osim"
        >>> body = '<Body name="block"><mass>2.5</mass><inertia>1 1 1 0 0 0</inertia></Body>'
        >>> ends = "<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>block</socket_child_frame>"
        >>> sets = f"<BodySet><objects>{body}</objects></BodySet>"
        >>> sets += f'<JointSet><objects><WeldJoint name="base">{ends}</WeldJoint></objects></JointSet>'
        >>> _ = model.write_text(f'<OpenSimDocument Version="40000"><Model>{sets}</Model></OpenSimDocument>')
        >>> solver.from_opensim(model).links
        ('block',)
    """
    if meshes not in MESH_POLICIES:
        raise InvalidValue(f"meshes = {meshes!r} is none of {', '.join(MESH_POLICIES)}")
    model = read_opensim(path)
    converted = _convert(model)
    folders, bodies_built = as_paths(packages), []

    def geometry(bodies: MovingBodies) -> LinkGeometry:
        bodies_built.append(bodies)
        return _read_geometry(model, converted, bodies, folders, meshes)

    source = {
        "kind": KIND,
        "path": str(Path(path).absolute()),
        "packages": [str(folder) for folder in folders],
        "meshes": meshes,
        DIGEST: model_digest(path),
    }
    parts = find_parts(tuple(model.bodies))
    named = [body for part, body in parts.items() if part.endswith("foot")] if feet is None else feet
    rig = build_robot(converted.document, geometry, named or None, base_link, model.up, source)
    placed = {
        name: _body_placement(bodies_built[-1].placements[name], converted.origins[name]) for name in model.bodies
    }
    provenance = {**rig.provenance, PLACEMENTS: placed, APPROXIMATED: list(converted.approximations)}
    rig = replace(rig, provenance=provenance, notes=(*rig.notes, *converted.approximations))
    return as_person(rig, parts)


def _body_placement(place: LinkPlacement, origin: np.ndarray) -> list[float]:
    """Link, axes (9) and origin (3) [m] of a body in the link that carries it."""
    position = place.position - place.rotation @ origin
    return [float(place.carrier), *map(float, place.rotation.ravel()), *map(float, position)]


def body_placements(rig: Rig) -> dict[str, LinkPlacement]:
    """Poses of all bodies of the model in the links of its rig, by the body's name."""
    stored: dict[str, tuple[float, ...]] = rig.provenance[PLACEMENTS]  # type: ignore[assignment]
    numbers = {name: np.array(values, float) for name, values in stored.items()}
    return {name: LinkPlacement(int(v[0]), v[1:10].reshape(3, 3), v[10:13]) for name, v in numbers.items()}


def is_opensim(rig: Rig) -> bool:
    """Whether a rig is of an OpenSim model, and says of which."""
    return rig.provenance.get("kind") == KIND and {"path", DIGEST, PLACEMENTS} <= set(rig.provenance)


def model_of(rig: Rig) -> OpenSimModel:
    """The model of a rig, read again.

    Raises:
        InputError: the file is missing, or has changed since the rig was built.
    """
    return _read_cached(str(require_unchanged(rig)), str(rig.provenance[DIGEST]))


@lru_cache(maxsize=4)
def _read_cached(path: str, digest: str) -> OpenSimModel:
    return read_opensim(path)


@dataclass(frozen=True, slots=True)
class _Converted:
    """A model as links and joints of a robot.

    Attributes:
        document: links, with the axes of their bodies, and their joints.
        origins: (3,) [m] origin of each link in its body's frame.
        approximations: what differs from the model.
    """

    document: UrdfDocument
    origins: dict[str, np.ndarray]
    approximations: tuple[str, ...]


def _convert(model: OpenSimModel) -> _Converted:
    zero = {name: np.zeros(1) for name in model.coordinates}
    root = model.joints[0].child.body
    origins, joints = {root: np.zeros(3)}, {}
    free, round_ = [], []
    for joint in model.joints[1:]:
        kind, turning, sliding = _classify(joint)
        origins[joint.child.body] = joint.child.position if kind in ("revolute", "spherical") else np.zeros(3)
        rotation, position = (part[0] for part in relative_pose(joint, zero, 1))
        place = position + rotation @ origins[joint.child.body] - origins[joint.parent.body]
        axis, lower, upper = np.array([1.0, 0.0, 0.0]), None, None
        if kind == "revolute":
            axis = _rotation_axis(joint, turning[0], zero)
            lower, upper = _measure_range(joint, joint.rotations[turning[0]], zero)
        elif kind == "prismatic":
            axis = rotation.T @ joint.parent.rotation @ joint.translations[sliding[0]].axis
            lower, upper = _measure_range(joint, joint.translations[sliding[0]], zero)
        free += [joint.name] * (kind == "floating")
        round_ += [joint.name] * (kind == "spherical")
        ends = (joint.parent.body, joint.child.body)
        joints[joint.name] = UrdfJoint(
            joint.name, kind, *ends, rotation, place, axis / np.linalg.norm(axis), lower, upper
        )
    links = {
        body.name: UrdfLink(
            body.name, Element("link"), body.mass, body.com - origins[body.name], consistent_inertia(body.inertia)
        )
        for body in model.bodies.values()
    }
    corrected = [name for name, body in model.bodies.items() if not is_consistent(body.inertia)]
    document = UrdfDocument(model.path, model.name, links, joints, root)
    locked = [name for name, coordinate in model.coordinates.items() if coordinate.locked]
    findings = (
        ("joints whose axis or centre moves have six free coordinates", free),
        ("joints with several axes rotate freely about their centre, without the ranges of their angles", round_),
        ("inertias that no body can have, replaced by the nearest ones of bodies", corrected),
        ("coordinates locked in the model move in the rig", locked),
        ("coordinates that follow others move independently in the rig", [c.dependent for c in model.couplings]),
    )
    notes = [f"{what}: {list_names(names)}" for what, names in findings if names]
    notes.append("muscles, ligaments, contact geometry and controllers are left out")
    return _Converted(document, origins, (*model.approximations, *notes))


def second_moments(inertia: np.ndarray) -> np.ndarray:
    """Second moments (3, 3) [kg m^2] of a body with an inertia (3, 3) about its centre of mass."""
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia


def is_consistent(inertia: np.ndarray) -> bool:
    """Whether a body can have an inertia (3, 3) about its centre of mass, and is not flat."""
    values = np.linalg.eigvalsh(second_moments(inertia))
    return bool(values[0] >= MIN_THICKNESS * values[-1])


def consistent_inertia(inertia: np.ndarray) -> np.ndarray:
    """The inertia, or if no body can have it, that with its second moments raised to `MIN_THICKNESS` of the largest."""
    if is_consistent(inertia):
        return inertia
    values, vectors = np.linalg.eigh(second_moments(inertia))
    second = (vectors * np.maximum(values, MIN_THICKNESS * values[-1])) @ vectors.T
    return np.asarray(np.trace(second) * np.eye(3) - second)


def _classify(joint: OpenSimJoint) -> tuple[str, list[int], list[int]]:
    """Kind of joint of a robot, and the rotations and translations that move."""
    turning = [k for k, axis in enumerate(joint.rotations) if not axis.function.constant]
    sliding = [k for k, axis in enumerate(joint.translations) if not axis.function.constant]
    if not turning and not sliding:
        kind = "fixed"
    elif len(turning) == 1 and not sliding and joint.radii is None:
        kind = "revolute"
    elif len(sliding) == 1 and not turning:
        kind = "prismatic"
    elif not sliding and joint.radii is None:
        kind = "spherical"
    else:
        kind = "floating"
    return kind, turning, sliding


def _rotation_axis(joint: OpenSimJoint, turning: int, zero: dict[str, np.ndarray]) -> np.ndarray:
    """(3,) axis of the only rotation that moves, in the child body's axes."""
    rest = joint_transform(replace(joint, rotations=joint.rotations[turning + 1 :], translations=()), zero, 1)[0][0]
    return joint.child.rotation @ rest.T @ joint.rotations[turning].axis


def _measure_range(
    joint: OpenSimJoint, axis: TransformAxis, zero: dict[str, np.ndarray]
) -> tuple[float | None, float | None]:
    """Least and largest angle [rad] or distance [m] from that at zero, over the range of the coordinate."""
    if len(axis.coordinates) != 1:
        return None, None
    coordinate = next(each for each in joint.coordinates if each.name == axis.coordinates[0])
    if not np.isfinite([coordinate.lower, coordinate.upper]).all():
        return None, None
    values = np.linspace(coordinate.lower, coordinate.upper, RANGE_SAMPLES)
    found = evaluate(axis, {coordinate.name: values}, RANGE_SAMPLES) - evaluate(axis, zero, 1)
    return float(found.min()), float(found.max())


def _read_geometry(
    model: OpenSimModel, converted: _Converted, bodies: MovingBodies, folders: Sequence[Path], meshes: str
) -> LinkGeometry:
    shapes: list[Shape] = []
    sources: list[MeshSource | None] = []
    missing: list[tuple[str, str]] = []
    unreadable: list[str] = []
    for name, place in bodies.placements.items():
        for mesh in model.bodies[name].meshes if meshes != "none" else ():
            if (file := _find_mesh(model.path, mesh.file, folders)) is None:
                missing.append((name, mesh.file))
                continue
            try:
                hull = load_hull(name, file, mesh.scale)
            except InputError as error:
                if meshes == "required":
                    raise
                unreadable.append(str(error))
                continue
            rotation = place.rotation @ mesh.rotation
            position = place.position + place.rotation @ (mesh.position - converted.origins[name])
            shapes.append(transform_shape(hull, bodies.links[place.carrier], rotation, position))
            sources.append(MeshSource(file, mesh.scale, rotation, position))
    if missing and meshes == "required":
        body, file_name = missing[0]
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        remedy = "Put it beside the model or into a folder Geometry there, or name its folder with --packages"
        raise InputError(model.path, f"mesh {file_name!r} was not found{more}", place=f"body {body!r}", remedy=remedy)
    return LinkGeometry(tuple(shapes), tuple(sources), tuple(missing), tuple(unreadable), ())


def _find_mesh(model: Path, file: str, folders: Sequence[Path]) -> Path | None:
    """A mesh beside the model, in its folder of meshes, or in one of the folders."""
    name = file.replace("\\", "/")
    places = [model.parent / sub for sub in MESH_FOLDERS] + list(folders)
    choices = [place / one for place in places for one in (name, name.rpartition("/")[2])]
    return next((choice for choice in choices if os.path.isfile(choice)), None)  # also of a name that is too long
