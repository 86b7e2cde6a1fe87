"""The next step of a mode, and how jobs describe themselves."""

from __future__ import annotations

import time
from pathlib import Path

import bpy
import pytest

from addon.authoring import keying
from addon.display.properties import AUTHOR, RESEARCH, study_settings
from addon.drawing.viewport import is_startup_cube
from addon.interface.next_step import NextStep, find_next_step
from addon.jobs.job import Job
from addon.jobs.job_messages import (
    JobMessage,
    describe_duration,
    dismiss_message,
    find_latest_message,
    store_message,
)
from addon.live.control import state_fingerprint
from addon.scene.placement import LARGEST_OBSTACLE, avoid_overlap, floor_position, rest_size
from addon.scene.recording import find_recordings, has_forces
from solver.rigs import hoap3
from tests.addon.scenes import build
from tests.addon.test_drop_files import drop, recorded


def next_step(mode: str) -> NextStep:
    """The next step of a mode, which must exist and be an operator that can run."""
    study_settings(bpy.context).mode = mode
    step = find_next_step(bpy.context)
    assert step is not None
    assert step.hint
    return step


def test_authoring_leads_from_a_rig_to_a_rehearsal(registered: None, tmp_path: Path) -> None:
    """Without a rig the step is to add one; then a dance, a second posture, a check, and by its result the rest. A
    video beside a file that was never saved is not offered."""
    assert next_step(AUTHOR).operator == "import_rig"
    body, scene = build(hoap3()), bpy.context.scene
    assert next_step(AUTHOR).operator == "design_dance"
    for frame, expected in ((1, "key_posture"), (20, "check_dance")):
        scene.frame_set(frame)
        keying.key_posture(scene, body, "preferred")
        assert next_step(AUTHOR).operator == expected
    assert not bpy.ops.exciting_dance.rehearsal.poll()
    verdicts = (
        ("bad", "balance_dance"),
        ("good", "wm.save_mainfile"),
        ("good", "rehearsal"),
        ("failed", "check_dance"),
    )
    for verdict, expected in verdicts:
        if expected == "rehearsal":
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "dance.blend"))
        store_message(scene, body, "dance", JobMessage("Checked", verdict, fingerprint=state_fingerprint(scene, body)))
        step = next_step(AUTHOR)
        assert step.operator == expected
        assert "." in expected or getattr(bpy.ops.exciting_dance, step.operator).poll()
    keying.set_role(body, "free", frame=20.0)
    bpy.context.view_layer.update()
    assert next_step(AUTHOR).operator == "complete_dance"


def test_research_leads_from_recordings_to_identification(registered: None, tmp_path: Path) -> None:
    """Without recordings the step is to import some, also for a rig; with forces to identify; with markers alone to
    track.
    """
    build(hoap3())
    assert next_step(RESEARCH).operator == "import_recording"
    markers, forces = recorded(tmp_path, "squat")
    study_settings(bpy.context).mode = AUTHOR
    drop(markers)
    assert study_settings(bpy.context).mode == RESEARCH
    assert next_step(RESEARCH).operator == "track"
    drop(forces)
    assert list(map(has_forces, find_recordings(bpy.context.scene))) == [True]
    step = next_step(RESEARCH)
    assert step.operator == "identify"
    assert step.hint.startswith("1 recording:")


def test_latest_message_of_a_rig_is_found(registered: None) -> None:
    """It is the last stored one about that rig, from whichever panel."""
    scene, body = bpy.context.scene, build(hoap3())
    for about, place in ((body, "dance"), (body, "markers"), (None, "recording")):
        store_message(scene, about, place, JobMessage(f"of {place}"))
    assert find_latest_message(scene, body).place == "markers"
    dismiss_message(scene, body, "markers")
    assert find_latest_message(scene, body).message == "of dance"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (3.4, "3 s"), (42.0, "40 s"), (118.0, "120 s"), (250.0, "4 min"), (7800.0, "2 h 10 min")],
)
def test_durations_are_as_rough_as_they_are_known(seconds: float, text: str) -> None:
    """Up to ten seconds to the second, then to five, and from two minutes in minutes."""
    assert describe_duration(seconds) == text


def test_time_left_is_proportional_to_the_work_left() -> None:
    """A quarter done in ten seconds leaves thirty; nothing is said at the start or after cancelling."""
    job = Job.__new__(Job)
    job.started, job.fraction, job.message, job._cancel_time = time.monotonic() - 10.0, 0.25, "tracking", None
    assert job.estimate_time_left() == pytest.approx(30.0, abs=0.5)
    assert job.describe() == "tracking, 30 s left"
    for name, value in (("fraction", 0.01), ("started", time.monotonic()), ("_cancel_time", 1.0)):
        kept = getattr(job, name)
        setattr(job, name, value)
        assert job.describe() == "tracking"
        setattr(job, name, kept)


@pytest.mark.parametrize(("size", "moves"), [(0.5, True), (10.0, False)])
def test_a_new_body_avoids_objects_but_not_a_stage(registered: None, size: float, moves: bool) -> None:
    """A body moves beside a cube that it would be in; a floor much larger than the body stays under it."""
    bpy.ops.mesh.primitive_cube_add(size=size)
    cube, body = bpy.context.object, build(hoap3())
    assert (size > LARGEST_OBSTACLE * rest_size(body)) is not moves
    avoid_overlap(bpy.context, body)
    assert ((floor_position(body) - cube.location.to_2d()).length >= 0.5 * (size + rest_size(body)) - 1e-3) is moves


def test_only_an_unchanged_cube_is_the_startup_cube(registered: None) -> None:
    """Blender's own cube is recognised; a moved, edited or other one is the user's."""
    bpy.ops.wm.read_factory_settings(use_empty=False)
    cube = bpy.data.objects["Cube"]
    assert is_startup_cube(cube)
    assert not is_startup_cube(bpy.data.objects["Light"])
    cube.location.x = 0.5
    bpy.context.view_layer.update()
    assert not is_startup_cube(cube)
    cube.location.x = 0.0
    bpy.context.view_layer.update()
    cube.modifiers.new("Bevel", "BEVEL")
    assert not is_startup_cube(cube)
