"""The floor of a painted picture: a wide studio floor with faint lines, lit around the dance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...scene.colours import srgb_to_linear
from .view import View

FLOOR_CENTRE, FLOOR_EDGE, BACKGROUND = (0.965, 0.968, 0.972), (0.875, 0.88, 0.895), (0.85, 0.86, 0.88)
"""sRGB of the floor in the light's centre and outside, and of what is beyond it."""
POOL, HORIZON = 2.0, 11.0
"""Radius of the light on the floor, and distance at which the floor has the background's colour, in radii of the
dance."""
LINE_STEPS, LINE_WIDTH, LINE_STRENGTH = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0), 0.016, 0.10
"""[m] Distances of the lines on the floor, of which the largest below half a radius is used; their width in distances;
how much darker they are."""
FAR = 1e4
"""[m] Where the floor does not reach."""


@dataclass(slots=True)
class Floor:
    """The floor as the camera sees it.

    Attributes:
        picture: (H, W, 3) linear, with what is beyond the floor.
        points: (H, W, 3) [m] point of the floor in each pixel; far away beyond it.
        places: (H, W, 2) [m] the same, along its axes.
        origin, normal: (3,) of its plane.
        axes: (2, 3) unit vectors in its plane.
        radius: [m] of the dance on it; the unit of sizes in the picture.
        seen_from_above: whether the camera is on the side of the normal.
    """

    picture: np.ndarray
    points: np.ndarray
    places: np.ndarray
    origin: np.ndarray
    normal: np.ndarray
    axes: np.ndarray
    radius: float
    seen_from_above: bool

    def plane(self, points: np.ndarray) -> np.ndarray:
        """Coordinates (N, 2) [m] of points (N, 3) along the floor's axes."""
        found: np.ndarray = (points - self.origin) @ self.axes.T
        return found


def paint_floor(view: View, place: np.ndarray, radius: float) -> Floor:
    """Paint a floor as far as the camera sees.

    Args:
        view: the camera.
        place: (4, 4) pose of the floor in the world; it lies in its plane z = 0.
        radius: [m] of what happens on it.
    """
    origin, normal = place[:3, 3], place[:3, 2] / np.linalg.norm(place[:3, 2])
    axes = place[:3, :2].T / np.linalg.norm(place[:3, :2], axis=0)[:, None]
    start, away = view.rays()
    slope = away @ normal
    reach = np.where(np.abs(slope) > 1e-6, (origin - start) @ normal / np.where(slope == 0.0, 1.0, slope), -1.0)
    points = np.where((reach > 0.0)[:, :, None], start + reach[:, :, None] * away, np.nan)
    places = (points - origin) @ axes.T
    distance = np.linalg.norm(places, axis=2)
    centre, edge, beyond = (np.array(srgb_to_linear(colour)[:3]) for colour in (FLOOR_CENTRE, FLOOR_EDGE, BACKGROUND))
    pool = np.exp(-((distance / (POOL * radius)) ** 2))[:, :, None]
    fade = np.exp(-((distance / (HORIZON * radius)) ** 2))[:, :, None]
    lines = LINE_STRENGTH * _floor_lines(places, radius)[:, :, None] * pool
    lit = (edge + pool * (centre - edge)) * (1.0 - lines)
    picture = np.where(np.isfinite(fade), beyond + fade * (lit - beyond), beyond)
    picture, points, places = (np.nan_to_num(v, nan=FAR).astype(np.float32) for v in (picture, points, places))
    return Floor(picture, points, places, origin, normal, axes, radius, bool((view.eye - origin) @ normal > 0.0))


def _floor_lines(places: np.ndarray, radius: float) -> np.ndarray:
    """How much of each pixel (H, W) the lines of the floor cover, from the floor's coordinates (H, W, 2) [m]."""
    every = max((step for step in LINE_STEPS if step <= 0.5 * radius), default=LINE_STEPS[0])
    width = LINE_WIDTH * every
    cover = np.zeros(places.shape[:2])
    for axis in (0, 1):
        value = places[:, :, axis]
        pixel = sum(np.abs(np.gradient(value, axis=way)) for way in (0, 1))
        distance = np.abs(value - every * np.round(value / every))
        inside = (0.5 * width + 0.5 * pixel - distance) / np.maximum(pixel, 1e-9)
        here = np.clip(inside, 0.0, np.minimum(width / pixel, 1.0))
        cover = np.maximum(cover, here)
    return np.nan_to_num(cover)
