"""Reading a URDF file: everything that can be wrong with it is found here, before any model is built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, tostring

import defusedxml.ElementTree
import numpy as np
from defusedxml.common import DefusedXmlException

from ..errors import InputError
from ..joints import Mimic

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
AXIS_TYPES = ("revolute", "continuous", "prismatic", "planar")
LIMITED_TYPES = ("revolute", "prismatic")
INERTIA = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """One checked joint; limits in rad or m, None where the file has none."""

    name: str
    kind: str
    parent: str
    child: str
    lower: float | None = None
    upper: float | None = None
    speed: float | None = None
    effort: float | None = None
    mimic: Mimic | None = None


@dataclass(frozen=True, slots=True)
class UrdfDocument:
    """A checked URDF: unique names, one tree, finite numbers, no negative mass.

    Attributes:
        path: of the file.
        name: of the robot.
        links: elements by name, in file order.
        joints: by name, in file order.
        root: the link without a parent.
        text: the document again as plain XML, entities and comments gone.
    """

    path: Path
    name: str
    links: dict[str, Element]
    joints: dict[str, UrdfJoint]
    root: str
    text: str


def read_urdf(path: str | Path) -> UrdfDocument:
    """Read and check a URDF file.

    Raises:
        InputError: missing file, malformed or hostile XML (entity bombs, external references), not a URDF, names
            twice or missing, several roots, a loop, negative mass, numbers that are none, unknown joint types,
            zero axes, reversed limits.
    """
    path = Path(path)
    root = _parse(path)
    if root.tag != "robot":
        raise InputError(path, f"the outermost element is <{root.tag}>, not <robot>", remedy="Give a URDF file")
    if any("xacro" in str(e.tag) for e in root.iter()):
        raise InputError(path, "the file is a xacro macro, not a URDF", remedy="Expand it first: xacro in > out.urdf")
    links = dict(zip(_names(path, root, "link"), root.findall("link")))
    if not links:
        raise InputError(path, "the robot has no link")
    for name, element in links.items():
        _check_inertial(path, name, element)
    joint_names = _names(path, root, "joint")
    joints = {name: _joint(path, name, e, links) for name, e in zip(joint_names, root.findall("joint"))}
    for joint in joints.values():
        if joint.mimic is not None and joint.mimic.source not in joints:
            problem = f"mimics joint {joint.mimic.source!r}, which does not exist"
            raise InputError(path, problem, place=f"joint {joint.name!r}")
    top = _root(path, links, list(joints.values()))
    return UrdfDocument(path, root.get("name", path.stem), links, joints, top, tostring(root, encoding="unicode"))


def numbers(path: Path, place: str, text: str | None, count: int, default: Sequence[float]) -> np.ndarray:
    """``count`` finite numbers of an attribute, or the default where it is absent."""
    if text is None:
        return np.array(default, float)
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        raise InputError(path, f"{text!r} holds something that is not a number", place=place) from None
    if len(values) != count or not np.isfinite(values).all():
        raise InputError(path, f"{text!r} should be {count} finite number(s)", place=place)
    return values


def origin(path: Path, place: str, element: Element) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) [m] and roll, pitch, yaw (3,) [rad] of an element's <origin>; zeros without one."""
    child = element.find("origin")
    attributes = {} if child is None else child.attrib
    xyz = numbers(path, f"{place}, <origin xyz>", attributes.get("xyz"), 3, (0, 0, 0))
    rpy = numbers(path, f"{place}, <origin rpy>", attributes.get("rpy"), 3, (0, 0, 0))
    return xyz, rpy


