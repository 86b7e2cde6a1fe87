"""Shadows of bodies: of the lamp, on themselves and on the floor, and where they touch the floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .floor import Floor
from .geometry import Geometry
from .rasterise import front_faces, rasterise

TEXEL, BIAS, BLUR = 0.0045, 0.015, 3
"""Size of a shadow map's texel, and distance within which a surface does not shade itself, in radii of the dance; blur
in texels."""
SLOPE_BIAS = 3.0
"""Addition to that distance for a texel of depth over a texel of width."""
SOFTENING = (
    (0, 0), *((r * x, r * y) for r in (1, 2) for x in (-1, 1) for y in (-1, 1)), (3, 0), (-3, 0), (0, 3), (0, -3),
)  # fmt: skip
"""[texels] Places around a point whose light is averaged, so that the edge of a shadow is soft."""
REACH = 3
"""[texels] The farthest of them along an axis."""
FLOOR_SHADOW, CONTACT_SHADOW = 0.45, 0.5
"""Strength of the lamp's shadow on the floor, and of the darkening where the body touches it."""
CONTACT_TEXEL, CONTACT_HEIGHT, CONTACT_BLUR = 0.0075, 0.035, 4
"""Texel of the map of what is near the floor, and height at which the darkening falls to 1/e, in radii of the dance;
blur in texels."""


@dataclass(slots=True)
class ShadowMap:
    """What a lamp sees: the depth of the nearest surface, and how much of each texel is covered.

    Attributes:
        texel: [m] its size.
        basis: (3, 3) rows are the map's x and y and the direction to the lamp.
        low: (2,) [m] of the map's corner.
        depth: (R, C) [m] along the direction away from the lamp; infinite where nothing is.
        cover: (R, C) blurred, 0 to 1.
    """

    texel: float
    basis: np.ndarray
    low: np.ndarray
    depth: np.ndarray
    cover: np.ndarray

    def texels(self, places: np.ndarray) -> np.ndarray:
        """Index (N,) in the flat map of places (N, 2) [m], with those outside at the border, where nothing is."""
        rows, columns = self.depth.shape
        column = np.clip((places[:, 0] - self.low[0]) * (1.0 / self.texel), REACH, columns - 1 - REACH).astype(np.int32)
        row = np.clip((places[:, 1] - self.low[1]) * (1.0 / self.texel), REACH, rows - 1 - REACH).astype(np.int32)
        return row * columns + column

    def corners(self) -> np.ndarray:
        """Corners (4, 3) [m] of the map."""
        high = self.low + self.texel * np.array(self.depth.shape[::-1])
        plane = np.array([[x, y] for x in (self.low[0], high[0]) for y in (self.low[1], high[1])])
        return plane @ self.basis[:2]

    def lit(self, points: np.ndarray, across: np.ndarray) -> np.ndarray:
        """How much of the lamp points of the bodies see: 0 to 1.

        Args:
            points: (N, 3) [m] in the world.
            across: (N,) cosine of the angle between the surface's normal and the lamp.
        """
        seen = points @ self.basis.T
        cosine = np.clip(across, 0.1, 1.0)
        slope = np.sqrt(1.0 - cosine * cosine) / cosine  # over a texel a slanted surface is deeper by so many texels
        bias = np.float32(self.texel) * (np.float32(BIAS / TEXEL) + SLOPE_BIAS * slope)
        texel, limit, depth = self.texels(seen), -seen[:, 2] - bias, self.depth.ravel()
        columns = self.depth.shape[1]
        lit = np.zeros(len(points), np.float32)
        for right, down in SOFTENING:
            lit += depth[texel + down * columns + right] >= limit
        return lit / np.float32(len(SOFTENING))


@dataclass(slots=True)
class FloorMap:
    """Values on the floor.

    Attributes:
        texel: [m] its size.
        low: (2,) [m] of its corner, along the floor's axes.
        values: (R, C), 0 at the border.
    """

    texel: float
    low: np.ndarray
    values: np.ndarray

    def texels(self, places: np.ndarray) -> np.ndarray:
        """Index (N,) in the flat map of places (N, 2) [m], with those outside at the border, where nothing is."""
        rows, columns = self.values.shape
        column = np.clip((places[:, 0] - self.low[0]) * (1.0 / self.texel), 0, columns - 1).astype(np.int32)
        row = np.clip((places[:, 1] - self.low[1]) * (1.0 / self.texel), 0, rows - 1).astype(np.int32)
        return row * columns + column

    def corners(self, floor: Floor) -> np.ndarray:
        """Corners (4, 3) [m] of the map."""
        high = self.low + self.texel * np.array(self.values.shape[::-1])
        plane = np.array([[x, y] for x in (self.low[0], high[0]) for y in (self.low[1], high[1])])
        return floor.origin + plane @ floor.axes


