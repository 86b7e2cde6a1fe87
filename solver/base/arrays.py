"""Read-only arrays of the value classes: contents are checked once, when a value is made, and cannot change afterwards.

A value class declares its arrays beside its fields; a letter is one length within a value:

    @dataclass(frozen=True, slots=True)
    class Motion(ArrayValue):
        times: Annotated[np.ndarray, Times()]
        q: Annotated[np.ndarray, Array("N", "nq")]
        v: Annotated[np.ndarray, Array("N", "nv")]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, get_args

import numpy as np

from .errors import InvalidValue
from .file_arrays import is_stored, iterate_slices, store

Lengths = dict[str, int]
HELD = 2**26
"""Bytes up to which a newly computed array stays in memory instead of being stored in a file."""
MAX_LENGTH = 1e5
"""[m] Largest size or coordinate of a body. Native code may end the process at larger ones instead of failing. Measured
on a ball with two far corners: distances are right to 1e5 m, and wrong by 0.04 m at 1e6 m."""


def frozen(name: str, array: object, shape: tuple[int | None, ...], *, finite: bool = True) -> np.ndarray:
    """Read-only floats of ``array``, copied unless it is immutable; ``None`` in ``shape`` means any length.

    Long arrays are stored in a file (`file_arrays`).

    Raises:
        InvalidValue: wrong number of axes, wrong length, or (if ``finite``) NaN or infinity, with the first index.
    """
    try:
        result = _read_only_copy(array, float)
    except (TypeError, ValueError):
        raise InvalidValue(f"{name} takes an array of numbers, not {array!r:.60}") from None
    _check_shape(name, result.shape, shape)
    if finite:
        _check_finite(name, result)
    return result


def frozen_mask(name: str, array: object, shape: tuple[int | None, ...]) -> np.ndarray:
    """Read-only booleans of ``array``, copied unless it is immutable."""
    result = _read_only_copy(array, bool)
    _check_shape(name, result.shape, shape)
    return result


def take_ownership(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, so that a value takes it without a copy; the caller must not write to it any more.

    Arrays longer than `HELD` are returned unchanged and copied to a file later.
    """
    if array.nbytes <= HELD:
        array.setflags(write=False)
    return array


def frozen_times(times: object) -> np.ndarray:
    """Read-only, finite, strictly increasing time stamps (N,) [s]."""
    result = frozen("times", times, (None,))
    if np.any(np.diff(result) <= 0):
        frame = int(np.argmax(np.diff(result) <= 0)) + 1
        raise InvalidValue(f"times must increase; frame {frame} at {result[frame]:g} s does not follow its predecessor")
    return result


def require_lengths(called: str, *lengths: np.ndarray | tuple[float, ...]) -> None:
    """Check that lengths [m] are finite and those of a body.

    Raises:
        InvalidValue: one is not.
    """
    largest = max(float(np.abs(values).max(initial=0.0)) for values in map(np.asarray, lengths))
    if not largest <= MAX_LENGTH:
        raise InvalidValue(f"{called} has a length of {largest:.3g} m, the limit is {MAX_LENGTH:g} m")


def abbreviate(names: Sequence[str], most: int = 6) -> str:
    """List of names for a value's ``repr``, abbreviated in the middle if long."""
    shown = [str(name) for name in names]
    return ", ".join(shown if len(shown) <= most else [*shown[: most - 1], "...", shown[-1]])


