"""Conversion of this program's values to trees of JSON types and back, by the declared types of their fields.

A data class is an object of its fields; a tuple is a list; a mapping is an object; None is null; a number that is not
finite is the text ``nan``, ``inf`` or ``-inf``; an enumeration is its member's name; an array is nested lists or, in an
archive, the name of an entry. A field that admits several types has the first that fits; one that declares no type
(``object``) holds plain JSON. Reading a tree executes no code, and a value of another type than declared is refused.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..base.errors import SolverError
from ..base.file_arrays import iterate_slices
from .json_tree import WrongEntry, to_json_values

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
SCALARS = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}
DTYPES = {"float": np.dtype(float), "int": np.dtype(np.int64), "int8": np.dtype(np.int8), "bool": np.dtype(bool)}
"""Types of arrays; an array of objects, which only running code from a file could read, is refused."""
MAX_ROWS = 1 << 28
"""Largest size of an array without entries, whose other axes could have any length."""
MAX_SHOWN_CHARACTERS = 60
"""Characters of a wrong entry that are shown in an error."""
Arrays: TypeAlias = dict[str, np.ndarray]
CONSTRUCTION_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""Exceptions that a value's constructor raises for entries of the declared type but of a wrong length or range."""


def to_tree(value: Any, declared: Any = None, arrays: Arrays | None = None, place: str = "") -> Any:
    """Convert a value to a tree.

    Args:
        value: to write.
        declared: its type; by default its own class.
        arrays: receives its arrays, by the place where each occurs first; equal arrays are stored once. None: they are
            lists in the tree.
        place: of the value, for errors.

    Raises:
        WrongEntry: it is not of its field's declared type, or a tree cannot hold it.
    """
    return _convert(value, type(value) if declared is None else declared, arrays, place, reading=False)


def from_tree(declared: Any, tree: Any, arrays: Arrays | None = None, place: str = "") -> Any:
    """Convert a tree to a value of a declared type; fields with a default may be missing.

    Raises:
        WrongEntry: an entry is missing, unknown, or not of the declared type.
    """
    return _convert(tree, declared, arrays, place, reading=True)


def _convert(value: Any, declared: Any, arrays: Arrays | None, place: str, *, reading: bool) -> Any:
    """The tree of a value, or, when reading, the value of a tree."""
    kind, inner = get_origin(declared) or declared, get_args(declared)

    def inside(entry: Any, entry_type: Any, where: str) -> Any:
        return _convert(entry, entry_type, arrays, where, reading=reading)

    if kind in (Any, object):
        return value if reading else to_json_values(value)
    if kind in (Union, types.UnionType):
        return _convert_union(value, inner, lambda alternative: inside(value, alternative, place))
    if kind is np.ndarray:
        return _load(value, arrays, place) if reading else _store(value, arrays, place)
    if kind is Literal:
        _expect(value in inner, value, place, f"one of {', '.join(map(str, inner))}")
        return value
    if kind is tuple:
        _expect(isinstance(value, list | tuple), value, place, "a list")
        entry_types = inner[:1] * len(value) if inner[-1:] == (Ellipsis,) else inner
        if len(entry_types) != len(value):
            raise WrongEntry(place, f"has {len(value)} entries, expected {len(entry_types)}")
        found = [inside(entry, of, f"{place}[{i}]") for i, (entry, of) in enumerate(zip(value, entry_types))]
        return tuple(found) if reading else found
    if issubclass(kind, Mapping):
        _expect(isinstance(value, Mapping), value, place, "an object")
        return {_key(inner[0], key, place): inside(entry, inner[1], f"{place}.{key}") for key, entry in value.items()}
    if is_dataclass(kind):
        return _convert_instance(value, kind, inside, place, reading=reading)
    if issubclass(kind, Enum):
        names = kind.__members__
        _expect(value in names if reading else isinstance(value, kind), value, place, f"one of {', '.join(names)}")
        return names[value] if reading else value.name
    return _scalar(value, kind, place, reading=reading)


def _convert_union(value: Any, alternatives: tuple[Any, ...], convert: Callable[[Any], Any]) -> Any:
    """None if it is admitted, else the conversion by the first type that fits; if none does, the last one's error."""
    *others, last = [kind for kind in alternatives if kind is not type(None)]
    if value is None and len(others) + 1 < len(alternatives):
        return None
    for kind in others:
        with suppress(WrongEntry):
            return convert(kind)
    return convert(last)


@cache
def _declared_fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """Type of each field of the constructor, and whether it has no default."""
    hints = get_type_hints(kind)
    return {
        f.name: (hints[f.name], f.default is MISSING and f.default_factory is MISSING) for f in fields(kind) if f.init
    }


