"""The incremental check: order and reuse, neither of which changes a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.contacts.rolling import SOLE
from solver.contacts.schedule import Anchor, Phase, Schedule, anchors_at
from solver.feasibility import CheckOptions, Checks, check_motion
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.excitation import Excitation
from solver.live.check import IncrementalCheck
from solver.live.excitation import PIECE_COUNT, LiveExcitation
from solver.live.scene_frames import scene_frames
from solver.rigs import hoap3, human
from solver.scene.checked_frame import SceneFrame
from solver.skeleton.rig import Rig
from solver.trajectory.curve import FlatCurve
from solver.values.motion import Motion
from tests.dance.static_motions import sinusoidal_motion, sole_height, standing_schedule

RIG = hoap3()
TIMES = np.arange(120) / 30.0
RATE_OF_FORGETTING = 25
"""Frames beside an edited one whose accelerations change noticeably."""


class Reader:
    """Converts checked frames for the scene, and counts them."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.count = rig, 0

    def __call__(self, checks: Checks, options: CheckOptions) -> tuple[SceneFrame, ...]:
        self.count += len(checks)
        return scene_frames(self.rig, checks, options)


def through(rig: Rig, q: np.ndarray, times: np.ndarray = TIMES) -> Motion:
    """The motion of the spline through samples."""
    return FlatCurve.through_samples(rig, times, q).motion(rig, times)


def edited(q: np.ndarray, frame: int, size: float = 0.1) -> np.ndarray:
    """Samples with one joint rotated further in one frame."""
    result = np.array(q)
    result[frame, -2] += size
    return result


def two_phases(rig: Rig, middle: float = 2.0, shift: float = 0.0) -> Schedule:
    """Both feet, then the first one only, shifted along x."""
    both = anchors_at(rig, rig.neutral)
    moved = Anchor(both[0].patch, both[0].rotation, both[0].position + np.array([shift, 0.0, 0.0]))
    return Schedule((Phase(0.0, middle, both), Phase(middle, 10.0, (moved,))), sole_height(rig, both))


def finish(live: IncrementalCheck[SceneFrame], count: int = 16) -> list[int]:
    """Check all remaining frames; returns them in the order of the results."""
    reported: list[int] = []
    while chunk := live.check_next(count).frames:
        reported += [frame for frame, _ in chunk]
    return reported


def same(one: SceneFrame | None, other: SceneFrame | None) -> None:
    """Whether two results are equal."""
    assert [(m.check, m.item, m.failed) for m in one.margins] == [(m.check, m.item, m.failed) for m in other.margins]
    np.testing.assert_allclose([m.value for m in one.margins], [m.value for m in other.margins], atol=2e-6)
    np.testing.assert_allclose([m.comfort for m in one.margins], [m.comfort for m in other.margins], atol=2e-4)
    assert (one.failing, one.near, one.colliding) == (other.failing, other.near, other.colliding)
    np.testing.assert_allclose(one.com, other.com, atol=2e-6)
    assert [foot.patch for foot in one.feet] == [foot.patch for foot in other.feet]


def test_frames_near_the_current_one_come_first() -> None:
    """Frames are ordered by their distance to the current frame, also if it changes meanwhile."""
    live = IncrementalCheck(RIG, Reader(RIG))
    live.set_focus(50)
    live.set_motion(sinusoidal_motion(RIG, TIMES), standing_schedule(RIG))
    reported = [frame for _ in range(4) for frame, _ in live.check_next(5).frames]
    assert reported[0] == 50
    assert [abs(frame - 50) for frame in reported] == sorted(abs(frame - 50) for frame in reported)
    assert set(reported) == set(range(40, 60)) or set(reported) == set(range(41, 61))
    live.set_focus(110)
    rest = finish(live)
    assert rest[0] == 110
    assert [abs(frame - 110) for frame in rest] == sorted(abs(frame - 110) for frame in rest)
    assert sorted(reported + rest) == list(range(120))


@pytest.mark.parametrize("rig", [RIG, human(1.75, 70.0, "male")], ids=lambda rig: rig.name)
def test_pieces_agree_with_the_whole_check(rig: Rig) -> None:
    """Margins, worst items, failing links, balance and foot forces equal those of `check_motion`."""
    motion, schedule, options = sinusoidal_motion(rig, TIMES), two_phases(rig), CheckOptions(shrink=0.2)
    live = IncrementalCheck(rig, Reader(rig))
    live.set_motion(motion, schedule, options)
    finish(live, 7)
    checks = check_motion(rig, motion, schedule, options)
    for frame, found in enumerate(live.results):
        expected = {m.name: m.smallest[frame] for m in checks.margins if np.isfinite(m.smallest[frame])}
        assert [m.check for m in found.margins] == list(expected)
        np.testing.assert_allclose([m.value for m in found.margins], list(expected.values()), atol=1e-6)
        assert found.comfort == pytest.approx(checks.relative_margin[frame], abs=1e-6)
        assert found.failed == checks.failed[frame]
        beyond = [(m.links, m.values[frame] < -m.tolerance) for m in checks.margins]
        assert set(found.failing) == {link for links, mask in beyond for k in np.flatnonzero(mask) for link in links[k]}
        assert found.zmp == pytest.approx(checks.zmp[frame], abs=1e-6)
        total = np.sum([foot.force for foot in found.feet], axis=0)
        np.testing.assert_allclose(total, checks.wrench[frame, :3], atol=0.01)
        assert len(found.feet) == checks.loaded[frame].sum()
        assert len(found.polygon) >= 4


