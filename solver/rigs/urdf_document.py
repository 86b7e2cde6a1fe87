"""Reading and checking a URDF file, before a rig is built."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..base.errors import InputError
from ..values.inertials import symmetric_matrix
from ..values.joints import Mimic
from .safe_xml import read_xml
from .urdf_elements import check_attributes, check_children, read_number, read_numbers, read_origin, single_child

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating")
AXIS_TYPES = ("revolute", "continuous", "prismatic")
LIMITED_TYPES = ("revolute", "prismatic")
INERTIA = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")
LINK_CHILDREN = ("inertial", "visual", "collision")
INERTIAL_CHILDREN = ("origin", "mass", "inertia")
JOINT_CHILDREN = ("origin", "parent", "child", "axis", "limit", "mimic")
SERIES_AXES = ("x", "y", "z")
"""Endings of revolute joints about x, y, z in this order that stand for one joint of several axes: R = Rx Ry Rz."""


@dataclass(frozen=True, slots=True)
class UrdfLink:
    """One checked link.

    Attributes:
        name: of the link.
        element: XML element with the geometry.
        mass: [kg].
        com: (3,) [m], link axes.
        inertia: (3, 3) [kg m^2] about the centre of mass, link axes.
    """

    name: str
    element: Element
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """One checked joint.

    Attributes:
        name: of the joint.
        kind: one of `JOINT_TYPES`.
        parent, child: names of the links.
        rotation: (3, 3) axes of the child in the parent's, at zero.
        position: (3,) [m] of the child in the parent.
        axis: (3,) of length one, child axes.
        lower, upper, speed, effort: limits in SI units, None if the file has none.
        mimic: the joint that it mimics.
        series: revolute joints that `urdf_writer` wrote for it: it is universal (axis (2, 3)) or spherical.
    """

    name: str
    kind: str
    parent: str
    child: str
    rotation: np.ndarray
    position: np.ndarray
    axis: np.ndarray
    lower: float | None = None
    upper: float | None = None
    speed: float | None = None
    effort: float | None = None
    mimic: Mimic | None = None
    series: tuple[UrdfJoint, ...] = ()

    @property
    def parts(self) -> tuple[UrdfJoint, ...]:
        """The joints of one axis that this one stands for, or itself."""
        return self.series or (self,)


@dataclass(frozen=True, slots=True)
class UrdfDocument:
    """A checked URDF: unique names, one tree, finite numbers, no negative mass.

    Attributes:
        path: of the file.
        name: of the robot.
        links: by name, in file order.
        joints: by name, in file order.
        root: the link without a parent.
        notes: on corrections.
    """

    path: Path
    name: str
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]
    root: str
    notes: tuple[str, ...] = ()


def read_urdf(path: str | Path) -> UrdfDocument:
    """Read and check a URDF file.

    Raises:
        InputError: missing file, malformed or hostile XML (entity bombs, external references), not a URDF, duplicate or
            missing names, several roots, a loop, negative mass, text that is not a number, unknown joint types, zero
            axes, reversed limits, elements and attributes that would be ignored.
    """
    path = Path(path)
    root = read_xml(path)
    if root.tag != "robot":
        raise InputError(path, f"the outermost element is <{root.tag}>, not <robot>", remedy="Give a URDF file")
    if any("xacro" in str(e.tag) for e in root.iter()):
        raise InputError(path, "the file is a xacro macro, not a URDF", remedy="Expand it first: xacro in > out.urdf")
    check_children(path, "<robot>", root, ("link", "joint"))
    link_names, joint_names = _read_names(path, root, "link"), _read_names(path, root, "joint")
    if not link_names:
        raise InputError(path, "the robot has no link")
    links = {name: _read_link(path, name, e) for name, e in zip(link_names, root.findall("link"))}
    joints = {name: _read_joint(path, name, e, links) for name, e in zip(joint_names, root.findall("joint"))}
    joints, notes = resolve_mimic(joints)
    top = _find_root(path, list(links), list(joints.values()))
    return _join_axes(UrdfDocument(path, root.get("name", path.stem), links, joints, top, notes))


def _join_axes(document: UrdfDocument) -> UrdfDocument:
    """A document with a universal or spherical joint in place of each series of revolute joints that stands for one.

    `urdf_writer` writes ``LINK_x``, ``LINK_y`` (and ``LINK_z``) with empty links ``LINK_x_link`` (and ``LINK_y_link``)
    between them. The axes of a spherical joint are x, y and z.
    """
    links, joints = dict(document.links), dict(document.joints)
    for name in document.links:
        series = [joints[part] for axis in SERIES_AXES if (part := f"{name}_{axis}") in joints]
        inner = [f"{joint.name}_link" for joint in series[:-1]]
        ends = [*inner, name]
        if len(series) < 2 or [joint.child for joint in series] != ends or [j.parent for j in series[1:]] != inner:
            continue
        axes = np.array([joint.axis for joint in series])
        together = all(not joint.position.any() and np.array_equal(joint.rotation, np.eye(3)) for joint in series[1:])
        empty = not any(len(links[between].element) for between in inner)
        hinges = all(joint.kind in ("revolute", "continuous") and joint.mimic is None for joint in series)
        if not (together and empty and hinges) or (len(series) == 3 and not np.array_equal(axes, np.eye(3))):
            continue
        for part in (*inner, *(joint.name for joint in series)):
            links.pop(part, None), joints.pop(part, None)
        kind = "spherical" if len(series) == 3 else "universal"
        joints[name] = replace(series[0], name=name, kind=kind, child=name, axis=axes, series=tuple(series))
    return replace(document, links=links, joints=joints)


def _read_names(path: Path, root: Element, tag: str) -> list[str]:
    names = [element.get("name", "") for element in root.findall(tag)]
    if "" in names:
        raise InputError(path, f"<{tag}> number {names.index('') + 1} has no name")
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(path, f"{tag} name {twice[0]!r} is used {names.count(twice[0])} times", remedy="Rename one")
    return names


def _read_link(path: Path, name: str, element: Element) -> UrdfLink:
    place = f"link {name!r}"
    check_children(path, place, element, LINK_CHILDREN)
    if (inertial := single_child(path, place, element, "inertial")) is None:
        return UrdfLink(name, element, 0.0, np.zeros(3), np.zeros((3, 3)))
    check_children(path, place, inertial, INERTIAL_CHILDREN)
    mass_element, inertia = (single_child(path, place, inertial, tag) for tag in ("mass", "inertia"))
    if mass_element is None or inertia is None:
        missing = "mass" if mass_element is None else "inertia"
        raise InputError(path, f"<inertial> lacks <{missing}>", place=place, remedy="Give both, or no <inertial>")
    mass = read_number(path, place, mass_element, "value")
    if mass < 0.0:
        raise InputError(path, f"negative mass {mass:g} kg", place=place, remedy="Correct the mass")
    moments = symmetric_matrix(np.array([read_number(path, place, inertia, key) for key in INERTIA]))
    axes, com = read_origin(path, f"{place}, <inertial>", inertial)
    return UrdfLink(name, element, mass, com, axes @ moments @ axes.T)


def _read_joint(path: Path, name: str, element: Element, links: dict[str, UrdfLink]) -> UrdfJoint:
    place = f"joint {name!r}"
    kind = element.get("type", "")
    if kind not in JOINT_TYPES:
        remedy = "Write a planar joint as two prismatic joints and a continuous one" if kind == "planar" else ""
        raise InputError(path, f"type {kind!r} is none of {', '.join(JOINT_TYPES)}", place=place, remedy=remedy)
    check_children(path, place, element, JOINT_CHILDREN)
    ends = {}
    for role in ("parent", "child"):
        end = single_child(path, place, element, role)
        if (link := None if end is None else end.get("link")) is None:
            raise InputError(path, f"has no <{role} link=...>", place=place)
        if link not in links:
            raise InputError(path, f"{role} link {link!r} does not exist", place=place)
        ends[role] = link
    rotation, position = read_origin(path, place, element)
    axis = _read_axis(path, place, kind, single_child(path, place, element, "axis"))
    lower, upper, speed, effort = _read_limits(path, place, kind, single_child(path, place, element, "limit"))
    mimic = _read_mimic(path, place, single_child(path, place, element, "mimic"))
    parent, child = ends["parent"], ends["child"]
    return UrdfJoint(name, kind, parent, child, rotation, position, axis, lower, upper, speed, effort, mimic)


def _read_axis(path: Path, place: str, kind: str, element: Element | None) -> np.ndarray:
    """(3,) unit axis; URDF's default is x."""
    direction = np.array([1.0, 0.0, 0.0])
    if kind not in AXIS_TYPES:
        return direction
    if element is not None:
        check_attributes(path, place, element, ("xyz",))
        direction = read_numbers(path, f"{place}, <axis>", element.get("xyz"), 3, (1, 0, 0))
    length = float(np.linalg.norm(direction))
    if length < 1e-9:
        raise InputError(path, "the axis has no length", place=place, remedy='Give a direction such as "0 0 1"')
    return direction / length


