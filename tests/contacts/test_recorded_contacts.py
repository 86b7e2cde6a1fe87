"""Laws of contacts found in recordings, on motions whose contacts are known."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import to_matrix
from solver.contacts.contact_detection import RELEASE, TOUCH
from solver.contacts.recorded_contacts import find_recorded_contacts
from solver.dynamics import integrate
from solver.rigs import human
from solver.rigs.contact_patches import with_patches
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.dance.example_dances import arm_swing

SPEED = np.array([-1.2, 0.1, 0.0])
"""[m/s] Velocity of a treadmill's belt."""


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A person."""
    return human(1.7, 65.0, "female")


@pytest.fixture(scope="module")
def motion(rig: Rig) -> Motion:
    """Arm swings with planted feet."""
    return arm_swing(rig, 0.9, 0.8).motion(100.0)


def rising(rig: Rig, motion: Motion, side: str) -> Motion:
    """The same motion with one knee lifted in the middle and lowered again."""
    times = motion.times
    phase = np.clip((times - times[0]) / (times[-1] - times[0]), 0.0, 1.0)
    lift = np.where((phase > 0.3) & (phase < 0.7), np.sin(np.pi * (phase - 0.3) / 0.4) ** 2, 0.0)
    step = np.zeros((len(motion), rig.nv))
    for link, size in ((f"{side}_thigh", -0.9), (f"{side}_shank", 1.2)):
        step[:, rig.v_slices[rig.index(link)].start + (link.endswith("thigh"))] = size * lift
    q = np.array([integrate(rig, own, by) for own, by in zip(motion.q, step)])
    return Motion(times, q, motion.v, motion.a)


def loaded_plate(motion: Motion, load: np.ndarray) -> Wrenches:
    """One plate with a vertical load (N,) [N]."""
    values = np.zeros((len(motion), 1, 6))
    values[:, 0, 2] = load
    return Wrenches(motion.times, ("plate",), values)


def test_still_feet_are_planted(rig: Rig, motion: Motion) -> None:
    """Still feet give a single phase with both soles planted level on the floor."""
    found = find_recorded_contacts(rig, motion)
    (phase,) = found.schedule.phases
    assert set(phase.loaded) == set(rig.patches)
    for anchor in phase.anchors:
        assert np.ptp(anchor.points(rig)[:, 2]) < 1e-9
        assert abs(anchor.points(rig)[0, 2] - found.schedule.ground) < 1e-9
    assert found.motion is motion
    assert found.notes == ()


def test_contacts_of_hands_are_not_found_and_a_note_says_so(rig: Rig, motion: Motion) -> None:
    """Patches on the hands do not change the contacts, and a note names these patches."""
    found = find_recorded_contacts(with_patches(rig, ["hands"]), motion)
    assert found.schedule.phases[0].loaded == find_recorded_contacts(rig, motion).schedule.phases[0].loaded
    assert any("feet only: key the strips of right_palm, left_palm" in note for note in found.notes)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_lifted_foot_is_not_in_stance(rig: Rig, motion: Motion, side: str) -> None:
    """While one foot is lifted only the other is planted; afterwards both are."""
    phases = find_recorded_contacts(rig, rising(rig, motion, side)).schedule.phases
    other = rig.sides["left" if side == "right" else "right"]
    assert [len(loaded) for loaded, _ in groupby(phase.loaded for phase in phases)] == [2, 1, 2]
    end, (alone,) = motion.times[-1], [phase for phase in phases if phase.loaded == (other,)]
    assert 0.3 * end <= alone.start < 0.45 * end
    assert 0.55 * end < alone.stop <= 0.72 * end


def test_derivatives_of_a_turning_body_stay_consistent(rig: Rig, motion: Motion) -> None:
    """Relative to the belt the body stays where it was; v is the derivative of the root's position, a that of v."""
    times = np.arange(200) * 0.005
    q = np.tile(motion.q[0], (len(times), 1))
    angle = 0.8 * times  # of the whole body about the vertical axis
    q[:, 3:7] = np.stack([0 * angle, 0 * angle, np.sin(angle / 2), np.cos(angle / 2)], axis=1)
    v = np.zeros((len(times), rig.nv))
    v[:, 5] = 0.8
    q2, v2, a2 = np.array(q), np.array(v), np.zeros_like(v)
    q2[:, :3] += times[:, None] * 5.0 * SPEED
    v2[:, :3] = np.einsum("nji,j->ni", to_matrix(q[:, 3:7]), 5.0 * SPEED)
    a2[:, :3] = -np.cross(v2[:, 3:6], v2[:, :3])
    found = find_recorded_contacts(rig, Motion(times, q2, v2, a2))
    assert "belt that moves at 6.0" in found.notes[0]
    rates = np.gradient(found.motion.q[:, :3], times, axis=0)
    assert np.abs(rates).max() < 0.08  # of 6.02 m/s: feet turn at 0.8 rad/s, 0.1 m beside the axis
    world = np.einsum("nij,nj->ni", to_matrix(found.motion.q[:, 3:7]), found.motion.v[:, :3])
    np.testing.assert_allclose(world[5:-5], rates[5:-5], atol=1e-3)
    np.testing.assert_allclose(
        found.motion.a[5:-5, :3], np.gradient(found.motion.v[:, :3], times, axis=0)[5:-5], atol=1e-2
    )


def test_forces_decide_where_they_are_complete(rig: Rig, motion: Motion) -> None:
    """Without load no foot is in stance, however low and slow it is; where forces are incomplete the motion decides."""
    half = motion.times > 0.5 * motion.times[-1]
    load = np.where(half, 0.5 * RELEASE, 600.0)
    phases = find_recorded_contacts(rig, motion, loaded_plate(motion, load)).schedule.phases
    assert [len(phase.loaded) for phase in phases] == [2, 0]
    assert phases[1].start == pytest.approx(0.5 * motion.times[-1], abs=0.02)
    unloaded = loaded_plate(motion, np.zeros(len(motion)))
    assert [len(phase.loaded) for phase in find_recorded_contacts(rig, motion, unloaded).schedule.phases] == [0]
    incomplete = find_recorded_contacts(rig, motion, unloaded, np.zeros(len(motion), bool)).schedule.phases
    assert [len(phase.loaded) for phase in incomplete] == [2]


def test_load_without_a_stance_goes_to_the_lower_foot(rig: Rig, motion: Motion) -> None:
    """While a plate is loaded at least one foot is in stance, even if both move too fast for a stance by motion."""
    times = motion.times
    q = np.array(motion.q)
    q[:, 0] += 0.1 * np.sin(2.0 * np.pi * 3.0 * times)  # feet slide to and fro at up to 1.9 m/s
    fast = Motion(times, q, motion.v, motion.a)
    by_motion = find_recorded_contacts(rig, fast).schedule.phases
    assert any(phase.airborne for phase in by_motion)
    by_force = find_recorded_contacts(rig, fast, loaded_plate(fast, np.full(len(fast), 2.0 * TOUCH))).schedule.phases
    assert not any(phase.airborne for phase in by_force)


def test_insufficient_recordings_are_refused(rig: Rig, motion: Motion) -> None:
    """Wrenches at other times, a rig without soles and a single frame are errors."""
    with pytest.raises(InvalidValue, match="share their times"):
        find_recorded_contacts(rig, motion, loaded_plate(motion.part(0, 10), np.zeros(10)))
    with pytest.raises(InvalidValue, match="contact"):
        find_recorded_contacts(replace(rig, contacts=()), motion)
    with pytest.raises(InvalidValue, match="single frame"):
        find_recorded_contacts(rig, motion.part(0, 1))
