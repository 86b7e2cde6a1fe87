"""Any armature's motion can be recorded and tracked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from addon.base.bpy_access import run_at_once
from addon.jobs.job import CurrentJob, JobOperator
from addon.scene.recording import record_segments
from solver.formats.recording import read_recording
from solver.rigs import human
from solver.tracking.bone_mapping import guess_mapping
from tests.formats.skeletons import LAFAN1


def dancer() -> bpy.types.Object:
    """An armature with common bone names, whose left upper leg swings."""
    data = bpy.data.armatures.new("dancer")
    body = bpy.data.objects.new("dancer", data)
    bpy.context.scene.collection.objects.link(body)
    bpy.context.view_layer.objects.active = body
    bpy.ops.object.mode_set(mode="EDIT")
    heads: dict[str, np.ndarray] = {}
    for name, parent in LAFAN1.parents.items():
        heads[name] = np.array(LAFAN1.offsets[name]) + (0.0 if parent is None else heads[parent])
    for name, parent in LAFAN1.parents.items():
        below = [heads[child] for child, above in LAFAN1.parents.items() if above == name]
        bone = data.edit_bones.new(name)
        tail = np.mean(below, axis=0) if below else heads[name] + LAFAN1.ends.get(name, (0.1, 0.0, 0.0))
        bone.head, bone.tail = heads[name].tolist(), tail.tolist()
        if parent is not None:
            bone.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    leg = body.pose.bones["LeftUpLeg"]
    leg.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (11, 0.6)):
        leg.rotation_euler = (angle, 0.0, 0.0)
        leg.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    return body


def test_evaluated_bones_are_recorded(registered: None, tmp_path: Path) -> None:
    """The file has every frame of every bone, the rig's links are recognised, and the scene's frame is restored."""
    body = dancer()
    bpy.context.scene.frame_set(4)
    path = tmp_path / "dancer.npz"
    assert bpy.ops.exciting_dance.take_armature(filepath=str(path)) == {"FINISHED"}
    assert bpy.context.scene.frame_current == 4
    assert [item.path for item in bpy.context.scene.exciting_dance.files] == [str(path)]
    found = read_recording(path).segments
    assert len(found) == 11
    leg = found.names.index("LeftUpLeg")
    turned = found.rotations[-1, leg] @ found.rest.rotations[leg].T
    assert np.arccos((np.trace(turned) - 1.0) / 2.0) == pytest.approx(0.6, abs=1e-5)
    np.testing.assert_allclose(found.rotations[0, leg], found.rest.rotations[leg], atol=1e-6)
    mapping = guess_mapping(found, human(1.75, 70.0, "male"))
    assert dict(zip(mapping.segments, mapping.links)) == LAFAN1.links
    assert run_at_once(record_segments(body, bpy.context.scene)).rate == pytest.approx(bpy.context.scene.render.fps)


def test_range_and_step_are_the_scenes(registered: None) -> None:
    """The preview range and the frame step choose the frames; their times stay."""
    body, scene = dancer(), bpy.context.scene
    every = run_at_once(record_segments(body, bpy.context.scene))
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end, scene.frame_step = True, 3, 10, 2
    found = run_at_once(record_segments(body, bpy.context.scene))
    np.testing.assert_allclose(found.times * scene.render.fps, (2.0, 4.0, 6.0, 8.0))
    np.testing.assert_array_equal(found.rotations, every.rotations[2:10:2])


def remove_head(body: bpy.types.Object) -> None:
    """Remove a bone."""
    bpy.ops.object.mode_set(mode="EDIT")
    body.data.edit_bones.remove(body.data.edit_bones["Head"])
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize(
    ("interrupt", "said"),
    [
        (lambda _: bpy.ops.exciting_dance.cancel(), "CANCELLED"),
        (lambda body: bpy.data.objects.remove(body), "was deleted"),
        (remove_head, "changed"),
    ],
)
def test_an_interrupted_recording_changes_nothing(
    registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupt: Any, said: str
) -> None:
    """Many frames are recorded in steps, as the running job: cancelled, or with the armature or a bone removed in the
    meantime, it ends at once, nothing is written, and the frame stays."""
    body, scene, advance = dancer(), bpy.context.scene, JobOperator._advance
    scene.use_preview_range, scene.frame_preview_end = True, 100_000
    scene.frame_set(4)
    monkeypatch.setattr(JobOperator, "_advance", lambda job: advance(job) and (interrupt(body), advance(job))[1])
    try:
        answer = str(bpy.ops.exciting_dance.take_armature(filepath=str(tmp_path / "long.npz")))
    except RuntimeError as error:
        answer = str(error)
    assert said in answer
    assert (scene.frame_current, CurrentJob.job, list(tmp_path.iterdir())) == (4, None, [])


def test_recording_needs_an_armature(registered: None) -> None:
    """The button is disabled if no armature is selected."""
    assert not bpy.ops.exciting_dance.take_armature.poll()
