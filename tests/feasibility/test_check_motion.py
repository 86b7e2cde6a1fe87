"""All checks together: what fails is said once, where and by how much, alike for a frame and for a dance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownName
from solver.contacts.schedule import Anchor, Phase, Schedule, anchors_at
from solver.dynamics import integrate
from solver.feasibility import CheckOptions, FrameChecker, check_motion
from solver.feasibility.checker import CheckCache
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig
from solver.values.joints import Limits
from solver.values.motion import Motion
from tests.dance.static_motions import (
    one_foot_schedule,
    sinusoidal_motion,
    sole_height,
    standing_schedule,
    static_motion,
)

RIGS = [hoap3(), hrp2(), human(1.75, 70.0, "male")]
EVERY_RIG = pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
PERSON = RIGS[2]


def _three_phases(rig: Rig) -> Schedule:
    both = anchors_at(rig, rig.neutral)
    phases = (Phase(0.0, 1.0, both), Phase(1.0, 2.0, both[:1]), Phase(2.0, 3.0, both))
    return Schedule(phases, sole_height(rig, both))


@EVERY_RIG
def test_a_frame_is_checked_as_in_the_dance(rig: Rig) -> None:
    """Scrubbing to a frame shows the margins that the whole motion has there."""
    motion = sinusoidal_motion(rig, np.linspace(0.0, 3.0, 13))
    schedule = _three_phases(rig)
    whole, checker = check_motion(rig, motion, schedule), FrameChecker(rig, schedule)
    for frame in (0, 4, 6, 12):
        one = checker.check(motion.q[frame], motion.v[frame], motion.a[frame], float(motion.times[frame]))
        for alone, together in zip(one.margins, whole.margins):
            assert alone.smallest[0] == pytest.approx(together.smallest[frame], abs=1e-6), alone.name
        np.testing.assert_allclose(one.zmp[0], whole.zmp[frame])
        np.testing.assert_array_equal(one.loaded[0], whole.loaded[frame])
        assert one.worst(0).check == whole.worst(frame).check


def test_measured_wrenches_are_one_per_frame() -> None:
    """Wrenches of other frames than the motion's are refused, and so are any together with a cache."""
    motion = static_motion(PERSON, PERSON.neutral)
    checker, right = FrameChecker(PERSON, standing_schedule(PERSON)), np.zeros((len(motion), 6))
    for measured, cache in ((right[1:], None), (right[:, :3], None), (right, CheckCache())):
        with pytest.raises(InvalidValue, match="measured wrench"):
            checker.check_frames(motion, cache, measured_wrench=measured)
    assert len(checker.check_frames(motion, measured_wrench=right).times) == len(motion)


@EVERY_RIG
def test_margins_of_pieces_are_those_of_the_whole(rig: Rig) -> None:
    """Smallest margins and total violation are the same before and after the values are joined."""
    motion = sinusoidal_motion(rig, np.linspace(0.0, 3.0, 1300), size=1.2)
    checks = check_motion(rig, motion, _three_phases(rig))
    assert any(margin.failed.any() for margin in checks.margins)
    for margin in checks.margins:
        assert len(margin.pieces) > 1
        smallest, missing = margin.smallest, margin.total_violation
        values = margin.values
        assert values.shape == (len(motion), len(margin.items))
        np.testing.assert_array_equal(smallest, values.min(axis=1))
        beyond = np.maximum(-(values + margin.tolerance), 0.0).sum()
        assert missing == pytest.approx(beyond, rel=1e-9) == margin.total_violation


@EVERY_RIG
def test_margins_are_continuous(rig: Rig) -> None:
    """Ten times finer sampling makes the largest jump of every margin at least five times smaller."""
    coarse, fine = (
        check_motion(rig, sinusoidal_motion(rig, np.linspace(0.0, 0.8, count)), standing_schedule(rig))
        for count in (41, 401)
    )
    for rough, smooth in zip(coarse.margins, fine.margins):
        if not np.isfinite(rough.smallest).all():
            continue
        assert np.abs(np.diff(smooth.smallest)).max() <= 0.2 * np.abs(np.diff(rough.smallest)).max() + 1e-9, rough.name


