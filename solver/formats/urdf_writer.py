"""A rig as URDF, with any inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

import numpy as np

from ..errors import InvalidValue
from ..inertials import InertialParameters, six_of
from ..pinocchio_loader import pin
from ..rig import ROOT_NV, Rig, Shape
from .atomic import write_atomically

SPHERICAL_AXES = ("x", "y", "z")
"""A spherical joint becomes three revolute ones about these axes in turn: R = Rx Ry Rz."""
UNLIMITED = 1e6
"""URDF demands an effort and a speed of every limited joint; this stands for none [N m, rad/s]."""


def write_urdf(rig: Rig, path: str | Path, parameters: InertialParameters | None = None) -> None:
    """Write a rig; the root link has no joint, so that a reader adds the free flyer.

    URDF has no spherical joint: one becomes three revolute joints ``LINK_x``, ``LINK_y``, ``LINK_z`` with two links
    ``LINK_x_link``, ``LINK_y_link`` without mass between them. Capsules become a cylinder with two spheres; ellipsoids
    and meshes, which URDF cannot hold in one file, are left out. Joints are named after their links.

    Args:
        rig: to write.
        path: of the file, written whole or not at all.
        parameters: inertials to write instead of the rig's prior.

    Raises:
        InvalidValue: a link has a negative mass, or a joint is of a kind URDF cannot hold.
        InputError: the file cannot be written.
    """
    inertials = rig.prior if parameters is None else parameters
    if inertials.links != rig.links:
        raise InvalidValue(f"the parameters to write name other links than rig {rig.name!r}")
    robot = Element("robot", name=rig.name)
    for index, link in enumerate(rig.links):
        joint = index + 1
        if joint > 1:
            _joints(robot, rig, joint, link)
        body = SubElement(robot, "link", name=link)
        _inertial(body, inertials, index)
        for shape in rig.shapes:
            if shape.link == link:
                _shape(body, shape)
    indent(robot)
    with write_atomically(path, binary=True) as stream:
        ElementTree(robot).write(stream, encoding="utf-8", xml_declaration=True)


def joint_directions(model: pin.Model, joint: int) -> np.ndarray:
    """Motion subspace (6, nv) of a joint at its neutral position: linear rows, then angular ones."""
    data = model.joints[joint].createData()
    start = model.idx_qs[joint]
    model.joints[joint].calc(data, pin.neutral(model)[start : start + model.nqs[joint]])
    return np.array(data.S).reshape(6, -1)


def _joints(robot: Element, rig: Rig, joint: int, link: str) -> None:
    """The joint that moves a link, as one URDF joint or three."""
    model = rig.model
    parent = rig.links[model.parents[joint] - 1]
    placement = model.jointPlacements[joint]
    directions = joint_directions(model, joint)
    first = model.idx_vs[joint] - ROOT_NV
    angular = np.linalg.norm(directions[3:], axis=0) > 0.5
    if directions.shape[1] == 1:
        kind = "revolute" if angular[0] else "prismatic"
        axis = directions[3:, 0] if angular[0] else directions[:3, 0]
        _joint(robot, link, kind, parent, link, placement, axis, rig, first)
        return
    if directions.shape[1] != 3 or not angular.all():
        raise InvalidValue(f"URDF cannot hold the joint of link {link!r} with {directions.shape[1]} degrees of freedom")
    names = [f"{link}_{axis}" for axis in SPHERICAL_AXES]
    chain = [parent, *(f"{name}_link" for name in names[:-1]), link]
    for k, name in enumerate(names):
        if k:
            SubElement(robot, "link", name=chain[k])
        here = placement if k == 0 else pin.SE3.Identity()
        _joint(robot, name, "revolute", chain[k], chain[k + 1], here, np.eye(3)[k], rig, first + k)


def _joint(
    robot: Element,
    name: str,
    kind: str,
    parent: str,
    child: str,
    placement: pin.SE3,
    axis: np.ndarray,
    rig: Rig,
    coordinate: int,
) -> None:
    limits = rig.limits
    lower, upper = limits.lower[coordinate], limits.upper[coordinate]
    bounded = np.isfinite(lower) and np.isfinite(upper)
    if kind == "revolute" and not bounded:
        kind = "continuous"
    element = SubElement(robot, "joint", name=name, type=kind)
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=child)
    _origin(element, placement.translation, placement.rotation)
    SubElement(element, "axis", xyz=_numbers(axis))
    values = {"effort": limits.torque[coordinate], "velocity": limits.speed[coordinate]}
    if kind != "continuous":
        values |= {"lower": lower if bounded else -UNLIMITED, "upper": upper if bounded else UNLIMITED}
    SubElement(element, "limit", {k: f"{v if np.isfinite(v) else UNLIMITED:.17g}" for k, v in values.items()})


def _inertial(body: Element, inertials: InertialParameters, index: int) -> None:
    """Mass, centre of mass and inertia about it; nothing for a link without mass."""
    mass = float(inertials.masses[index])
    if mass < 0.0:
        remedy = "write a consistent result instead"
        raise InvalidValue(f"link {inertials.links[index]!r} has mass {mass:g} kg, which no URDF may hold; {remedy}")
    if mass == 0.0:
        return
    element = SubElement(body, "inertial")
    _origin(element, inertials.coms[index], np.eye(3))
    SubElement(element, "mass", value=f"{mass:.17g}")
    six = six_of(inertials.inertias_at_com[index])
    names = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")
    SubElement(element, "inertia", {name: f"{value:.17g}" for name, value in zip(names, six)})


def _shape(body: Element, shape: Shape) -> None:
    """A shape as visual and collision geometry."""
    parts: list[tuple[str, dict[str, str], np.ndarray]] = []
    if shape.kind == "box":
        parts.append(("box", {"size": _numbers(2.0 * np.array(shape.size))}, np.zeros(3)))
    elif shape.kind == "sphere":
        parts.append(("sphere", {"radius": f"{shape.size[0]:.17g}"}, np.zeros(3)))
    elif shape.kind == "capsule":
        radius, half = shape.size
        parts.append(("cylinder", {"radius": f"{radius:.17g}", "length": f"{2.0 * half:.17g}"}, np.zeros(3)))
        parts += [("sphere", {"radius": f"{radius:.17g}"}, np.array([0.0, 0.0, z])) for z in (-half, half)]
    for purpose in ("visual", "collision"):
        for tag, attributes, offset in parts:
            element = SubElement(body, purpose)
            _origin(element, shape.centre + shape.rotation @ offset, shape.rotation)
            SubElement(SubElement(element, "geometry"), tag, attributes)


def _origin(element: Element, xyz: np.ndarray, rotation: np.ndarray) -> None:
    SubElement(element, "origin", xyz=_numbers(xyz), rpy=_numbers(pin.rpy.matrixToRpy(np.array(rotation))))


def _numbers(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values)
