"""Paints the frames of a rehearsal scene on the CPU: body, ghost, shadow on the floor, footprints and captions.

Only what moves is drawn in a frame; floor, footprints and captions are kept from frame to frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np

from .. import bpy_access, convert
from ..colours import linear_to_srgb, srgb_to_linear
from .geometry import Geometry, read_rigid, read_triangles, slot_colours
from .materials import CORE_OPACITY, OUTLINE_OPACITY
from .painted_floor import paint_floor
from .rasterise import Fragments, front_faces, rasterise
from .roles import BODY, CAPTION, FLOOR, FOOTPRINT, GHOST, role_of
from .shadow import FloorMap, ShadowMap, cast_shadow, contact_map, floor_light, lamp_basis
from .view import View, read_view

SAMPLING, CAPTION_SAMPLING = 2, 4
"""Samples per pixel along each side, for bodies and for captions."""
SKY, BOUNCE, KEY, FILL = 0.52, 0.36, 0.62, 0.10
"""Light on a white surface: from above, from below, from the lamp, and from its opposite side."""
SHEEN, SHEEN_POWER, RIM, RIM_POWER = 0.05, 22.0, 0.16, 3.0
"""Reflection of the lamp, and brightening towards the outline."""
SUNK = 0.002
"""Depth below the floor that is still drawn, in radii of the dance."""
LEVELS = 4096
"""Steps of the table from linear light to sRGB."""


@dataclass(slots=True)
class Sprite:
    """A flat object as it appears in the picture.

    Attributes:
        place: matrix of the object when it was drawn.
        rows, columns: part of the picture.
        opacity: (R, C, 1) from 0 to 1.
        colour: (3,) sRGB from 0 to 255.
    """

    place: bytes
    rows: slice
    columns: slice
    opacity: np.ndarray
    colour: np.ndarray


@dataclass(slots=True)
class Surface:
    """The visible surface of a body.

    Attributes:
        covered: the samples that it covers.
        points: (F, 3) [m] in the world.
        normals, toward: (F, 3) unit vectors out of the surface, and to the camera.
    """

    covered: Fragments
    points: np.ndarray
    normals: np.ndarray
    toward: np.ndarray

    def take(self, chosen: np.ndarray) -> Surface:
        """A part of it, by a mask (F,)."""
        return Surface(self.covered.take(chosen), self.points[chosen], self.normals[chosen], self.toward[chosen])


class FramePainter:
    """Paints frames of a rehearsal scene.

    Args:
        scene: from `scene.build_scene`, without a film.
    """

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.scene = scene
        self._rigid: dict[str, Geometry] = {}
        self._faces: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._sprites: dict[str, Sprite] = {}
        self._ground: tuple[tuple[str, ...], np.ndarray, np.ndarray] | None = None
        levels = np.linspace(0.0, 1.0, LEVELS)
        self._table = np.round(255.0 * linear_to_srgb(levels)).astype(np.uint8)
        self.scene.frame_set(self.scene.frame_start)
        self._items: dict[str, list[bpy.types.Object]] = {}
        for item in self.scene.objects:
            self._items.setdefault(role_of(item), []).append(item)
        self.view = read_view(self.scene, self._graph)
        lamp = next(item for item in self.scene.objects if item.type == "LIGHT")
        self._lamp = convert.to_array(lamp.matrix_world)[:3, 2]
        self._floor = paint_floor(self.view, self._items[FLOOR][0])
        self._basis = lamp_basis(self._lamp)
        self._cast_places = self._floor.points @ self._basis[:2].T

    @property
    def _graph(self) -> bpy.types.Depsgraph:
        return bpy_access.require(self.scene.view_layers[0].depsgraph, "dependency graph")

    def paint(self, frame: int) -> np.ndarray:
        """Paint a frame: (H, W, 3) sRGB, 8 bits, top row first."""
        self.scene.frame_set(frame)
        linear, picture = self._painted_ground()
        picture = picture.copy()
        bodies = self._gather(BODY)
        if len(bodies.triangles):
            ghost = self._gather(GHOST)
            self._paint_bodies(picture, linear, bodies, ghost)
        for item in self._shown(CAPTION):
            _blend(picture, self._sprite(item))
        return picture

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
                sprite = self._sprite(item)
                part = linear[sprite.rows, sprite.columns]
                colour = np.array(srgb_to_linear(tuple(sprite.colour / 255.0))[:3])
                part += sprite.opacity * (colour - part)
            self._ground = names, linear, self._to_srgb(linear)
        return self._ground[1:]

    def _to_srgb(self, linear: np.ndarray) -> np.ndarray:
        found: np.ndarray = self._table[np.clip(linear * (LEVELS - 1) + 0.5, 0, LEVELS - 1).astype(np.int32)]
        return found

    def _sprite(self, item: bpy.types.Object) -> Sprite:
        seen = item.evaluated_get(self._graph)
        place = convert.to_array(seen.matrix_world)
        kept = self._sprites.get(item.name)
        if kept is None or kept.place != place.tobytes():
            kept = self._sprites[item.name] = _draw_sprite(self.view, seen, place)
        return kept

    def _gather(self, role: str) -> Geometry:
        """All triangles of the visible objects of a role, in the world."""
        graph, parts, count = self._graph, [], 0
        for item in self._shown(role):
            seen = item.evaluated_get(graph)
            own = self._geometry(item, seen)
            place = convert.to_array(seen.matrix_world).astype(np.float32)
            turn = np.linalg.inv(place[:3, :3]).T
            triangles = own.triangles + count
            if np.linalg.det(turn) < 0.0:
                triangles = triangles[:, ::-1]
            points = own.points @ place[:3, :3].T + place[:3, 3]
            parts.append(Geometry(triangles, own.colours, points, own.normals @ turn.T))
            count += len(points)
        if not parts:
            return Geometry(np.zeros((0, 3), np.int32), *np.zeros((3, 0, 3), np.float32))
        return Geometry(*(np.concatenate([getattr(p, n) for p in parts]) for n in Geometry.__slots__))

    def _geometry(self, item: bpy.types.Object, seen: bpy.types.Object) -> Geometry:
        """Triangles of an object; shapes that nothing deforms are read once, faces of deformed ones as well."""
        if item.name in self._rigid:
            return self._rigid[item.name]
        mesh = bpy_access.mesh(seen)
        if not item.modifiers:
            self._rigid[item.name] = read_rigid(mesh, item)
            return self._rigid[item.name]
        if item.name not in self._faces:
            triangles, slots = read_triangles(mesh)
            self._faces[item.name] = triangles[0], slot_colours(item)[slots]
        faces, colours = self._faces[item.name]
        points, normals = np.empty((len(mesh.vertices), 3), np.float32), np.empty((len(mesh.vertices), 3), np.float32)
        mesh.vertices.foreach_get("co", points.ravel())
        mesh.vertex_normals.foreach_get("vector", normals.ravel())
        return Geometry(faces, colours, points, normals)

    def _paint_bodies(self, picture: np.ndarray, ground: np.ndarray, body: Geometry, ghost: Geometry) -> None:
        """Paint the bodies and their shadow into the part of an sRGB picture that they touch."""
        wide, high = self.view.size
        size = SAMPLING * wide, SAMPLING * high
        shadow = cast_shadow(body, self._basis, self._floor.radius)
        surface = self._rasterise(body, size)
        layers = [(surface.covered, self._shade(body, surface, shadow), np.ones(len(surface.points), np.float32))]
        if len(ghost.triangles):
            depth = np.full(size[0] * size[1], np.inf, np.float32)
            depth[surface.covered.samples] = surface.covered.depths
            surface = self._rasterise(ghost, size)
            surface = surface.take(surface.covered.depths < depth[surface.covered.samples])
            layers.append((surface.covered, ghost.colours[surface.covered.triangles], _outline_opacity(surface)))
        contact = contact_map(body, self._floor)
        rows, columns = self._touched_part(layers, shadow, contact)
        part = ground[rows, columns] * floor_light(
            shadow, contact, self._cast_places[rows, columns], self._floor.places[rows, columns]
        )
        for covered, colours, opacity in layers:
            row, column = np.divmod(covered.samples, size[0])
            pixel = (row // SAMPLING - rows.start) * part.shape[1] + column // SAMPLING - columns.start
            count, weight = part.shape[0] * part.shape[1], opacity / SAMPLING**2
            cover = np.bincount(pixel, weight, count).reshape(*part.shape[:2], 1)
            light = np.stack([np.bincount(pixel, weight * colours[:, k], count) for k in range(3)], axis=1)
            part = part * (1.0 - cover) + light.reshape(part.shape)
        picture[rows, columns] = self._to_srgb(part)

    def _touched_part(
        self, layers: list[tuple[Fragments, np.ndarray, np.ndarray]], shadow: ShadowMap, contact: FloorMap
    ) -> tuple[slice, slice]:
        """Rows and columns of the picture that contain the layers and the shadows on the floor."""
        wide, high = self.view.size
        floor = self._floor
        along = shadow.corners() - floor.origin
        cast = shadow.corners() - (along @ floor.normal / (self._lamp @ floor.normal))[:, None] * self._lamp
        ends = self.view.project(np.concatenate([cast, contact.corners(floor)]))[:, :2]
        spans = [ends[np.isfinite(ends).all(axis=1)]]
        for covered, _, _ in layers:
            row, column = np.divmod(covered.samples, SAMPLING * wide)
            if len(row):
                spans.append(np.array([[column.min(), row.min()], [column.max(), row.max()]]) / SAMPLING)
        points = np.concatenate(spans)
        low = np.clip(np.floor(points.min(axis=0)).astype(int) - 1, 0, (wide, high))
        top = np.clip(np.ceil(points.max(axis=0)).astype(int) + 2, 0, (wide, high))
        return slice(int(low[1]), int(top[1])), slice(int(low[0]), int(top[0]))

    def _rasterise(self, body: Geometry, size: tuple[int, int]) -> Surface:
        """The visible surface of a body; the floor hides what is below it."""
        points = self.view.project(body.points, SAMPLING)
        front = np.flatnonzero(front_faces(points, body.triangles))
        found = rasterise(points, body.triangles[front], size)
        covered = replace(found, triangles=front[found.triangles])
        both = covered.interpolate(np.concatenate([body.points, body.normals], axis=1), body.triangles)
        points, normals = both[:, :3], both[:, 3:]
        normals = normals / np.sqrt(np.maximum(_dot(normals, normals), 1e-12))[:, None]
        toward = self.view.eye.astype(np.float32) - points
        surface = Surface(covered, points, normals, toward / np.sqrt(_dot(toward, toward))[:, None])
        height = points @ self._floor.normal.astype(np.float32) - np.float32(self._floor.origin @ self._floor.normal)
        above = height > -SUNK * self._floor.radius
        return surface if above.all() or not self._floor.seen_from_above else surface.take(above)

    def _shade(self, body: Geometry, surface: Surface, shadow: ShadowMap) -> np.ndarray:
        """Linear colour (F, 3) of a surface."""
        lamp = self._lamp.astype(np.float32)
        facing = np.clip(_dot(surface.normals, surface.toward), 0.0, 1.0)
        across = surface.normals @ lamp
        lit = shadow.lit(surface.points)
        up = 0.5 + 0.5 * (surface.normals @ self._floor.normal.astype(np.float32))
        halfway = surface.toward + lamp
        sheen = np.clip(_dot(surface.normals, halfway), 0.0, None) / np.sqrt(_dot(halfway, halfway))
        light = BOUNCE + (SKY - BOUNCE) * up + KEY * np.clip(across, 0.0, 1.0) * lit + FILL * np.clip(-across, 0.0, 1.0)
        shine = SHEEN * sheen**SHEEN_POWER * lit + RIM * (1.0 - facing) ** RIM_POWER * up
        found: np.ndarray = body.colours[surface.covered.triangles] * light[:, None] + shine[:, None]
        return found


def _outline_opacity(surface: Surface) -> np.ndarray:
    """Opacity (F,) of a ghost: high at its outline."""
    facing = np.clip(np.abs(_dot(surface.normals, surface.toward)), 0.0, 1.0)
    return OUTLINE_OPACITY + (CORE_OPACITY - OUTLINE_OPACITY) * facing


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Scalar products (F,) of rows."""
    found: np.ndarray = one[:, 0] * other[:, 0] + one[:, 1] * other[:, 1] + one[:, 2] * other[:, 2]
    return found


