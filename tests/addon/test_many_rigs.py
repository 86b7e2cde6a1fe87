"""Linked, scaled and constrained rigs, and scenes with several rigs, work or are reported correctly."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from addon.authoring import failure_markers, ghost, timeline
from addon.base import scene_rigs
from addon.jobs.job_messages import dismiss_message, find_latest_message, find_message
from addon.live import overlays as live_overlays
from addon.live.control import withdraw_markers
from addon.scene import action, armature, inertials
from addon.scene.colours import DIVERGING_MAP, colour_body, interpolate_colour, srgb_to_linear
from addon.scene.skin import material_of
from solver.base.errors import InvalidValue
from solver.rigs import hoap3
from tests.addon.live_session import is_withdrawn, judge
from tests.addon.scenes import build
from tests.addon.test_dance_jobs import posed

HINGE = "left_upper_arm"


@pytest.fixture
def body(registered: None) -> bpy.types.Object:
    """HOAP-3 with masses and two postures, the second with an arm beyond its limit."""
    made = build(hoap3())
    inertials.write_prior(made)
    posed(made, 0.0, 1)
    posed(made, 3.1, 20)
    return made


def test_joint_limits_need_no_frame_stepping(body: bpy.types.Object) -> None:
    """With joint limits enabled, the timeline is sampled from curves and equals what Blender shows."""
    scene = bpy.context.scene
    free = timeline.sample_timeline(scene, body, 1, 20)
    armature.enforce_limits(body, True)
    assert not timeline.needs_frame_stepping(body)
    held = timeline.sample_timeline(scene, body, 1, 20)
    assert np.abs(held.rotations - free.rotations).max() > 0.05
    for frame in (5, 12, 20):
        scene.frame_set(frame)
        shown = timeline.sample_posture(bpy.context, body).rotations[0]
        assert np.abs((held.rotations[frame - 1] * shown).sum(axis=1)) == pytest.approx(1.0, abs=1e-6)
    bone = body.pose.bones[HINGE]
    bone.constraints.new("LIMIT_ROTATION").name = "another"
    assert timeline.needs_frame_stepping(body)


@pytest.mark.parametrize("of_parent", [False, True])
def test_scaled_rig_is_reported(body: bpy.types.Object, of_parent: bool) -> None:
    """A scaled rig is reported as such, with a remedy, and not as slipping feet."""
    scaled = body
    if of_parent:
        scaled = bpy.data.objects.new("Parent", None)
        bpy.context.scene.collection.objects.link(scaled)
        body.parent = scaled
    scaled.scale = (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    with pytest.raises(InvalidValue, match=r"scaled by 1\.2.*Clear > Scale"):
        timeline.sample_timeline(bpy.context.scene, body, 1, 20)
    with pytest.raises(InvalidValue, match="scaled"):
        timeline.sample_posture(bpy.context, body)


def test_linked_rig_is_reported(body: bpy.types.Object, tmp_path: Path) -> None:
    """Buttons that would change a linked rig are disabled with a reason."""
    path = str(tmp_path / "lib.blend")
    bpy.data.libraries.write(path, {body})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, here):  # type: ignore[func-returns-value]
        here.objects = [name for name in there.objects if name == body_name(there)]
    linked = here.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    assert scene_rigs.active_rig(bpy.context) == linked
    assert "lib.blend" in armature.library_problem(linked)
    for name in ("key_posture", "set_role", "contact", "ellipsoids", "limits", "check_dance"):
        assert not getattr(bpy.ops.exciting_dance, name).poll(), name


def body_name(there: object) -> str:
    """Name of the armature among a library's objects."""
    return next(name for name in there.objects if name.startswith("HOAP"))  # type: ignore[attr-defined]


@pytest.fixture(params=["its collection", "its armature alone"])
def override(body: bpy.types.Object, tmp_path: Path, request: pytest.FixtureRequest) -> bpy.types.Object:
    """HOAP-3 with two postures and masses, as a library override in a saved file; the active object."""
    colour_body(bpy.context.scene, body, "mass")
    name, whole = body.users_collection[0].name, request.param == "its collection"
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "lib.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "lib.blend"), link=True) as (there, here):  # type: ignore[func-returns-value]
        here.collections = [name] if whole else []
        here.objects = [] if whole else [body_name(there)]
    scene, layer = bpy.context.scene, bpy.context.view_layer
    if whole:
        instance = bpy.data.objects.new("instance", None)
        instance.instance_type, instance.instance_collection = "COLLECTION", here.collections[0]
        scene.collection.objects.link(instance)
        here.collections[0].override_hierarchy_create(scene, layer, reference=instance, do_fully_editable=True)
    else:
        scene.collection.objects.link(here.objects[0].override_create())
    own = scene_rigs.find_rigs(scene)[0]
    assert own.override_library is not None
    assert own.data.library is not None
    assert own.animation_data.action.library is not None
    layer.objects.active = own
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return own


