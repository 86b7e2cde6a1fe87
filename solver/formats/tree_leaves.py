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
LEAVES: dict[str, set[type]] = {"f": {int, float}, "i": {int}, "u": {int}, "b": {bool}, "U": {str}}
"""What entries of an array are in JSON, by the kind of its data type."""
PLAIN_KIND = re.compile(r"[<>|=]?[fiubU][0-9]{1,5}")
"""How a file names the kind of an array; NumPy understands much more, and compiles some of it."""
LARGEST_ENTRY = 1 << 16
"""Bytes of one entry of an array."""
LARGEST_ARRAY = 1 << 28
"""Bytes of an array of lists; larger ones lie in archives."""
SHOWN = 60
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


class Arrays(Protocol):
    """Where the arrays of a tree lie."""

    def put(self, array: np.ndarray, place: str) -> Any:
        """Keep an array; what stands for it in the tree."""

    def take(self, tree: Any, place: str) -> np.ndarray:
        """The array that an entry of the tree stands for."""


class InTree:
    """Arrays within the tree, as lists of lists.

    A list alone means the floats, integers or truth values that it shows; other arrays, and empty ones, whose shape no
    list tells, are ``{"dtype": ..., "shape": [...], "values": [...]}``.
    """

    PLAIN = (np.dtype(float), np.dtype(np.int64), np.dtype(bool))

    def put(self, array: np.ndarray, place: str) -> Any:
        """An array as lists."""
        if array.dtype.kind not in LEAVES or array.dtype.itemsize > LARGEST_ENTRY:
            raise WrongEntry(place, f"an array of {array.dtype} cannot be written")
        values = array.tolist()
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            values = _nested(values, float_tree)
        if array.dtype in self.PLAIN and array.ndim and array.size:
            return values
        return {"dtype": array.dtype.str, "shape": list(array.shape), "values": values}

    def take(self, tree: Any, place: str) -> np.ndarray:
        """An array from lists."""
        if isinstance(tree, list):
            kinds, _ = _leaves(tree)
            return _array(tree, np.dtype(bool if kinds == {bool} else np.int64 if kinds == {int} else float), place)
        if not isinstance(tree, dict) or set(tree) != {"dtype", "shape", "values"}:
            raise WrongEntry(place, f"{shown(tree)} is no array")
        if not PLAIN_KIND.fullmatch(str(tree["dtype"])):
            raise WrongEntry(place, f"arrays of {shown(tree['dtype'])} are not read")
        try:
            kind = np.dtype(tree["dtype"])
            if kind.kind not in LEAVES or kind.itemsize > LARGEST_ENTRY:
                raise WrongEntry(place, f"arrays of {kind} are not read")
            return _array(tree["values"], kind, place).reshape([operator.index(size) for size in tree["shape"]])
        except (TypeError, ValueError, OverflowError) as error:
            raise WrongEntry(place, f"{shown(tree)} is no array ({error})") from error


IN_TREE = InTree()


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
    raise WrongEntry(place, f"{shown(value)} is no {declared.__name__}")


def scalar(declared: type, tree: Any, place: str) -> Any:
    """The number, truth value, text or path of a declared type that an entry stands for."""
    if declared is float:
        if isinstance(tree, str) and tree in NOT_FINITE:
            return NOT_FINITE[tree]
        if isinstance(tree, int | float) and not isinstance(tree, bool):
            try:
                return float(tree)
            except OverflowError:
                raise WrongEntry(place, f"{shown(tree)} is beyond the range of numbers") from None
    elif declared is int:
        if isinstance(tree, int) and not isinstance(tree, bool):
            return tree
    elif declared in (bool, str):
        if isinstance(tree, declared):
            return tree
    elif declared is Path and isinstance(tree, str):
        return Path(tree)
    words = {float: "number", int: "whole number", bool: "truth value", str: "text"}
    raise WrongEntry(place, f"{shown(tree)} is no {words.get(declared, declared.__name__)}")


def float_tree(value: float) -> float | str:
    """What stands for a number: text where it is not finite."""
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0.0 else "-inf"


def key_tree(key: object, place: str) -> str:
    """What names an entry of a mapping."""
    if isinstance(key, str | int) and not isinstance(key, bool):
        return str(key)
    raise WrongEntry(place, f"{shown(key)} cannot name an entry")


def key_of(declared: Any, key: str, place: str) -> Any:
    """The key of a mapping that a name stands for."""
    try:
        return int(key) if declared is int else key
    except ValueError:
        raise WrongEntry(place, f"the name {key!r} is no whole number") from None


def _nested(values: Any, each: Callable[[Any], Any]) -> Any:
    return [_nested(entry, each) for entry in values] if isinstance(values, list) else each(values)


def _leaves(tree: Any) -> tuple[set[type], int]:
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


def _array(values: Any, kind: np.dtype, place: str) -> np.ndarray:
    """An array of nested lists, none of whose entries is converted from another kind."""
    kinds, count = _leaves(values)
    if count * kind.itemsize > LARGEST_ARRAY:
        raise WrongEntry(place, f"an array of {kind} has {count} entries, more than are read")
    if strange := kinds - LEAVES[kind.kind]:
        if kind.kind != "f" or strange != {str}:
            raise WrongEntry(place, f"an array of {kind} holds a {min(kind.__name__ for kind in strange)}")
        values = _nested(values, lambda entry: scalar(float, entry, place))
    try:
        if kind.kind in "iu":
            whole, limits = np.array(values, object), np.iinfo(kind)
            if whole.size and not limits.min <= whole.min() <= whole.max() <= limits.max:
                raise WrongEntry(place, f"an array of {kind} holds numbers beyond its range")
        return np.array(values, kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongEntry(place, f"is no array ({error})") from error


def expect(result: T, holds: bool, found: object, place: str, wanted: str) -> T:
    """A result, or the error that what was found is not what was wanted."""
    if not holds:
        raise WrongEntry(place, f"{shown(found)} is not {wanted}")
    return result


def shown(value: object) -> str:
    """A value as errors show it, shortened."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
