"""Where a rehearsal is danced: a round floor with footprints to stand on."""

from __future__ import annotations

import bpy
import numpy as np

from .. import meshes
from .dance import Danced
from .look import GHOST, GROUND, LEFT, RIGHT, body_material, flat_material, show_while, unlit
from .plan import HAIR, Plan

FLOOR, EDGES = 1.35, 96
"""Radius of the floor in heights of the root, around all that is danced; its corners. The page needs no light."""
FLOOR_OWN = 0.6
"""Light of the floor's own."""
AROUND, LAID = 0.075, 0.004
"""By how much a footprint reaches beyond its sole and lies above the floor, in heights of the root."""
STANDING, COMING = 0.85, 0.28
"""Opacity of a footprint that the body stands on and of one that it will."""


def add_floor(scene: bpy.types.Scene, stage: bpy.types.Object, danced: Danced, *, film: bool, shadow: bool) -> None:
    """A round floor under all that is danced; on a film only the shadow that falls on it, or nothing."""
    root = danced.timeline.root[:, :2]
    low, high = root.min(axis=0), root.max(axis=0)
    middle, radius = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)) + FLOOR * danced.rig.leg_length
    turns = np.linspace(0.0, 2.0 * np.pi, EDGES, endpoint=False)
    corners = radius * np.stack([np.cos(turns), np.sin(turns), 0.0 * turns], axis=1)
    mesh = meshes.mesh_of("Floor", [(corners, [list(range(EDGES))])], smooth=False)
    mesh.materials.append(body_material("Floor", GROUND, FLOOR_OWN))
    floor = bpy.data.objects.new("Floor", mesh)
    floor.location = float(middle[0]), float(middle[1]), danced.timeline.ground
    floor.parent = stage
    floor.is_shadow_catcher = film
    floor.hide_render = film and not shadow
    scene.collection.objects.link(floor)


def add_footprints(
    scene: bpy.types.Scene, stage: bpy.types.Object, danced: Danced, plan: Plan, shown: bpy.types.Action
) -> None:
    """Where the feet stand, and fainter where they will stand after the next move."""
    paints = {
        (side, coming): flat_material(f"Footprint {side}", colour, COMING if coming else STANDING)
        for side, colour in (("left", LEFT), ("right", RIGHT), ("", GHOST))
        for coming in (False, True)
    }
    contacts = {patch.name: (danced.rig.index(patch.link), patch.vertices) for patch in danced.rig.contacts}
    ahead = np.minimum(plan.at + 1, plan.moves)
    arrival = np.array([0.5 * (stop.start + stop.stop) for stop in plan.stops])[ahead]
    height = LAID * danced.rig.leg_length
    times = np.minimum(plan.times, danced.span[1] - HAIR)  # strips end before the moment at which they stop
    arrival = np.minimum(arrival, danced.span[1] - HAIR)
    for strip in danced.timeline.strips:
        now = (times >= strip.start) & (times < strip.stop)
        later = ~now & (arrival >= strip.start) & (arrival < strip.stop)
        index, corners = contacts[strip.patch]
        turns, places = danced.links_at(np.array([0.5 * (strip.start + strip.stop)]))
        points = corners @ turns[0, index].T + places[0, index]
        points = _grown(points, AROUND * danced.rig.leg_length)
        points[:, 2] = danced.timeline.ground + height
        for coming, when in ((False, now), (True, later)):
            if when.any():
                mesh = meshes.mesh_of(f"{strip.patch} print", [(points, [list(range(len(points)))])], smooth=False)
                mesh.materials.append(paints[danced.sides()[strip.patch], coming])
                print_ = bpy.data.objects.new(mesh.name, mesh)
                print_.parent = stage
                unlit(print_)
                scene.collection.objects.link(print_)
                show_while(shown, print_, when)


def _grown(points: np.ndarray, margin: float) -> np.ndarray:
    """Corners (V, 3) of a polygon on the floor, moved away from its middle."""
    away = points - points.mean(axis=0)
    away[:, 2] = 0.0
    return points + margin * away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
