"""Paints bodies in the light of a lamp: their surface, their shadow on the floor, and translucent ghosts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...scene.colours import linear_to_srgb
from .floor import Floor
from .geometry import NOTHING, Geometry
from .rasterise import Fragments, front_faces, rasterise
from .shadow import FloorMap, ShadowMap, cast_shadow, contact_map, floor_light, lamp_basis
from .view import View

SAMPLING = 2
"""Samples per pixel along each side."""
SKY, BOUNCE, KEY, FILL = 0.52, 0.36, 0.62, 0.10
"""Light on a white surface: from above, from below, from the lamp, and from its opposite side."""
SHEEN, SHEEN_POWER, RIM, RIM_POWER = 0.05, 22.0, 0.16, 3.0
"""Reflection of the lamp, and brightening towards the outline."""
WHITE_PERCENTILE = 92.0
"""Percentile of the light that counts as white where colours are exact."""
OUTLINE_OPACITY, CORE_OPACITY = 0.98, 0.30
"""Opacity of a ghost at its outline, and where it faces the viewer."""
SUNK = 0.002
"""Depth below the floor that is still drawn, in radii of the floor."""
LEVELS = 4096
"""Steps of the table from linear light to sRGB."""


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


class BodyPainter:
    """Paints bodies on a floor.

    Args:
        view: the camera.
        floor: as the camera sees it.
        lamp: (3,) unit vector to the lamp.
        exact_colours: whether the brightest part of a body has exactly its colour, for a legend beside it; otherwise
            the surface has some reflection.
        sampling: samples per pixel along each side.
    """

    def __init__(
        self, view: View, floor: Floor, lamp: np.ndarray, *, exact_colours: bool = False, sampling: int = SAMPLING
    ) -> None:
        self.view, self._floor, self._lamp = view, floor, lamp
        self.exact_colours, self.sampling = exact_colours, sampling
        self._basis = lamp_basis(lamp)
        self._cast_places = floor.points @ self._basis[:2].T

    def paint(
        self,
        picture: np.ndarray,
        ground: np.ndarray,
        body: Geometry,
        ghost: Geometry = NOTHING,
        casters: Geometry | None = None,
    ) -> None:
        """Paint bodies and their shadow into the part of a picture that they touch.

        Args:
            picture: (H, W, 3) sRGB, 8 bits, that is changed.
            ground: (H, W, 3) linear colours of what is behind them.
            body: triangles in the world.
            ghost: triangles of a translucent body in the world.
            casters: triangles that cast the shadow; by default those of the bodies.
        """
        if not len(body.triangles):
            return
        wide, high = self.view.size
        size = self.sampling * wide, self.sampling * high
        casters = body if casters is None else casters
        shadow = cast_shadow(casters, self._basis, self._floor.radius)
        surface = self._rasterise(body, size)
        layers = [(surface.covered, self._shade(body, surface, shadow), np.ones(len(surface.points), np.float32))]
        if len(ghost.triangles):
            depth = np.full(size[0] * size[1], np.inf, np.float32)
            depth[surface.covered.samples] = surface.covered.depths
            surface = self._rasterise(ghost, size)
            surface = surface.take(surface.covered.depths < depth[surface.covered.samples])
            layers.append((surface.covered, ghost.colours[surface.covered.triangles], self._outline_opacity(surface)))
        contact = contact_map(casters, self._floor)
        rows, columns = self._touched_part(layers, shadow, contact)
        part = ground[rows, columns] * floor_light(
            shadow, contact, self._cast_places[rows, columns], self._floor.places[rows, columns]
        )
        for covered, colours, opacity in layers:
            row, column = np.divmod(covered.samples, size[0])
            pixel = (row // self.sampling - rows.start) * part.shape[1] + column // self.sampling - columns.start
            count, weight = part.shape[0] * part.shape[1], opacity / self.sampling**2
            cover = np.bincount(pixel, weight, count).reshape(*part.shape[:2], 1)
            light = np.stack([np.bincount(pixel, weight * colours[:, k], count) for k in range(3)], axis=1)
            part = part * (1.0 - cover) + light.reshape(part.shape)
        picture[rows, columns] = to_srgb(part)

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
            row, column = np.divmod(covered.samples, self.sampling * wide)
            if len(row):
                spans.append(np.array([[column.min(), row.min()], [column.max(), row.max()]]) / self.sampling)
        points = np.concatenate(spans)
        low = np.clip(np.floor(points.min(axis=0)).astype(int) - 1, 0, (wide, high))
        top = np.clip(np.ceil(points.max(axis=0)).astype(int) + 2, 0, (wide, high))
        return slice(int(low[1]), int(top[1])), slice(int(low[0]), int(top[0]))

    def _rasterise(self, body: Geometry, size: tuple[int, int]) -> Surface:
        """The visible surface of a body; the floor hides what is below it."""
        points = self.view.project(body.points, self.sampling)
        front = np.flatnonzero(front_faces(points, body.triangles) | body.two_sided)
        found = rasterise(points, body.triangles[front], size)
        covered = replace(found, triangles=front[found.triangles])
        both = covered.interpolate(np.concatenate([body.points, body.normals], axis=1), body.triangles)
        points, normals = both[:, :3], both[:, 3:]
        normals = normals / np.sqrt(np.maximum(_dot(normals, normals), 1e-12))[:, None]
        toward = self.view.eye.astype(np.float32) - points
        behind = _dot(normals, toward) < 0.0
        normals[behind & body.two_sided[covered.triangles]] *= -1.0
        surface = Surface(covered, points, normals, toward / np.sqrt(_dot(toward, toward))[:, None])
        height = points @ self._floor.normal.astype(np.float32) - np.float32(self._floor.origin @ self._floor.normal)
        above = height > -SUNK * self._floor.radius
        return surface if above.all() or not self._floor.seen_from_above else surface.take(above)

    def _shade(self, body: Geometry, surface: Surface, shadow: ShadowMap) -> np.ndarray:
        """Linear colour (F, 3) of a surface."""
        lamp, colours = self._lamp.astype(np.float32), body.colours[surface.covered.triangles]
        across = surface.normals @ lamp
        lit = shadow.lit(surface.points, across)
        up = 0.5 + 0.5 * (surface.normals @ self._floor.normal.astype(np.float32))
        light = BOUNCE + (SKY - BOUNCE) * up + KEY * np.clip(across, 0.0, 1.0) * lit + FILL * np.clip(-across, 0.0, 1.0)
        if self.exact_colours:
            white = np.percentile(light, WHITE_PERCENTILE) if len(light) else 1.0
            found: np.ndarray = colours * np.minimum(light / white, 1.0)[:, None]
            return found
        facing = np.clip(_dot(surface.normals, surface.toward), 0.0, 1.0)
        halfway = surface.toward + lamp
        sheen = np.clip(_dot(surface.normals, halfway), 0.0, None) / np.sqrt(_dot(halfway, halfway))
        shine = SHEEN * sheen**SHEEN_POWER * lit + RIM * (1.0 - facing) ** RIM_POWER * up
        found = colours * light[:, None] + shine[:, None]
        return found

    def _outline_opacity(self, surface: Surface) -> np.ndarray:
        """Opacity (F,) of a ghost: high at its outline."""
        facing = np.clip(np.abs(_dot(surface.normals, surface.toward)), 0.0, 1.0)
        found: np.ndarray = OUTLINE_OPACITY + (CORE_OPACITY - OUTLINE_OPACITY) * facing
        return found


@cache
def _srgb_table() -> np.ndarray:
    return np.round(255.0 * linear_to_srgb(np.linspace(0.0, 1.0, LEVELS))).astype(np.uint8)


def to_srgb(linear: np.ndarray) -> np.ndarray:
    """sRGB, 8 bits, of linear colours of any shape."""
    found: np.ndarray = _srgb_table()[np.clip(linear * (LEVELS - 1) + 0.5, 0, LEVELS - 1).astype(np.int32)]
    return found


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Scalar products (F,) of rows."""
    found: np.ndarray = one[:, 0] * other[:, 0] + one[:, 1] * other[:, 1] + one[:, 2] * other[:, 2]
    return found
