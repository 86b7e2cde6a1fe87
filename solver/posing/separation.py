"""Distances of links from each other and from the floor in one posture, and their derivatives, for the nearest pairs.

Between two solids with nearest points p_1, p_2 and normal n from the first to the second, a change d of the coordinates
changes the distance by n' (J_2(p_2) - J_1(p_1)) d.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from functools import lru_cache

import numpy as np

from ..check_options import CheckOptions
from ..feasibility.collision_shapes import collision_shapes
from ..feasibility.collisions import CollisionDetector
from ..feasibility.separating_planes import support_points
from ..rig import Rig
from ..so3 import cross
from .kinematics import PostureKinematics

NEAR, TRAVEL = 0.04, 0.12
"""[1] As fractions of the leg's length: distance below which pairs count, and displacement of a shape after which near
pairs are searched again."""
MARGIN = 0.002
"""[m] by which links stay farther apart than the checks require: the sampling margin of the check of collisions."""
DOWN = np.array([0.0, 0.0, -1.0])


class Separation:
    """The nearest pairs of a rig's links, and the links near the floor.

    Args:
        kinematics: of the posture at the start.
        checks: pairs of links, and required clearance.
        ground: [m] height of the floor; None without one.

    Attributes:
        distances: (M,) [m] beyond the clearance.
        kept: (M,) [m] that the distances should not fall below: `MARGIN`, or the distance at the start.
    """

    def __init__(self, kinematics: PostureKinematics, checks: CheckOptions, ground: float | None) -> None:
        self._kinematics, self._clearance, self._ground = kinematics, checks.clearance, ground
        rig = kinematics.rig
        self._detector = _get_detector(rig, checks)
        self._shapes = collision_shapes(rig)[0]
        self._links, self._corners = _find_corners(rig)
        self._near, self._travel = NEAR * rig.leg_length, TRAVEL * rig.leg_length
        self._placed = np.full(self._corners.shape, np.inf)
        self._pairs = np.zeros(0, int)
        self._at_start: dict[int, float] = {}
        self._keys: list[int] = []
        self.distances = self.kept = np.zeros(0)
        self.update(())
        self._at_start = {key: value for key, value in zip(self._keys, self.distances.tolist()) if value < MARGIN}
        self.update(())

    def update(self, standing: Collection[int]) -> None:
        """Measure the distances in the posture of the kinematics, not those of links that stand on the floor."""
        kinematics = self._kinematics
        rotations, positions = kinematics.rotations, kinematics.positions
        corners = self._corners @ rotations[self._links].transpose(0, 2, 1) + positions[self._links, None]
        moved = corners - self._placed  # no point of a shape moves farther than a corner of its box
        travel = np.sqrt((moved * moved).sum(axis=2).max(axis=1, initial=0.0))
        if not travel.max(initial=0.0) < self._travel:
            self._search(corners)
            travel = np.zeros(len(travel))
        reach = self._near + self._clearance
        may_be_near = self._searched.distances - travel[self._searched.shapes].sum(axis=1) < reach
        near = self._detector.measure_shape_pairs(kinematics.q, self._pairs[may_be_near], reach)[1]
        self._sides = self._links[near.shapes]
        self._points, self._normals = near.points, near.normals
        self.distances = near.distances - self._clearance
        count = len(self._shapes)
        self._keys = (near.shapes @ [count, 1]).tolist()
        self._floor: list[tuple[int, np.ndarray]] = []
        if self._ground is not None:
            heights = []
            low = corners[:, :, 2].min(axis=1, initial=np.inf) < self._ground + self._near
            for shape in np.flatnonzero(low).tolist():
                link = int(self._links[shape])
                if link not in standing:
                    own = support_points(self._shapes[shape], (rotations[link].T @ DOWN)[None])[0]
                    point = rotations[link] @ own + positions[link]
                    self._floor.append((link, point))
                    self._keys.append(count * count + shape)
                    heights.append(point[2] - self._ground)
            self.distances = np.concatenate([self.distances, heights])
        self.kept = np.array([min(MARGIN, self._at_start.get(key, MARGIN)) for key in self._keys])

    def _search(self, corners: np.ndarray) -> None:
        """Find the pairs that can become near before a shape has moved by `TRAVEL`."""
        kinematics, reach = self._kinematics, self._near + self._clearance + 2.0 * self._travel
        self._placed = corners
        found = self._detector.find_shape_pairs(kinematics.q, kinematics.rotations, kinematics.positions, reach)
        self._pairs, self._searched = self._detector.measure_shape_pairs(kinematics.q, found, reach)

    def names(self) -> list[str]:
        """Which links each of the distances keeps apart, for a message."""
        links = [name.replace("_", " ") for name in self._kinematics.rig.links]
        pairs = [f"{links[one]} and {links[other]} would touch" for one, other in self._sides.tolist()]
        return pairs + [f"{links[link]} would touch the floor" for link, _ in self._floor]

    def rows(self) -> np.ndarray:
        """Derivatives (M, nv) of the distances by the flat coordinates."""
        points, normals = self._points, self._normals
        (linear, angular), moves = self._kinematics.twists, self._kinematics.moves
        along = normals @ linear
        one, other = (along + cross(points[:, side].T, normals.T).T @ angular for side in (0, 1))
        found = [other * moves[self._sides[:, 1]] - one * moves[self._sides[:, 0]]]
        found += [self._kinematics.placed_point_jacobian(link, point)[2:] for link, point in self._floor]
        return np.concatenate(found)


@lru_cache(maxsize=4)
def _get_detector(rig: Rig, checks: CheckOptions) -> CollisionDetector:
    return CollisionDetector(rig, checks)


@lru_cache(maxsize=4)
def _find_corners(rig: Rig) -> tuple[np.ndarray, np.ndarray]:
    """Links (S,) of the collision shapes, and corners (S, 8, 3) [m] of the boxes around them, link axes."""
    shapes = collision_shapes(rig)[0]
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    signs = np.array(list(itertools.product((0, 3), repeat=3))) + np.arange(3)  # (8, 3) rows of the axes
    extents = np.array([(support_points(shape, axes) * axes).sum(axis=1) for shape in shapes]).reshape(-1, 6)
    corners = extents[:, signs] * np.where(signs < 3, 1.0, -1.0)
    return np.array([rig.index(shape.link) for shape in shapes], int), corners
