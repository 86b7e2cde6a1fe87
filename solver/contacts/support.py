"""The polygon on the ground within which the zero-moment point must stay: bonnet2016 (16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..skeleton.rig import Rig
from .schedule import Anchor

SMALLEST_AREA = 1e-8
"""[m^2] A smaller polygon is degenerate."""


@dataclass(frozen=True, slots=True)
class SupportPolygon:
    """A convex polygon on the ground.

    Attributes:
        vertices: (V, 2) [m] world, counter-clockwise.
        normals: (V, 2) inward unit normal of the edge from each vertex to the next.
        offsets: (V,) [m]: a point p lies normals p - offsets inside each edge's line.
    """

    vertices: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray

    @property
    def area(self) -> float:
        """[m^2]."""
        return _area(self.vertices)

    @property
    def centre(self) -> np.ndarray:
        """Centroid of the area (2,) [m], the paper's ZMP_Mid."""
        return _centre(self.vertices)

    def edge_distances(self, points: np.ndarray) -> np.ndarray:
        """Signed distance (N, V) [m] of points (N, 2) to every edge's line, positive inside: smooth constraints."""
        return points @ self.normals.T - self.offsets

    def margin(self, points: np.ndarray) -> np.ndarray:
        """Signed distance (N,) [m] of points (N, 2) to the polygon's border, positive inside."""
        inside = self.edge_distances(points).min(axis=1)
        outside = inside < 0.0
        if outside.any():
            inside[outside] = -self._distance_to_border(points[outside])
        return inside

    def _distance_to_border(self, points: np.ndarray) -> np.ndarray:
        edges = np.roll(self.vertices, -1, axis=0) - self.vertices
        away = points[:, None] - self.vertices
        along = np.clip((away * edges).sum(axis=2) / (edges * edges).sum(axis=1), 0.0, 1.0)
        return np.linalg.norm(away - along[:, :, None] * edges, axis=2).min(axis=1)


def convex_polygon(points: np.ndarray, shrink: float = 0.0) -> SupportPolygon:
    """Convex hull of points (M, 2) [m], shrunk by a fraction of its size about its centre.

    Raises:
        InvalidValue: the hull has no area.
    """
    hull = _hull(np.asarray(points, float))
    if len(hull) < 3 or _area(hull) < SMALLEST_AREA:
        raise InvalidValue("the support polygon has no area: its corners lie on one line")
    centre = _centre(hull)
    vertices = centre + (1.0 - shrink) * (hull - centre)
    edges = np.roll(vertices, -1, axis=0) - vertices
    normals = np.stack([-edges[:, 1], edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    return SupportPolygon(vertices, normals, (normals * vertices).sum(axis=1))


def support_polygon(rig: Rig, anchors: Sequence[Anchor], shrink: float = 0.0) -> SupportPolygon:
    """Support polygon of planted patches, (16), shrunk as in the paper but never smaller than any single patch's.

    So a zero-moment point that is safe on one foot is safe on both, and weight can be transferred between narrow feet.

    Raises:
        InvalidValue: nothing is planted, or the polygon has no area (naming the patches).
    """
    names = ", ".join(anchor.patch for anchor in anchors)
    if not anchors:
        raise InvalidValue("a rig in flight has no support polygon")
    try:
        corners = [anchor.points(rig)[:, :2] for anchor in anchors]
        whole = convex_polygon(np.concatenate(corners), shrink)
        if len(anchors) < 2 or not shrink:
            return whole
        alone = [convex_polygon(each, shrink).vertices for each in corners]
        return convex_polygon(np.concatenate([whole.vertices, *alone]))
    except InvalidValue as error:
        raise InvalidValue(f"patches {names} of rig {rig.name!r}: {error}") from None


def _hull(points: np.ndarray) -> np.ndarray:
    """Andrew's monotone chain, counter-clockwise, without points on the edges."""
    ordered = np.unique(points, axis=0)
    halves = []
    for run in (ordered, ordered[::-1]):
        chain: list[np.ndarray] = []
        for point in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0.0:
                chain.pop()
            chain.append(point)
        halves += chain[:-1]
    return np.array(halves).reshape(-1, 2)


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _area(vertices: np.ndarray) -> float:
    x, y = vertices.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def _centre(vertices: np.ndarray) -> np.ndarray:
    after = np.roll(vertices, -1, axis=0)
    crossed = vertices[:, 0] * after[:, 1] - vertices[:, 1] * after[:, 0]
    return (vertices + after).T @ crossed / (3.0 * crossed.sum())
