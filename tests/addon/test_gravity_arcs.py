"""Gravity arcs are drawn for checked flights between two contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from addon.live import gravity_arcs
from addon.live.check_colours import FAIL_COLOUR, PASS_COLOUR
from addon.live.check_results import CheckResults
from solver.scene.checked_frame import SceneFrame, SceneMargin
from solver.scene.timeline import SceneStrip, SceneTimeline
from solver.skeleton.rig import GRAVITY, Rig

RATE, TAKE_OFF, LANDING, STOP = 50.0, 0.4, 0.6, 1.0
JUMP = tuple(SceneStrip(f"{side}_sole", *span) for side in ("right", "left") for span in ((0.0, 0.4), (0.6, 1.0)))
STANDING = tuple(SceneStrip(f"{side}_sole", 0.0, STOP) for side in ("right", "left"))


def readings(
    rig: Rig, strips: Sequence[SceneStrip], *, carried: bool = False, known: int | None = None
) -> CheckResults:
    """Results for a body that flies, or moves in a straight line, from 0.4 to 0.6 s; the first ``known`` frames are
    checked.
    """
    times = np.arange(int(RATE * STOP) + 1) / RATE
    count, links = len(times), len(rig.links)
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (count, links, 1))
    still = np.zeros((count, links, 3))
    shown = SceneTimeline("jump", rig, times, np.zeros((count, 3)), rotations, still, strips=tuple(strips))
    found = CheckResults(1, shown)
    since = np.clip(times - TAKE_OFF, 0.0, LANDING - TAKE_OFF)
    lasts = LANDING - TAKE_OFF
    heights = 0.3 + (0.0 if carried else 0.5 * GRAVITY) * since * (lasts - since)
    for frame, (time, s, z) in enumerate(zip(times, since, heights, strict=True)):
        if known is not None and frame >= known:
            break
        flies = TAKE_OFF <= time < LANDING
        margin = SceneMargin("flight", "ballistic motion", -1.0 if carried else 0.1, "of the weight", 0.0, carried)
        found.frames[frame] = SceneFrame(
            frame, float(time), (margin,) if flies else (), (), (), (), True, (float(s), 0.0, float(z)), None
        )
    return found


def test_arc_is_the_parabola_of_the_flight(robot: Rig) -> None:
    """The arc goes from take-off to landing with its apex between them, in the colour of a passed check."""
    (shown,) = gravity_arcs.build_arcs(readings(robot, JUMP))
    assert (shown.arc.start, shown.arc.stop) == (TAKE_OFF, LANDING)
    np.testing.assert_allclose(shown.arc.apex, [0.1, 0.0, 0.3 + GRAVITY * 0.2**2 / 8.0], atol=1e-9)
    np.testing.assert_allclose(shown.line[[0, -1]], [shown.arc.take_off, shown.arc.landing], atol=1e-12)
    np.testing.assert_allclose(shown.line[1:-1:2], shown.line[2::2], atol=0.0)
    assert len(shown.ticks) == 2 * 11
    assert shown.follows_arc
    assert shown.colour == PASS_COLOUR
    assert shown.largest_distance < 1e-9
    words = [label for label, _ in shown.labels]
    assert words == ["take-off 0.98 m/s up", "apex 5 cm up", "landing after 0.20 s"]


def test_failing_arc_shows_the_distance(robot: Rig) -> None:
    """If the check of free fall fails, the arc is red and its label gives the distance of the keyed motion."""
    (shown,) = gravity_arcs.build_arcs(readings(robot, JUMP, carried=True))
    assert not shown.follows_arc
    assert shown.colour == FAIL_COLOUR
    assert shown.largest_distance == pytest.approx(GRAVITY * 0.2**2 / 8.0)
    assert shown.labels[1][0] == "apex 5 cm up, keyed path 5 cm away"


def test_arc_needs_a_checked_flight_between_contacts(robot: Rig) -> None:
    """There is no arc without a flight, at a flight at the start or end, and for a flight that is not checked yet."""
    assert gravity_arcs.build_arcs(readings(robot, STANDING)) == []
    assert gravity_arcs.build_arcs(readings(robot, [s for s in JUMP if s.start > 0.0])) == []
    assert gravity_arcs.build_arcs(readings(robot, [s for s in JUMP if s.start == 0.0])) == []
    assert gravity_arcs.build_arcs(readings(robot, JUMP[:2])) != []  # one foot is enough
    assert gravity_arcs.build_arcs(readings(robot, JUMP, known=25)) == []
    assert gravity_arcs.build_arcs(readings(robot, JUMP, known=31)) != []


def test_arc_is_visible_near_its_flight(robot: Rig) -> None:
    """An arc is visible from one second before take-off to one second after landing."""
    found = readings(robot, JUMP)
    assert len(gravity_arcs.visible_labels(found, 0.5)) == 3
    assert len(gravity_arcs.visible_labels(found, LANDING + 0.99)) == 3
    assert gravity_arcs.visible_labels(found, LANDING + 1.01) == []
    assert gravity_arcs.visible_labels(found, TAKE_OFF - 1.01) == []


def test_arcs_are_rebuilt_for_new_results(robot: Rig) -> None:
    """The arcs are rebuilt when new results arrive."""
    found = readings(robot, JUMP, known=25)
    gravity_arcs.ArcCache.cached = None
    assert gravity_arcs.ArcCache.get_arcs(found) == []
    whole = readings(robot, JUMP)
    found.frames[:] = whole.frames
    found.version += 1
    (shown,) = gravity_arcs.ArcCache.get_arcs(found)
    assert gravity_arcs.ArcCache.get_arcs(found)[0] is shown
    assert replace(shown, follows_arc=False).colour == FAIL_COLOUR


def test_labels_do_not_overlap() -> None:
    """Labels of a jump on the spot are placed below each other; labels far apart stay in place."""
    here, there = np.array([100.0, 200.0]), np.array([400.0, 200.0])
    first, second, third = gravity_arcs.separate_labels([here, here + np.array([0.0, 2.0]), there], 13.0)
    assert first == (100.0, 200.0)
    assert second[0] == 100.0
    assert first[1] - second[1] >= 13.0
    assert third == (400.0, 200.0)
