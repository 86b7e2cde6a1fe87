"""Writing a rig as URDF, with any inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import to_rpy
from ..rigs.urdf_document import SERIES_AXES
from ..skeleton.rig import Rig
from ..storage.atomic import write_atomically
from ..values.inertials import InertialParameters, symmetric_entries
from ..values.joints import Joint, Limits
from ..values.shape import Shape

NO_LIMIT = 1e6
"""[N m, rad/s] Written for an unlimited effort or speed, which URDF requires for every limited joint."""


def write_urdf(rig: Rig, path: str | Path, parameters: InertialParameters | None = None) -> None:
    """Write a rig; the root link has no joint, so that a reader adds the free-flyer joint.

    URDF has no spherical joint: it becomes three revolute joints ``LINK_x``, ``LINK_y``, ``LINK_z`` with two massless
    links ``LINK_x_link``, ``LINK_y_link`` between them, which `rigs.from_urdf` reads as one again. Capsules become a
    cylinder with two spheres. Ellipsoids and meshes, which URDF cannot hold in one file, are left out. Joints are named
    after their links.

    Args:
        rig: to write.
        path: of the file, written atomically.
        parameters: inertials to write instead of the rig's prior.

    Raises:
        InvalidValue: a link has a negative mass, or a joint is of a kind that URDF cannot hold.
        InputError: the file cannot be written.
    """
    inertials = rig.prior if parameters is None else parameters
    if inertials.links != rig.links:
        raise InvalidValue(f"the parameters to write are of other links than those of rig {rig.name!r}")
    robot = Element("robot", name=rig.name)
    for index, link in enumerate(rig.links):
        if index:
            _write_joints(robot, rig, index)
        body = SubElement(robot, "link", name=link)
        _write_inertial(body, inertials, index)
        for shape in rig.shapes:
            if shape.link == link:
                _write_shape(body, shape)
    indent(robot)
    with write_atomically(path, binary=True) as stream:
        ElementTree(robot).write(stream, encoding="utf-8", xml_declaration=True)


def _write_joints(robot: Element, rig: Rig, index: int) -> None:
    """Write the joint that moves a link, as one URDF joint per axis."""
    joint, link = rig.joints[index], rig.links[index]
    parent = rig.links[joint.parent]
    limits = rig.limits_of(link)
    if joint.kind in ("revolute", "continuous", "prismatic"):
        _write_joint(robot, link, (parent, link), joint, limits)
        return
    if joint.kind == "free":
        element = SubElement(robot, "joint", name=link, type="floating")
        for role, end in (("parent", parent), ("child", link)):
            SubElement(element, role, link=end)
        _write_origin(element, joint.position, joint.rotation)
        return
    if joint.kind not in ("spherical", "universal"):
        raise InvalidValue(f"URDF cannot hold the {joint.kind} joint of link {link!r}")
    parts = (limits.lower, limits.upper, limits.speed, limits.torque)
    axes = np.eye(3) if joint.kind == "spherical" else joint.axes
    names = [f"{link}_{axis}" for axis in SERIES_AXES[: len(axes)]]
    chain = [parent, *(f"{name}_link" for name in names[:-1]), link]
    for k, name in enumerate(names):
        if k:
            SubElement(robot, "link", name=chain[k])
        position, rotation = (joint.position, joint.rotation) if k == 0 else (np.zeros(3), np.eye(3))
        turn = Joint(name, "revolute", joint.parent, position, rotation, axes[k])
        _write_joint(robot, name, (chain[k], chain[k + 1]), turn, Limits(*(part[k : k + 1] for part in parts)))


def _write_joint(robot: Element, name: str, ends: tuple[str, str], joint: Joint, limits: Limits) -> None:
    """Write a joint of one coordinate."""
    lower, upper = float(limits.lower[0]), float(limits.upper[0])
    bounded = bool(np.isfinite([lower, upper]).all())
    kind = "continuous" if joint.kind == "revolute" and not bounded else joint.kind
    element = SubElement(robot, "joint", name=name, type=kind)
    for role, link in zip(("parent", "child"), ends):
        SubElement(element, role, link=link)
    _write_origin(element, joint.position, joint.rotation)
    SubElement(element, "axis", xyz=_format_numbers(joint.axes[0]))
    values = {"effort": limits.torque[0], "velocity": limits.speed[0]}
    if kind != "continuous":
        values |= {"lower": lower if bounded else -NO_LIMIT, "upper": upper if bounded else NO_LIMIT}
    SubElement(element, "limit", {k: f"{v if np.isfinite(v) else NO_LIMIT:.17g}" for k, v in values.items()})


def _write_inertial(body: Element, inertials: InertialParameters, index: int) -> None:
    """Write mass, centre of mass and inertia about it; nothing for a massless link."""
    mass = float(inertials.masses[index])
    if mass < 0.0:
        remedy = "write a consistent result instead"
        raise InvalidValue(f"link {inertials.links[index]!r} has mass {mass:g} kg, which URDF does not allow; {remedy}")
    if mass == 0.0:
        return
    element = SubElement(body, "inertial")
    _write_origin(element, inertials.coms[index], np.eye(3))
    SubElement(element, "mass", value=f"{mass:.17g}")
    six = symmetric_entries(inertials.inertias_at_com[index])
    names = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")
    SubElement(element, "inertia", {name: f"{value:.17g}" for name, value in zip(names, six)})


def _write_shape(body: Element, shape: Shape) -> None:
    """Write a shape as visual and collision geometry."""
    parts: list[tuple[str, dict[str, str], np.ndarray]] = []
    if shape.kind == "box":
        parts.append(("box", {"size": _format_numbers(2.0 * np.array(shape.size))}, np.zeros(3)))
    elif shape.kind == "sphere":
        parts.append(("sphere", {"radius": f"{shape.size[0]:.17g}"}, np.zeros(3)))
    elif shape.kind == "capsule":
        radius, half = shape.size
        parts.append(("cylinder", {"radius": f"{radius:.17g}", "length": f"{2.0 * half:.17g}"}, np.zeros(3)))
        parts += [("sphere", {"radius": f"{radius:.17g}"}, np.array([0.0, 0.0, z])) for z in (-half, half)]
    for purpose in ("visual", "collision"):
        for tag, attributes, offset in parts:
            element = SubElement(body, purpose)
            _write_origin(element, shape.centre + shape.rotation @ offset, shape.rotation)
            SubElement(SubElement(element, "geometry"), tag, attributes)


def _write_origin(element: Element, xyz: np.ndarray, rotation: np.ndarray) -> None:
    SubElement(element, "origin", xyz=_format_numbers(xyz), rpy=_format_numbers(to_rpy(rotation)))


def _format_numbers(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values)
