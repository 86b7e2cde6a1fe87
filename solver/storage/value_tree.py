"""Conversion of this program's values to trees of JSON types and back, by the declared types of their fields.

A data class is an object of its fields; a tuple, list or set is a list; a mapping is an object; None is null; a number
that is not finite is the text ``nan``, ``inf`` or ``-inf``; an enumeration is its member's name. If a field admits
several types besides None, the object names the type: ``{"type": NAME, "value": ...}``. If a field declares no type
(``object``), values that JSON cannot distinguish are tagged: ``{"$number": "nan"}``, ``{"$tuple": [...]}``,
``{"$array": ...}``, ``{"$object": {...}}``. Reading a tree executes no code, and a value of another type than declared
is refused.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..errors import SolverError
from .inline_arrays import INLINE_ARRAYS, ArrayStore, WrongEntry, float_tree, format_value, parse_float

T = TypeVar("T")
MAX_DEPTH = 64
"""Largest nesting of values; those of this program have about ten levels."""
CONSTRUCTION_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""Exceptions that a value's constructor raises for entries of the declared type but of a wrong length or range."""


def to_tree(value: object, declared: Any = None, arrays: ArrayStore = INLINE_ARRAYS, place: str = "") -> Any:
    """Convert a value to a tree.

    Args:
        value: to write.
        declared: its type; by default its own class.
        arrays: where its arrays go.
        place: of the value, for errors.

    Raises:
        WrongEntry: it is not of its field's declared type, or a tree cannot hold it.
    """
    declared = type(value) if declared is None else declared
    origin = get_origin(declared)
    if declared in (Any, object):
        return _undeclared_tree(value, arrays, place)
    if origin in (Union, types.UnionType):
        return _union_tree(value, declared, arrays, place)
    if declared is type(None):
        return expect(None, value is None, value, place, "nothing")
    if declared is np.ndarray or origin is np.ndarray:
        array: Any = expect(value, isinstance(value, np.ndarray), value, place, "an array")
        return arrays.store(array, place)
    if origin is Literal:
        return expect(value, value in get_args(declared), value, place, f"one of {get_args(declared)}")
    if declared in (tuple, list, set, frozenset) or origin in (tuple, list, set, frozenset, Sequence):
        plural = isinstance(value, tuple | list | set | frozenset)
        entries: Any = expect(value, plural, value, place, "a sequence")
        entries = sorted(entries) if isinstance(value, set | frozenset) else list(entries)
        kinds = _entry_kinds(declared, len(entries), place)
        return [to_tree(e, kind, arrays, f"{place}[{i}]") for i, (kind, e) in enumerate(zip(kinds, entries))]
    if _is_mapping(declared, origin):
        table: Any = expect(value, isinstance(value, Mapping), value, place, "a mapping")
        _, kind = get_args(declared) or (str, object)
        return {key_tree(key, place): to_tree(e, kind, arrays, f"{place}.{key}") for key, e in table.items()}
    if not isinstance(declared, type):
        raise WrongEntry(place, f"the type {declared} has no tree")
    if is_dataclass(declared):
        instance: Any = expect(value, isinstance(value, declared), value, place, f"a {declared.__name__}")
        return {
            name: to_tree(getattr(instance, name), kind, arrays, f"{place}.{name}" if place else name)
            for name, (kind, _) in _declared_fields(declared).items()
        }
    if issubclass(declared, Enum):
        return expect(value, isinstance(value, declared), value, place, f"a {declared.__name__}").name  # type: ignore[attr-defined]
    return scalar_tree(value, declared, place)


