"""Paints the frames of a rehearsal scene: body, ghost, shadow on the floor, footprints and captions.

Only what moves is drawn in a frame; floor, footprints and captions are kept from frame to frame.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np

from ..base import bpy_access, convert
from ..drawing.painting.bodies import BodyPainter, to_srgb
from ..drawing.painting.floor import paint_floor
from ..drawing.painting.geometry import GeometryReader
from ..drawing.painting.sprites import Sprite, draw_sprite, place_of
from ..drawing.painting.view import read_view
from .roles import BODY, CAPTION, FLOOR, FOOTPRINT, GHOST, role_of


class FramePainter:
    """Paints frames of a rehearsal scene.

    Args:
        scene: from `scene.build_scene`, without a film.
    """

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.scene = scene
        self._reader = GeometryReader()
        self._sprites: dict[str, Sprite] = {}
        self._ground: tuple[tuple[str, ...], np.ndarray, np.ndarray] | None = None
        self.scene.frame_set(self.scene.frame_start)
        self._items: dict[str, list[bpy.types.Object]] = {}
        for item in self.scene.objects:
            self._items.setdefault(role_of(item), []).append(item)
        self.view = read_view(self.scene, self._graph)
        # in a scene from a file only evaluated objects have their places
        lamp = next(item for item in self.scene.objects if item.type == "LIGHT").evaluated_get(self._graph)
        floor = self._items[FLOOR][0].evaluated_get(self._graph)
        self._floor = paint_floor(self.view, convert.to_array(floor.matrix_world), 0.5 * float(floor.dimensions.x))
        self._bodies = BodyPainter(self.view, self._floor, convert.to_array(lamp.matrix_world)[:3, 2])

    @property
    def _graph(self) -> bpy.types.Depsgraph:
        return bpy_access.require(self.scene.view_layers[0].depsgraph, "dependency graph")

    def paint(self, frame: int) -> np.ndarray:
        """Paint a frame: (H, W, 3) sRGB, 8 bits, top row first."""
        return self.read(frame)()

    def read(self, frame: int) -> Callable[[], np.ndarray]:
        """Read a frame from Blender; returns what paints it, see `paint`, which another thread can call."""
        self.scene.frame_set(frame)
        linear, ground = self._painted_ground()
        body, ghost = (self._reader.gather(self._shown(role), self._graph) for role in (BODY, GHOST))
        captions = [self._sprite(item) for item in self._shown(CAPTION)]

        def paint() -> np.ndarray:
            picture = ground.copy()
            self._bodies.paint(picture, linear, body, ghost)
            for caption in captions:
                caption.blend(picture)
            return picture

        return paint

    def _shown(self, role: str) -> list[bpy.types.Object]:
        graph = self._graph
        return [item for item in self._items.get(role, []) if not item.evaluated_get(graph).hide_render]

    def _painted_ground(self) -> tuple[np.ndarray, np.ndarray]:
        """The floor with the footprints of this frame: linear, and in sRGB."""
        prints = self._shown(FOOTPRINT)
        names = tuple(item.name for item in prints)
        if self._ground is None or self._ground[0] != names:
            linear = self._floor.picture.copy()
            for item in prints:
                self._sprite(item).blend_linear(linear)
            self._ground = names, linear, to_srgb(linear)
        return self._ground[1:]

    def _sprite(self, item: bpy.types.Object) -> Sprite:
        seen = item.evaluated_get(self._graph)
        kept = self._sprites.get(item.name)
        if kept is None or kept.place != place_of(seen):
            kept = self._sprites[item.name] = draw_sprite(self.view, seen)
        return kept
