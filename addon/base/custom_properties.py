"""Reads and checks custom properties, which users, scripts and other versions of the add-on may have changed."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import bpy

from .solver_api import errors

if TYPE_CHECKING:
    import numpy as np

Owner = bpy.types.ID | bpy.types.Bone
DETERMINED, LIMB_MASS = "determined", "limb_mass"
"""Custom properties of each bone: what an identification determined of a link."""
DEFAULT_REMEDY = "undo the edit, or delete the property"
SHOWN_CHARACTERS = 40
"""Largest number of characters of a wrong value that an error shows."""


def read_label(owner: Owner, name: str) -> str:
    """A text property that marks the add-on's own data; empty if it is missing or not a text."""
    value = owner.get(name, "")
    return value if isinstance(value, str) else ""


def read_text(owner: Owner, name: str, remedy: str = DEFAULT_REMEDY) -> str:
    """A text property.

    Args:
        owner: data-block or bone with the property.
        name: of the property.
        remedy: what to do if it is damaged, as a clause.

    Raises:
        InvalidValue: it is missing or not a text.
    """
    value = _require(owner, name, remedy)
    if not isinstance(value, str):
        raise damaged_error(owner, name, f"it is {_describe_value(value)}, not a text", remedy)
    return value


def read_object(owner: Owner, name: str, remedy: str = DEFAULT_REMEDY) -> dict[str, Any]:
    """A JSON object in a text property; empty if there is no such property.

    Raises:
        InvalidValue: it is not a text, or the text is not a JSON object.
    """
    if name not in owner:
        return {}
    text = read_text(owner, name, remedy)
    try:
        found = _parse_json(text)
    except (ValueError, RecursionError) as error:
        raise damaged_error(owner, name, f"it is not JSON: {error}", remedy) from None
    if not isinstance(found, dict):
        raise damaged_error(owner, name, f"{_describe_value(text)} is not a JSON object", remedy)
    return found


@lru_cache(64)
def _parse_json(text: str) -> Any:
    """Parse JSON; cached because panels read the same text at every redraw. The result must not be changed."""
    return json.loads(text)


def read_number(owner: Owner, name: str, remedy: str = DEFAULT_REMEDY) -> float:
    """A finite number property.

    Raises:
        InvalidValue: it is missing or not a finite number.
    """
    value = _require(owner, name, remedy)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise damaged_error(owner, name, f"it is {_describe_value(value)}, not a finite number", remedy)
    return float(value)


def read_array(owner: Owner, name: str, count: int, remedy: str = DEFAULT_REMEDY, *, finite: bool = True) -> np.ndarray:
    """An array property (count,) of numbers.

    Raises:
        InvalidValue: it is missing, has another length, or, if ``finite``, has values that are not finite.
    """
    import numpy as np

    value = _require(owner, name, remedy)
    try:
        found = np.array(value.to_list(), float)
    except (AttributeError, TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (count,):
        raise damaged_error(owner, name, f"it is {_describe_value(value)}, not {count} numbers", remedy)
    if finite and not np.isfinite(found).all():
        raise damaged_error(owner, name, f"it contains {found[~np.isfinite(found)][0]}", remedy)
    return found


def damaged_error(owner: Owner, name: str, problem: str, remedy: str = DEFAULT_REMEDY) -> errors.InvalidValue:
    """An error that names a property, its owner and what to do."""
    return errors.InvalidValue(f"custom property {name!r} of {owner.name!r} is damaged ({problem}): {remedy}")


def _require(owner: Owner, name: str, remedy: str) -> Any:
    value = owner.get(name)
    if value is None:
        raise errors.InvalidValue(f"{owner.name!r} has no custom property {name!r}: {remedy}")
    return value


def _describe_value(value: object) -> str:
    if isinstance(value, (str, bytes)) and len(value) > SHOWN_CHARACTERS:
        return f"{value[:SHOWN_CHARACTERS]!r} and more"
    if isinstance(value, (str, bytes, int, float)):
        return repr(value)
    return "a list" if hasattr(value, "to_list") else "a group"
