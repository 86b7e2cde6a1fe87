"""What was checked before is not checked again, and nothing else is taken from cache."""

from __future__ import annotations

import numpy as np

from solver.contacts.schedule import Anchor, Phase, Schedule, anchors_at
from solver.feasibility import Checks, FrameChecker
from solver.feasibility.checker import CheckCache
from solver.rigs import hoap3
from solver.values.motion import Motion
from tests.dance.static_motions import sinusoidal_motion, sole_height

RIG = hoap3()
ANCHORS = anchors_at(RIG, RIG.neutral)
TIMES = np.linspace(0.0, 6.0, 2401)
MOTION = sinusoidal_motion(RIG, TIMES)


def schedule(first: tuple[Anchor, ...] = ANCHORS) -> Schedule:
    """Both feet, the first alone, both again."""
    phases = (Phase(0.0, 2.0, first), Phase(2.0, 4.0, ANCHORS[:1]), Phase(4.0, 6.0, ANCHORS))
    return Schedule(phases, sole_height(RIG, ANCHORS))


def bent(start: float, stop: float, size: float = 0.01) -> Motion:
    """The motion with one joint elsewhere for a while."""
    q = np.array(MOTION.q)
    q[(start < TIMES) & (stop > TIMES), -3] += size
    return Motion(TIMES, q, MOTION.v, MOTION.a)


def same(one: Checks, two: Checks) -> None:
    """Equal but for the rounding of distances, which are searched from where the last search ended."""
    for left, right in zip(one.margins, two.margins, strict=True):
        assert left.items == right.items
        np.testing.assert_allclose(left.values, right.values, rtol=0.0, atol=1e-12)
    for name in ("zmp", "com", "wrench", "foot_wrenches", "torques", "loaded"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-12, atol=1e-12)


def test_only_what_moved_is_checked_and_nothing_is_lost() -> None:
    """After a bend within a fifth of a second one or two pieces are checked again, and all margins are those of a check
    without cache."""
    checker, cache = FrameChecker(RIG, schedule()), CheckCache()
    checker.check_frames(MOTION, cache)
    assert cache.checked == cache.requested > 4
    moved = bent(2.9, 3.1)
    same(checker.check_frames(moved, cache), FrameChecker(RIG, schedule()).check_frames(moved))
    assert 1 <= cache.checked <= 2
    checker.check_frames(moved, cache)
    assert cache.checked == 0


def test_creeping_is_noticed() -> None:
    """Many small moves are compared with what was checked, not with one another: at last they are checked."""
    checker, cache = FrameChecker(RIG, schedule()), CheckCache()
    checker.check_frames(MOTION, cache)
    checked = []
    for step in range(1, 9):
        checker.check_frames(bent(0.0, 6.0, step * 0.3e-9), cache)
        checked.append(cache.checked > 0)
    assert checked == [False, False, False, True, False, False, False, True]


def test_other_contacts_are_checked_again() -> None:
    """Frames that did not move stand otherwise: their phase is checked again, the others are not."""
    checker, cache = FrameChecker(RIG, schedule()), CheckCache()
    checker.check_frames(MOTION, cache)
    shifted = tuple(Anchor(a.patch, a.rotation, a.position + np.array([0.01, 0.0, 0.0])) for a in ANCHORS)
    other = checker.with_schedule(schedule(shifted))
    same(other.check_frames(MOTION, cache), FrameChecker(RIG, schedule(shifted)).check_frames(MOTION))
    assert 0 < cache.checked < cache.requested
