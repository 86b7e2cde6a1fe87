"""Shape checks shared by the value classes: what enters a value is checked once and cannot change after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .errors import InvalidValue
from .file_arrays import is_stored, iterate_slices, store

HELD = 2**26
"""Bytes up to which an array that was just computed is held where it is instead of being written into a file."""


def frozen(name: str, array: object, shape: tuple[int | None, ...], *, finite: bool = True) -> np.ndarray:
    """Read-only floats of ``array``, a copy unless nobody can change it; ``None`` in ``shape`` stands for any length.

    A long one lies in a file (`shelf`).

    Raises:
        InvalidValue: wrong number of axes, wrong length, or (if ``finite``) NaN or infinity, naming the first place.
    """
    result = _read_only_copy(array, float)
    _check_shape(name, result.shape, shape)
    if finite:
        _check_finite(name, result)
    return result


def frozen_mask(name: str, array: object, shape: tuple[int | None, ...]) -> np.ndarray:
    """Read-only booleans of ``array``, a copy unless nobody can change it."""
    result = _read_only_copy(array, bool)
    _check_shape(name, result.shape, shape)
    return result


def take_ownership(array: np.ndarray) -> np.ndarray:
    """The same array, read-only from now on, so that a value takes it without a copy; who made it is done with it.

    One so long that it belongs into a file stays as it is, and is copied there.
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


def abbreviate(names: Sequence[str], most: int = 6) -> str:
    """Names in a row, the middle left out where they are many, for a value's ``repr``."""
    shown = [str(name) for name in names]
    return ", ".join(shown if len(shown) <= most else [*shown[: most - 1], "...", shown[-1]])


def find_repeated(names: Sequence[str]) -> list[str]:
    """Names that occur more than once, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _read_only_copy(array: object, kind: type) -> np.ndarray:
    """A copy of ``array``, or itself where it is of that kind, dense, and read-only down to the memory it looks at.

    Values are made of parts of other values, frame for frame of a long recording: these need not be held twice.
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
            raise InvalidValue(f"{name} holds a value that is not finite at index {(own.start + first, *others)}")


def _is_immutable(array: np.ndarray) -> bool:
    """Whether neither the array nor any that it is a view of can be written to."""
    part: object = array
    while isinstance(part, np.ndarray):
        if part.flags.writeable:
            return False
        part = part.base
    return part is None or is_stored(part)


def _check_shape(name: str, got: tuple[int, ...], want: tuple[int | None, ...]) -> None:
    if len(got) != len(want) or any(w is not None and g != w for g, w in zip(got, want)):
        wanted = "(" + ", ".join("any" if w is None else str(w) for w in want) + ")"
        raise InvalidValue(f"{name} has shape {got}, expected {wanted}")


def true_runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Runs of True in a mask (N,), as (start, stop) with stop excluded."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(mask, bool), [False]]).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2])]
