"""Self-collision and the floor: distance and pair in every frame, bonnet2016 III.D.

coal measures; bounding balls, then bounding capsules decide which pairs are near enough to ask it. A pair farther than
the reach of the options reports the reach, so that margins are continuous in time and far pairs cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..check_options import CheckOptions
from ..model import data_of
from ..pinocchio_loader import pin
from ..rig import Rig
from ..scene.words import length, spoken
from .capsules import PlacedCapsules, shape_pairs
from .pairs import LinkPair, collision_pairs, joints_between
from .shapes import bounding_capsules, collision_shapes, geometry_model, lowest_points

CLOSE_RELATIVES = 2
"""Joints between two links whose overlap in the neutral posture says nothing about the motion."""


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Distances of the pairs that are nearer than the reach, listed: once for every two shapes of the two links.

    Attributes:
        frames: (M,) frame of each.
        pairs: (M,) which of the detector's link pairs.
        distances: (M,) [m] signed, below the reach; from the neutral overlap for a pair that overlaps there.
    """

    frames: np.ndarray
    pairs: np.ndarray
    distances: np.ndarray


class CollisionDetector:
    """A rig's collision geometry, built once.

    Overlap in the neutral posture is the shapes' doing, not the motion's. Pairs that overlap there are left out when at
    most `CLOSE_RELATIVES` joints part them; others (a hand beside the thigh) may overlap as deep as there, no deeper.

    Attributes:
        pairs: (P,) link pairs that are watched.
        forgiven: (P,) [m] overlap in the neutral posture.
        notes: what was fitted, left out and forgiven.
    """

    def __init__(self, rig: Rig, options: CheckOptions) -> None:
        self.rig, self.reach = rig, options.reach
        shapes, notes = collision_shapes(rig)
        self._shapes, self._capsules = shapes, bounding_capsules(rig, shapes)
        excluded = set(collision_pairs(rig, options.excluded))
        wanted = tuple(pair for pair in collision_pairs(rig, options.pairs) if pair not in excluded)
        self._prepare(wanted)
        overlaps = self._overlaps_at_neutral()
        parted = joints_between(rig)
        relatives = {p for p in overlaps if parted[rig.index(p[0]), rig.index(p[1])] <= CLOSE_RELATIVES}
        self._prepare(tuple(pair for pair in wanted if pair not in relatives))
        self.forgiven = np.array([overlaps.get(pair, 0.0) for pair in self.pairs])
        if relatives:
            names = ", ".join(_said(pair) for pair in overlaps if pair in relatives)
            notes = (*notes, f"Not checked because their shapes overlap in the neutral posture: {names}")
        deep = [f"{_said(pair)} ({length(depth)})" for pair, depth in overlaps.items() if pair not in relatives]
        if deep:
            notes = (*notes, f"May overlap as deep as in the neutral posture: {', '.join(deep)}")
        self.notes = notes

    def _prepare(self, pairs: tuple[LinkPair, ...]) -> None:
        self.pairs = pairs
        self.forgiven = np.zeros(len(pairs))
        self._shape_pairs, self._owner = shape_pairs(self.rig, self._capsules.link, pairs)
        self._exact = self._capsules.exact[self._shape_pairs].all(axis=1)
        self._model = geometry_model(self.rig, self._shapes, self._shape_pairs)
        self._geometry = self._model.createData()
        self._data = data_of(self.rig.model)

    def _overlaps_at_neutral(self) -> dict[LinkPair, float]:
        neutral = self.rig.neutral[None]
        pin.forwardKinematics(self.rig.model, self._data, neutral[0])
        poses = [self._data.oMi[joint] for joint in range(1, self.rig.model.njoints)]
        rotation = np.array([[pose.rotation for pose in poses]])
        position = np.array([[pose.translation for pose in poses]])
        near = self.near_pairs(neutral, rotation, position)
        depths = np.zeros(len(self.pairs))
        np.maximum.at(depths, near.pairs, -near.distances)
        return {self.pairs[k]: float(depths[k]) for k in np.flatnonzero(depths)}

    def near_pairs(self, q: np.ndarray, rotation: np.ndarray, position: np.ndarray) -> NearPairs:
        """Every pair nearer than the reach.

        Args:
            q: (N, nq).
            rotation: (N, L, 3, 3) link axes to world axes.
            position: (N, L, 3) [m] link origins.
        """
        if not len(self._shape_pairs):
            return NearPairs(np.zeros(0, int), np.zeros(0, int), np.zeros(0))
        placed = PlacedCapsules(self._capsules, rotation, position)
        frames, columns = placed.near(self._shape_pairs, self.reach)
        bounds = placed.distances(frames, self._shape_pairs[columns])
        kept = bounds < self.reach
        frames, columns, distances = frames[kept], columns[kept], bounds[kept]
        self._measure(q, frames, columns, distances)
        pairs = self._owner[columns]
        distances += self.forgiven[pairs]
        kept = distances < self.reach
        return NearPairs(frames[kept], pairs[kept], distances[kept])

    def _measure(self, q: np.ndarray, frames: np.ndarray, columns: np.ndarray, distances: np.ndarray) -> None:
        """Replace the bounds by coal's distances, except where capsules are the shapes."""
        model, geometry = self._model, self._geometry
        placed, measure = -1, pin.computeDistance
        asked = np.nonzero(~self._exact[columns])[0]
        for entry, frame, column in zip(asked.tolist(), frames[asked].tolist(), columns[asked].tolist()):
            if frame != placed:
                pin.updateGeometryPlacements(self.rig.model, self._data, model, geometry, q[frame])
                placed = frame
            distances[entry] = measure(model, geometry, column).min_distance

    def floor_distances(self, rotation: np.ndarray, position: np.ndarray, ground: float) -> np.ndarray:
        """Height (N, L) [m] of each link's lowest point above the floor; infinite for a link without shapes."""
        result = np.full(rotation.shape[:2], np.inf)
        for shape, link in zip(self._shapes, self._capsules.link):
            height = lowest_points(shape, rotation[:, link], position[:, link]) - ground
            np.minimum(result[:, link], height, out=result[:, link])
        return result


def _said(pair: LinkPair) -> str:
    return f"{spoken(pair[0])} and {spoken(pair[1])}"
