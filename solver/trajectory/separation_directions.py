"""Steady directions of separation for links that overlap.

The direction of the shortest separation of a deep overlap can switch sides from frame to frame. Separated frame by
frame, a hand would pass through the other one. Each pair therefore has one continuous direction over a run of frames in
which it is near, except where a switch costs less than the longer separation on one side.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..base.arrays import true_runs
from ..feasibility.collisions import CollisionDetector, Contacts

SWITCH_TIME = 3.0
"""[s] A switch of the separation costs as much as a separation longer by the same distance for this time, because the
links overlap while they switch."""
MAX_DIRECTIONS = 8
"""Directions considered in a run: those that are the shortest in most frames."""


@dataclass(frozen=True, slots=True)
class PlacedContacts:
    """Pairs of links that are near each other, with their poses.

    Attributes:
        detector: of the contacts.
        contacts: M of them, by frames.
        rotations: (M, 2, 3, 3) axes of the two links, world.
        positions: (M, 2, 3) [m] their origins, world.
    """

    detector: CollisionDetector
    contacts: Contacts
    rotations: np.ndarray
    positions: np.ndarray

    def select(self, chosen: np.ndarray) -> PlacedContacts:
        """Selected pairs."""
        return PlacedContacts(
            self.detector, self.contacts.select(chosen), self.rotations[chosen], self.positions[chosen]
        )

    def measure_along(self, normals: np.ndarray) -> Contacts:
        """The contacts along other directions (M, 3), world."""
        return self.detector.measure_along(self.contacts, normals, self.rotations, self.positions)


def steady_directions(placed: PlacedContacts, root: np.ndarray, step: float, separation: float) -> Contacts:
    """The contacts with directions that do not switch from frame to frame, and the distances along them.

    Args:
        placed: M pairs that are near each other.
        root: (N, 3, 3) axes of the root in all frames, world; directions are constant relative to it.
        step: [s] between frames.
        separation: [m] required distance.
    """
    touches = placed.contacts
    normals = np.array(touches.normals)
    for pair in np.unique(touches.pairs[touches.distances < 0.0]):
        rows = np.flatnonzero((touches.pairs == pair) & (touches.distances < separation))
        frames = touches.frames[rows]
        near = np.zeros(len(root), bool)
        near[frames] = True
        for start, stop in true_runs(near):
            run = rows[(frames >= start) & (frames < stop)]
            normals[run] = _run_directions(placed.select(run), root[start:stop], step, separation)
    other = np.flatnonzero((normals != touches.normals).any(axis=1))
    if not len(other):
        return touches
    found = placed.select(other).measure_along(normals[other])
    values = [np.array(getattr(touches, each.name)) for each in fields(touches)]
    for value, each in zip(values, fields(found)):
        value[other] = getattr(found, each.name)
    return Contacts(*values)


def _run_directions(placed: PlacedContacts, axes: np.ndarray, step: float, separation: float) -> np.ndarray:
    """Directions (M, 3), world, of one pair of links in F frames that follow each other, the root's axes (F, 3, 3)."""
    touches, count = placed.contacts, len(axes)
    frames = touches.frames - touches.frames[0]
    deepest = np.lexsort((touches.distances, frames))[np.searchsorted(frames, np.arange(count))]
    ways = (axes.swapaxes(1, 2) @ touches.normals[deepest][..., None])[..., 0]
    pushes = (separation - touches.distances[deepest])[:, None] * ways
    leaps = np.linalg.norm(np.diff(pushes, axis=0), axis=1) > separation
    if not leaps.any():
        return touches.normals
    among = sorted(np.split(np.arange(count), np.flatnonzero(leaps) + 1), key=len, reverse=True)[:MAX_DIRECTIONS]
    # each direction is continued with its first and last value as the shortest one
    continued = np.array([ways[np.clip(np.arange(count), part[0], part[-1])] for part in among])
    world = (axes @ continued[..., None])[..., 0]
    far = np.array([placed.measure_along(own[frames]).distances for own in world])
    push = np.zeros((len(among), count))
    np.maximum.at(push, (np.arange(len(among))[:, None], frames[None]), np.maximum(separation - far, 0.0))
    chosen = _choose_directions(push, continued, step)
    result = world[chosen, np.arange(count)][frames]
    along = (result * touches.normals).sum(axis=1)
    stays = (chosen == _shortest_direction(among, count))[frames] & ((along > 0.0) | (touches.distances > 0.0))
    return np.where(stays[:, None], touches.normals, result)


def _shortest_direction(among: list[np.ndarray], count: int) -> np.ndarray:
    """(count,) index of the direction that is the shortest; -1 where it is none of them."""
    result = np.full(count, -1)
    for number, part in enumerate(among):
        result[part] = number
    return result


def _choose_directions(push: np.ndarray, ways: np.ndarray, step: float) -> np.ndarray:
    """(F,) index of one of K directions (K, F, 3) for each frame, with the smallest cost of pushes (K, F) [m] and
    switches, by dynamic programming."""
    count = push.shape[1]
    costs, before = push[:, 0] * step / SWITCH_TIME, np.zeros((count, len(push)), int)
    for frame in range(1, count):
        old, new = (push[:, k, None] * ways[:, k] for k in (frame - 1, frame))
        leap = np.linalg.norm(old[:, None] - new[None], axis=2)
        np.fill_diagonal(leap, 0.0)
        total = costs[:, None] + leap
        before[frame] = total.argmin(axis=0)
        costs = total.min(axis=0) + push[:, frame] * step / SWITCH_TIME
    chosen = np.empty(count, int)
    chosen[-1] = costs.argmin()
    for frame in range(count - 1, 0, -1):
        chosen[frame - 1] = before[frame, chosen[frame]]
    return chosen
