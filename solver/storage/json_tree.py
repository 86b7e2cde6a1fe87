"""JSON read with care: what is no JSON, means two things, or is nested or long beyond reason is one error.

`to_json_values` prepares values for writing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import find_repeated
from ..errors import InputError, InvalidValue
from ..files import check_file, read_bytes

MAX_BYTES = 256 << 20
"""[bytes] Largest text; an authored dance of an hour at 60 Hz takes about a hundred million."""
MAX_DEPTH = 200
"""Largest nesting of lists and objects; files of this program have about twenty levels."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""Pattern of an escaped surrogate, half of a character; without its other half it cannot be printed."""


class InvalidJson(InvalidValue):
    """A text is not valid JSON.

    Attributes:
        problem: what is wrong, in one clause.
        place: line and column; None for all of it.
    """

    def __init__(self, problem: str, place: str | None = None) -> None:
        self.problem, self.place = problem, place
        super().__init__(f"{place}: {problem}" if place else problem)


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        NoJson: not UTF-8, no JSON, numbers that are not finite or beyond a float's range, an object that names an entry
            twice, a lone surrogate, too long or nested too deeply.
    """
    if len(text) > MAX_BYTES:
        raise InvalidJson(f"is too long ({len(text) / 2**20:.0f} MB; the limit is {MAX_BYTES >> 20} MB)")
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        tree = json.loads(
            text, parse_constant=_reject_constant, parse_float=_parse_float, object_pairs_hook=_unique_object
        )
    except json.JSONDecodeError as error:
        raise InvalidJson(f"is not JSON ({error.msg})", f"line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InvalidJson(f"is nested more than {MAX_DEPTH} levels deep") from None
    except ValueError as error:
        raise InvalidJson(f"is not JSON ({error})") from None
    _check_depth(tree)
    if _SURROGATE.search(text):
        try:
            "".join(_iterate_strings(tree)).encode()
        except UnicodeEncodeError:
            raise InvalidJson("holds an incomplete character (a lone surrogate)") from None
    return tree


def parse_json_object(path: str | Path, text: str | bytes, remedy: str) -> dict[str, Any]:
    """Parse the content of a JSON file, which must be one object.

    Raises:
        InputError: see `parse_json`; or the file is a list, a number or a text.
    """
    try:
        tree = parse_json(text)
    except InvalidJson as error:
        raise InputError(path, error.problem, place=error.place, remedy=remedy) from None
    if not isinstance(tree, dict):
        raise InputError(path, "is not a JSON object", remedy=remedy)
    return tree


def read_json(path: str | Path, remedy: str) -> dict[str, Any]:
    """Read a JSON file, which must be one object.

    Raises:
        InputError: no file, too large, or see `parse_json_object`.
    """
    check_file(path, MAX_BYTES)
    return parse_json_object(path, read_bytes(path), remedy)


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _parse_float(word: str) -> float:
    value = float(word)
    if math.isinf(value):
        raise ValueError(f"the number {word[:20]} is out of range")
    return value


def _unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        twice = find_repeated([name for name, _ in pairs])[0]
        raise ValueError(f"{twice[:40]!r} occurs twice")
    return tree


def _iterate_strings(tree: Any) -> Iterator[str]:
    """Every string of a tree, including names of entries."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for name, entry in tree.items():
            yield name
            yield from _iterate_strings(entry)
    elif isinstance(tree, list):
        for entry in tree:
            yield from _iterate_strings(entry)


def _check_depth(tree: Any) -> None:
    level, depth = [tree] if isinstance(tree, dict | list) else [], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise InvalidJson(f"is nested more than {MAX_DEPTH} levels deep")
        inside = (entry.values() if isinstance(entry, dict) else entry for entry in level)
        level = [entry for entries in inside for entry in entries if isinstance(entry, dict | list)]


def to_json_values(value: Any) -> Any:
    """Convert arrays, mappings, sequences, paths, enumerations and data classes to JSON types; NaN becomes None."""
    if isinstance(value, Enum):
        return to_json_values(value.value)
    if isinstance(value, np.ndarray):
        return to_json_values(value.tolist())
    if isinstance(value, np.generic):
        return to_json_values(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_values(entry) for entry in value]
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json_values(getattr(value, f.name)) for f in fields(value)}
    raise InvalidValue(f"a {type(value).__name__} cannot be converted to JSON")
