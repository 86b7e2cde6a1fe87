"""A recording that breaks off in the middle of a step ends on both feet; one that is whole stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from solver.motion import Motion
from solver.rigs import hrp2
from solver.tracking.retargeting.ends import SLOWING, STANDING, whole_steps
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import retargeted
from solver.tracking.retargeting.retargeted import RetargetOptions
from tests.tracking.test_retargeting import RATE, corners, person, squat


def stepping(start: int, stop: int) -> Performer:
    """Simulated: frames of a person who lifts its left foot and puts it down, in half of two seconds."""
    whole = squat(person(), steps=0.8)
    part = slice(start, stop)
    return Performer.of_motion(person(), Motion(whole.times[part], whole.q[part], whole.v[part], whole.a[part]))


UP, DOWN = 18, 34
"""Frames in which the foot rises, and sinks."""


@pytest.mark.parametrize(("start", "stop", "where"), [(0, DOWN, "ends"), (UP, 101, "begins")])
def test_a_broken_step_is_finished(start: int, stop: int, where: str) -> None:
    """Both feet stand in the end, at the height at which they stand elsewhere, and nothing that is recorded changes."""
    given = stepping(start, stop)
    found = whole_steps(given)
    more = round((SLOWING + STANDING) * RATE)
    recorded = slice(0, len(given.times)) if where == "ends" else slice(more, None)
    assert len(found.times) == len(given.times) + more
    assert any(f"{where} in the middle of a step" in said for said in found.told)
    assert np.array_equal(found.recording.rotations[recorded], given.recording.rotations)
    assert found.times[recorded] == pytest.approx(given.times)
    last = -1 if where == "ends" else 0
    stands = found.stances()
    assert not given.stances()["left"][last]
    assert stands["left"][last]
    assert stands["right"][last]
    low = [found.sole(side)[:, :, 2].min(axis=1) for side in ("left", "right")]
    assert low[0][last] == pytest.approx(np.quantile(low[1], 0.05), abs=0.02)
    places = np.array([found.place(part) for part in ("left_foot", "pelvis", "left_thigh")])
    assert np.abs(np.diff(places, 2, axis=1)).max() * RATE**2 < 30.0


def test_a_whole_recording_and_a_foot_held_up_stay() -> None:
    """Neither who stands at both ends, nor who stands on one foot without moving it, is led on."""
    whole = stepping(0, 101)
    assert len(whole_steps(whole).times) == len(whole.times)
    motion = squat(person(), steps=0.8)
    held = np.concatenate([np.arange(25), np.full(15, 25)])
    posed = Motion(np.arange(len(held)) / RATE, motion.q[held], motion.v[held], motion.a[held])
    still = Performer.of_motion(person(), posed)
    assert not still.stances()["left"][-1]
    assert len(whole_steps(still).times) == len(still.times)


def test_a_robot_ends_on_both_feet() -> None:
    """HRP-2 finishes the step, feet at rest and on the floor, unless it is asked to break it off."""
    given = stepping(0, DOWN)
    found, broken = (retargeted(given, hrp2(), None, RetargetOptions(whole_steps=whole)) for whole in (True, False))
    assert found.footing.stands[:, -1].all()
    assert not broken.footing.stands[:, -1].all()
    assert found.converged.all()
    soles = np.stack([corners(found, side) for side in ("right", "left")])
    assert soles[..., 2].min() > -0.005
    assert np.abs(np.diff(soles[:, -5:], axis=1)).max() < 1e-4


def test_what_is_recorded_in_the_air_is_left_out() -> None:
    """A recording that ends in flight ends where a foot last stood, and says so."""
    given = stepping(0, 101)
    contacts = dict.fromkeys(("left", "right"), given.times < 1.5)
    jumping = Performer(given.recording, given.parts, given.soles, given.name, given.told, contacts)
    found = whole_steps(jumping)
    assert found.times[-1] == pytest.approx(1.48)
    assert any("ends in the air: 0.52 s are left out" in said for said in found.told)
