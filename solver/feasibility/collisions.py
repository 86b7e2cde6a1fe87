"""Distances between links, and between links and the floor, in every frame: bonnet2016 III.D.

The engine measures the distances of near pairs. Far pairs are excluded by bounding spheres, then by capsules, then by
separating planes. A pair farther than the reach of the options has the reach as its distance, so that margins are
continuous in time and far pairs cost little.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from ..engine import FrameDynamics, ShapeDistances
from ..options.checks import REACH, CheckOptions
from ..scene.labels import display_name, format_length
from ..skeleton.rig import Rig
from .capsules import WorldCapsules, build_shape_pairs
from .collision_shapes import bounding_capsules, collision_shapes, collision_solids, lowest_points
from .link_pairs import LinkPair, collision_pairs, find_allowed_collisions, sample_postures
from .separating_planes import find_separated, get_support_functions, support_point_pairs

BATCH_PAIRS = 200_000
"""Pairs of shapes, over all frames, that are tested at once; so many fit in the processor's cache."""


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Distances below the reach: M entries, one for every two shapes of the two links.

    Attributes:
        frames: (M,) indices.
        pairs: (M,) indices of the detector's link pairs.
        distances: (M,) [m] signed, plus the pair's allowance.
    """

    frames: np.ndarray
    pairs: np.ndarray
    distances: np.ndarray


@dataclass(frozen=True, slots=True)
class Contacts:
    """Nearest points of M pairs of shapes that are near each other.

    Attributes:
        frames: (M,) indices.
        pairs: (M,) indices of the detector's link pairs.
        distances: (M,) [m] signed.
        points: (M, 2, 3) [m] nearest points of the two links, world.
        normals: (M, 3) from the first link to the second, world.
        shapes: (M, 2) indices of the detector's shapes.
    """

    frames: np.ndarray
    pairs: np.ndarray
    distances: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    shapes: np.ndarray

    def select(self, chosen: np.ndarray) -> Contacts:
        """Selected entries."""
        return Contacts(*(getattr(self, each.name)[chosen] for each in fields(self)))


class PairDistances:
    """Distances between a rig's links, with collision geometry built once.

    Args:
        rig: with collision shapes.
        pairs: of link names.
        reach: [m] largest distance that is measured.

    Attributes:
        pairs: (P,) link pairs.
        allowances: (P,) [m] added to the distances.
        shape_pairs: (S, 2) indices of the shapes of all pairs.
    """

    def __init__(self, rig: Rig, pairs: tuple[LinkPair, ...], reach: float) -> None:
        self.rig, self.pairs, self.reach = rig, pairs, reach
        self.allowances = np.zeros(len(pairs))
        self._shapes = collision_shapes(rig)[0]
        self._capsules, self._supports = bounding_capsules(rig, self._shapes), get_support_functions(rig)
        self.shape_pairs, self._pair_index = build_shape_pairs(rig, self._capsules.link, pairs)
        self._is_capsule = self._capsules.exact[self.shape_pairs].all(axis=1)
        meshes = np.array([shape.kind == "mesh" for shape in self._shapes], bool)
        self._has_mesh = meshes[self.shape_pairs].any(axis=1)  # for other shapes the engine is as fast as planes
        self._dynamics = FrameDynamics(rig.model)
        self._distances = ShapeDistances(
            rig.model, self._shapes, collision_solids(rig), self._capsules.link, self.shape_pairs
        )

    def minimum_distances(self, q: np.ndarray) -> np.ndarray:
        """Distances (N, P) [m] of the link pairs in configurations (N, nq), the reach at most."""
        poses = self._dynamics.poses(q)
        rotation = poses[:, :, :9].reshape(*poses.shape[:2], 3, 3).swapaxes(2, 3)
        near = self.find_near_pairs(q, rotation, poses[:, :, 9:])
        result = np.full((len(q), len(self.pairs)), self.reach)
        np.minimum.at(result, (near.frames, near.pairs), near.distances)
        return result

    def find_near_pairs(self, q: np.ndarray, rotation: np.ndarray, position: np.ndarray) -> NearPairs:
        """All pairs nearer than the reach.

        Args:
            q: (N, nq) configurations.
            rotation: (N, L, 3, 3) link axes to world axes.
            position: (N, L, 3) [m] link origins.
        """
        if not len(self.shape_pairs):
            return NearPairs(np.zeros(0, int), np.zeros(0, int), np.zeros(0))
        frames, columns, distances = self._candidates(rotation, position, self.reach)
        self._measure_exactly(q, frames, columns, distances)
        pairs = self._pair_index[columns]
        distances += self.allowances[pairs]
        kept = distances < self.reach
        return NearPairs(frames[kept], pairs[kept], distances[kept])

    def find_contacts(self, q: np.ndarray, rotation: np.ndarray, position: np.ndarray, reach: float) -> Contacts:
        """All pairs nearer than ``reach`` [m], with their nearest points; see `find_near_pairs`."""
        if not len(self.shape_pairs):
            none = np.zeros(0, int)
            return Contacts(none, none, np.zeros(0), np.zeros((0, 2, 3)), np.zeros((0, 3)), np.zeros((0, 2), int))
        frames, columns, _ = self._candidates(rotation, position, reach)
        distances, points, normals = self._distances.nearest_points(q, frames, columns)
        pairs = self._pair_index[columns]
        distances += self.allowances[pairs]
        kept = (distances < reach) & np.isfinite(normals).all(axis=1) & np.isfinite(points).all(axis=(1, 2))
        return Contacts(frames, pairs, distances, points, normals, self.shape_pairs[columns]).select(kept)

    def measure_shape_pairs(self, q: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of shapes in one posture.

        Args:
            q: (nq,) configuration.
            pairs: (M,) indices in `shape_pairs`.

        Returns:
            distances (M,) [m] plus allowances, nearest points (M, 2, 3) [m] and normals (M, 3) from the first shape to
            the second, world; not finite where there is no direction.
        """
        distances, points, normals = self._distances.nearest_points(q[None], np.zeros(len(pairs), int), pairs)
        return distances + self.allowances[self._pair_index[pairs]], points, normals

    def measure_along(
        self, contacts: Contacts, normals: np.ndarray, rotations: np.ndarray, positions: np.ndarray
    ) -> Contacts:
        """The same pairs with their distances along other directions.

        Args:
            contacts: M of them.
            normals: (M, 3) from the first link to the second, world.
            rotations: (M, 2, 3, 3) axes of the two links, world.
            positions: (M, 2, 3) [m] their origins, world.
        """
        points = support_point_pairs(self._shapes, contacts.shapes, rotations, positions, normals)
        distances = ((points[:, 1] - points[:, 0]) * normals).sum(axis=1) + self.allowances[contacts.pairs]
        return replace(contacts, distances=distances, points=points, normals=normals)

    def _candidates(
        self, rotation: np.ndarray, position: np.ndarray, within: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Frames, indices of shape pairs, and lower bounds [m] of their distances, (M,) each.

        They include every pair nearer than ``within`` [m], with its allowance. Bounding spheres, capsules and
        separating planes exclude the others.
        """
        size = max(1, BATCH_PAIRS // len(self.shape_pairs))
        parts = []
        for start in range(0, max(len(rotation), 1), size):
            own = slice(start, start + size)
            frames, columns, bounds = self._candidates_of_batch(rotation[own], position[own], within)
            parts.append((frames + start, columns, bounds))
        frames, columns, bounds = (np.concatenate(values) for values in zip(*parts))
        return frames, columns, bounds

    def _candidates_of_batch(
        self, rotation: np.ndarray, position: np.ndarray, within: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`_candidates` of frames that fit in the processor's cache."""
        placed = WorldCapsules(self._capsules, rotation, position)
        frames, columns = placed.find_near(self.shape_pairs, within)
        bounds = placed.distances(frames, self.shape_pairs[columns])
        limits = within - self.allowances[self._pair_index]
        near = bounds < limits[columns]
        frames, columns, bounds = frames[near], columns[near], bounds[near]
        rows = np.flatnonzero(self._has_mesh[columns])
        if not len(rows):
            return frames, columns, bounds
        at, pairs = frames[rows], self.shape_pairs[columns[rows]]
        first, second = self._capsules.link[pairs].T
        between, inside = position[at, second] - position[at, first], placed.centre_offsets(at, pairs)
        turns = rotation[at, first], rotation[at, second]
        near = np.ones(len(frames), bool)
        near[rows] = ~find_separated(self._supports, pairs, turns, between, inside, limits[columns[rows]])
        return frames[near], columns[near], bounds[near]

    def _measure_exactly(self, q: np.ndarray, frames: np.ndarray, columns: np.ndarray, distances: np.ndarray) -> None:
        """Replace the lower bounds by the engine's distances, except where the shapes are capsules."""
        rows = np.flatnonzero(~self._is_capsule[columns])
        distances[rows] = self._distances.distances(q, frames[rows], columns[rows])

    def floor_distances(self, rotation: np.ndarray, position: np.ndarray, ground: float) -> np.ndarray:
        """Height (N, L) [m] of the lowest point of each link above the floor; infinite for links without shapes."""
        result = np.full(rotation.shape[:2], np.inf)
        for shape, link in zip(self._shapes, self._capsules.link):
            height = lowest_points(shape, rotation[:, link], position[:, link]) - ground
            np.minimum(result[:, link], height, out=result[:, link])
        return result


class CollisionDetector(PairDistances):
    """Collision distances of a rig, without the pairs that touch by construction.

    Pairs that touch in every posture are not checked, or may overlap as deep as is usual for them
    (`find_allowed_collisions`). An overlap in one posture does not allow one in another.

    Attributes:
        notes: fitted shapes, unchecked pairs and allowances.
    """

    def __init__(self, rig: Rig, options: CheckOptions) -> None:
        excluded = set(collision_pairs(rig, (*options.excluded, *rig.excluded)))
        wanted = tuple(pair for pair in collision_pairs(rig, options.pairs) if pair not in excluded)
        touching, allowances = _find_allowed_collisions(rig, wanted)
        super().__init__(rig, tuple(pair for pair in wanted if pair not in touching), options.reach)
        self.allowances = np.array([allowances.get(pair, 0.0) for pair in self.pairs])
        self.notes = collision_shapes(rig)[1]
        if touching:
            names = ", ".join(map(_format_pair, touching))
            self.notes += (f"Not checked because they touch by construction in every posture: {names}",)
        if allowances:
            deep = ", ".join(f"{_format_pair(pair)} ({format_length(depth)})" for pair, depth in allowances.items())
            self.notes += (
                f"Near each other or overlapping by construction, and allowed to overlap by the given depth: {deep}",
            )


@lru_cache(maxsize=8)
def _find_allowed_collisions(
    rig: Rig, pairs: tuple[LinkPair, ...]
) -> tuple[tuple[LinkPair, ...], dict[LinkPair, float]]:
    """`find_allowed_collisions`, cached for the many checkers of a dance."""
    return find_allowed_collisions(rig, pairs, PairDistances(rig, pairs, REACH).minimum_distances(sample_postures(rig)))


def _format_pair(pair: LinkPair) -> str:
    return f"{display_name(pair[0])} and {display_name(pair[1])}"