def _read_limits(path: Path, place: str, kind: str, limit: Element | None) -> list[float | None]:
    """Lower, upper, speed and effort limit; None where missing."""
    if limit is None:
        if kind in LIMITED_TYPES:
            remedy = "Give lower, upper, effort and velocity" + (", or type 'continuous'" if kind == "revolute" else "")
            raise InputError(path, f"a {kind} joint needs a <limit>", place=place, remedy=remedy)
        return [None] * 4
    ends = ("lower", "upper")
    check_attributes(path, place, limit, (*(ends if kind in LIMITED_TYPES else ()), "velocity", "effort"))
    values: list[float | None] = []
    for key, none in (("lower", "-"), ("upper", "+"), ("velocity", "+"), ("effort", "+")):
        text = limit.get(key)
        if text is not None and text.strip().lower().replace("infinity", "inf") in {"-inf", f"{none}inf", "inf"}:
            if text.strip().startswith("-") != (none == "-"):
                raise InputError(path, f"{text!r} allows no range", place=f"{place}, <limit {key}>")
            text = None
        values.append(None if text is None else float(read_numbers(path, f"{place}, <limit {key}>", text, 1, ())[0]))
        if key not in ends and (values[-1] or 0.0) < 0.0:
            raise InputError(
                path, f"negative {key} limit {values[-1]:g}", place=place, remedy="Give its absolute value"
            )
    lower, upper = values[:2]
    if kind in LIMITED_TYPES and lower is not None and upper is not None and lower > upper:
        raise InputError(path, f"lower limit {lower:g} is above the upper limit {upper:g}", place=place)
    return values


