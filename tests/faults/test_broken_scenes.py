"""Broken scenes and jobs in short: the same catalogue as ``python -m benchmarks faults``, a few of its calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

from addon import registration  # noqa: E402
from addon.authoring import timeline  # noqa: E402
from addon.base import custom_properties  # noqa: E402
from addon.base.solver_api import errors  # noqa: E402
from addon.scene import armature, inertials  # noqa: E402
from benchmarks.faults import broken_jobs, broken_scenes, dancing_scene, scene_calls  # noqa: E402
from benchmarks.faults.dancing_scene import Stage  # noqa: E402

BUTTONS = ("key_posture", "ellipsoids", "check_dance", "open_study", "live")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A whole scene with all that the add-on keeps in one."""
    yield dancing_scene.make_stage(tmp_path_factory.mktemp("stage"))
    dancing_scene.run_verb("")
    registration.unregister()


@pytest.mark.parametrize("name", ["a bone renamed", "custom properties: three numbers"])
def test_a_broken_scene_is_reported_and_unchanged(stage: Stage, name: str) -> None:
    """No call ends in a traceback, and what is refused changes nothing."""

    def open_scene() -> None:
        broken_scenes.open_broken(stage.scene, name)
        dancing_scene.run_verb(stage.stand_in)

    found = list(scene_calls.call_everything(open_scene, stage, only=BUTTONS))
    assert [(one.call, one.tracebacks) for one in found if one.tracebacks] == []
    assert [(one.call, one.changed) for one in found if one.changed] == []
    assert any(one.refused for one in found)


@pytest.mark.parametrize("name", ["a bone renamed", "a bone deleted", "a bone with another parent", "in edit mode"])
def test_a_faulty_rig_is_reported_with_a_remedy(stage: Stage, name: str) -> None:
    """The button's refusal names the rig, the bone, and what to do."""
    broken_scenes.open_broken(stage.scene, name)
    body = broken_scenes.find_rig()
    words = armature.rig_problem(body)
    assert body.name in words
    assert ("left_upper_arm" in words) == (name != "in edit mode")
    assert "Add Rig" in words or "Tab" in words
    with pytest.raises(RuntimeError, match=r"left_upper_arm|edit mode"):
        bpy.ops.exciting_dance.key_posture()


def test_a_pose_of_a_rig_with_a_moved_bone_is_refused(stage: Stage) -> None:
    """A body of other lengths than its rig's is refused where its pose is read, not weighed silently."""
    broken_scenes.open_broken(stage.scene, "whole")
    body = broken_scenes.find_rig()
    rig = armature.rig_of(body)
    broken_scenes.edit_bones(body, lambda bones: bones["left_upper_arm"].translate(bones["left_upper_arm"].vector))
    with pytest.raises(errors.InvalidValue, match="moved by"):
        armature.bone_axes(body, rig)


@pytest.mark.parametrize("value", [7, float("nan"), "words", b"\xff", [1.0, float("inf"), 0.0], {"a": 1}, True])
def test_an_invalid_mass_is_named(stage: Stage, value: object) -> None:
    """Garbage in a bone's property is an error that names the property and the bone; a number is a number."""
    broken_scenes.open_broken(stage.scene, "whole")
    body = broken_scenes.find_rig()
    body.data.bones["left_upper_arm"]["mass"] = value
    if value == 7:
        assert inertials.read_inertials(body).parameters.masses[armature.rig_of(body).index("left_upper_arm")] == 7.0
        return
    with pytest.raises(errors.InvalidValue, match=r"'mass' of 'left_upper_arm' is damaged .*: undo the edit"):
        inertials.rig_with_inertials(body)


def test_deep_nesting_is_refused(stage: Stage) -> None:
    """Deeply nested JSON is refused like any other damage."""
    scene = bpy.context.scene
    for words in ("[" * 100_000, "[1]", '{"a": '):
        scene["words"] = words
        with pytest.raises(errors.InvalidValue, match="'words'"):
            custom_properties.read_object(scene, "words")