def _convert_instance(
    value: Any, kind: Any, inside: Callable[[Any, Any, str], Any], place: str, *, reading: bool
) -> Any:
    _expect(isinstance(value, dict if reading else kind), value, place, f"a {kind.__name__}")
    known = _declared_fields(kind)
    given = value if reading else {name: getattr(value, name) for name in known}
    if unknown := sorted(set(given) - set(known)):
        raise WrongEntry(place, f"has the unknown entry {unknown[0]!r}; known: {', '.join(known)}")
    if lacking := [name for name, (_, needed) in known.items() if needed and name not in given]:
        raise WrongEntry(place, f"lacks the entry {lacking[0]!r}")
    start = f"{place}." if place else ""
    values = {name: inside(entry, known[name][0], f"{start}{name}") for name, entry in given.items()}
    try:
        return kind(**values) if reading else values
    except SolverError as error:
        raise WrongEntry(place, str(error)) from error
    except CONSTRUCTION_ERRORS as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise WrongEntry(place, f"is not a valid {kind.__name__} ({problem})") from error


def _key(kind: type[str], key: Any, place: str) -> str:
    """A mapping's key, of a class of text."""
    _expect(isinstance(key, str), key, place, "text")
    try:
        return kind(key)
    except SolverError as error:
        raise WrongEntry(place, str(error)) from error


def _scalar(value: Any, kind: type, place: str, *, reading: bool) -> Any:
    if kind is float and reading and isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    value = value.item() if isinstance(value, np.generic) else value
    fits = isinstance(value, int | float if kind is float else kind) and (kind is bool or not isinstance(value, bool))
    _expect(kind in SCALARS and fits, value, place, SCALARS.get(kind, kind.__name__))
    if kind is not float:
        return value
    try:
        number = float(value)
    except OverflowError:
        raise WrongEntry(place, f"{format_value(value)} is beyond the range of numbers") from None
    return number if reading or math.isfinite(number) else _name_of(number)


def _name_of(number: float) -> str:
    """Text of a number that is not finite."""
    return "nan" if math.isnan(number) else "inf" if number > 0.0 else "-inf"


def _store(array: Any, arrays: Arrays | None, place: str) -> Any:
    """The entry that represents an array in a tree: a name in an archive; lists; or type and shape without entries."""
    _expect(isinstance(array, np.ndarray), array, place, "an array")
    name = next((name for name, dtype in DTYPES.items() if dtype == array.dtype), None)
    if name is None or not array.ndim:
        raise WrongEntry(place, f"an array of {array.dtype} with {array.ndim} axes cannot be written")
    if arrays is not None:
        alike = ((key, a) for key, a in arrays.items() if (a.dtype, a.shape) == (array.dtype, array.shape))
        stored = next((key for key, other in alike if _is_same(other, array)), place or "array")
        arrays.setdefault(stored, array)
        return stored
    if not array.size:
        return {"dtype": name, "shape": list(array.shape)}
    values = array.astype(object)
    if name == "float":
        strange = ~np.isfinite(array)
        values[strange] = [_name_of(number) for number in array[strange].tolist()]
    return values.tolist()


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether arrays of one type and shape have the same bytes; compared in pieces, for they may be long."""
    return all(one[own].tobytes() == other[own].tobytes() for own in iterate_slices(len(one)))


def _load(tree: Any, arrays: Arrays | None, place: str) -> np.ndarray:
    """The array that an entry of a tree represents."""
    if arrays is not None:
        if not isinstance(tree, str) or tree not in arrays:
            raise WrongEntry(place, f"the array {tree!r} is missing")
        if arrays[tree].dtype not in DTYPES.values():
            raise WrongEntry(place, f"an array of {arrays[tree].dtype} is not read")
        return arrays[tree]
    if isinstance(tree, dict) and set(tree) == {"dtype", "shape"}:
        shape = from_tree(tuple[int, ...], tree["shape"], place=f"{place}.shape")
        if tree["dtype"] not in tuple(DTYPES) or min(shape, default=1) != 0 or max(shape) > MAX_ROWS:
            raise WrongEntry(place, f"{format_value(tree)} is not an array without entries")
        return np.empty(shape, DTYPES[tree["dtype"]])
    _expect(isinstance(tree, list), tree, place, "an array")
    try:
        values = np.array(tree, object)
        kinds, words = {type(entry) for entry in values.flat}, {entry for entry in values.flat if type(entry) is str}
        if (not kinds <= {int, float, str} and kinds != {bool}) or not words <= set(NOT_FINITE):
            raise WrongEntry(place, "is not an array of numbers, or of true and false")
        return values.astype(DTYPES["bool" if kinds == {bool} else "int" if kinds == {int} else "float"])
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongEntry(place, f"is not an array ({error})") from error


def format_value(value: object) -> str:
    """A shortened value for error messages."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."


def _expect(holds: bool, found: object, place: str, expected: str) -> None:
    if not holds:
        raise WrongEntry(place, f"{format_value(found)} is not {expected}")
