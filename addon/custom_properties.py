"""The one place where custom properties are read: people, scripts and other versions may have left anything there."""

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
DEFAULT_REMEDY = "undo that edit, or delete the property"
SHOWN_CHARACTERS = 40
"""Characters of a wrong value that an error shows."""


def read_label(owner: Owner, name: str) -> str:
    """A text by which the add-on knows what is its own; empty where there is none, or something else than a text."""
    value = owner.get(name, "")
    return value if isinstance(value, str) else ""


def read_text(owner: Owner, name: str, remedy: str = DEFAULT_REMEDY) -> str:
    """A text.

    Args:
        owner: of the property.
        name: of the property.
        remedy: what to do when it is damaged, in one clause.

    Raises:
        InvalidValue: there is none.
    """
    value = _require(owner, name, remedy)
    if not isinstance(value, str):
        raise damaged_error(owner, name, f"it is {_describe_value(value)} and no text", remedy)
    return value


def read_object(owner: Owner, name: str, remedy: str = DEFAULT_REMEDY) -> dict[str, Any]:
    """The object that a text describes as JSON; empty where there is no such property.

    Raises:
        InvalidValue: it is no text, or the text describes no object.
    """
    if name not in owner:
        return {}
    words = read_text(owner, name, remedy)
    try:
        found = _parse_json(words)
    except (ValueError, RecursionError) as error:
        raise damaged_error(owner, name, f"it is no JSON: {error}", remedy) from None
    if not isinstance(found, dict):
        raise damaged_error(owner, name, f"{_describe_value(words)} is no JSON object", remedy)
    return found


@lru_cache(64)
def _parse_json(text: str) -> Any:
    """What a text means as JSON: panels ask for the same one at every redraw, and nobody changes the answer."""
    return json.loads(text)


def read_number(owner: Owner, name: str, remedy: str = DEFAULT_REMEDY) -> float:
    """A finite number.

    Raises:
        InvalidValue: there is none.
    """
    value = _require(owner, name, remedy)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise damaged_error(owner, name, f"it is {_describe_value(value)} and no number", remedy)
    return float(value)


def read_array(owner: Owner, name: str, count: int, remedy: str = DEFAULT_REMEDY, *, finite: bool = True) -> np.ndarray:
    """An array (count,) of numbers.

    Raises:
        InvalidValue: there is none of that length; or, where they are to be finite, one is not.
    """
    import numpy as np

    value = _require(owner, name, remedy)
    try:
        found = np.array(value.to_list(), float)
    except (AttributeError, TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (count,):
        raise damaged_error(owner, name, f"it is {_describe_value(value)} and not {count} numbers", remedy)
    if finite and not np.isfinite(found).all():
        raise damaged_error(owner, name, f"it holds {found[~np.isfinite(found)][0]}", remedy)
    return found


def damaged_error(owner: Owner, name: str, problem: str, remedy: str = DEFAULT_REMEDY) -> errors.InvalidValue:
    """The error that names a property, its owner and the way out."""
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
