"""Contact strips of hands and knees are defined, keyed, read and written like those of feet."""

from __future__ import annotations

import tempfile
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon import action, armature
from addon.authoring import keying, timeline
from addon.live import check_colours
from addon.live.check_results import contact_states
from addon.rehearsal.captions import describe_stance
from addon.solver_api import SceneStrip
from solver.dance.authoring.timeline import timeline_strips
from solver.rig import Rig
from solver.rigs.contact_patches import with_patches
from solver.scene.motion import scene_motion
from solver.scene.timeline import TIMELINE
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
        keying.key_contacts(scene, body, set(PATCHES) - set(lifted))
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
    assert keying.standing_patches(scene, body) == soles
    assert bpy.ops.exciting_dance.contact(standing="other", patch="right_palm") == {"FINISHED"}
    assert keying.standing_patches(scene, body) == soles | {"right_palm"}
    assert bpy.ops.exciting_dance.contact(standing="other", patch="right_palm") == {"FINISHED"}
    assert keying.standing_patches(scene, body) == soles


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


def test_contact_states_with_hands_have_labels_and_colours(registered: None, person: Rig) -> None:
    """Only the two soles are called "both feet"; pairs are named in the plural; pairs have no side's colour."""
    body, rig = crawling(person)
    sampled = timeline.sample_timeline(bpy.context.scene, body)
    soles = tuple(sole.name for sole in rig.soles)
    strips = [SceneStrip(name, 0.0, 1.0) for name in soles]
    strips += [SceneStrip(name, 0.5, 1.0) for name in ("right_palm", "left_palm")]
    strips.append(SceneStrip("right_knee", 0.75, 1.0))
    from dataclasses import replace

    found = contact_states(replace(sampled, strips=tuple(strips)), soles)
    assert [check_colours.contact_labels(each.state) for each in found] == [
        ("both feet", "both"), ("soles + palms", "4"), ("soles + palms + right knee", "5"),
    ]  # fmt: skip
    assert check_colours.contact_colour(found[1].state) == check_colours.CONTACT_COLOURS[""]
    assert check_colours.contact_colour("right_palm + right_knee") == check_colours.CONTACT_COLOURS["right"]
    sides = {"right_sole": "right", "left_sole": "left", "right_palm": ""}
    assert describe_stance(("right_sole", "left_sole"), sides) == "both feet"
    assert describe_stance(("right_sole", "left_sole", "right_palm"), sides) == "right sole, left sole, right palm"