def test_only_frames_near_an_edit_are_checked_again() -> None:
    """Frames far from an edit are not checked again; all results equal those of a fresh check."""
    q, reader = sinusoidal_motion(RIG, TIMES).q, Reader(RIG)
    live = IncrementalCheck(RIG, reader)
    live.set_motion(through(RIG, q), standing_schedule(RIG))
    finish(live)
    assert reader.count == len(TIMES)
    after = through(RIG, edited(q, 40))
    known = live.set_motion(after, standing_schedule(RIG))
    assert len(TIMES) - 2 * RATE_OF_FORGETTING - 1 <= known < len(TIMES) - 5
    assert sorted(finish(live)) == list(range(len(TIMES)))
    assert reader.count == 2 * len(TIMES) - known
    fresh = IncrementalCheck(RIG, Reader(RIG))
    fresh.set_motion(after, standing_schedule(RIG))
    finish(fresh)
    for one, other in zip(live.results, fresh.results):
        same(one, other)


def test_a_moved_contact_is_checked_again() -> None:
    """A shifted foot affects the frames of its phase, and a later lift-off those between; others are reused."""
    motion = sinusoidal_motion(RIG, TIMES)
    live = IncrementalCheck(RIG, Reader(RIG))
    live.set_motion(motion, two_phases(RIG))
    finish(live)
    assert live.set_motion(motion, two_phases(RIG, shift=0.01)) == 60
    finish(live)
    assert live.set_motion(motion, two_phases(RIG, middle=3.0, shift=0.01)) == 90
    assert live.set_motion(motion, two_phases(RIG, middle=3.0, shift=0.01), CheckOptions(shrink=0.4)) == 0


def test_results_are_reused_by_time() -> None:
    """A timeline that starts later reuses the results at times that it still has."""
    motion = sinusoidal_motion(RIG, TIMES)
    live = IncrementalCheck(RIG, Reader(RIG))
    live.set_motion(motion, standing_schedule(RIG))
    finish(live)
    before = live.results
    assert live.set_motion(motion.part(30, 120), standing_schedule(RIG)) == 90
    assert live.results == before[30:]


def test_small_changes_do_not_accumulate() -> None:
    """A posture that changes by less than the tolerance each time is checked again eventually."""
    live = IncrementalCheck(RIG, Reader(RIG))
    motion = sinusoidal_motion(RIG, TIMES)
    live.set_motion(motion, standing_schedule(RIG))
    finish(live)
    known = []
    for _ in range(3):
        motion = replace(motion, q=edited(motion.q, 7, 6e-10))
        known.append(live.set_motion(motion, standing_schedule(RIG)))
        finish(live)
    assert known[0] == len(TIMES)
    assert min(known) == len(TIMES) - 1


def test_lifted_feet_with_contacts_fail() -> None:
    """A posture with both feet in the air but with contacts fails by their height above the floor."""
    live = IncrementalCheck(RIG, Reader(RIG))
    ground = sole_height(RIG, anchors_at(RIG, RIG.neutral))
    q = np.array(RIG.neutral)
    q[2] += 0.3
    found = live.check_posture(q, dict.fromkeys(RIG.patches, SOLE), ground)
    slip = next(margin for margin in found.margins if margin.check == "slip")
    assert slip.failed
    assert slip.value == pytest.approx(-0.3, abs=1e-6)


def test_uncheckable_frames_do_not_stop_the_others() -> None:
    """A patch planted deep below the floor affects the frames of its phase only."""
    good = anchors_at(RIG, RIG.neutral)
    deep = Anchor(good[0].patch, good[0].rotation, good[0].position - np.array([0.0, 0.0, 0.2]))
    schedule = Schedule((Phase(0.0, 3.0, good), Phase(3.0, 10.0, (deep,))), sole_height(RIG, good))
    live = IncrementalCheck(RIG, Reader(RIG))
    live.set_motion(sinusoidal_motion(RIG, TIMES), schedule)
    reported: list[int] = []
    broken: dict[int, str] = {}
    while (chunk := live.check_next(16)).frames or chunk.uncheckable:
        reported += [frame for frame, _ in chunk.frames]
        broken |= dict(chunk.uncheckable)
    assert sorted(reported) == list(range(90))
    assert sorted(broken) == list(range(90, 120))
    assert all("off the floor" in message for message in broken.values())


def test_a_rig_that_cannot_stand_is_refused() -> None:
    """Without contact patches nothing is checked, and the error says why."""
    live = IncrementalCheck(replace(RIG, contacts=()), Reader(RIG))
    with pytest.raises(InvalidValue, match="no contact patches"):
        live.set_motion(sinusoidal_motion(RIG, TIMES), standing_schedule(RIG))
    assert live.check_next(4).frames == ()


def test_excitation_is_that_of_the_motion_so_far() -> None:
    """At the end it is that of the whole motion, in the middle of the first half, before and after an edit."""
    structure = base_parameters(RIG)
    motion = sinusoidal_motion(RIG, TIMES)
    live = LiveExcitation(RIG)
    for shown in (motion, replace(motion, q=edited(motion.q, 100))):
        live.set_motion(shown)
        reported = []
        while (entry := live.evaluate_next()) is not None:
            reported.append(entry)
        assert len(reported) == PIECE_COUNT
        for time, links in (reported[PIECE_COUNT // 2 - 1], reported[-1]):
            part = shown.part(0, int(np.searchsorted(TIMES, time)) + 1)
            expected = Excitation.before_motion(structure).with_motion(RIG, part).link_conditions()
            known = {link: value for link, value in zip(RIG.links, expected) if not np.isnan(value)}
            assert links == pytest.approx(known, rel=1e-6)
            assert known
    assert reported[-1][0] == TIMES[-1]
