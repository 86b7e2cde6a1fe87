"""SRDF files, which complement a URDF: pairs of links whose collisions are disabled, and end effectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from ..base.errors import InputError
from .safe_xml import read_xml
from .urdf_geometry import FOOT_NAMES


@dataclass(frozen=True, slots=True)
class Srdf:
    """Content of an SRDF file.

    Attributes:
        path: of the file.
        robot: name of the robot.
        disabled_pairs: of URDF links whose collisions are disabled.
        feet: URDF links of end effectors that are named as feet.
    """

    path: Path
    robot: str
    disabled_pairs: tuple[tuple[str, str], ...]
    feet: tuple[str, ...]


def read_srdf(path: str | Path) -> Srdf:
    """Read an SRDF file.

    Raises:
        InputError: no file, not SRDF, hostile XML, or an element without its links.
    """
    root = read_xml(path)
    if root.tag != "robot":
        raise InputError(path, f"starts with <{root.tag}>, not <robot>", remedy="Give the robot's SRDF")
    disabled = [
        (_require_attribute(path, own, "link1"), _require_attribute(path, own, "link2"))
        for own in root.iter("disable_collisions")
    ]
    ends = [(own.get("name", ""), _require_attribute(path, own, "parent_link")) for own in root.iter("end_effector")]
    feet = dict.fromkeys(link for name, link in ends if FOOT_NAMES.search(name) or FOOT_NAMES.search(link))
    return Srdf(Path(path), root.get("name", ""), tuple(disabled), tuple(feet))


def _require_attribute(path: str | Path, element: Element, name: str) -> str:
    if not (value := element.get(name)):
        raise InputError(path, f"<{element.tag}> has no {name}", remedy="Add it, or remove the element")
    return value
