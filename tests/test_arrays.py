"""Laws of what enters a value: it cannot change after, and what cannot change is not held twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.arrays import frozen, frozen_mask, take_ownership
from solver.motion import Markers, Motion


@pytest.fixture
def motion() -> Motion:
    """Ten frames of three degrees of freedom."""
    values = np.arange(30.0).reshape(10, 3)
    return Motion(np.arange(10.0), values, values, values)


def test_parts_and_copies_of_a_value_share_its_memory(motion: Motion) -> None:
    """Frames in a row, and the same value with one field replaced, take no memory of their own."""
    part, delayed = motion.part(2, 7), replace(motion, times=motion.times + 1.0)
    for name in ("q", "v", "a"):
        whole = getattr(motion, name)
        assert getattr(part, name).base is whole
        assert getattr(delayed, name) is whole


def test_what_anybody_can_still_change_is_copied() -> None:
    """Neither a writable array nor a read-only look at one may change what a value holds."""
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


def test_every_second_frame_does_not_keep_the_others(motion: Motion) -> None:
    """A part that is not dense is a copy: arithmetic stays fast, and the rest can go."""
    assert motion.frames(slice(0, 10, 2)).q.base is None


def test_a_marker_is_seen_whole_or_not_at_all() -> None:
    """One lost coordinate, missing or infinite, takes the others with it; complete samples stay as they are."""
    given = np.arange(18.0).reshape(3, 2, 3)
    given[0, 1, 2], given[2, 0, 0] = np.nan, np.inf
    held = Markers(np.arange(3.0), ("a", "b"), given).positions
    assert np.isnan(held[[0, 2], [1, 0]]).all()
    kept = np.isfinite(given).all(axis=2)
    assert np.array_equal(held[kept], given[kept])
    assert kept.sum() == 4


def test_what_is_handed_over_is_taken_without_a_copy_and_cannot_be_written_to() -> None:
    """A value takes an array that its maker gave away as it is: the same memory, read-only."""
    made = np.ones((3, 2))
    taken = frozen("made", take_ownership(made), (3, 2))
    assert np.shares_memory(taken, made)
    with pytest.raises(ValueError, match="read-only"):
        made[0, 0] = 2.0
