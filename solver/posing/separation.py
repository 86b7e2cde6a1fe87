"""Distances of links from each other and from the floor in one posture, and their derivatives, for the nearest pairs.

Between two solids with nearest points p_1, p_2 = p_1 + d n and normal n from the first to the second, a change of the
coordinates by e changes the distance d by n' (J_2(p_2) - J_1(p_1)) e = n' (J_2(p_1) - J_1(p_1)) e.

A pair is measured again once its shapes may have come near since it was measured last: conservative advancement. Its
distance has fallen by no more than the paths of both shapes together, and by no more than the changes of the
coordinates between them, each times the largest possible lever.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from functools import lru_cache

import numpy as np

from ..base.so3 import cross
from ..feasibility.collision_shapes import collision_shapes
from ..feasibility.collisions import CollisionDetector
from ..feasibility.separating_planes import support_points
from ..options.checks import CheckOptions
from ..skeleton.rig import ROOT_NV, Rig
from .kinematics import PostureKinematics

NEAR = 0.04
"""[1] Distance below which pairs count, as a fraction of the leg's length."""
MARGIN = 0.002
"""[m] by which links stay farther apart than the checks require. Derived: the sampling margin of the check of
collisions."""
UNLIMITED = 1e3
"""[m] Travel of a slide without limits."""
DOWN = np.array([0.0, 0.0, -1.0])
"""By definition."""


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
        self._pairs = self._detector.shape_pairs
        moves = kinematics.moves[self._links]
        self._moves = moves[self._pairs[:, 1]] - moves[self._pairs[:, 0]]  # (P, nv) of the second against the first
        self._levers = np.abs(self._moves) * _find_levers(rig)[self._pairs].max(axis=1)
        self._near = NEAR * rig.leg_length
        self._placed, self._y = np.zeros(self._corners.shape), np.zeros(rig.nv)
        self._bounds = np.full(len(self._pairs), -np.inf)
        """[m] No pair is nearer."""
        self._kept_pairs, self._kept_heights = np.full(len(self._pairs), MARGIN), np.full(len(self._shapes), MARGIN)
        self.update(())
        self._kept_pairs = np.minimum(self._bounds - self._clearance, MARGIN)  # all are measured the first time
        self._kept_heights[self._low] = np.minimum(self.distances[len(self._close) :], MARGIN)
        self.update(())

    def update(self, standing: Collection[int]) -> None:
        """Measure the distances in the posture of the kinematics, not those of links that stand on the floor."""
        kinematics = self._kinematics
        rotations, positions = kinematics.rotations, kinematics.positions
        corners = self._corners @ rotations[self._links].transpose(0, 2, 1) + positions[self._links, None]
        moved = corners - self._placed  # no point of a shape moves farther than a corner of its box
        travel = np.sqrt((moved * moved).sum(axis=2).max(axis=1, initial=0.0))
        between = self._levers @ np.abs(kinematics.y - self._y)
        self._placed, self._y = corners, kinematics.y
        self._bounds -= np.minimum(travel[self._pairs].sum(axis=1), between)
        reach = self._near + self._clearance
        due = np.flatnonzero(self._bounds < reach)
        found, points, normals = self._detector.measure_shape_pairs(kinematics.q, due)
        self._bounds[due] = found
        near = (found < reach) & np.isfinite(normals).all(axis=1)
        self._close, self._low = due[near], []
        lowest: list[np.ndarray] = []
        if self._ground is not None:
            low = corners[:, :, 2].min(axis=1, initial=np.inf) < self._ground + self._near
            for shape in np.flatnonzero(low).tolist():
                link = int(self._links[shape])
                if link not in standing:
                    own = support_points(self._shapes[shape], (rotations[link].T @ DOWN)[None])[0]
                    lowest.append(rotations[link] @ own + positions[link])
                    self._low.append(shape)
        self._points, self._normals = points[near, 0], normals[near]
        self.distances = found[near] - self._clearance
        if lowest:
            self._points = np.concatenate([self._points, lowest])
            self._normals = np.concatenate([self._normals, [-DOWN] * len(lowest)])
            self.distances = np.concatenate([self.distances, self._points[-len(lowest) :, 2] - self._ground])
        self.kept = np.concatenate([self._kept_pairs[self._close], self._kept_heights[self._low]])

    def names(self) -> list[str]:
        """Which links each of the distances keeps apart, for a message."""
        links = [name.replace("_", " ") for name in self._kinematics.rig.links]
        sides = self._links[self._pairs[self._close]].tolist()
        pairs = [f"{links[one]} and {links[other]} would touch" for one, other in sides]
        return pairs + [f"{links[self._links[shape]]} would touch the floor" for shape in self._low]

    def rows(self) -> np.ndarray:
        """Derivatives (M, nv) of the distances by the flat coordinates."""
        linear, angular = self._kinematics.twists
        around = cross(self._points.T, self._normals.T).T
        moves = np.concatenate([self._moves[self._close], self._kinematics.moves[self._links[self._low]]])
        return np.asarray((self._normals @ linear + around @ angular) * moves)


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


@lru_cache(maxsize=4)
def _find_levers(rig: Rig) -> np.ndarray:
    """(S, nv) [m/rad, m/m] Largest distance of each coordinate's axis from a point of each shape in any posture."""
    links, corners = _find_corners(rig)
    result = np.zeros((len(links), rig.nv))
    for shape, link in enumerate(links.tolist()):
        reach = float(np.linalg.norm(corners[shape], axis=1).max())
        for own in reversed(rig.path(link)):
            moves, joint = rig.v_slices[own], rig.joints[own]
            result[shape, moves] = reach
            if joint.kind == "prismatic":
                result[shape, moves] = 1.0
                slide = slice(moves.start - ROOT_NV, moves.stop - ROOT_NV)
                ends = np.abs([rig.limits.lower[slide], rig.limits.upper[slide]]).max()
                reach += min(float(ends), UNLIMITED)
            reach += float(np.linalg.norm(joint.position))
    return result