def test_a_joint_beyond_its_limit_is_named() -> None:
    """A knee 0.1 rad beyond its limit fails the angle check there, by 0.1 rad."""
    rig = RIGS[0]
    q = rig.neutral
    column = rig.q_slices[rig.index("left_shank")].start
    q[column] = rig.limits.upper[column - 7] + 0.1
    checks = check_motion(rig, static_motion(rig, q, 3), one_foot_schedule(rig, q, "right_sole"))
    failure = next(f for f in checks.first_failures if f.check.name == "joint angle")
    assert (failure.item, failure.frame, failure.failed) == ("left_shank", 0, True)
    assert failure.margin == pytest.approx(-0.1)
    assert not checks.feasible
    assert checks.failed_ranges == ((0, 3),)


def test_speed_and_torque_at_their_limits() -> None:
    """A joint at its speed limit has nothing left; one whose torque limit is halved uses twice the share."""
    rig = RIGS[1]
    motion = sinusoidal_motion(rig, np.linspace(0.0, 0.4, 5))
    before = check_motion(rig, motion, standing_schedule(rig))
    limits = rig.limits
    fastest = np.abs(motion.v[:, 6:]).max(axis=0)
    strict = replace(rig, limits=Limits(limits.lower, limits.upper, fastest, limits.torque / 2.0))
    after = check_motion(strict, motion, standing_schedule(rig))
    np.testing.assert_allclose(after.get_margin("joint speed").values.min(axis=0), 0.0, atol=1e-12)
    used = [1.0 - checks.get_margin("joint torque").values for checks in (before, after)]
    np.testing.assert_allclose(used[1], 2.0 * used[0], atol=1e-9)


@EVERY_RIG
def test_slip_is_the_distance_moved(rig: Rig) -> None:
    """A statue pushed sideways by 3 mm slips 3 mm on both feet, and its feet keep their places to each other (17)."""
    moved = rig.neutral
    moved[:2] += 0.003 * np.array([0.6, 0.8])
    checks = check_motion(rig, static_motion(rig, moved), standing_schedule(rig))
    np.testing.assert_allclose(checks.get_margin("slip").values, -0.003, atol=1e-9)
    np.testing.assert_allclose(checks.get_margin("placement").values, 0.0, atol=1e-9)
    assert check_motion(
        rig, static_motion(rig, moved), standing_schedule(rig), CheckOptions(allowed_slip=0.003)
    ).feasible == (check_motion(rig, static_motion(rig, rig.neutral), standing_schedule(rig)).feasible)


def test_a_foot_out_of_place_breaks_the_placement() -> None:
    """A leg swung sideways moves its foot away from the other by as much as it slips, horizontally."""
    rig = RIGS[0]
    q = integrate(rig, rig.neutral, np.eye(rig.nv)[6 + rig.links.index("left_hip_roll") - 1] * 0.05)
    checks = check_motion(rig, static_motion(rig, q), standing_schedule(rig))
    slip = dict(zip(checks.patches, -checks.get_margin("slip").values[0]))
    assert slip["right_sole"] == pytest.approx(0.0, abs=1e-12)
    assert 0.0 < -checks.get_margin("placement").values[0, 0] <= slip["left_sole"]


def test_chunks_and_phases_leave_no_seam() -> None:
    """Margins of a long motion do not depend on where it is cut."""
    rig = RIGS[0]
    motion = sinusoidal_motion(rig, np.linspace(0.0, 3.0, 1300))
    schedule = _three_phases(rig)
    whole = check_motion(rig, motion, schedule)
    for start, stop in ((0, 700), (700, 1300)):
        part = check_motion(rig, motion.part(start, stop), schedule)
        for name in ("zmp", "joint torque", "floor", "self-collision", "friction"):
            np.testing.assert_allclose(
                part.get_margin(name).smallest, whole.get_margin(name).smallest[start:stop], atol=1e-6, err_msg=name
            )


def test_an_unloaded_foot_may_not_go_underground() -> None:
    """A foot that the schedule does not load is checked against the floor; a loaded one stands on it."""
    rig = RIGS[0]
    left = rig.index("left_foot")
    column = 6 + rig.links.index("left_hip_roll") - 1
    for turn in (0.1, -0.1):
        q = integrate(rig, rig.neutral, turn * np.eye(rig.nv)[column])
        one = (
            check_motion(rig, static_motion(rig, q), one_foot_schedule(rig, q, "right_sole"))
            .get_margin("floor")
            .values[0]
        )
        lowest = min(a.points(rig)[:, 2].min() for a in anchors_at(rig, q, ("left_sole",)))
        sole = sole_height(rig, anchors_at(rig, q, ("right_sole",)))
        assert one[left] == pytest.approx(lowest - sole, abs=2e-3)
        assert one[rig.index("right_foot")] == np.inf
    both = check_motion(rig, static_motion(rig, rig.neutral), standing_schedule(rig)).get_margin("floor").values[0]
    assert both[left] == np.inf