def from_tree(declared: Any, tree: Any, arrays: ArrayStore = INLINE_ARRAYS, place: str = "", depth: int = 0) -> Any:
    """Convert a tree to a value of a declared type; fields with a default may be missing.

    Raises:
        WrongEntry: an entry is missing, unknown, or not of the declared type.
    """
    if depth > MAX_DEPTH:
        raise WrongEntry(place, f"is nested more than {MAX_DEPTH} levels deep")
    origin, below = get_origin(declared), depth + 1
    if declared in (Any, object):
        return _undeclared_value(tree, arrays, place, depth)
    if origin in (Union, types.UnionType):
        return _union_value(declared, tree, arrays, place, depth)
    if declared is type(None):
        return expect(None, tree is None, tree, place, "null")
    if declared is np.ndarray or origin is np.ndarray:
        return arrays.load(tree, place)
    if origin is Literal:
        return expect(tree, tree in get_args(declared), tree, place, f"one of {get_args(declared)}")
    if declared in (tuple, list, set, frozenset) or origin in (tuple, list, set, frozenset, Sequence):
        entries = expect(tree, isinstance(tree, list), tree, place, "a list")
        kinds = _entry_kinds(declared, len(entries), place)
        found = [from_tree(k, e, arrays, f"{place}[{i}]", below) for i, (k, e) in enumerate(zip(kinds, entries))]
        container = declared if isinstance(declared, type) and origin is None else origin
        return found if container is list else tuple(found) if container is Sequence else container(found)
    if _is_mapping(declared, origin):
        table = expect(tree, isinstance(tree, dict), tree, place, "an object")
        key_kind, kind = get_args(declared) or (str, object)
        return {
            parse_key(key_kind, key, place): from_tree(kind, entry, arrays, f"{place}.{key}", below)
            for key, entry in table.items()
        }
    if not isinstance(declared, type):
        raise WrongEntry(place, f"the type {declared} has no tree")
    if is_dataclass(declared):
        return _build_instance(
            declared, expect(tree, isinstance(tree, dict), tree, place, "an object"), arrays, place, below
        )
    if issubclass(declared, Enum):
        members = declared.__members__
        known = isinstance(tree, str) and tree in members
        return declared[expect(tree, known, tree, place, f"one of {', '.join(members)}")]
    return parse_scalar(declared, tree, place)


def _build_instance(kind: type, tree: Mapping[str, Any], arrays: ArrayStore, place: str, depth: int) -> Any:
    declared = _declared_fields(kind)
    if unknown := sorted(set(tree) - set(declared)):
        raise WrongEntry(place, f"has the unknown entry {unknown[0]!r}; known: {', '.join(declared)}")
    values = {}
    for name, (hint, needed) in declared.items():
        if name in tree:
            values[name] = from_tree(hint, tree[name], arrays, f"{place}.{name}" if place else name, depth)
        elif needed:
            raise WrongEntry(place, f"lacks the entry {name!r}")
    try:
        return kind(**values)
    except SolverError as error:
        raise WrongEntry(place, str(error)) from error
    except CONSTRUCTION_ERRORS as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise WrongEntry(place, f"is not a valid {kind.__name__} ({problem})") from error


@cache
def _declared_fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """Type of each field of the constructor, and whether it has no default."""
    hints = get_type_hints(kind)
    return {
        f.name: (hints[f.name], f.default is MISSING and f.default_factory is MISSING) for f in fields(kind) if f.init
    }


def _entry_kinds(declared: Any, count: int, place: str) -> list[Any]:
    """Declared type of each entry of a sequence."""
    inner = get_args(declared)
    if not inner:
        return [object] * count
    if get_origin(declared) is not tuple or inner[-1] is Ellipsis:
        return [inner[0]] * count
    kinds = [] if inner == ((),) else list(inner)
    if len(kinds) != count:
        raise WrongEntry(place, f"has {count} entries, expected {len(kinds)}")
    return kinds


def _is_mapping(declared: Any, origin: Any) -> bool:
    kind = declared if origin is None else origin
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _alternatives(declared: Any) -> list[Any]:
    return [kind for kind in get_args(declared) if kind is not type(None)]


def _union_tree(value: object, declared: Any, arrays: ArrayStore, place: str) -> Any:
    if value is None and type(None) in get_args(declared):
        return None
    kinds = _alternatives(declared)
    if len(kinds) == 1:
        return to_tree(value, kinds[0], arrays, place)
    for kind in kinds:
        if isinstance(value, get_origin(kind) or kind):
            return {"type": _type_name(kind), "value": to_tree(value, kind, arrays, place)}
    raise WrongEntry(place, f"{format_value(value)} is none of {', '.join(map(_type_name, kinds))}")