def _draw_sprite(view: View, seen: bpy.types.Object, place: np.ndarray) -> Sprite:
    mesh = bpy_access.require(seen.to_mesh(), "mesh")
    (triangles, _), _ = read_triangles(mesh)
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    seen.to_mesh_clear()
    wide, high = view.size
    shown = view.project(points @ place[:3, :3].T + place[:3, 3], CAPTION_SAMPLING)
    covered = rasterise(shown, triangles, (CAPTION_SAMPLING * wide, CAPTION_SAMPLING * high))
    row, column = np.divmod(covered.samples, CAPTION_SAMPLING * wide)
    row, column = row // CAPTION_SAMPLING, column // CAPTION_SAMPLING
    rows = slice(int(row.min(initial=high)), int(row.max(initial=-1)) + 1)
    columns = slice(int(column.min(initial=wide)), int(column.max(initial=-1)) + 1)
    shape = max(rows.stop - rows.start, 0), max(columns.stop - columns.start, 0)
    cover = np.bincount((row - rows.start) * shape[1] + column - columns.start, minlength=shape[0] * shape[1])
    material = bpy_access.require(seen.material_slots[0].material, "material")
    red, green, blue, alpha = (float(value) for value in np.array(material.diffuse_color))
    opacity = alpha * cover.reshape(*shape, 1) / CAPTION_SAMPLING**2
    return Sprite(place.tobytes(), rows, columns, opacity, 255.0 * linear_to_srgb(np.array([red, green, blue])))


def _blend(picture: np.ndarray, sprite: Sprite) -> None:
    """Draw a sprite over an sRGB picture."""
    part = picture[sprite.rows, sprite.columns].astype(np.float32)
    part += sprite.opacity * (sprite.colour - part)
    picture[sprite.rows, sprite.columns] = np.round(part).astype(np.uint8)