def opened_again() -> bpy.types.Object:
    """The rig after saving and reopening the file."""
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    found = scene_rigs.find_rigs(bpy.context.scene)[0]
    bpy.context.view_layer.objects.active = found
    return found


def test_library_override_can_be_keyed(override: bpy.types.Object) -> None:
    """Postures, roles, contacts and names can be keyed on an override, also after saving; the library is unchanged."""
    scene = bpy.context.scene
    count = len(action.curves_of(override)[0].keyframe_points)
    scene.frame_set(30)
    assert bpy.ops.exciting_dance.key_posture(role="fixed") == {"FINISHED"}
    assert timeline.read_key_roles(override) == {1.0: "preferred", 20.0: "preferred", 30.0: "fixed"}
    assert bpy.ops.exciting_dance.contact(standing="none") == {"FINISHED"}
    scene.frame_set(20)
    assert bpy.ops.exciting_dance.set_role(role="free") == {"FINISHED"}
    scene.exciting_dance_dance.posture_name = "bow"
    assert override.animation_data.action.library is None
    kept = opened_again()
    assert timeline.read_key_roles(kept) == {1.0: "preferred", 20.0: "free", 30.0: "fixed"}
    assert timeline.read_posture_names(kept) == {20: "bow"}
    soles = armature.rig_of(kept).soles
    assert set(timeline.contact_curves(kept)) == {sole.name for sole in soles}
    assert bpy.ops.exciting_dance.contact(standing="all") == {"FINISHED"}
    again = bpy.data.actions.get((linked_name(kept), kept.override_library.reference.library.filepath))
    assert again is not None
    assert {len(curve.keyframe_points) for curve in all_curves(again)} == {count}


@pytest.mark.parametrize(
    "override", ["its collection", pytest.param("its armature alone", marks=pytest.mark.slow)], indirect=True
)
def test_library_override_is_checked_balanced_and_coloured(override: bpy.types.Object) -> None:
    """Check, Balance and Colour work on an override and store their results in this file; for a rig without local
    shapes the message says how to get them.
    """
    scene = bpy.context.scene
    assert bpy.ops.exciting_dance.check_dance() == {"FINISHED"}
    assert find_message(scene, override, "dance").verdict == "bad"  # the arm goes beyond its limit
    assert "linked" in find_message(scene, override, "dance").notes
    assert bpy.ops.exciting_dance.balance_dance() == {"FINISHED"}
    shown = ghost.find_ghost(scene, override)
    assert shown.override_library is None
    before = max_angle(override)
    assert bpy.ops.exciting_dance.apply_ghost() == {"FINISHED"}
    assert max_angle(override) < before - 0.1
    assert bpy.ops.exciting_dance.ellipsoids() == {"FINISHED"}
    scene.exciting_dance.quantity = "change"
    kept = opened_again()
    assert max_angle(kept) < before - 0.1
    for link, shape in armature.shapes_of(kept).items():
        assert material_of(shape, link).library is None
        assert np.allclose(
            material_of(shape, link).diffuse_color,
            srgb_to_linear(interpolate_colour(DIVERGING_MAP, 0.5)),
            atol=1e-6,
        )


def test_remedy_for_linked_bones_works(override: bpy.types.Object) -> None:
    """After following the remedy for linked bones, the operator runs."""
    assert "Make Local > Selected Objects and Data" in armature.rig_problem(override, data=True)
    assert not bpy.ops.exciting_dance.state_rig.poll()
    override.select_set(True)
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    local = scene_rigs.active_rig(bpy.context)
    assert local.data.library is None
    assert armature.rig_problem(local, data=True) == ""
    assert bpy.ops.exciting_dance.state_rig.poll()


