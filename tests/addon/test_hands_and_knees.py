"""Hands and knees have contact strips of their own: stated, keyed, read and written as the feet's are."""

from __future__ import annotations

import tempfile
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon import action, armature
from addon.authoring import keying as author
from addon.authoring import timeline
from addon.live import check_colours as marks
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
    """A person's armature on hands and knees for a second, and the rig."""
    rig = with_patches(person, ["hands", "knees"])
    motion = still(rig, posture(rig, places(rig, 0.55, 0.46)), np.linspace(0.0, 1.0, 101))
    body = build(rig)
    action.set_frame_rate(bpy.context.scene, RATE)
    action.add_motion_action(bpy.context.scene, body, scene_motion(rig, motion), "still")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(motion)
    return body, rig


def test_strips_of_hands_and_knees_are_keyed_as_the_feet_s(registered: None, person: Rig, tmp_path: Path) -> None:
    """Four patches from the start, one hand off from the middle on: strips, file and solver say the same."""
    body, rig = crawling(person)
    scene = bpy.context.scene
    for frame, lifted in ((1, ()), (51, ("left_palm",))):
        scene.frame_set(frame)
        author.key_contacts(scene, body, set(PATCHES) - set(lifted))
    sampled = timeline.sample_timeline(scene, body)
    told = {(strip.patch, round(strip.start, 6), round(strip.stop, 6)) for strip in sampled.strips}
    assert told == {(name, 0.0, 0.5 if name == "left_palm" else 1.0) for name in PATCHES}
    again = TIMELINE.read(TIMELINE.write(tmp_path / "timeline.npz", sampled))
    assert {(s.patch, s.start, s.stop) for s in timeline_strips(again, rig, 0.0, 1.0)} == {
        (s.patch, s.start, s.stop) for s in sampled.strips
    }
    author.key_strips(scene, body, again.strips)
    assert timeline.sample_timeline(scene, body).strips == sampled.strips


def test_a_hand_that_is_not_keyed_does_not_stand(registered: None, person: Rig) -> None:
    """Palms and knees lie on the floor, and still only feet are taken to stand where nobody keyed anything."""
    body, rig = crawling(person)
    low = {strip.patch for strip in timeline.sample_timeline(bpy.context.scene, body).strips}
    assert low <= {sole.name for sole in rig.soles}


def test_the_panel_s_buttons_add_and_take_hands(registered: None, person: Rig) -> None:
    """All is all soles; a hand comes on besides them and goes again."""
    body, rig = crawling(person)
    scene = bpy.context.scene
    bpy.context.view_layer.objects.active = body
    soles = {sole.name for sole in rig.soles}
    assert bpy.ops.exciting_dance.contact(standing="all") == {"FINISHED"}
    assert author.standing_patches(scene, body) == soles
    assert bpy.ops.exciting_dance.contact(standing="other", patch="right_palm") == {"FINISHED"}
    assert author.standing_patches(scene, body) == soles | {"right_palm"}
    assert bpy.ops.exciting_dance.contact(standing="other", patch="right_palm") == {"FINISHED"}
    assert author.standing_patches(scene, body) == soles


def test_a_person_in_the_scene_is_told_of_hands(
    registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The panel's field writes the patches into the rig on the armature."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert bpy.ops.exciting_dance.import_rig(kind="human") == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    bpy.context.scene.exciting_dance.stated_patches = "hands head=0,0,0.2,0.05,+z"
    assert bpy.ops.exciting_dance.state_rig() == {"FINISHED"}
    assert armature.rig_of(body).patches[2:] == ("right_palm", "left_palm", "head_patch")


def test_states_with_hands_have_words_and_colours(registered: None, person: Rig) -> None:
    """Both feet are called so alone; pairs are named in the plural; nothing on both sides has one side's colour."""
    body, rig = crawling(person)
    sampled = timeline.sample_timeline(bpy.context.scene, body)
    soles = tuple(sole.name for sole in rig.soles)
    strips = [SceneStrip(name, 0.0, 1.0) for name in soles]
    strips += [SceneStrip(name, 0.5, 1.0) for name in ("right_palm", "left_palm")]
    strips.append(SceneStrip("right_knee", 0.75, 1.0))
    from dataclasses import replace

    found = contact_states(replace(sampled, strips=tuple(strips)), soles)
    assert [marks.contact_labels(each.state) for each in found] == [
        ("both feet", "both"), ("soles + palms", "4"), ("soles + palms + right knee", "5"),
    ]  # fmt: skip
    assert marks.contact_colour(found[1].state) == marks.CONTACT_COLOURS[""]
    assert marks.contact_colour("right_palm + right_knee") == marks.CONTACT_COLOURS["right"]
    sides = {"right_sole": "right", "left_sole": "left", "right_palm": ""}
    assert describe_stance(("right_sole", "left_sole"), sides) == "both feet"
    assert describe_stance(("right_sole", "left_sole", "right_palm"), sides) == "right sole, left sole, right palm"
