"""The cache of keyed postures is always up to date, and redrawing does not read all keys."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import bpy
import pytest

from addon.authoring import keying, timeline
from addon.authoring.posture_cache import PostureCache, continue_count, summarise_postures
from benchmarks.panel import build_dancing_scene, redraw_once
from solver.rigs import hoap3
from tests.addon.scenes import build
from tests.addon.test_dance_jobs import posed


@pytest.fixture
def body(registered: None) -> bpy.types.Object:
    """HOAP-3 with three postures."""
    made = build(hoap3())
    for frame in (1, 10, 20):
        posed(made, 0.1, frame)
    bpy.context.view_layer.update()
    return made


def test_cache_follows_every_edit(body: bpy.types.Object) -> None:
    """After every kind of edit, including undo, the postures are counted again."""
    scene = bpy.context.scene
    bpy.ops.ed.undo_push(message="before")

    def checked() -> dict[float, str]:
        bpy.context.view_layer.update()
        assert dict(summarise_postures(body).roles) == timeline.read_key_roles(body)
        return dict(summarise_postures(body).roles)

    before = checked()
    assert list(before) == [1.0, 10.0, 20.0]
    keying.set_role(body, "fixed", frame=10.0)
    assert checked()[10.0] == "fixed"
    for curve in timeline.pose_curves(body):
        curve.keyframe_points[1].co.x = 12.0
    assert 12.0 in checked()
    posed(body, 0.2, 30)
    assert 30.0 in checked()
    body.animation_data.action = None
    assert checked() == {}
    scene.frame_set(5)
    keying.key_posture(scene, body, "free")
    assert body.animation_data.action.name.startswith(f"{body.name} dance")
    assert summarise_postures(body).counts == {"fixed": 0, "preferred": 0, "free": 1}
    assert (summarise_postures(body).role_at(5.0), summarise_postures(body).role_at(6.0)) == ("free", "")


def test_playing_counts_nothing(body: bpy.types.Object) -> None:
    """Changing the frame changes no key, and nothing is counted again."""
    known = summarise_postures(body)
    for frame in range(1, 20):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        assert summarise_postures(body) is known


def test_window_counts_in_slices(body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a window a redraw shows the previous counts and reads no key. Between redraws the count continues curve by
    curve, restarts when keys change, and ends with the keyed postures. Until then no button is wrongly disabled.
    """
    assert len(summarise_postures(body).roles) == 3
    monkeypatch.setattr(PostureCache, "synchronous", False)
    posed(body, 0.2, 30)
    bpy.context.view_layer.update()
    stale = summarise_postures(body)
    assert (len(stale.roles), stale.up_to_date) == (3, False)
    assert not continue_count(0.0)
    assert summarise_postures(body) == stale
    keying.set_role(body, "free", frame=30.0)
    bpy.context.view_layer.update()
    summarise_postures(body)
    slices = 0
    while not continue_count(0.0):
        slices += 1
    assert slices > 10
    assert summarise_postures(body).up_to_date
    assert dict(summarise_postures(body).roles) == timeline.read_key_roles(body) == {**stale.roles, 30.0: "free"}
    body.animation_data.action = None
    bpy.context.view_layer.update()
    keying.key_posture(bpy.context.scene, body, "preferred")
    assert bpy.ops.exciting_dance.balance_dance.poll()  # it is not yet known that one posture is too few
    with pytest.raises(RuntimeError, match="at least 2 postures"):
        bpy.ops.exciting_dance.balance_dance()
    while not continue_count(0.0):
        pass
    assert not bpy.ops.exciting_dance.balance_dance.poll()


def test_samples_are_not_postures(registered: None) -> None:
    """Keys of a recording do not count, a posture keyed among them counts as one, and the samples stay."""
    body = build_dancing_scene(hoap3(), 3.0, 100.0)
    assert timeline.read_key_roles(body) == {}
    frames = len(timeline.pose_curves(body)[0].keyframe_points)
    bpy.context.scene.frame_set(100)
    keying.key_posture(bpy.context.scene, body, "fixed")
    assert timeline.read_key_roles(body) == {100.0: "fixed"}
    assert keying.clear_inbetweens(body, 1.0, 300.0) == 0
    assert {len(curve.keyframe_points) for curve in timeline.pose_curves(body)} == {frames}


def calls(function: Callable[[], object]) -> Counter[str]:
    """Number of calls of Python functions, and of Blender's functions that read every item."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            found[frame.f_code.co_name] += 1
        elif event == "c_call" and argument.__name__ == "foreach_get":
            found["foreach_get"] += 1

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def test_redraw_reads_no_keys_and_validates_nothing(registered: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redraw of the Author panels does the same work for long and short motions, also right after a change: it reads
    no keys and compares no bones with links.
    """
    monkeypatch.setattr(PostureCache, "synchronous", False)
    found = []
    for seconds in (1.0, 40.0):
        build_dancing_scene(hoap3(), seconds, 100.0)
        bpy.context.view_layer.update()
        redraw_once()
        for _ in range(2):
            found.append(calls(redraw_once))
            while not continue_count():
                pass
    assert found[0] == found[2]
    assert found[1] == found[3]
    for each in found:
        assert each["rig_of"] > 5
        assert each["_action_state"] > 0
        assert not each["foreach_get"] + each["_find_mismatch"] + each["posture_keys"] + each["rig_from_text"]
