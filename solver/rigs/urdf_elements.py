"""Strict reading of elements and attributes of a URDF."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..base.errors import InputError
from ..base.numerals import numeral
from ..base.so3 import from_rpy

MIN_SIMILARITY = 0.85
"""Similarity of names from which on one is a misspelling of the other."""
NUMBERS_REMEDY = "Write decimals with a point and separate numbers by spaces"
UNITS_REMEDY = "Write plain numbers without units: metres, kilograms, seconds, radians"


def read_numbers(path: Path, place: str, text: str | None, count: int, default: Sequence[float]) -> np.ndarray:
    """Read ``count`` finite numbers of an attribute, or the default if it is missing.

    Raises:
        InputError: another count, or something that is not a finite number.
    """
    if text is None:
        return np.array(default, float)
    try:
        values = np.array([numeral(word) for word in text.split()])
    except ValueError:
        problem, remedy = (
            f"{text!r} holds something that is not a finite number",
            NUMBERS_REMEDY if "," in text else UNITS_REMEDY,
        )
        raise InputError(path, problem, place=place, remedy=remedy) from None
    if len(values) != count:
        raise InputError(path, f"{text!r} should be {count} number(s)", place=place, remedy=NUMBERS_REMEDY)
    return values


def read_number(path: Path, place: str, element: Element, key: str) -> float:
    """Read one finite number, which an element must have."""
    if (text := element.get(key)) is None:
        raise InputError(path, f"<{element.tag}> has no {key!r}", place=place, remedy=f'Give {key}="0" if it is zero')
    return float(read_numbers(path, f"{place}, <{element.tag} {key}>", text, 1, ())[0])


def single_child(path: Path, place: str, element: Element, tag: str) -> Element | None:
    """The only child with a tag; None without one.

    Raises:
        InputError: there are several.
    """
    found = element.findall(tag)
    if len(found) > 1:
        raise InputError(path, f"<{tag}> occurs {len(found)} times", place=place, remedy="Keep one of them")
    return found[0] if found else None


def check_attributes(path: Path, place: str, element: Element, known: Sequence[str]) -> None:
    """Check that an element does not have an unknown attribute while a known one is missing, since it would be ignored.

    Raises:
        InputError: it has.
    """
    odd = [key for key in element.attrib if key not in known and not key.startswith("{")]
    absent = [key for key in known if key not in element.attrib]
    if odd and absent:
        problem = f"<{element.tag}> has {odd[0]!r}, which would be ignored, and no {' or '.join(map(repr, absent))}"
        raise InputError(path, problem, place=place, remedy=f"Known attributes: {', '.join(known)}")


def check_children(path: Path, place: str, element: Element, known: Sequence[str]) -> None:
    """Check that no child is a misspelling of a missing one.

    Raises:
        InputError: there is one.
    """
    absent = [tag for tag in known if element.find(tag) is None]
    for tag in [str(child.tag) for child in element if child.tag not in known]:
        if near := get_close_matches(tag.lower(), absent, n=1, cutoff=MIN_SIMILARITY):
            problem = f"<{tag}> is not an element of URDF and would be ignored"
            raise InputError(path, problem, place=place, remedy=f"Correct it to <{near[0]}>, or remove it")


def read_origin(path: Path, place: str, element: Element) -> tuple[np.ndarray, np.ndarray]:
    """Read axes (3, 3) and position (3,) [m] of an element's <origin>; identity without one."""
    if (child := single_child(path, place, element, "origin")) is None:
        return np.eye(3), np.zeros(3)
    check_attributes(path, place, child, ("xyz", "rpy"))
    xyz = read_numbers(path, f"{place}, <origin xyz>", child.get("xyz"), 3, (0, 0, 0))
    return from_rpy(read_numbers(path, f"{place}, <origin rpy>", child.get("rpy"), 3, (0, 0, 0))), xyz
