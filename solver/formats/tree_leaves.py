"""Leaves of the trees of `value_tree`: numbers, text, names of entries and arrays, as JSON holds them, and back."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from ..errors import InvalidValue

T = TypeVar("T")
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
JSON_TYPES: dict[str, set[type]] = {"f": {int, float}, "i": {int}, "u": {int}, "b": {bool}, "U": {str}}
"""What entries of an array are in JSON, by the kind of its data type."""
SIMPLE_DTYPE = re.compile(r"[<>|=]?[fiubU][0-9]{1,5}")
"""How a file names the kind of an array; NumPy understands much more, and compiles some of it."""
MAX_ENTRY_BYTES = 1 << 16
"""Bytes of one entry of an array."""
MAX_ARRAY_BYTES = 1 << 28
"""Bytes of an array of lists; larger ones lie in archives."""
MAX_SHOWN_CHARACTERS = 60
"""Characters of a wrong entry that an error shows."""


class WrongEntry(InvalidValue):
    """An entry of a tree is missing or is not what its field declares.

    Attributes:
        place: where in the tree, ``stretches[3].control``; empty for all of it.
        problem: what is wrong, in one clause.
    """

    def __init__(self, place: str, problem: str) -> None:
        self.place, self.problem = place, problem
        super().__init__(f"{place}: {problem}" if place else problem)


class ArrayStore(Protocol):
    """Where the arrays of a tree lie."""

    def store(self, array: np.ndarray, place: str) -> Any:
        """Keep an array; what stands for it in the tree."""

    def load(self, tree: Any, place: str) -> np.ndarray:
        """The array that an entry of the tree stands for."""


class InlineArrays:
    """Arrays within the tree, as lists of lists.

    A list alone means the floats, integers or truth values that it shows; other arrays, and empty ones, whose shape no
    list tells, are ``{"dtype": ..., "shape": [...], "values": [...]}``.
    """

    INLINE_DTYPES = (np.dtype(float), np.dtype(np.int64), np.dtype(bool))

    def store(self, array: np.ndarray, place: str) -> Any:
        """An array as lists."""
        if array.dtype.kind not in JSON_TYPES or array.dtype.itemsize > MAX_ENTRY_BYTES:
            raise WrongEntry(place, f"an array of {array.dtype} cannot be written")
        values = array.tolist()
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            values = _map_nested(values, float_tree)
        if array.dtype in self.INLINE_DTYPES and array.ndim and array.size:
            return values
        return {"dtype": array.dtype.str, "shape": list(array.shape), "values": values}

    def load(self, tree: Any, place: str) -> np.ndarray:
        """An array from lists."""
        if isinstance(tree, list):
            kinds, _ = _leaf_types(tree)
            return _build_array(
                tree, np.dtype(bool if kinds == {bool} else np.int64 if kinds == {int} else float), place
            )
        if not isinstance(tree, dict) or set(tree) != {"dtype", "shape", "values"}:
            raise WrongEntry(place, f"{format_value(tree)} is no array")
        if not SIMPLE_DTYPE.fullmatch(str(tree["dtype"])):
            raise WrongEntry(place, f"arrays of {format_value(tree['dtype'])} are not read")
        try:
            kind = np.dtype(tree["dtype"])
            if kind.kind not in JSON_TYPES or kind.itemsize > MAX_ENTRY_BYTES:
                raise WrongEntry(place, f"arrays of {kind} are not read")
            return _build_array(tree["values"], kind, place).reshape([operator.index(size) for size in tree["shape"]])
        except (TypeError, ValueError, OverflowError) as error:
            raise WrongEntry(place, f"{format_value(tree)} is no array ({error})") from error


INLINE_ARRAYS = InlineArrays()


def scalar_tree(value: object, declared: type, place: str) -> Any:
    """What stands for a number, truth value, text or path of a declared type."""
    if isinstance(value, np.generic):
        value = value.item()
    if declared is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float_tree(float(value))
    if declared is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if declared in (bool, str) and isinstance(value, declared):
        return value
    if declared is Path and isinstance(value, Path):
        return str(value)
    raise WrongEntry(place, f"{format_value(value)} is no {declared.__name__}")


def parse_scalar(declared: type, tree: Any, place: str) -> Any:
    """The number, truth value, text or path of a declared type that an entry stands for."""
    if declared is float:
        if isinstance(tree, str) and tree in NOT_FINITE:
            return NOT_FINITE[tree]
        if isinstance(tree, int | float) and not isinstance(tree, bool):
            try:
                return float(tree)
            except OverflowError:
                raise WrongEntry(place, f"{format_value(tree)} is beyond the range of numbers") from None
    elif declared is int:
        if isinstance(tree, int) and not isinstance(tree, bool):
            return tree
    elif declared in (bool, str):
        if isinstance(tree, declared):
            return tree
    elif declared is Path and isinstance(tree, str):
        return Path(tree)
    words = {float: "number", int: "whole number", bool: "truth value", str: "text"}
    raise WrongEntry(place, f"{format_value(tree)} is no {words.get(declared, declared.__name__)}")


def float_tree(value: float) -> float | str:
    """What stands for a number: text where it is not finite."""
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0.0 else "-inf"


def key_tree(key: object, place: str) -> str:
    """What names an entry of a mapping."""
    if isinstance(key, str | int) and not isinstance(key, bool):
        return str(key)
    raise WrongEntry(place, f"{format_value(key)} cannot name an entry")


def parse_key(declared: Any, key: str, place: str) -> Any:
    """The key of a mapping that a name stands for."""
    try:
        return int(key) if declared is int else key
    except ValueError:
        raise WrongEntry(place, f"the name {key!r} is no whole number") from None


def _map_nested(values: Any, each: Callable[[Any], Any]) -> Any:
    return [_map_nested(entry, each) for entry in values] if isinstance(values, list) else each(values)


def _leaf_types(tree: Any) -> tuple[set[type], int]:
    """Types and number of what nested lists hold."""
    kinds: set[type] = set()
    stack, count = [tree], 0
    while stack:
        entry = stack.pop()
        if isinstance(entry, list):
            stack.extend(entry)
        else:
            kinds.add(type(entry))
            count += 1
    return kinds, count


def _build_array(values: Any, kind: np.dtype, place: str) -> np.ndarray:
    """An array of nested lists, none of whose entries is converted from another kind."""
    kinds, count = _leaf_types(values)
    if count * kind.itemsize > MAX_ARRAY_BYTES:
        raise WrongEntry(place, f"an array of {kind} has {count} entries, more than are read")
    if strange := kinds - JSON_TYPES[kind.kind]:
        if kind.kind != "f" or strange != {str}:
            raise WrongEntry(place, f"an array of {kind} holds a {min(kind.__name__ for kind in strange)}")
        values = _map_nested(values, lambda entry: parse_scalar(float, entry, place))
    try:
        if kind.kind in "iu":
            whole, limits = np.array(values, object), np.iinfo(kind)
            if whole.size and not limits.min <= whole.min() <= whole.max() <= limits.max:
                raise WrongEntry(place, f"an array of {kind} holds numbers beyond its range")
        return np.array(values, kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongEntry(place, f"is no array ({error})") from error


def expect(result: T, holds: bool, found: object, place: str, expected: str) -> T:
    """A result, or the error that what was found is not what was wanted."""
    if not holds:
        raise WrongEntry(place, f"{format_value(found)} is not {expected}")
    return result


def format_value(value: object) -> str:
    """A value as errors show it, shortened."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."