def lamp_basis(lamp: np.ndarray) -> np.ndarray:
    """Axes (3, 3) of a picture that the lamp takes: rows are x, y, and the direction to the lamp."""
    across = np.cross([0.0, 0.0, 1.0], lamp)
    across = across / np.linalg.norm(across) if np.linalg.norm(across) > 1e-6 else np.array([1.0, 0.0, 0.0])
    return np.stack([across, np.cross(lamp, across), lamp]).astype(np.float32)


def cast_shadow(body: Geometry, basis: np.ndarray, radius: float) -> ShadowMap:
    """What the lamp sees of a body, for a dance of that radius [m]."""
    points, texel = body.points @ basis.T, TEXEL * radius
    border = texel * (2 * BLUR + 2)
    low = points[:, :2].min(axis=0) - border
    size = np.ceil((points[:, :2].max(axis=0) + border - low) / texel).astype(int)
    shown = np.concatenate([(points[:, :2] - low) / texel, -points[:, 2:]], axis=1)
    toward = np.flatnonzero(~front_faces(shown, body.triangles) | body.two_sided)  # y points up here
    covered = rasterise(shown, body.triangles[toward], (int(size[0]), int(size[1])))
    depth = np.full(size[0] * size[1], np.inf, np.float32)
    depth[covered.samples] = covered.depths
    depth = depth.reshape(size[1], size[0])
    return ShadowMap(texel, basis, low, depth, _blur(np.isfinite(depth).astype(np.float32), BLUR))


def contact_map(body: Geometry, floor: Floor) -> FloorMap:
    """Where a body is close to the floor: the floor sees less light there."""
    height = ((body.points - floor.origin) @ floor.normal).astype(np.float32)
    reach, texel = CONTACT_HEIGHT * floor.radius, CONTACT_TEXEL * floor.radius
    near = body.triangles[(height[body.triangles] < 4.0 * reach).any(axis=1)]
    border = texel * (2 * CONTACT_BLUR + 2)
    places = floor.plane(body.points).astype(np.float32)
    used = places[near.ravel()] if len(near) else places[:1]
    low = used.min(axis=0) - border
    size = np.ceil((used.max(axis=0) + border - low) / texel).astype(int)
    covered = rasterise(np.column_stack([(places - low) / texel, height]), near, (int(size[0]), int(size[1])))
    values = np.zeros(size[0] * size[1], np.float32)
    values[covered.samples] = np.exp(-np.maximum(covered.depths, 0.0) / reach)
    return FloorMap(texel, low, _blur(values.reshape(size[1], size[0]), CONTACT_BLUR))


def floor_light(shadow: ShadowMap, contact: FloorMap, cast: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Factor (R, C, 1) of the floor's light.

    Args:
        shadow: of the lamp.
        contact: map of what is near the floor.
        cast: (R, C, 2) [m] points of the floor along the axes of the shadow map.
        near: (R, C, 2) [m] the same along the floor's axes.
    """
    dark: np.ndarray = 1.0 - FLOOR_SHADOW * shadow.cover.ravel()[shadow.texels(cast.reshape(-1, 2))]
    dark *= 1.0 - CONTACT_SHADOW * contact.values.ravel()[contact.texels(near.reshape(-1, 2))]
    return dark.reshape(*cast.shape[:2], 1)


def _blur(values: np.ndarray, radius: int) -> np.ndarray:
    """Blur (R, C) twice by a box of that radius; zero outside."""
    for axis in (0, 1, 0, 1):
        pad = [(radius + 1, radius) if a == axis else (0, 0) for a in (0, 1)]
        total = np.cumsum(np.pad(values, pad), axis=axis)
        count = 2 * radius + 1
        length = total.shape[axis]
        values = (np.take(total, range(count, length), axis) - np.take(total, range(length - count), axis)) / count
    return values