def _parse(path: Path) -> Element:
    try:
        tree = defusedxml.ElementTree.parse(path, forbid_dtd=False)
    except FileNotFoundError:
        raise InputError(path, "there is no such file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    except DefusedXmlException as error:
        problem = f"defines XML entities or external references ({type(error).__name__}), which are refused"
        raise InputError(path, problem, remedy="Remove the DTD from the file") from None
    except (ParseError, UnicodeDecodeError, LookupError, ValueError) as error:
        line = error.position[0] if isinstance(error, ParseError) else None
        place = None if line is None else f"line {line}"
        raise InputError(path, f"is not well-formed XML ({error})", place=place) from None
    result: Element = tree.getroot()
    return result


def _names(path: Path, root: Element, tag: str) -> list[str]:
    names = [element.get("name", "") for element in root.findall(tag)]
    if "" in names:
        raise InputError(path, f"<{tag}> number {names.index('') + 1} has no name")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(path, f"{tag} name {twice[0]!r} is used {names.count(twice[0])} times", remedy="Rename one")
    return names


def _check_inertial(path: Path, name: str, link: Element) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        return
    place = f"link {name!r}"
    mass_element, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass_element is None or inertia is None:
        missing = "mass" if mass_element is None else "inertia"
        raise InputError(path, f"<inertial> lacks <{missing}>", place=place, remedy="Give both, or no <inertial>")
    mass = numbers(path, f"{place}, <mass>", mass_element.get("value"), 1, (np.nan,))[0]
    if not np.isfinite(mass):
        raise InputError(path, "<mass> has no value", place=place)
    if mass < 0.0:
        raise InputError(path, f"negative mass {mass:g} kg", place=place, remedy="Correct the mass")
    for key in INERTIA:
        numbers(path, f"{place}, <inertia {key}>", inertia.get(key), 1, (0.0,))
    origin(path, f"{place}, <inertial>", inertial)


def _joint(path: Path, name: str, element: Element, links: dict[str, Element]) -> UrdfJoint:
    place = f"joint {name!r}"
    kind = element.get("type", "")
    if kind not in JOINT_TYPES:
        raise InputError(path, f"type {kind!r} is none of {', '.join(JOINT_TYPES)}", place=place)
    ends = {}
    for role in ("parent", "child"):
        end = element.find(role)
        link = None if end is None else end.get("link")
        if link is None:
            raise InputError(path, f"has no <{role} link=...>", place=place)
        if link not in links:
            raise InputError(path, f"{role} link {link!r} does not exist", place=place)
        ends[role] = link
    origin(path, place, element)
    axis = element.find("axis")
    if axis is not None and kind in AXIS_TYPES:
        direction = numbers(path, f"{place}, <axis>", axis.get("xyz"), 3, (1, 0, 0))
        if np.linalg.norm(direction) < 1e-9:
            raise InputError(path, "the axis has no length", place=place, remedy='Give a direction such as "0 0 1"')
    lower, upper, speed, effort = _limits(path, place, kind, element.find("limit"))
    mimic = _mimic(path, place, element)
    return UrdfJoint(name, kind, ends["parent"], ends["child"], lower, upper, speed, effort, mimic)


def _limits(path: Path, place: str, kind: str, limit: Element | None) -> list[float | None]:
    if limit is None:
        return [None] * 4
    values: list[float | None] = []
    for key in ("lower", "upper", "velocity", "effort"):
        text = limit.get(key)
        if text is not None and text.strip().lower().lstrip("+-") in ("inf", "infinity"):
            text = None
        values.append(None if text is None else float(numbers(path, f"{place}, <limit {key}>", text, 1, ())[0]))
    lower, upper = values[:2]
    if kind in LIMITED_TYPES and lower is not None and upper is not None and lower > upper:
        raise InputError(path, f"lower limit {lower:g} lies above the upper limit {upper:g}", place=place)
    return values


def _mimic(path: Path, place: str, element: Element) -> Mimic | None:
    mimic = element.find("mimic")
    if mimic is None:
        return None
    multiplier = numbers(path, f"{place}, <mimic multiplier>", mimic.get("multiplier"), 1, (1.0,))[0]
    offset = numbers(path, f"{place}, <mimic offset>", mimic.get("offset"), 1, (0.0,))[0]
    return Mimic(mimic.get("joint", ""), float(multiplier), float(offset))


def _root(path: Path, links: dict[str, Element], joints: list[UrdfJoint]) -> str:
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