def _read_mimic(path: Path, place: str, mimic: Element | None) -> Mimic | None:
    if mimic is None:
        return None
    check_attributes(path, place, mimic, ("joint", "multiplier", "offset"))
    multiplier = read_numbers(path, f"{place}, <mimic multiplier>", mimic.get("multiplier"), 1, (1.0,))[0]
    offset = read_numbers(path, f"{place}, <mimic offset>", mimic.get("offset"), 1, (0.0,))[0]
    return Mimic(mimic.get("joint", ""), float(multiplier), float(offset))


def resolve_mimic(joints: dict[str, UrdfJoint]) -> tuple[dict[str, UrdfJoint], tuple[str, ...]]:
    """The joints, and notes on those that mimic a missing joint.

    Files written by macros often lack a prefix there. If exactly one joint has that name after a prefix that the mimic
    joint has too, it is used. Otherwise the source of the mimic joint is unknown.
    """
    result, meant, lost = dict(joints), [], []
    for name, joint in joints.items():
        mimic = joint.mimic
        if mimic is None or mimic.source in joints:
            continue
        ends = [other for other in joints if other.endswith(mimic.source) and other != name]
        alike = [other for other in ends if name.startswith(other.removesuffix(mimic.source))]
        if len(alike) == 1:
            result[name] = replace(joint, mimic=replace(mimic, source=alike[0]))
            meant.append(f"{name} {alike[0]} for {mimic.source}")
        else:
            lost.append(f"{name} ({mimic.source})")
    circular = [name for name in result if _follows_itself(name, result)]
    for name in circular:
        result[name] = replace(result[name], mimic=None)
    cases = (
        ("that mimic a missing joint use the one with their prefix", meant),
        ("that mimic a missing joint stay fixed in dances", lost),
        ("that mimic each other in a circle move independently", circular),
    )
    return result, tuple(f"joints {done}: {', '.join(names)}" for done, names in cases if names)


def _follows_itself(name: str, joints: dict[str, UrdfJoint]) -> bool:
    """Whether the joints that a joint mimics, one after the other, lead back to it."""
    seen: list[str] = []
    mimic = joints[name].mimic
    while mimic is not None and mimic.source in joints and mimic.source not in seen:
        seen.append(mimic.source)
        mimic = joints[mimic.source].mimic
    return name in seen


def _find_root(path: Path, links: list[str], joints: list[UrdfJoint]) -> str:
    above: dict[str, UrdfJoint] = {}
    for joint in joints:
        if joint.child in above:
            problem = f"link {joint.child!r} is the child of {above[joint.child].name!r} and of {joint.name!r}"
            raise InputError(path, f"{problem}: the links form a loop", remedy="Open the loop: a URDF is a tree")
        above[joint.child] = joint
    grounded: set[str] = set()
    for link in links:
        way = dict.fromkeys([link])  # an ordered set
        while link in above and link not in grounded:
            link = above[link].parent
            if link in way:
                ring = " -> ".join([*list(way)[list(way).index(link) :], link])
                raise InputError(path, f"the links form a loop: {ring}", remedy="Open the loop: a URDF is a tree")
            way[link] = None
        grounded.update(way)
    roots = [link for link in links if link not in above]
    if len(roots) > 1:
        raise InputError(path, f"several links have no parent: {', '.join(roots[:6])}", remedy="Join them to one tree")
    return roots[0]