def _union_value(declared: Any, tree: Any, arrays: ArrayStore, place: str, depth: int) -> Any:
    if tree is None and type(None) in get_args(declared):
        return None
    kinds = _alternatives(declared)
    if len(kinds) == 1:
        return from_tree(kinds[0], tree, arrays, place, depth)
    known = {_type_name(kind): kind for kind in kinds}
    name = tree["type"] if isinstance(tree, dict) and set(tree) == {"type", "value"} else None
    if not isinstance(name, str) or name not in known:
        raise WrongEntry(place, f"{format_value(tree)} names none of the types {', '.join(known)}")
    return from_tree(known[name], tree["value"], arrays, place, depth + 1)


def _type_name(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))


def _undeclared_tree(value: object, arrays: ArrayStore, place: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$number": float_tree(value)}
    if isinstance(value, np.ndarray):
        return {"$array": arrays.store(value, place)}
    if isinstance(value, list | tuple):
        entries = [_undeclared_tree(entry, arrays, f"{place}[{i}]") for i, entry in enumerate(value)]
        return entries if isinstance(value, list) else {"$tuple": entries}
    if isinstance(value, Mapping):
        table = {key_tree(k, place): _undeclared_tree(e, arrays, f"{place}.{k}") for k, e in value.items()}
        return {"$object": table} if any(key.startswith("$") for key in table) else table
    raise WrongEntry(place, f"a {type(value).__name__} cannot be written where no type is declared")


def _undeclared_value(tree: Any, arrays: ArrayStore, place: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise WrongEntry(place, f"is nested more than {MAX_DEPTH} levels deep")
    if isinstance(tree, list):
        return [_undeclared_value(entry, arrays, f"{place}[{i}]", depth + 1) for i, entry in enumerate(tree)]
    if not isinstance(tree, dict):
        return tree
    tag = next(iter(tree), "") if len(tree) == 1 else ""
    if tag == "$number":
        return parse_scalar(float, tree[tag], place)
    if tag == "$array":
        return arrays.load(tree[tag], place)
    if tag == "$tuple":
        return tuple(_undeclared_value(expect(tree[tag], isinstance(tree[tag], list), tree, place, "a "
            "list"), arrays, place,
                                 depth + 1))  # fmt: skip
    if tag == "$object":
        tree = expect(tree[tag], isinstance(tree[tag], dict), tree, place, "an object")
    return {key: _undeclared_value(entry, arrays, f"{place}.{key}", depth + 1) for key, entry in tree.items()}


def scalar_tree(value: object, declared: type, place: str) -> Any:
    """The JSON value of a number, boolean, text or path of a declared type."""
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
    raise WrongEntry(place, f"{format_value(value)} is not of type {declared.__name__}")


def parse_scalar(declared: type, tree: Any, place: str) -> Any:
    """The number, boolean, text or path of a declared type from its JSON value."""
    if declared is float:
        return parse_float(tree, place)
    if declared is int:
        if isinstance(tree, int) and not isinstance(tree, bool):
            return tree
    elif declared in (bool, str):
        if isinstance(tree, declared):
            return tree
    elif declared is Path and isinstance(tree, str):
        return Path(tree)
    words = {int: "a whole number", bool: "true or false", str: "text", Path: "a path"}
    raise WrongEntry(place, f"{format_value(tree)} is not {words.get(declared, declared.__name__)}")


def key_tree(key: object, place: str) -> str:
    """The JSON key of a mapping's key."""
    if isinstance(key, str | int) and not isinstance(key, bool):
        return str(key)
    raise WrongEntry(place, f"{format_value(key)} cannot name an entry")


def parse_key(declared: Any, key: str, place: str) -> Any:
    """The key of a mapping from its JSON key; its type is text, a class of text, or int."""
    try:
        return declared(key) if isinstance(declared, type) and issubclass(declared, int | str) else key
    except ValueError as error:
        problem = f"the name {key!r} is not a whole number" if declared is int else str(error)
        raise WrongEntry(place, problem) from None


def expect(result: T, holds: bool, found: object, place: str, expected: str) -> T:
    """Return a result if a condition holds; otherwise raise an error that compares found and expected value."""
    if not holds:
        raise WrongEntry(place, f"{format_value(found)} is not {expected}")
    return result
