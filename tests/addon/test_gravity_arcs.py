"""Gravity arcs are drawn for checked flights between two contacts."""

from __future__ import annotations

from collections.abc import Sequence

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
    """The line and the ticks, 8 mm to each side at the frames, lie on the parabola from take-off to landing; apex and
    colour are those of a passed check.
    """
    (shown,) = gravity_arcs.build_arcs(readings(robot, JUMP))
    assert (shown.arc.start, shown.arc.stop, shown.colour) == (TAKE_OFF, LANDING, PASS_COLOUR)
    for points, along, sideways in (
        (shown.line, np.repeat(np.linspace(0.0, 0.2, 48), 2)[1:-1], np.zeros(94)),
        (shown.ticks, np.repeat(np.arange(11) / RATE, 2), np.tile([-0.008, 0.008], 11)),
    ):
        wanted = np.stack([along, sideways, 0.3 + 0.5 * GRAVITY * along * (0.2 - along)], axis=1)
        np.testing.assert_allclose(points, wanted, atol=1e-9)
    assert shown.largest_distance < 1e-9
    words, places = zip(*shown.labels, strict=True)
    assert words == ("take-off 0.98 m/s up", "apex 5 cm up", "landing after 0.20 s")
    wanted = [[0.0, 0.0, 0.3], [0.1, 0.0, 0.3 + GRAVITY * 0.2**2 / 8.0], [0.2, 0.0, 0.3]]
    np.testing.assert_allclose(places, wanted, atol=1e-9)


def test_failing_arc_shows_the_distance(robot: Rig) -> None:
    """If the check of free fall fails, the arc is red and its label gives the distance of the keyed motion."""
    (shown,) = gravity_arcs.build_arcs(readings(robot, JUMP, carried=True))
    assert shown.colour == FAIL_COLOUR
    assert shown.largest_distance == pytest.approx(GRAVITY * 0.2**2 / 8.0)
    assert shown.labels[1][0] == "apex 5 cm up, keyed path 5 cm away"


def test_arc_needs_a_checked_flight_between_contacts(robot: Rig) -> None:
    """There is no arc without a flight, at a flight at the start or end, and for a flight that is not checked yet."""
    first, last = ([strip for strip in JUMP if (strip.start > 0.0) == late] for late in (False, True))
    one_foot = JUMP[:2]
    found = [readings(robot, strips) for strips in (STANDING, first, last, one_foot)]
    found += [readings(robot, JUMP, known=known) for known in (25, 30, 31)]
    assert [len(gravity_arcs.build_arcs(each)) for each in found] == [0, 0, 0, 1, 0, 0, 1]


def test_arc_is_visible_near_its_flight(robot: Rig) -> None:
    """An arc is visible from one second before take-off to one second after landing."""
    found = readings(robot, JUMP)
    times = (TAKE_OFF - 1.01, TAKE_OFF - 0.99, 0.5, LANDING + 0.99, LANDING + 1.01)
    assert [len(gravity_arcs.visible_labels(found, time)) for time in times] == [0, 3, 3, 3, 0]


def test_arcs_are_rebuilt_for_new_results(robot: Rig) -> None:
    """The arcs are rebuilt when new results arrive."""
    found = readings(robot, JUMP, known=25)
    gravity_arcs.ArcCache.cached = None
    assert gravity_arcs.ArcCache.get_arcs(found) == []
    found.frames[:] = readings(robot, JUMP).frames
    found.version += 1
    (shown,) = gravity_arcs.ArcCache.get_arcs(found)
    assert gravity_arcs.ArcCache.get_arcs(found)[0] is shown


def test_labels_do_not_overlap() -> None:
    """Labels of a jump on the spot are lowered by half lines until they overlap none; labels far apart stay."""
    places = np.array([[100.0, 200.0], [100.0, 202.0], [255.0, 200.0], [256.5, 200.0], [411.0, 212.0]])
    wanted = [[100.0, 200.0], [100.0, 182.5], [255.0, 167.5], [256.5, 200.0], [411.0, 186.0]]
    assert np.array(gravity_arcs.separate_labels(places, 13.0)).tolist() == wanted
