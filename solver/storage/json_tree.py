"""JSON, written for people, and read with care: what is none, or is too long or nested too deeply, is one error."""

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

from ..base.arrays import find_repeated
from ..base.errors import InputError, InvalidValue
from ..base.files import check_file, read_bytes

MAX_BYTES = 256 << 20
"""[bytes] Largest text. Chosen on an authored dance of an hour at 60 Hz, which takes about a hundred million."""
MAX_DEPTH = 200
"""Largest nesting of lists and objects; measured on files of this program: about twenty."""
MAX_LINE_WIDTH = 100
"""Largest number of characters of a list or object of plain entries that is written on one line."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""Pattern of an escaped surrogate, half of a character; without its other half it cannot be printed."""


class WrongEntry(InvalidValue):
    """A text is not JSON, or an entry of its tree is missing or is not of its field's declared type.

    Attributes:
        place: line and column, or a place in the tree, such as ``segments[3].control``; empty for all of it.
        problem: what is wrong, in one clause.
    """

    def __init__(self, place: str, problem: str) -> None:
        self.place, self.problem = place, problem
        super().__init__(f"{place}: {problem}" if place else problem)


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        WrongEntry: not UTF-8, no JSON, numbers that are not finite or beyond a float's range, an object that names an
            entry twice, a lone surrogate, too long or nested too deeply.
    """
    if len(text) > MAX_BYTES:
        raise WrongEntry("", f"is too long ({len(text) / 2**20:.0f} MB; the limit is {MAX_BYTES >> 20} MB)")
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        tree = json.loads(
            text, parse_constant=_reject_constant, parse_float=_parse_float, object_pairs_hook=_unique_object
        )
        _check_depth(tree)
        if _SURROGATE.search(text):
            json.dumps(tree, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise WrongEntry(f"line {error.lineno}, column {error.colno}", f"is not JSON ({error.msg})") from None
    except RecursionError:
        raise WrongEntry("", f"is nested more than {MAX_DEPTH} levels deep") from None
    except UnicodeEncodeError:
        raise WrongEntry("", "holds an incomplete character (a lone surrogate)") from None
    except ValueError as error:
        raise WrongEntry("", f"is not JSON ({error})") from None
    return tree


def parse_json_object(path: str | Path, text: str | bytes, remedy: str) -> dict[str, Any]:
    """Parse the content of a JSON file, which must be one object.

    Raises:
        InputError: see `parse_json`; or the file is a list, a number or a text.
    """
    try:
        tree = parse_json(text)
    except WrongEntry as error:
        raise InputError(path, error.problem, place=error.place or None, remedy=remedy) from None
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


def _check_depth(tree: Any) -> None:
    level, depth = [tree], 0
    while level := [entry for entry in level if isinstance(entry, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise RecursionError
        level = [entry for each in level for entry in (each.values() if isinstance(each, dict) else each)]


def to_json_values(value: Any) -> Any:
    """Convert arrays, mappings, sequences, paths, enumerations and data classes to JSON types; NaN becomes None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    elif isinstance(value, Enum):
        value = value.value
    elif is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_values(entry) for entry in value]
    if isinstance(value, Path):
        return str(value)
    raise InvalidValue(f"a {type(value).__name__} cannot be converted to JSON")


def json_text(tree: Any) -> str:
    """A tree as readable JSON: short and plain lists and objects are on one line."""
    return "".join(_format_lines(tree, "")) + "\n"


def _format_lines(tree: Any, indent: str) -> Iterator[str]:
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    short = not any(isinstance(entry, dict | list) for entry in inner)
    if short:
        text = json.dumps(tree, ensure_ascii=False, allow_nan=False)
        if isinstance(tree, list) or len(indent) + len(text) <= MAX_LINE_WIDTH or not inner:
            yield text
            return
    opening, closing = "{}" if isinstance(tree, dict) else "[]"
    deeper = f"{indent} "
    items = tree.items() if isinstance(tree, dict) else (("", entry) for entry in tree)
    yield opening
    for number, (name, entry) in enumerate(items):
        yield f"{',' if number else ''}\n{deeper}"
        if isinstance(tree, dict):
            yield f"{json.dumps(name, ensure_ascii=False)}: "
        yield from _format_lines(entry, deeper)
    yield f"\n{indent}{closing}"
