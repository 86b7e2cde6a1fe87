"""Laws of arrays in values: they are immutable, and immutable arrays are shared instead of copied."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest

from solver.base.arrays import Array, ArrayValue, Names, Times, frozen, frozen_mask, take_ownership
from solver.base.errors import InvalidValue
from solver.values.motion import Markers, Motion


@pytest.fixture
def motion() -> Motion:
    """Ten frames of three degrees of freedom."""
    values = np.arange(30.0).reshape(10, 3)
    return Motion(np.arange(10.0), values, values, values)


def test_parts_and_copies_of_a_value_share_its_memory(motion: Motion) -> None:
    """Consecutive frames, and a value with one field replaced, share the original's memory."""
    part, delayed = motion.part(2, 7), replace(motion, times=motion.times + 1.0)
    for name in ("q", "v", "a"):
        whole = getattr(motion, name)
        assert getattr(part, name).base is whole
        assert getattr(delayed, name) is whole


def test_writable_arrays_are_copied() -> None:
    """Changing a writable array, or one below a read-only view, does not change a value made from it."""
    given = np.arange(6.0)
    looks = given[1:], np.broadcast_to(given, (2, 6))
    for look in looks:
        look.setflags(write=False)
    held = [frozen("numbers", given, (6,)), *(frozen("numbers", look, look.shape) for look in looks)]
    before = [values.copy() for values in held]
    given += 1.0
    for values, kept in zip(held, before):
        assert np.array_equal(values, kept)
        assert not values.flags.writeable
    flags = np.ones(3, bool)
    mask = frozen_mask("flags", flags, (3,))
    flags[:] = False
    assert mask.all()


def test_strided_parts_are_copied(motion: Motion) -> None:
    """A part that is not contiguous is a copy, so that arithmetic is fast and the original can be freed."""
    assert motion.frames(slice(0, 10, 2)).q.base is None


def test_a_marker_sample_is_complete_or_missing() -> None:
    """A marker with one missing or infinite coordinate is missing in that frame; complete samples are unchanged."""
    given = np.arange(18.0).reshape(3, 2, 3)
    given[0, 1, 2], given[2, 0, 0] = np.nan, np.inf
    held = Markers(np.arange(3.0), ("a", "b"), given).positions
    assert np.isnan(held[[0, 2], [1, 0]]).all()
    kept = np.isfinite(given).all(axis=2)
    assert np.array_equal(held[kept], given[kept])
    assert kept.sum() == 4


def test_arrays_with_transferred_ownership_are_not_copied() -> None:
    """A value takes an array of `take_ownership` without a copy, and the array is read-only."""
    made = np.ones((3, 2))
    taken = frozen("made", take_ownership(made), (3, 2))
    assert np.shares_memory(taken, made)
    with pytest.raises(ValueError, match="read-only"):
        made[0, 0] = 2.0


@dataclass(frozen=True, slots=True)
class Declared(ArrayValue):
    """A value of every kind of declared field, and a field that declares nothing."""

    times: Annotated[np.ndarray, Times()]
    names: Annotated[tuple[str, ...], Names("M")]
    values: Annotated[np.ndarray, Array("N", "M", 3, finite=False)]
    counted: Annotated[np.ndarray | None, Array("N", mask=True)] = None
    word: str = ""


DECLARED = Declared(np.arange(2.0), ("a", "b"), np.zeros((2, 2, 3)), np.array([1, 0]))


def test_declared_arrays_are_checked_and_read_only() -> None:
    """Each field is of its declared type, cannot be written to, and may be None only if it says so."""
    assert DECLARED.counted.dtype == bool
    assert not DECLARED.values.flags.writeable
    assert replace(DECLARED, counted=None).counted is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"values": np.zeros((3, 2, 3))}, r"values of Declared has shape \(3, 2, 3\), expected \(2, 2, 3\)"),
        ({"counted": np.ones(3, bool)}, "counted of Declared has shape"),
        ({"names": ("a", "a")}, "names of Declared must be unique; twice: a"),
        ({"names": ("a", "b", "c")}, "values of Declared has shape"),
        ({"times": np.array([0.0, 0.0])}, "times must increase"),
        ({"times": np.array([0.0, np.nan])}, "not finite"),
        ({"values": None}, "values of Declared has shape"),
    ],
)
def test_a_length_is_one_number_within_a_value(changes: dict[str, object], words: str) -> None:
    """A letter that two fields share is one length; what contradicts it is named with its class."""
    with pytest.raises(InvalidValue, match=words):
        replace(DECLARED, **changes)  # type: ignore[arg-type]
