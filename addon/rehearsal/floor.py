"""Floor of a rehearsal scene, with footprints at the contacts."""

from __future__ import annotations

import bpy
import numpy as np

from ..base import meshes
from .dance import RehearsedDance
from .materials import (
    FLOOR_COLOUR,
    GHOST_COLOUR,
    LEFT_COLOUR,
    RIGHT_COLOUR,
    body_material,
    exclude_from_light,
    flat_material,
    key_visibility,
)
from .plan import TIME_TOLERANCE, VideoPlan
from .roles import FLOOR, FOOTPRINT, set_role

FLOOR_RADIUS, FLOOR_CORNERS = 1.35, 96
"""Margin of the floor around the dance, in leg lengths, and number of its corners."""
FLOOR_EMISSION = 0.6
"""Emission of the floor."""
FOOTPRINT_MARGIN, FOOTPRINT_HEIGHT = 0.075, 0.004
"""Margin of a footprint around its sole, and its height above the floor, in leg lengths."""
CURRENT_OPACITY, NEXT_OPACITY = 0.85, 0.28
"""Opacity of current footprints, and of those after the next move."""


def add_floor(
    scene: bpy.types.Scene, stage: bpy.types.Object, danced: RehearsedDance, *, film: bool, shadow: bool
) -> None:
    """Add a round floor under the dance; with a film only its shadow is visible, or nothing."""
    root = danced.timeline.root[:, :2]
    low, high = root.min(axis=0), root.max(axis=0)
    middle, radius = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)) + FLOOR_RADIUS * danced.rig.leg_length
    angles = np.linspace(0.0, 2.0 * np.pi, FLOOR_CORNERS, endpoint=False)
    corners = radius * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    mesh = meshes.build_mesh("Floor", [(corners, [list(range(FLOOR_CORNERS))])], smooth=False)
    mesh.materials.append(body_material("Floor", FLOOR_COLOUR, FLOOR_EMISSION))
    floor = bpy.data.objects.new("Floor", mesh)
    floor.location = float(middle[0]), float(middle[1]), danced.timeline.ground
    floor.parent = stage
    set_role(floor, FLOOR)
    floor.is_shadow_catcher = film
    floor.hide_render = film and not shadow
    scene.collection.objects.link(floor)


def add_footprints(
    scene: bpy.types.Scene, stage: bpy.types.Object, danced: RehearsedDance, plan: VideoPlan, shown: bpy.types.Action
) -> None:
    """Add footprints at the current contacts, and fainter ones at the contacts after the next move."""
    paints = {
        (side, coming): flat_material(f"Footprint {side}", colour, NEXT_OPACITY if coming else CURRENT_OPACITY)
        for side, colour in (("left", LEFT_COLOUR), ("right", RIGHT_COLOUR), ("", GHOST_COLOUR))
        for coming in (False, True)
    }
    contacts = {patch.name: (danced.rig.index(patch.link), patch.vertices) for patch in danced.rig.contacts}
    ahead = np.minimum(plan.stop_indices + 1, plan.move_count)
    arrival = np.array([0.5 * (stop.start + stop.stop) for stop in plan.stops])[ahead]
    height = FOOTPRINT_HEIGHT * danced.rig.leg_length
    times = np.minimum(plan.times, danced.interval[1] - TIME_TOLERANCE)  # strips exclude their end
    arrival = np.minimum(arrival, danced.interval[1] - TIME_TOLERANCE)
    for strip in danced.timeline.strips:
        now = (times >= strip.start) & (times < strip.stop)
        later = ~now & (arrival >= strip.start) & (arrival < strip.stop)
        index, corners = contacts[strip.patch]
        rotations, origins = danced.links_at(np.array([0.5 * (strip.start + strip.stop)]))
        points = corners @ rotations[0, index].T + origins[0, index]
        points = _enlarge(points, FOOTPRINT_MARGIN * danced.rig.leg_length)
        points[:, 2] = danced.timeline.ground + height
        for coming, when in ((False, now), (True, later)):
            if when.any():
                mesh = meshes.build_mesh(f"{strip.patch} print", [(points, [list(range(len(points)))])], smooth=False)
                mesh.materials.append(paints[danced.patch_sides()[strip.patch], coming])
                print_ = bpy.data.objects.new(mesh.name, mesh)
                print_.parent = stage
                set_role(print_, FOOTPRINT)
                exclude_from_light(print_)
                scene.collection.objects.link(print_)
                key_visibility(shown, print_, when)


def _enlarge(points: np.ndarray, margin: float) -> np.ndarray:
    """Corners (V, 3) of a polygon on the floor, moved outward by a margin [m]."""
    offsets = points - points.mean(axis=0)
    offsets[:, 2] = 0.0
    return points + margin * offsets / np.maximum(np.linalg.norm(offsets, axis=1, keepdims=True), 1e-9)
