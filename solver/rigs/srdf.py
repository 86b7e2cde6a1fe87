"""SRDF: what a robot's maker says beside its URDF: which links may touch, and where limbs end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from ..errors import InputError
from .safe_xml import read_xml
from .urdf_geometry import FOOT_NAMES


@dataclass(frozen=True, slots=True)
class Srdf:
    """What an SRDF file says.

    Attributes:
        path: of the file.
        robot: that it is about.
        disabled_pairs: pairs of URDF links whose collisions do not count.
        feet: URDF links at which limbs end that are called feet.
    """

    path: Path
    robot: str
    disabled_pairs: tuple[tuple[str, str], ...]
    feet: tuple[str, ...]


def read_srdf(path: str | Path) -> Srdf:
    """Read an SRDF file.

    Raises:
        InputError: no file, no SRDF, hostile, or an element without the links it is about.
    """
    root = read_xml(path)
    if root.tag != "robot":
        raise InputError(path, f"begins with <{root.tag}>, not <robot>", remedy="Give the robot's SRDF")
    disabled = [
        (_require_attribute(path, own, "link1"), _require_attribute(path, own, "link2"))
        for own in root.iter("disable_collisions")
    ]
    ends = [(own.get("name", ""), _require_attribute(path, own, "parent_link")) for own in root.iter("end_effector")]
    feet = dict.fromkeys(link for name, link in ends if FOOT_NAMES.search(name) or FOOT_NAMES.search(link))
    return Srdf(Path(path), root.get("name", ""), tuple(disabled), tuple(feet))


def _require_attribute(path: str | Path, element: Element, name: str) -> str:
    value = element.get(name)
    if not value:
        raise InputError(path, f"<{element.tag}> has no {name}", remedy="State it, or take the element out")
    return value