def test_locked_channel_is_reported(body: bpy.types.Object) -> None:
    """A posture with locked channels is not keyed at all, and the locked links are named."""
    curve = next(curve for curve in action.curves_of(body) if HINGE in curve.data_path)
    curve.lock = True
    before = timeline.read_key_roles(body)
    bpy.context.scene.frame_set(30)
    with pytest.raises(RuntimeError, match=HINGE):
        bpy.ops.exciting_dance.key_posture()
    assert timeline.read_key_roles(body) == before
    curve.lock = False
    assert bpy.ops.exciting_dance.key_posture() == {"FINISHED"}
    assert 30.0 in timeline.read_key_roles(body)


def linked_name(body: bpy.types.Object) -> str:
    """Name of the action of an override's library."""
    return body.override_library.reference.animation_data.action.name


def all_curves(some: bpy.types.Action) -> list[bpy.types.FCurve]:
    """Curves of an action with one slot."""
    return list(some.layers[0].strips[0].channelbag(some.slots[0]).fcurves)


def max_angle(body: bpy.types.Object) -> float:
    """Largest angle [rad] of the keyed hinge."""
    curve = next(curve for curve in action.curves_of(body) if HINGE in curve.data_path)
    return max(abs(point.co.y) for point in curve.keyframe_points)


def test_a_verdict_returns_with_its_state(body: bpy.types.Object) -> None:
    """A verdict stands again after undo; that of a deleted rig is not shown for another one, and its markers go."""
    name = body.name
    judge(body)
    bpy.ops.ed.undo_push(message="judged")
    action.curves_of(body)[0].keyframe_points.insert(7.0, 0.3)
    bpy.ops.ed.undo_push(message="changed")
    bpy.ops.ed.undo()
    body = bpy.data.objects[name]
    assert not is_withdrawn(body)
    assert find_latest_message(bpy.context.scene, build(hoap3())) is None
    bpy.context.scene.collection.children[0].objects.unlink(body)
    withdraw_markers()
    assert not failure_markers.find_failure_markers(bpy.context.scene, None)


@pytest.mark.parametrize("override", ["its armature alone"], indirect=True)
def test_a_verdict_about_a_reloaded_library_is_withdrawn(override: bpy.types.Object, tmp_path: Path) -> None:
    """If the file of linked bones gets another mass and is reloaded, the verdict and its markers are withdrawn."""
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "lib.blend"))
    scene_rigs.find_rigs(bpy.context.scene)[0].data.bones["right_foot"]["mass"] = 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "heavy.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    body = scene_rigs.find_rigs(bpy.context.scene)[0]
    bpy.context.view_layer.objects.active = body
    judge(body)
    assert not is_withdrawn(body)
    shutil.copy(tmp_path / "heavy.blend", tmp_path / "lib.blend")
    body.data.library.reload()
    assert is_withdrawn(scene_rigs.find_rigs(bpy.context.scene)[0])


def test_messages_belong_to_their_rig(body: bpy.types.Object) -> None:
    """Each of two rigs has its own message and markers; checking or renaming one does not affect the other's."""
    scene, other = bpy.context.scene, build(hoap3())
    for rig in (body, other):
        judge(rig)
    assert all(body.name in marker.name for marker in failure_markers.find_failure_markers(scene, body))
    failure_markers.clear_failure_markers(scene, body)
    assert failure_markers.find_failure_markers(scene, body) == []
    assert len(failure_markers.find_failure_markers(scene, other)) == 1
    dismiss_message(scene, body, "dance")
    assert find_message(scene, body, "dance") is None
    other.name = "renamed"
    assert find_message(scene, other, "dance").verdict == "bad"
    bpy.data.objects.remove(other)
    # the next check removes the markers of deleted rigs
    assert len(failure_markers.find_failure_markers(scene, body)) == 1


def test_the_live_check_names_its_rig_among_several(body: bpy.types.Object) -> None:
    """Its text starts with the rig's name as soon as there is another one."""

    def first_row(problem: str) -> str:
        session: Any = SimpleNamespace(problem=problem, results=None)
        name = live_overlays.name_among_rigs(bpy.context.scene, body)
        return live_overlays.readout_rows(session, name, None, fresh=True)[0][0]

    assert (first_row(""), first_row("it ended")) == ("Starting", "it ended")
    build(hoap3())
    assert (first_row(""), first_row("it ended")) == (f"{body.name}: Starting", f"{body.name}: it ended")