def list_names(names: Iterable[str], most: int = 8) -> str:
    """The first names, and how many more there are, for a message."""
    shown = list(names)
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def find_repeated(names: Sequence[str]) -> list[str]:
    """Names that occur more than once, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _read_only_copy(array: object, kind: type) -> np.ndarray:
    """A copy of ``array``, or itself if it has that type, is contiguous and immutable.

    So values that consist of parts of other values, such as frames of a long recording, share their memory.
    """
    if type(array) is np.ndarray and array.dtype == kind and array.flags.forc and _is_immutable(array):
        return array
    return store(np.asarray(array, dtype=kind))


def _check_finite(name: str, array: np.ndarray) -> None:
    if not array.ndim:
        array = array.reshape(1)
    for own in iterate_slices(len(array)):
        wrong = ~np.isfinite(array[own])
        if wrong.any():
            first, *others = (int(i) for i in np.argwhere(wrong)[0])
            raise InvalidValue(f"{name} has a value that is not finite at index {(own.start + first, *others)}")


def _is_immutable(array: np.ndarray) -> bool:
    """Whether neither the array nor any array of which it is a view is writable."""
    part: object = array
    while isinstance(part, np.ndarray):
        if part.flags.writeable:
            return False
        part = part.base
    return part is None or is_stored(part)


def _check_shape(name: str, got: tuple[int, ...], want: tuple[int | None, ...]) -> None:
    if len(got) != len(want) or any(w is not None and g != w for g, w in zip(got, want)):
        expected = "(" + ", ".join("any" if w is None else str(w) for w in want) + ")"
        raise InvalidValue(f"{name} has shape {got}, expected {expected}")


def true_runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Runs of True in a mask (N,), as (start, stop) with stop excluded."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(mask, bool), [False]]).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2])]


@dataclass(frozen=True, init=False)
class Array:
    """An array of numbers, or of booleans.

    Attributes:
        shape: of each axis its length, a letter for one that other fields share, or None for any.
        finite: whether NaN and infinity are refused.
        mask: whether the entries are booleans.
    """

    shape: tuple[str | int | None, ...]
    finite: bool
    mask: bool

    def __init__(self, *shape: str | int | None, finite: bool = True, mask: bool = False) -> None:
        for name, value in (("shape", shape), ("finite", finite), ("mask", mask)):
            object.__setattr__(self, name, value)

    def freeze(self, name: str, value: Any, lengths: Lengths) -> Any:
        """The array, read-only; adds its lengths to those of the value."""
        shape = tuple(lengths.get(axis) if isinstance(axis, str) else axis for axis in self.shape)
        result = frozen_mask(name, value, shape) if self.mask else frozen(name, value, shape, finite=self.finite)
        lengths |= {axis: length for axis, length in zip(self.shape, result.shape) if isinstance(axis, str)}
        return result


@dataclass(frozen=True)
class Times:
    """Increasing time stamps [s], by default N of them."""

    axis: str = "N"

    def freeze(self, name: str, value: Any, lengths: Lengths) -> Any:
        """The time stamps, read-only."""
        result = frozen_times(value)
        lengths[self.axis] = len(result)
        return result


@dataclass(frozen=True)
class Names:
    """Names that occur once each; their number is a length of the value."""

    axis: str

    def freeze(self, name: str, value: Any, lengths: Lengths) -> tuple[str, ...]:
        """The names."""
        result = tuple(value)
        if twice := find_repeated(result):
            raise InvalidValue(f"{name} must be unique; twice: {', '.join(twice)}")
        if lengths.setdefault(self.axis, len(result)) != len(result):
            raise InvalidValue(f"{name} has {len(result)} entries, expected {lengths[self.axis]}")
        return result


class ArrayValue:
    """Base of a value class whose fields declare their arrays."""

    __slots__ = ()

    def __post_init__(self) -> None:
        lengths: Lengths = {}
        for name, declared, is_optional in _declared_fields(type(self)):  # type: ignore[arg-type]
            value = getattr(self, name)
            if value is not None or not is_optional:
                frozen_value = declared.freeze(f"{name} of {type(self).__name__}", value, lengths)
                object.__setattr__(self, name, frozen_value)
        self.require_consistent()

    def require_consistent(self) -> None:
        """Check what no field can declare alone.

        Raises:
            InvalidValue: the fields contradict each other.
        """


@cache
def _declared_fields(kind: type) -> tuple[tuple[str, Array | Times | Names, bool], ...]:
    """Name and declaration of each field that has one, and whether it may be None.

    Only these annotations are evaluated: those of other fields may name types that are not imported at run time.
    """
    found = []
    for field in fields(kind):  # type: ignore[arg-type]
        if str(field.type).startswith("Annotated["):
            owner = next(base for base in kind.__mro__ if field.name in vars(base).get("__annotations__", ()))
            annotation = eval(str(field.type), vars(sys.modules[owner.__module__]))
            declared = next(m for m in annotation.__metadata__ if isinstance(m, Array | Times | Names))
            found.append((field.name, declared, type(None) in get_args(annotation.__origin__)))
    return tuple(found)
