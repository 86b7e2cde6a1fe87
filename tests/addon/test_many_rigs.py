"""Rigs that are linked, scaled, held by their own limits, or not alone: each is told what is meant for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon import armature, inertials, registration
from addon.authoring import author, marks, timeline
from addon.told import Said, forget, tell, told
from solver.errors import InvalidValue
from solver.rigs import hoap3
from solver.scene.summary import SceneFailure, SceneSummary
from tests.addon.scenes import build
from tests.addon.test_dance_jobs import posed

HINGE = "left_upper_arm"


@pytest.fixture
def body(empty_scene: None) -> Iterator[bpy.types.Object]:
    """HOAP-3 with masses, in two postures, the second with an arm beyond its limit."""
    registration.register()
    made = build(hoap3())
    inertials.write_prior(made)
    posed(made, 0.0, 1)
    posed(made, 3.1, 20)
    yield made
    registration.unregister()


def test_own_limits_are_seen_without_stepping(body: bpy.types.Object) -> None:
    """With its limits on, a rig's timeline is sampled from its curves, and says what the view shows."""
    scene = bpy.context.scene
    free = timeline.sample(scene, body, 1, 20)
    armature.enforce_limits(body, True)
    assert not timeline.steps_needed(body)
    held = timeline.sample(scene, body, 1, 20)
    assert np.abs(held.rotations - free.rotations).max() > 0.05
    for frame in (5, 12, 20):
        scene.frame_set(frame)
        shown = timeline.posture(bpy.context, body).rotations[0]
        assert np.abs((held.rotations[frame - 1] * shown).sum(axis=1)) == pytest.approx(1.0, abs=1e-6)
    bone = body.pose.bones[HINGE]
    bone.constraints.new("LIMIT_ROTATION").name = "another"
    assert timeline.steps_needed(body)


@pytest.mark.parametrize("of_parent", [False, True])
def test_a_scaled_rig_is_refused_by_name(body: bpy.types.Object, of_parent: bool) -> None:
    """Links of another length than the rig's are no slipping feet: the scale is named, with its remedy."""
    scaled = body
    if of_parent:
        scaled = bpy.data.objects.new("Parent", None)
        bpy.context.scene.collection.objects.link(scaled)
        body.parent = scaled
    scaled.scale = (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    with pytest.raises(InvalidValue, match=r"scaled by 1\.2.*Clear > Scale"):
        timeline.sample(bpy.context.scene, body, 1, 20)
    with pytest.raises(InvalidValue, match="scaled"):
        timeline.posture(bpy.context, body)


def test_a_linked_rig_says_so(body: bpy.types.Object, tmp_path: Path) -> None:
    """No button that would write to a linked rig can be pressed; nothing is half done."""
    path = str(tmp_path / "lib.blend")
    bpy.data.libraries.write(path, {body})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, here):  # type: ignore[func-returns-value]
        here.objects = [name for name in there.objects if name == body_name(there)]
    linked = here.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    assert armature.rig_in(bpy.context) == linked
    assert "lib.blend" in armature.linked(linked)
    for name in ("key_posture", "set_role", "contact", "legend", "ellipsoids", "colour", "limits", "check_dance"):
        assert not getattr(bpy.ops.exciting_dance, name).poll(), name


def body_name(there: object) -> str:
    """The armature among a library's objects."""
    return next(name for name in there.objects if name.startswith("HOAP"))  # type: ignore[attr-defined]


def test_an_overridden_rig_is_keyed(body: bpy.types.Object, tmp_path: Path) -> None:
    """A library override can be animated, and its linked bones are still not written to."""
    path = str(tmp_path / "lib.blend")
    bpy.data.libraries.write(path, {body})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, here):  # type: ignore[func-returns-value]
        here.objects = [body_name(there)]
    own = here.objects[0].override_create()
    bpy.context.scene.collection.objects.link(own)
    bpy.context.view_layer.objects.active = own
    own.animation_data_create().action = None
    assert bpy.ops.exciting_dance.key_posture.poll()
    author.key_posture(bpy.context.scene, own, "fixed")
    assert list(timeline.key_roles(own).values()) == ["fixed"]
    assert not bpy.ops.exciting_dance.legend.poll()


def test_what_was_said_belongs_to_its_rig(body: bpy.types.Object) -> None:
    """Of two rigs each has its own verdict and marks; a check of one leaves the other's, and renaming loses none."""
    scene, other = bpy.context.scene, build(hoap3())
    failure = SceneFailure("zmp", "support", "m", -0.1, 0.5, "the ZMP is 10 cm outside")
    summary = SceneSummary("check", "failed", False, "it fails", failures=(failure,))
    for rig in (body, other):
        marks.mark_failures(scene, rig, summary)
        tell(scene, rig, "dance", Said(f"of {rig.name}", "bad"))
    assert told(scene, body, "dance").message != told(scene, other, "dance").message
    assert all(body.name in marker.name for marker in marks.marks_of(scene, body))
    marks.clear_marks(scene, body)
    assert marks.marks_of(scene, body) == []
    assert len(marks.marks_of(scene, other)) == 1
    forget(scene, body, "dance")
    assert told(scene, body, "dance") is None
    other.name = "renamed"
    assert told(scene, other, "dance").verdict == "bad"
    bpy.data.objects.remove(other)
    assert len(marks.marks_of(scene, body)) == 1  # of a rig that is gone: the next check clears it
