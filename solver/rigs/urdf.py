"""Any robot from a URDF file, on a free-flyer root.

Decisions, each told in the rig's notes where it applies:
- Fixed joints are merged: a link of the rig is a moving body, named after the URDF link its joint carries, and
  ``provenance["bodies"]`` lists the URDF links it holds.
- Mimic joints become independent joints. Pinocchio has mimic joints, but not in its regressors, which identification
  stands on; and the wrench at the base depends on the motion, not on what couples it. `Joint.mimic` keeps the
  coupling (source joint, multiplier, offset) for whoever makes motions.
- Links without mass stay (the three axes of a hip are often written so); their prior is zero.
- Inertias that belong to no body keep the file's numbers in model and prior, so that the rig moves as the file says;
  they are named in the notes and in ``provenance["inconsistent"]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import fromstring, tostring

import numpy as np

from ..errors import InputError, InvalidValue, UnknownLink
from ..inertials import InertialParameters, symmetric
from ..joints import Limits, rest_of
from ..model import inertials_of, joints_of
from ..pinocchio_loader import pin
from ..rig import Rig
from .names import mirrored_pairs, named_pairs
from .urdf_document import INERTIA, LIMITED_TYPES, UrdfDocument, read_urdf
from .urdf_geometry import (
    MESH_POLICIES,
    Geometry,
    boxes_and_tips,
    find_feet,
    read_geometry,
    sole_of,
)

NO_LIMIT = 10.0
"""A rotation limit of this many radians or more limits nothing."""
INCONSISTENT = -1e-6
"""A second moment below this share of their sum is negative, not rounded."""
SHOWN = 8


def from_urdf(
    path: str | Path,
    packages: Sequence[str | Path] = (),
    *,
    meshes: str = "found",
    feet: Sequence[str] | None = None,
    base_link: str | None = None,
) -> Rig:
    """Rig of a URDF file with a free flyer above its root link.

    Args:
        path: the URDF.
        packages: folders in which ``package://name/...`` is looked for, before the folders above the file.
        meshes: ``"found"`` reads the meshes that exist and notes those that do not, ``"required"`` insists on all,
            ``"none"`` reads none. Meshes become convex hulls.
        feet: URDF links that touch the ground; by default those named foot, sole, toe (or ankle) that are lowest with
            every joint at zero.
        base_link: link at which wrenches are to be expressed, kept in the provenance; the root by default.

    Returns:
        Rig; its joints are in Pinocchio's order (depth first, siblings by name).

    Raises:
        InputError: the file is missing, malformed, hostile, not a tree, or holds numbers no robot has.
        UnknownLink: a name in ``feet`` or ``base_link`` that is not in the file.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> robot = Path(tempfile.mkdtemp()) / "robot.urdf"
        >>> body = '<inertial><mass value="2.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        >>> _ = robot.write_text(f'<robot name="block"><link name="body">{body}</link></robot>')
        >>> rig = solver.from_urdf(robot)
        >>> rig.links, f"{rig.prior.total_mass:.1f} kg"
        (('body',), '2.5 kg')
    """
    if meshes not in MESH_POLICIES:
        raise InvalidValue(f"meshes is {meshes!r}, none of {', '.join(MESH_POLICIES)}")
    document = read_urdf(path)
    world = _world_link(document)
    model = _model(document, world)
    root = document.root if world is None else world[1]
    links = (root, *(document.joints[name].child for name in list(model.names)[2:]))
    bodies = _bodies(model, links, document)
    prior = inertials_of(links, model)
    folders = [Path(folder) for folder in packages]
    geometry = read_geometry(document, model, links, folders, meshes)
    mimics = {name: joint.mimic for name, joint in document.joints.items() if joint.mimic is not None}
    joints = tuple(replace(joint, mimic=mimics.get(joint.name)) for joint in joints_of(model))
    rest = rest_of(joints)
    boxes, tips = boxes_and_tips(joints, rest[1], geometry.shapes, prior)
    limits, limit_notes = _limits(document, model)
    pairs, apart = mirrored_pairs(named_pairs(links), dict(zip(links, rest[1])))
    standing = find_feet(joints, rest, bodies, geometry.shapes) if feet is None else _carriers(feet, bodies)
    soles = [sole_of(link, rest[0][links.index(link)], geometry.shapes) for link in standing]
    contacts = tuple(sole for sole in soles if sole is not None)
    if base_link is not None:
        base_link = _carriers([base_link], bodies)[0]
    inconsistent = _inconsistent(document)
    notes = [f"read from {document.path.name}", *_body_notes(bodies, prior, inconsistent), *limit_notes]
    notes += _geometry_notes(geometry, contacts, apart)
    if mimic := [joint.name for joint in joints if joint.mimic is not None]:
        notes.append(f"{len(mimic)} mimic joint(s) move independently: {_listed(mimic)}")
    return Rig(
        name=document.name,
        links=links,
        joints=joints,
        prior=prior,
        boxes=boxes,
        limits=limits,
        contacts=contacts,
        pairs=tuple(pairs),
        shapes=geometry.shapes,
        tips=tips,
        notes=tuple(notes),
        provenance={
            "kind": "urdf",
            "path": str(document.path),
            "packages": [str(folder) for folder in folders],
            "meshes": meshes,
            "feet": None if feet is None else list(feet),
            "base_link": base_link or root,
            "bodies": {link: list(names) for link, names in bodies.items()},
            "inconsistent": list(inconsistent),
        },
    )


def _world_link(document: UrdfDocument) -> tuple[str, str] | None:
    """(joint, child) where the root only holds the robot by a floating joint: that joint is the free flyer."""
    below = [joint for joint in document.joints.values() if joint.parent == document.root]
    if len(below) != 1 or below[0].kind != "floating" or document.links[document.root].find("inertial") is not None:
        return None
    return below[0].name, below[0].child


def _model(document: UrdfDocument, world: tuple[str, str] | None) -> pin.Model:
    text = document.text
    if world is not None:
        tree = fromstring(text)
        for element in [e for e in tree if (e.tag, e.get("name")) in (("joint", world[0]), ("link", document.root))]:
            tree.remove(element)
        text = tostring(tree, encoding="unicode")
    try:
        return pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError) as error:
        raise InputError(document.path, f"Pinocchio cannot build it ({error})") from error


def _bodies(model: pin.Model, links: Sequence[str], document: UrdfDocument) -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {link: (link,) for link in links}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and frame.name in document.links and frame.name not in result:
            carrier = links[frame.parentJoint - 1]
            result[carrier] = (*result[carrier], frame.name)
    return result


def _carriers(names: Sequence[str], bodies: dict[str, tuple[str, ...]]) -> list[str]:
    carrier = {body: link for link, merged in bodies.items() for body in merged}
    for name in names:
        if name not in carrier:
            raise UnknownLink(name, carrier)
    return list(dict.fromkeys(carrier[name] for name in names))


def _limits(document: UrdfDocument, model: pin.Model) -> tuple[Limits, list[str]]:
    parts: dict[str, list[float]] = {"lower": [], "upper": [], "speed": [], "torque": []}
    absurd = []
    for index in range(2, model.njoints):
        joint, moves = document.joints[model.names[index]], model.joints[index].nv
        lower, upper = -np.inf, np.inf
        if joint.kind in LIMITED_TYPES:
            lower = -np.inf if joint.lower is None else joint.lower
            upper = np.inf if joint.upper is None else joint.upper
        if joint.kind == "revolute" and any(np.isfinite(x) and abs(x) >= NO_LIMIT for x in (lower, upper)):
            absurd.append(joint.name)
            lower = lower if abs(lower) < NO_LIMIT else -np.inf
            upper = upper if abs(upper) < NO_LIMIT else np.inf
        parts["lower"] += [lower] * moves
        parts["upper"] += [upper] * moves
        parts["speed"] += [joint.speed or np.inf] * moves
        parts["torque"] += [joint.effort or np.inf] * moves
    notes = [f"limits of {NO_LIMIT:g} rad and more taken as none: {_listed(absurd)}"] if absurd else []
    if model.njoints > 3 and len(set(parts["speed"])) == len(set(parts["torque"])) == 1 and parts["speed"][0] < np.inf:
        notes.append(
            f"every joint has speed limit {parts['speed'][0]:g} and effort limit {parts['torque'][0]:g}: "
            "these look like placeholders"
        )
    return Limits(*(np.array(parts[name]) for name in ("lower", "upper", "speed", "torque"))), notes


def _inconsistent(document: UrdfDocument) -> list[str]:
    """URDF links whose inertia belongs to no body."""
    result = []
    for name, element in document.links.items():
        inertia = element.find("inertial/inertia")
        if inertia is None:
            continue
        mass = float(element.find("inertial/mass").get("value", "0"))  # type: ignore[union-attr]
        moments = np.linalg.eigvalsh(symmetric(np.array([float(inertia.get(key, "0")) for key in INERTIA])))
        least, largest = 0.5 * float(np.sum(moments)) - float(moments[-1]), float(np.abs(moments).max())
        if least < INCONSISTENT * largest or (mass == 0.0 and largest > 0.0):
            result.append(name)
    return result


def _body_notes(
    bodies: dict[str, tuple[str, ...]], prior: InertialParameters, inconsistent: Sequence[str]
) -> list[str]:
    notes = []
    merged = [body for names in bodies.values() for body in names[1:]]
    if merged:
        notes.append(f"{len(merged)} link(s) on fixed joints merged into their carriers: {_listed(merged)}")
    light = [link for link, mass in zip(prior.links, prior.masses) if mass == 0.0]
    if light:
        notes.append(f"{len(light)} moving link(s) without mass: {_listed(light)}")
    if inconsistent:
        what = "link(s) whose inertia belongs to no body, kept as the file has it"
        notes.append(f"{len(inconsistent)} {what}: {_listed(inconsistent)}")
    return notes


def _geometry_notes(geometry: Geometry, contacts: Sequence[object], apart: Sequence[tuple[str, str]]) -> list[str]:
    notes = []
    if geometry.missing:
        uris = list(dict.fromkeys(uri for _, uri in geometry.missing))
        notes.append(f"{len(uris)} mesh file(s) not found (give 'packages'): {_listed(uris)}")
    notes += geometry.unreadable
    if not contacts:
        notes.append("no feet found: name them with 'feet' if contacts are needed")
    if apart:
        notes.append(f"named left and right but not mirrored, so not paired: {_listed([a for a, _ in apart])}")
    return notes


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:SHOWN]) + (f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else "")


__all__ = ["from_urdf"]
