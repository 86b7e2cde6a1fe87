"""Arrays and numbers in the trees of `value_tree`: conversion to JSON types and back, and errors of their entries."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidValue

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
JSON_TYPES: dict[str, set[type]] = {"f": {int, float}, "i": {int}, "u": {int}, "b": {bool}, "U": {str}}
"""JSON types of the entries of an array, by the kind of its data type."""
SIMPLE_DTYPE = re.compile(r"[<>|=]?[fiubU][0-9]{1,5}")
"""Accepted names of data types in a file; NumPy accepts many more and evaluates some of them."""
MAX_ENTRY_BYTES = 1 << 16
"""[bytes] Largest entry of an array."""
MAX_ARRAY_BYTES = 1 << 28
"""[bytes] Largest array that is read from lists; larger ones are in archives."""
MAX_SHOWN_CHARACTERS = 60
"""Characters of a wrong entry that are shown in an error."""


class WrongEntry(InvalidValue):
    """An entry of a tree is missing or is not of its field's declared type.

    Attributes:
        place: in the tree, such as ``segments[3].control``; empty for the root.
        problem: what is wrong, in one clause.
    """

    def __init__(self, place: str, problem: str) -> None:
        self.place, self.problem = place, problem
        super().__init__(f"{place}: {problem}" if place else problem)


class ArrayStore(Protocol):
    """Storage of the arrays of a tree."""

    def store(self, array: np.ndarray, place: str) -> Any:
        """Store an array; the entry that represents it in the tree."""

    def load(self, tree: Any, place: str) -> np.ndarray:
        """The array that an entry of the tree represents."""


class InlineArrays:
    """Arrays within the tree, as lists of lists.

    A plain list is an array of floats, 64-bit integers or booleans. Other arrays, and empty ones, whose shape a list
    does not determine, are ``{"dtype": ..., "shape": [...], "values": [...]}``.
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
            raise WrongEntry(place, f"{format_value(tree)} is not an array")
        if not SIMPLE_DTYPE.fullmatch(str(tree["dtype"])):
            raise WrongEntry(place, f"arrays of {format_value(tree['dtype'])} are not read")
        try:
            kind = np.dtype(tree["dtype"])
            if kind.kind not in JSON_TYPES or kind.itemsize > MAX_ENTRY_BYTES:
                raise WrongEntry(place, f"arrays of {kind} are not read")
            return _build_array(tree["values"], kind, place).reshape([operator.index(size) for size in tree["shape"]])
        except (TypeError, ValueError, OverflowError) as error:
            raise WrongEntry(place, f"{format_value(tree)} is not an array ({error})") from error


INLINE_ARRAYS = InlineArrays()


def float_tree(value: float) -> float | str:
    """The JSON value of a number: text if it is not finite."""
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0.0 else "-inf"


def parse_float(tree: Any, place: str) -> float:
    """A number from its JSON value."""
    if isinstance(tree, str) and tree in NOT_FINITE:
        return NOT_FINITE[tree]
    if isinstance(tree, int | float) and not isinstance(tree, bool):
        try:
            return float(tree)
        except OverflowError:
            raise WrongEntry(place, f"{format_value(tree)} is beyond the range of numbers") from None
    raise WrongEntry(place, f"{format_value(tree)} is not a number")


def _map_nested(values: Any, each: Callable[[Any], Any]) -> Any:
    return [_map_nested(entry, each) for entry in values] if isinstance(values, list) else each(values)


def _leaf_types(tree: Any) -> tuple[set[type], int]:
    """Types and number of the entries of nested lists."""
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
    """An array from nested lists, without converting entries of another type."""
    kinds, count = _leaf_types(values)
    if count * kind.itemsize > MAX_ARRAY_BYTES:
        raise WrongEntry(place, f"an array of {kind} has {count} entries, more than can be read")
    if strange := kinds - JSON_TYPES[kind.kind]:
        if kind.kind != "f" or strange != {str}:
            raise WrongEntry(place, f"an array of {kind} holds a {min(kind.__name__ for kind in strange)}")
        values = _map_nested(values, lambda entry: parse_float(entry, place))
    try:
        if kind.kind in "iu":
            whole, limits = np.array(values, object), np.iinfo(kind)
            if whole.size and not limits.min <= whole.min() <= whole.max() <= limits.max:
                raise WrongEntry(place, f"an array of {kind} holds numbers out of its range")
        return np.array(values, kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongEntry(place, f"is not an array ({error})") from error


def format_value(value: object) -> str:
    """A shortened value for error messages."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."
