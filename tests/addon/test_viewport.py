"""New objects are framed in the 3D views."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from addon.base import meshes, scene_rigs
from addon.drawing.viewport import bounding_points, frame_objects
from addon.scene.recording import find_recordings
from solver.rigs import hoap3, human
from tests.addon.scenes import build
from tests.addon.test_drop_files import drop, recorded


def views() -> Iterator[tuple[bpy.types.RegionView3D, float, float]]:
    """All views of the window, with half the width and height of their picture at 1 m."""
    for area in bpy.context.window.screen.areas:
        if area.type == "VIEW_3D":
            region = next(region for region in area.regions if region.type == "WINDOW")
            space = area.spaces.active
            pixel = 36.0 / space.lens / max(region.width, region.height)
            yield space.region_3d, pixel * region.width, pixel * region.height


def places(view: bpy.types.RegionView3D, points: np.ndarray, wide: float, tall: float) -> np.ndarray:
    """Positions (P, 2) of points (P, 3) in a perspective view, as fractions of half its width and height."""
    turn = view.view_rotation.inverted()
    away = [turn @ (Vector(point) - view.view_location) for point in points]
    return np.array([(p.x / (view.view_distance - p.z) / wide, p.y / (view.view_distance - p.z) / tall) for p in away])


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (20.0, -30.0, 5.0)])
def test_framed_object_fills_the_view(empty_scene: None, place: tuple[float, float, float]) -> None:
    """Wherever a rig stands and however tall it is, every view shows it completely and not small."""
    for rig in (hoap3(), human(1.75, 70.0, "male")):
        body = build(rig)
        body.location = place
        frame_objects(bpy.context, [body])
        shown = np.array([places(view, bounding_points(body), wide, tall) for view, wide, tall in views()])
        assert np.abs(shown).max() < 1.0
        assert np.ptp(shown[..., 1], axis=1).min() > 0.8


def test_several_objects_are_framed_together(empty_scene: None) -> None:
    """All framed objects are in the picture; camera views stay."""
    bodies = [build(hoap3()), build(human(1.75, 70.0, "male"))]
    bodies[1].location = 4.0, 1.0, 0.0
    frame_objects(bpy.context, bodies)
    for view, wide, tall in views():
        for body in bodies:
            assert np.abs(places(view, bounding_points(body), wide, tall)).max() < 1.0
        view.view_perspective = "CAMERA"
        before = view.view_distance
        frame_objects(bpy.context, bodies[:1])
        assert view.view_distance == before


def test_a_new_rig_and_a_dropped_recording_are_framed(own: Path, tmp_path: Path) -> None:
    """Add Rig frames the rig, and dropping a recording frames its markers, from any earlier view."""
    for view, _, _ in views():
        view.view_location = 100.0, 0.0, 0.0
    assert bpy.ops.exciting_dance.import_rig(kind="hoap3") == {"FINISHED"}
    body = scene_rigs.find_rigs(bpy.context.scene)[0]
    for view, wide, tall in views():
        assert np.abs(places(view, bounding_points(body), wide, tall)).max() < 1.0
        view.view_location = 0.0, 0.0, 100.0
    markers, _ = recorded(tmp_path, "walk")
    assert drop(markers) == {"FINISHED"}
    (child,) = find_recordings(bpy.context.scene)
    assert len(child.objects) >= 2
    for view, wide, tall in views():
        for ball in child.objects:
            assert np.abs(places(view, bounding_points(ball), wide, tall)).max() < 1.0


@pytest.mark.parametrize("is_rig", [False, True])
def test_a_moving_object_stays_in_the_view(empty_scene: None, is_rig: bool) -> None:
    """A rig or a marker that walks through the scene's range is in the picture at its start and at its end."""
    item = build(hoap3()) if is_rig else bpy.data.objects.new("marker", meshes.sphere_mesh("marker", 0.1))
    if is_rig:
        item.rotation_euler.z = 1.0
    else:
        bpy.context.scene.collection.objects.link(item)
    mover = item.pose.bones[0] if is_rig else item
    for frame, place in ((1, (0.0, 0.0, 0.0)), (250, (3.0, -4.0, 2.0))):
        mover.location = place
        mover.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(100)
    frame_objects(bpy.context, [item])
    for frame in (1, 250):
        bpy.context.scene.frame_set(frame)
        for view, wide, tall in views():
            assert np.abs(places(view, bounding_points(item), wide, tall)).max() < 1.0
