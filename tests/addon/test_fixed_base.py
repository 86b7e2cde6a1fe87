"""Fixed-base arms: adding one, designing its motion at any mounting angle, undo."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.authoring import timeline
from addon.base.bpy_access import require
from addon.base.solver_api import MOTION
from addon.fixed_base.operators import mount_angles
from addon.fixed_base.properties import fixed_base_settings
from addon.jobs.job import CurrentJob, Job
from addon.jobs.job_messages import find_message
from solver.cli import OK, main
from tests.addon.scenes import fingerprint
from tests.fixed_base.arm import arm_text

SECONDS = 1.0


@pytest.fixture
def body(own: Path, tmp_path: Path) -> bpy.types.Object:
    """An arm that was added from its file by the button."""
    path = tmp_path / "arm.urdf"
    path.write_text(arm_text(), encoding="utf-8")
    assert bpy.ops.exciting_dance.import_rig(filepath=str(path)) == {"FINISHED"}
    fixed_base_settings(bpy.context.scene).seconds = SECONDS
    return require(bpy.context.view_layer.objects.active, "arm")


def test_motion_of_a_tilted_arm_uses_its_mounting_angle(body: bpy.types.Object, own: Path, tmp_path: Path) -> None:
    """The motion equals the command line's with the object's rotation as mounting angles; the root does not move.

    The job's folder is removed.
    """
    scene, found = bpy.context.scene, tmp_path / "found"
    body.location, body.rotation_euler = (1.0, 2.0, 0.5), (0.0, math.radians(60.0), math.radians(30.0))
    bpy.context.view_layer.update()
    settings = fixed_base_settings(scene)
    settings.output, settings.held, settings.seed = str(found), "rod", 2
    assert bpy.ops.exciting_dance.excite() == {"FINISHED"}
    words = ["--mount", "0", "60", "30", "--lock", "rod", "--seconds", "1", "--seed", "2", "--progress", "none"]
    assert main(["excite", str(found / "rig.json"), *words, "--output", str(tmp_path / "again")]) == OK
    wanted = MOTION.read(tmp_path / "again" / "exciting.motion.npz").scene
    got = timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body))
    assert got.times[-1] == pytest.approx(SECONDS, abs=0.5 / scene.render.fps)
    near = np.abs(got.times[:, None] - wanted.times).argmin(axis=1)
    same = np.abs(wanted.times[near] - got.times) < 1e-6
    assert same.sum() > 3
    turns = np.abs((got.rotations[same] * wanted.rotations[near][same]).sum(axis=2))
    np.testing.assert_allclose(turns, 1.0, atol=1e-5)
    np.testing.assert_allclose(got.root, np.tile(np.array(body.location), (len(got.root), 1)), atol=1e-5)
    assert np.degrees(mount_angles(body)) == pytest.approx([0.0, 60.0, 30.0], abs=1e-3)
    said = find_message(scene, body, "fixed_base")
    assert "3 joints: condition number" in said.message
    assert str(found) in said.notes
    assert list(own.iterdir()) == []


def test_designed_motion_is_one_undo_step(body: bpy.types.Object) -> None:
    """Undo restores the arm's earlier keys."""
    name = body.name
    body.keyframe_insert("location", frame=1)
    old = body.animation_data.action.name
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.exciting_dance.excite() == {"FINISHED"}
    assert body.animation_data.action.name == "Exciting motion"
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].animation_data.action.name == old


def test_unknown_link_is_one_error_without_changes(body: bpy.types.Object, own: Path) -> None:
    """An unknown link is reported with the existing ones, and no folder is left."""
    before = fingerprint()
    fixed_base_settings(bpy.context.scene).held = "tail"
    with pytest.raises(RuntimeError, match=r"unknown name 'tail'.*turret") as caught:
        bpy.ops.exciting_dance.excite()
    assert len(str(caught.value).strip().splitlines()) == 1
    assert fingerprint() == before
    assert list(own.iterdir()) == []


def test_a_cancelled_search_changes_nothing(body: bpy.types.Object, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled search ends, reports it, and leaves the scene unchanged."""
    before = fingerprint()
    fixed_base_settings(bpy.context.scene).seconds = 60.0
    wait = Job.wait

    def cancelled(job: Job, look: object) -> None:
        assert CurrentJob.job is job
        assert bpy.ops.exciting_dance.cancel() == {"FINISHED"}
        wait(job)

    monkeypatch.setattr(Job, "wait", cancelled)
    assert bpy.ops.exciting_dance.excite() == {"CANCELLED"}
    assert fingerprint() == before
    assert list(own.iterdir()) == []


def test_panel_is_shown_for_rigs_without_feet(body: bpy.types.Object, own: Path) -> None:
    """The panel is hidden for rigs with feet and without a rig."""
    panel = bpy.types.EXCITING_DANCE_PT_fixed_base
    assert panel.poll(bpy.context)
    assert bpy.ops.exciting_dance.import_rig(kind="hoap3") == {"FINISHED"}
    assert not panel.poll(bpy.context)


def test_import_note_names_the_button(body: bpy.types.Object) -> None:
    """The import's note refers to the panel, not to the command line."""
    notes = find_message(bpy.context.scene, body, "rig").notes
    assert "python -m" not in notes
