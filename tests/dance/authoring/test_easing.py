"""Easing the start and the end of a dance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe, Samples
from solver.dance.authoring.easing import EASING_DURATION, ease_ends, ease_times
from solver.dynamics import difference
from solver.feasibility import check_motion
from solver.skeleton.rig import Rig

from ..example_dances import home, rotate_joints

STOP = 1.0


@pytest.fixture(scope="module")
def abrupt(person: Rig) -> AuthoredDance:
    """A bow of half a second and back, at 24 frames a second, with full acceleration at its start and end."""
    q, anchors = home(person)
    times = np.arange(25) / 24.0
    up = np.clip(2.0 * np.minimum(times, STOP - times), 0.0, 1.0)
    share = 3.0 * up**2 - 2.0 * up**3
    rows = np.array([rotate_joints(person, q, {"torso": (1, 0.3 * each)}) for each in share])
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(0.5, rows[12]), Keyframe(STOP, q, "fixed"))
    return AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, STOP), Samples(times, rows))


def test_easing_stops_time_at_the_ends_and_joins_smoothly() -> None:
    """The slope is zero at the ends; at the easing's end value, slope and curvature match; time never decreases."""
    times = np.linspace(0.0, 2.0, 20001)
    shown = ease_times(times, 0.0, 2.0, 0.3, 0.0)
    slope = np.gradient(shown, times)
    assert shown[0] == 0.0
    assert abs(slope[0]) < 1e-3
    assert np.abs(shown[times >= 0.3] - times[times >= 0.3]).max() == 0.0
    assert np.abs(np.diff(slope)).max() < 4e-3
    assert (np.diff(shown) >= 0.0).all()
    mirrored = 2.0 - ease_times(2.0 - times, 0.0, 2.0, 0.0, 0.3)
    assert np.abs(mirrored - shown).max() < 1e-12


def test_easing_an_abrupt_end_restores_balance(person: Rig, abrupt: AuthoredDance) -> None:
    """Balance fails in the first and last instant before and holds after easing; elsewhere the motion is the same."""
    result, notes = ease_ends(abrupt)
    assert len(notes) == 2
    assert "starts more gently" in notes[0]
    ends = np.array([0.0, STOP])
    margins = []
    for keyed in (abrupt, result):
        checks = check_motion(person, keyed.curve().motion(person, ends), keyed.schedule)
        margins.append(checks.get_margin("zmp").failed)
    assert margins[0].all()
    assert not margins[1].any()
    inside = np.linspace(EASING_DURATION, STOP - EASING_DURATION, 40)
    before, after = (keyed.curve().motion(person, inside).q for keyed in (abrupt, result))
    assert max(np.abs(difference(person, a, b)).max() for a, b in zip(before, after)) < 1e-3
    assert np.abs(result.curve().motion(person, ends).q - abrupt.curve().motion(person, ends).q).max() < 1e-9


def test_feasible_ends_are_not_eased(abrupt: AuthoredDance) -> None:
    """A slow dance passes at its ends; a fixed key just after the start allows no easing."""
    slow = replace(
        abrupt,
        samples=Samples(4.0 * abrupt.samples.times, abrupt.samples.q),
        keys=tuple(replace(key, time=4.0 * key.time) for key in abrupt.keys),
        schedule=Schedule.constant(abrupt.schedule.phases[0].anchors, 0.0, 4.0 * STOP),
    )
    assert ease_ends(slow) == (slow, ())
    soon = Keyframe(1.0 / 24.0, abrupt.samples.q[1], "fixed")
    _, notes = ease_ends(replace(abrupt, keys=(abrupt.keys[0], soon, *abrupt.keys[1:])))
    assert len(notes) == 1
    assert "ends more gently" in notes[0]
