"""Panels and buttons know what is keyed at any time, without reading every key at every redraw."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import pytest

from addon import registration
from addon.authoring import author, timeline
from addon.authoring.keyed import Known, keyed
from benchmarks.panel import dancing, redraw_cost
from solver.rigs import hoap3
from tests.addon.scenes import build
from tests.addon.test_dance_jobs import posed


@pytest.fixture
def body(empty_scene: None) -> Iterator[bpy.types.Object]:
    """HOAP-3 in three postures."""
    registration.register()
    made = build(hoap3())
    for frame in (1, 10, 20):
        posed(made, 0.1, frame)
    bpy.context.view_layer.update()
    yield made
    registration.unregister()


def test_what_is_known_is_what_is_keyed(body: bpy.types.Object) -> None:
    """After every kind of edit, undo included, what was counted before is counted anew."""
    scene = bpy.context.scene
    bpy.ops.ed.undo_push(message="before")

    def checked() -> dict[float, str]:
        bpy.context.view_layer.update()
        assert dict(keyed(body).roles) == timeline.key_roles(body)
        return dict(keyed(body).roles)

    before = checked()
    assert list(before) == [1.0, 10.0, 20.0]
    author.set_role(body, "fixed", frame=10.0)
    assert checked()[10.0] == "fixed"
    for curve in timeline.pose_curves(body):
        curve.keyframe_points[1].co.x = 12.0
    assert 12.0 in checked()
    posed(body, 0.2, 30)
    assert 30.0 in checked()
    body.animation_data.action = None
    assert checked() == {}
    scene.frame_set(5)
    author.key_posture(scene, body, "free")
    assert body.animation_data.action.name.startswith(f"{body.name} dance")
    assert keyed(body).counts == {"fixed": 0, "preferred": 0, "free": 1}
    assert (keyed(body).at(5.0), keyed(body).at(6.0)) == ("free", "")


def test_playing_counts_nothing(body: bpy.types.Object) -> None:
    """Showing another frame changes no key: nothing is counted again."""
    keyed(body)
    changes, known = Known.changes, keyed(body)
    for frame in range(1, 20):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        assert keyed(body) is known
    assert Known.changes == changes


def test_samples_are_no_postures(empty_scene: None) -> None:
    """A recording's keys count as none, a posture keyed among them counts as one, and the samples stay."""
    registration.register()
    body = dancing(hoap3(), 3.0, 100.0)
    assert timeline.key_roles(body) == {}
    frames = len(timeline.pose_curves(body)[0].keyframe_points)
    bpy.context.scene.frame_set(100)
    author.key_posture(bpy.context.scene, body, "fixed")
    assert timeline.key_roles(body) == {100.0: "fixed"}
    assert author.clear_between(body, 1.0, 300.0) == 0
    assert {len(curve.keyframe_points) for curve in timeline.pose_curves(body)} == {frames}
    registration.unregister()


def test_a_redraw_does_not_read_every_key(empty_scene: None) -> None:
    """A redraw costs the same whatever the number of keys, and far less than counting them."""
    registration.register()
    dancing(hoap3(), 4.0, 100.0)
    short = redraw_cost()
    dancing(hoap3(), 400.0, 100.0)
    long = redraw_cost()
    registration.unregister()
    assert long.later < 2.0 * short.later
    assert long.later < 0.3 * long.first
