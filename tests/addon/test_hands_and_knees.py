"""Contact strips of hands and knees are defined, keyed, read and written like those of feet."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.authoring import keying, timeline
from addon.base.solver_api import SceneStrip
from addon.live import check_colours, timeline_overlays
from addon.rehearsal.captions import describe_stance
from addon.scene import action, armature
from solver.dance.authoring.timeline import timeline_strips
from solver.rigs.contact_patches import with_patches
from solver.scene.motion import scene_motion
from solver.scene.timeline import TIMELINE
from solver.skeleton.rig import Rig
from tests.addon.scenes import build
from tests.on_all_fours import PATCHES, places, posture, still

RATE = 100.0


def crawling(person: Rig) -> tuple[bpy.types.Object, Rig]:
    """The armature of a person on hands and knees for one second, and its rig."""
    rig = with_patches(person, ["hands", "knees"])
    motion = still(rig, posture(rig, places(rig, 0.55, 0.46)), np.linspace(0.0, 1.0, 101))
    body = build(rig)
    action.set_frame_rate(bpy.context.scene, RATE)
    action.add_motion_action(bpy.context.scene, body, scene_motion(rig, motion), "still")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(motion)
    return body, rig


def test_strips_of_hands_and_knees_are_keyed_like_those_of_feet(registered: None, person: Rig, tmp_path: Path) -> None:
    """With four patches in contact and one hand lifted halfway, keys, file and solver have the same strips."""
    body, rig = crawling(person)
    scene = bpy.context.scene
    for frame, lifted in ((1, ()), (51, ("left_palm",))):
        scene.frame_set(frame)
        keying.key_contacts(scene, body, dict.fromkeys(set(PATCHES) - set(lifted), "sole"))
    sampled = timeline.sample_timeline(scene, body)
    found = {(strip.patch, round(strip.start, 6), round(strip.stop, 6)) for strip in sampled.strips}
    assert found == {(name, 0.0, 0.5 if name == "left_palm" else 1.0) for name in PATCHES}
    again = TIMELINE.read(TIMELINE.write(tmp_path / "timeline.npz", sampled))
    assert {(s.patch, s.start, s.stop) for s in timeline_strips(again, rig, 0.0, 1.0)} == {
        (s.patch, s.start, s.stop) for s in sampled.strips
    }
    keying.key_strips(scene, body, again.strips)
    assert timeline.sample_timeline(scene, body).strips == sampled.strips


def test_unkeyed_hand_has_no_contact(registered: None, person: Rig) -> None:
    """Palms and knees on the floor have no contact without keys; only soles have."""
    body, rig = crawling(person)
    low = {strip.patch for strip in timeline.sample_timeline(bpy.context.scene, body).strips}
    assert low <= {sole.name for sole in rig.soles}


def test_buttons_toggle_contacts_of_hands(registered: None, person: Rig) -> None:
    """All sets the contacts of all soles; a hand's button adds and removes its contact."""
    body, rig = crawling(person)
    scene = bpy.context.scene
    bpy.context.view_layer.objects.active = body
    soles = {sole.name for sole in rig.soles}
    assert bpy.ops.exciting_dance.contact(standing="all") == {"FINISHED"}
    assert set(keying.standing_patches(scene, body)) == soles
    assert bpy.ops.exciting_dance.contact(standing="other", patch="right_palm") == {"FINISHED"}
    assert set(keying.standing_patches(scene, body)) == soles | {"right_palm"}
    assert bpy.ops.exciting_dance.contact(standing="other", patch="right_palm") == {"FINISHED"}
    assert set(keying.standing_patches(scene, body)) == soles


def test_hands_are_added_to_a_rig_in_the_scene(
    registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The panel's field writes the patches to the rig of the armature."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert bpy.ops.exciting_dance.import_rig(kind="human") == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    bpy.context.scene.exciting_dance.stated_patches = "hands head=0,0,0.2,0.05,+z"
    assert bpy.ops.exciting_dance.state_rig() == {"FINISHED"}
    assert armature.rig_of(body).patches[2:] == ("right_palm", "left_palm", "head_patch")


def test_strips_have_a_row_for_each_patch_and_a_label(registered: None, person: Rig) -> None:
    """Soles always have a row, other patches where they have strips; labels name patch and part."""
    body, rig = crawling(person)
    sampled = timeline.sample_timeline(bpy.context.scene, body)
    strips = (SceneStrip("right_palm", 0.5, 1.0), SceneStrip("right_sole", 0.0, 1.0, "ball"))
    rows = timeline_overlays.strip_rows(replace(sampled, strips=strips))
    assert rows == {**{sole.name: k for k, sole in enumerate(rig.soles)}, "right_palm": len(rig.soles)}
    assert check_colours.strip_labels(strips[1]) == ("right sole toe", "R toe", "T")
    sides = {"right_sole": "right", "left_sole": "left", "right_palm": ""}
    assert describe_stance(("right_sole", "left_sole"), sides) == "both feet"
    assert describe_stance(("right_sole", "left_sole", "right_palm"), sides) == "right sole, left sole, right palm"