@pytest.mark.parametrize("name", ["half a result", "a bone renamed", "the rig deleted while it is identified"])
def test_a_broken_job_is_one_message(stage: Stage, name: str) -> None:
    """The panel shows a sentence, the scene is as before unless the result stands alone, and the next job works."""
    (outcome,) = broken_jobs.outcomes(stage, (name,))
    assert outcome.tracebacks == []
    assert outcome.changed == []


@pytest.mark.parametrize(
    "name",
    [
        *("an override of a linked rig", "an override of a linked rig and its armature"),
        *("an override that is not editable", "the action linked from a file"),
    ],
)
def test_keys_of_an_override_last(stage: Stage, name: str, tmp_path: Path) -> None:
    """A posture and contacts are keyed in an action of this file, and are still there when it is opened again."""
    broken_scenes.open_broken(stage.scene, name)
    bpy.context.scene.frame_set(15)
    assert bpy.ops.exciting_dance.key_posture(role="fixed") == {"FINISHED"}
    assert bpy.ops.exciting_dance.contact(standing="none") == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    body = bpy.context.view_layer.objects.active
    assert body.animation_data.action.library is None
    assert timeline.read_key_roles(body)[15.0] == "fixed"
    assert all(curve.evaluate(15.0) == 0.0 for curve in timeline.contact_curves(body).values())


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("the rig linked from a file", "make a library override"),
        ("an instance of a linked collection", "make a library override"),
        ("the rig's collection excluded", "is hidden: show it"),
        ("the rig in another scene", "Add a rig first"),
    ],
)
def test_a_rig_that_cannot_be_keyed_is_refused_with_a_remedy(stage: Stage, name: str, remedy: str) -> None:
    """Every button that needs the rig says why it is grey."""
    broken_scenes.open_broken(stage.scene, name)
    for button in ("key_posture", "contact", "check_dance", "balance_dance", "ellipsoids", "limits", "trial", "live"):
        with pytest.raises(RuntimeError, match=remedy):
            getattr(bpy.ops.exciting_dance, button)()


def test_hidden_and_several_rigs_are_named(stage: Stage) -> None:
    """Without an active rig the reason says whether one is hidden or one must be chosen."""
    broken_scenes.open_broken(stage.scene, "whole")
    body = broken_scenes.find_rig()
    bpy.context.view_layer.objects.active = None
    body.hide_set(True)
    with pytest.raises(RuntimeError, match="is hidden: show it"):
        bpy.ops.exciting_dance.key_posture()
    body.hide_set(False)
    bpy.context.scene.collection.objects.link(body.copy())
    with pytest.raises(RuntimeError, match="has 2 rigs: select one"):
        bpy.ops.exciting_dance.key_posture()


def test_an_unknown_trial_is_refused(stage: Stage) -> None:
    """A trial that the file does not have is an error, and the rig plays on."""
    broken_scenes.open_broken(stage.scene, "whole")
    body = broken_scenes.find_rig()
    before = body.animation_data.action
    with pytest.raises(RuntimeError, match="has no trial 'run'"):
        bpy.ops.exciting_dance.trial(name="run")
    assert body.animation_data.action == before


@pytest.mark.parametrize("button", ["open_study", "track", "identify"])
def test_results_are_not_put_on_a_scaled_rig(stage: Stage, button: str) -> None:
    """Results of a rig that is scaled to nothing are shown on a new rig beside it, which has the rig's lengths."""
    broken_scenes.open_broken(stage.scene, "scaled to nothing")
    dancing_scene.run_verb(stage.stand_in)
    bpy.context.view_layer.update()
    before = set(bpy.data.armatures)
    options = {"directory": str(stage.study)} if button == "open_study" else {}
    assert getattr(bpy.ops.exciting_dance, button)(**options) == {"FINISHED"}
    assert len(set(bpy.data.armatures) - before) == 1
    assert armature.scale_problem(bpy.context.view_layer.objects.active) == ""
