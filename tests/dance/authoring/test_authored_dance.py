"""Authored dances: keys, the curve through them, contact strips and their file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownPreset
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe, Samples
from solver.dance.authoring.timeline import schedule_from_strips
from solver.dynamics import difference
from solver.dynamics.coordinates import flat_rates, to_manifold
from solver.rigs import human
from solver.scene.timeline import SceneStrip
from solver.skeleton.rig import Rig
from solver.trajectory.curve import FlatCurve

from ..example_dances import arm_swing, home, rotate_joints


@pytest.fixture(scope="module")
def person() -> Rig:
    """A human."""
    return human(1.7, 65.0, "female")


@pytest.fixture(scope="module")
def dance(person: Rig) -> AuthoredDance:
    """An arm swing."""
    return arm_swing(person, 0.8, 0.6)


def test_curve_meets_every_key(person: Rig, dance: AuthoredDance) -> None:
    """The dance passes through every key, and rests at its ends."""
    times = np.array([key.time for key in dance.keys])
    motion = dance.curve().motion(person, times)
    for key, q in zip(dance.keys, motion.q):
        assert np.abs(difference(person, key.q, q)).max() < 1e-12
    for part in (motion.v, motion.a):
        assert np.abs(part[[0, -1]]).max() < 1e-9


def test_curve_never_leaves_the_range_of_its_keys(person: Rig) -> None:
    """A hinge keyed up, then constant, then down does not overshoot the keys."""
    q, anchors = home(person)
    angles, times = [0.0, 0.9, 0.9, 1.0, 0.1], [0.0, 0.3, 1.0, 1.1, 2.0]
    keys = tuple(Keyframe(t, rotate_joints(person, q, {"right_forearm": (0, a)})) for t, a in zip(times, angles))
    keyed = AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, 2.0))
    at = person.q_slices[person.index("right_forearm")].start
    shown = keyed.motion(200.0).q[:, at] - q[at]
    assert shown.max() < 1.0 + 1e-9
    assert shown.min() > -1e-9


def test_velocity_is_the_derivative_of_the_curve(person: Rig, dance: AuthoredDance) -> None:
    """v and a are the time derivatives of q and v, by central differences."""
    curve, at, h = dance.curve(), np.array([0.37, 0.71, 1.21]), 1e-5
    here, after, before = (curve.motion(person, at + step) for step in (0.0, h, -h))
    for k in range(len(at)):
        v = difference(person, before.q[k], after.q[k]) / (2 * h)
        assert np.allclose(v, here.v[k], atol=1e-6)
        assert np.allclose((after.v[k] - before.v[k]) / (2 * h), here.a[k], atol=1e-4)


def test_flat_rates_invert_manifold_rates(person: Rig) -> None:
    """Rates of flat coordinates are recovered from velocity and acceleration, beyond half a turn too."""
    y, dy, ddy = np.random.default_rng(0).normal(0.0, 1.2, (3, 20, person.nv))
    curves = to_manifold(person, y, dy, ddy)
    found = flat_rates(person, y, curves.v, curves.a)
    np.testing.assert_allclose(found[0], dy, atol=1e-9)
    np.testing.assert_allclose(found[1], ddy, atol=1e-8)


def test_samples_are_what_the_timeline_shows(person: Rig, dance: AuthoredDance) -> None:
    """A dance with samples follows them, not the spline through its keys."""
    shown = dance.motion(120.0)
    other = replace(dance, samples=Samples(shown.times, shown.q), keys=dance.keys[:1])
    again = other.curve().motion(person, shown.times)
    assert max(np.abs(difference(person, a, b)).max() for a, b in zip(shown.q, again.q)) < 1e-9


def test_opposite_quaternions_are_one_posture(person: Rig, dance: AuthoredDance) -> None:
    """Negating a key's root quaternion changes nothing: both are the same rotation."""
    flipped = np.array(dance.keys[1].q)
    flipped[3:7] *= -1.0
    keys = (dance.keys[0], replace(dance.keys[1], q=flipped), *dance.keys[2:])
    first, second = dance.motion(50.0), replace(dance, keys=keys).motion(50.0)
    assert np.abs(first.v - second.v).max() < 1e-9


def test_a_rotation_takes_the_shorter_way(person: Rig) -> None:
    """Keys at headings of 150 and 210 degrees are 60 degrees apart, not 300."""
    q, _ = home(person)
    keys = []
    for degrees in (0.0, 150.0, 210.0):
        key = np.array(q)
        key[3:7] = [0.0, 0.0, np.sin(np.radians(degrees / 2)), np.cos(np.radians(degrees / 2))]
        if degrees > 180.0:
            key[3:7] *= -1.0
        keys.append(key)
    curve = FlatCurve.through_keys(person, np.array([0.0, 1.0, 2.0]), keys)
    headings = np.degrees(curve.at(np.linspace(0.0, 2.0, 50))[0][:, 5])
    assert (np.diff(headings) >= -1e-9).all()
    assert headings[-1] == pytest.approx(210.0)


def test_repr_fits_three_lines(dance: AuthoredDance) -> None:
    """The repr of an authored dance has duration, keys, rig and checks in three lines that fit a terminal."""
    first, second, third = repr(dance).splitlines()
    assert f"{dance.stop - dance.start:.2f} s: {len(dance.keys)} keys" in first
    assert dance.rig.name in second
    assert f"shrink {dance.checks.shrink:g}" in third
    assert max(map(len, (first, second, third))) <= 120


def test_inconsistent_keys_are_refused(person: Rig, dance: AuthoredDance) -> None:
    """Two keys at one time, an unknown role, a wrong length and a short schedule are refused with the reason."""
    with pytest.raises(InvalidValue, match="does not follow"):
        replace(dance, keys=(dance.keys[0], dance.keys[0]))
    with pytest.raises(UnknownPreset):
        Keyframe(0.0, dance.keys[0].q, "fxied")
    with pytest.raises(InvalidValue, match="has 5 numbers"):
        replace(dance, keys=(Keyframe(0.0, np.zeros(5)), dance.keys[1]))
    with pytest.raises(InvalidValue, match="contact schedule covers"):
        replace(dance, schedule=Schedule.constant(dance.schedule.phases[0].anchors, 0.0, 1.0))


def test_strips_become_phases(person: Rig, dance: AuthoredDance) -> None:
    """Strips of two feet become phases with both, one and no foot; anchors are flat on the floor."""
    strips = [
        SceneStrip("right_sole", 0.0, 0.6),
        SceneStrip("left_sole", 0.0, 1.0),
        SceneStrip("left_sole", 1.2, 1.8),
    ]
    schedule = schedule_from_strips(person, dance.curve(), strips)
    assert [sorted(p.loaded) for p in schedule.phases] == [
        ["left_sole", "right_sole"], ["left_sole"], [], ["left_sole"],
    ]  # fmt: skip
    for phase in schedule.phases:
        for anchor in phase.anchors:
            assert np.abs(anchor.points(person)[:, 2]).max() < 1e-12