def test_what_cannot_be_checked_is_noted() -> None:
    """A rig without torque limits is checked for the rest, and the notes say what was left out."""
    limits = PERSON.limits
    rig = replace(PERSON, limits=Limits(limits.lower, limits.upper, limits.speed, np.full_like(limits.torque, np.inf)))
    checks = check_motion(rig, static_motion(rig, rig.neutral), standing_schedule(rig))
    assert any("no torque limit" in note for note in checks.notes)
    np.testing.assert_array_equal(checks.get_margin("joint torque").values, 1.0)


def test_who_stands_on_a_box_is_held_to_its_height() -> None:
    """A statue that stands on a box first, then on the floor, is as balanced on the one as on the other."""
    rig = RIGS[0]
    motion, schedule = static_motion(rig, rig.neutral, 3), standing_schedule(rig)
    up = np.array([0.0, 0.0, 0.3])
    phase = schedule.phases[0]
    above = tuple(Anchor(a.patch, a.rotation, a.position + up) for a in phase.anchors)
    split = 0.5 * float(motion.times[1] + motion.times[2])
    boxed = Schedule((Phase(phase.start, split, above), Phase(split, phase.stop, phase.anchors)), schedule.ground)
    q = np.array(motion.q)
    q[:2, :3] += up
    floor = check_motion(rig, motion, schedule)
    box = check_motion(rig, Motion(motion.times, q, motion.v, motion.a), boxed)
    for name in ("zmp", "joint torque", "slip", "twist"):
        assert box.get_margin(name).values == pytest.approx(floor.get_margin(name).values, abs=1e-9)


def test_bad_input_is_refused() -> None:
    """A rig without contacts, a motion of another rig, times outside the schedule, unknown names: one clear error."""
    rig = RIGS[0]
    motion, schedule = static_motion(rig, rig.neutral, 3), standing_schedule(rig)
    with pytest.raises(InvalidValue, match="no contact patches"):
        check_motion(replace(rig, contacts=()), motion, schedule)
    with pytest.raises(InvalidValue, match="coordinates"):
        check_motion(RIGS[1], motion, schedule)
    with pytest.raises(InvalidValue, match="off the floor"):
        check_motion(rig, motion, Schedule.constant(schedule.phases[0].anchors, 0.0, 1.0))
    with pytest.raises(InvalidValue, match="outside the contact schedule"):
        check_motion(rig, Motion(motion.times + 20.0, motion.q, motion.v, motion.a), schedule)
    with pytest.raises(UnknownName, match="joint torque"):
        check_motion(rig, motion, schedule).get_margin("joint torqe")
    with pytest.raises(InvalidValue):
        CheckOptions(reach=0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_frame_beyond_all_numbers_does_not_hold() -> None:
    """A motion whose forces overflow is refused by its frame; a margin that is no number never passes for one."""
    motion = sinusoidal_motion(PERSON, np.linspace(0.0, 1.0, 3))
    v = np.array(motion.v)
    v[1] = 1e200
    with pytest.raises(InvalidValue, match=r"frame 1 at 0\.5 s .* above 1e\+12"):
        check_motion(PERSON, Motion(motion.times, motion.q, v, motion.a), standing_schedule(PERSON))
    for ground in (-1e300, np.nan):
        with pytest.raises(InvalidValue, match=r"frame 0 at 0 s .* above 1e\+12"):
            check_motion(PERSON, motion, Schedule.constant((), 0.0, 2.0, ground))
    margin = check_motion(PERSON, motion, standing_schedule(PERSON)).margins[0]
    values = np.array(margin.values)
    values[2, 0] = np.nan
    with pytest.raises(InvalidValue, match="is NaN in frame 2"):
        replace(margin, pieces=(values,))


def test_comfort_is_negative_where_a_check_fails() -> None:
    """The bar under the timeline is negative in exactly the frames that fail."""
    rig = RIGS[0]
    checks = check_motion(rig, sinusoidal_motion(rig, np.linspace(0.0, 3.0, 40), size=1.0), standing_schedule(rig))
    np.testing.assert_array_equal(checks.relative_margin < 0.0, checks.failed)
    upright = check_motion(rig, static_motion(rig, rig.neutral), standing_schedule(rig))
    np.testing.assert_array_equal(upright.relative_margin < 0.0, upright.failed)
    assert checks.failed.any()
    assert not upright.failed.any()
