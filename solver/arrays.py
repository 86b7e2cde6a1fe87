"""Shape checks and read-only arrays of the value classes: contents are checked once and cannot change afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .errors import InvalidValue
from .file_arrays import is_stored, iterate_slices, store

HELD = 2**26
"""Bytes up to which a newly computed array stays in memory instead of being stored in a file."""


def frozen(name: str, array: object, shape: tuple[int | None, ...], *, finite: bool = True) -> np.ndarray:
    """Read-only floats of ``array``, copied unless it is immutable; ``None`` in ``shape`` means any length.

    Long arrays are stored in a file (`file_arrays`).

    Raises:
        InvalidValue: wrong number of axes, wrong length, or (if ``finite``) NaN or infinity, with the first index.
    """
    result = _read_only_copy(array, float)
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


def abbreviate(names: Sequence[str], most: int = 6) -> str:
    """List of names for a value's ``repr``, abbreviated in the middle if long."""
    shown = [str(name) for name in names]
    return ", ".join(shown if len(shown) <= most else [*shown[: most - 1], "...", shown[-1]])


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
