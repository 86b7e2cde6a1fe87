"""Broken scenes and jobs in short: the same catalogue as ``python -m benchmarks faults``, a few of its calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

from addon import (  # noqa: E402
    armature,
    custom_properties,
    inertials,
    registration,
)
from addon.solver_api import errors  # noqa: E402
from benchmarks.faults import broken_jobs, broken_scenes, dancing_scene, scene_calls  # noqa: E402
from benchmarks.faults.dancing_scene import Stage  # noqa: E402

BUTTONS = ("key_posture", "colour", "check_dance", "open_study", "live")


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
