"""Jumps from keys to a repaired action: an applied repair is checked with the motion that was repaired."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from addon import registration
from addon.authoring import dance_import, ghost, keying, timeline
from addon.base.scene_rigs import active_rig
from addon.jobs.job_messages import StoredMessage, find_message
from addon.scene import action
from addon.scene.armature import rig_of
from benchmarks.figures.jump import RATE, measure_flight
from solver.dance.authoring.timeline import dance_from_timeline

FIRST, LAST = 1.0, 60.0
"""Frames of the first and of the last posture, at 24 frames a second."""
FLIGHT = (27.0, 33.0)
"""From which frame on nobody stands, and from which on again."""


def jumping(rate: float, flights: tuple[tuple[float, float], ...] = (FLIGHT,), last: float = LAST) -> bpy.types.Object:
    """A person with keyed postures at the start, in the middle of each flight and at the end, at a frame rate.

    Frames are given for 24 frames per second; postures are keyed at the next integer frame of the rate.
    """
    scene = bpy.context.scene
    action.set_frame_rate(scene, rate)
    scene.exciting_dance.kind = "human"
    bpy.ops.exciting_dance.import_rig()
    body = active_rig(bpy.context)
    assert body is not None

    def at(frame: float) -> float:
        return 1.0 + (frame - 1.0) * rate / 24.0

    for frame in [FIRST, *(0.5 * sum(flight) for flight in flights), last]:
        scene.frame_set(round(at(frame)))
        keying.key_posture(scene, body, "preferred")
    for frame, standing in ((FIRST, True), *((f, i > 0) for flight in flights for i, f in enumerate(flight))):
        action.set_frame(scene, at(frame))
        keying.key_contacts(scene, body, dict.fromkeys(rig_of(body).patches, "sole") if standing else {})
    return body


def verdict(body: bpy.types.Object) -> StoredMessage:
    """Message of a check of the body's timeline."""
    assert bpy.ops.exciting_dance.check_dance() == {"FINISHED"}
    said = find_message(bpy.context.scene, body, "dance")
    assert said is not None
    return said


def balanced(body: bpy.types.Object) -> StoredMessage:
    """Message of balancing the body's dance."""
    assert bpy.ops.exciting_dance.balance_dance() == {"FINISHED"}
    said = find_message(bpy.context.scene, body, "dance")
    assert said is not None
    return said


@pytest.fixture(scope="session")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a jump at 24 frames per second and its repair as a ghost."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    assert balanced(jumping(24.0)).verdict == "good"
    path = tmp_path_factory.mktemp("jump") / "repaired.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    registration.unregister()
    return path


@pytest.fixture
def body(repaired: Path, registered: None) -> bpy.types.Object:
    """The rig of the repaired jump in its scene."""
    bpy.ops.wm.open_mainfile(filepath=str(repaired))
    found = active_rig(bpy.context)
    assert found is not None
    return found


@pytest.mark.parametrize("rate", [25.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_applied_jump_passes_the_check(registered: None, rate: float) -> None:
    """A repaired jump, whose flight ends between frames at some rates, is feasible and needs no further repair."""
    body = jumping(rate)
    assert verdict(body).verdict == "bad"
    said = balanced(body)
    assert said.verdict == "good", said.message
    bpy.ops.exciting_dance.apply_ghost()
    said = verdict(body)
    assert said.verdict == "good", said.message
    keyed = dance_from_timeline(
        timeline.sample_timeline(bpy.context.scene, body, *timeline.motion_range(bpy.context.scene, body))
    )
    parabola, drift, spin = measure_flight(keyed.rig, keyed.motion(RATE), keyed)
    assert parabola < 1e-5
    assert drift < 0.005
    assert spin < 0.01
    assert balanced(body).message.startswith("Nothing to repair")
    assert ghost.find_ghost(bpy.context.scene, body) is None


def test_keys_lie_between_frames_only_around_flights(body: bpy.types.Object) -> None:
    """Keys between frames are generated ones, and every integer frame has its key as elsewhere."""
    bpy.ops.exciting_dance.apply_ghost()
    first, last = timeline.motion_range(bpy.context.scene, body)
    frames = action.key_frames(timeline.pose_curves(body)[0])
    between = frames[frames != np.round(frames)]
    assert set(np.arange(first, last + 1.0)) <= set(frames.tolist())
    around = 24.0 * timeline.FLIGHT_MARGIN + 1.0
    assert FLIGHT[0] - around < between.min() < FLIGHT[0] < FLIGHT[1] < between.max() < FLIGHT[1] + around
    assert set(timeline.read_key_roles(body)) == {FIRST, 30.0, LAST}
    keying.clear_inbetweens(body, -np.inf, np.inf)
    assert set(action.key_frames(timeline.pose_curves(body)[0]).tolist()) == {FIRST, 30.0, LAST}


def test_dance_without_flight_has_keys_on_integer_frames(registered: None) -> None:
    """The samples of a dance without flight are its integer frames, however it is read."""
    body, scene = jumping(24.0, flights=()), bpy.context.scene
    line = timeline.sample_timeline(scene, body, FIRST, LAST)
    assert line.times.tolist() == timeline.times_at_frames(scene, np.arange(FIRST, LAST + 1.0)).tolist()
    frames = np.arange(FIRST, LAST + 1.0)
    assert timeline.flight_spans(scene, line.strips) == []
    assert dance_import._add_flight_samples(frames, np.arange(1.0, 10.0), (3.0, 7.0), []).tolist() == frames.tolist()


def test_applying_a_jump_can_be_undone(body: bpy.types.Object) -> None:
    """Undo restores the keys and the ghost."""
    bpy.ops.ed.undo_push(message="balanced")
    bpy.ops.exciting_dance.apply_ghost()
    bpy.ops.ed.undo_push(message="applied")
    name = body.name
    bpy.ops.ed.undo()
    body = bpy.data.objects[name]
    assert ghost.find_ghost(bpy.context.scene, body) is not None
    assert set(action.key_frames(timeline.pose_curves(body)[0]).tolist()) == {FIRST, 30.0, LAST}
    bpy.ops.exciting_dance.apply_ghost()
    assert verdict(body).verdict == "good"


@pytest.mark.slow
def test_two_jumps_in_one_motion(registered: None) -> None:
    """Each jump has its edges and its keys between frames."""
    body = jumping(24.0, ((27.0, 33.0), (67.0, 72.0)), 100.0)
    said = balanced(body)
    assert said.verdict == "good", said.message
    bpy.ops.exciting_dance.apply_ghost()
    said = verdict(body)
    assert said.verdict == "good", said.message


@pytest.mark.parametrize("frame", [28.007, 32.5, 31.999])
def test_a_flight_ends_where_it_was_keyed(body: bpy.types.Object, frame: float) -> None:
    """Only frames that single precision cannot distinguish from an integer are rounded, because 0.01 frames matter."""
    scene = bpy.context.scene
    for name in rig_of(body).patches:
        curve = timeline.contact_curves(body)[name]
        curve.keyframe_points[2].co.x = frame
        curve.update()
    (_, landing), *_ = timeline.flights_between_strips(
        (s.start, s.stop) for s in timeline.read_strips(scene, body, FIRST, LAST)
    )
    assert landing == pytest.approx((frame - 1.0) / 24.0, abs=1e-6)
