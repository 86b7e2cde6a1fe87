"""Laws of the directions in which overlapping links are separated: steady, and as short as they can be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import cast

import numpy as np
import pytest

from solver.base.so3 import exp
from solver.feasibility.collisions import CollisionDetector, Contacts
from solver.trajectory.separation_directions import (
    SWITCH_TIME,
    PlacedContacts,
    _choose_directions,
    steady_directions,
)

STEP, SEPARATION = 0.01, 0.01
HALF = np.array([0.1, 0.3, 0.4])
"""[m] Sum of the half edges of two boxes."""


@dataclass
class Boxes:
    """Stands in for a collision detector: a box that moves past another, of the same axes."""

    way: np.ndarray
    """(M, 3) [m] of the second box from the first, in their axes."""

    def measure_along(
        self, contacts: Contacts, normals: np.ndarray, rotations: np.ndarray, positions: np.ndarray
    ) -> Contacts:
        way = (rotations[:, 0].swapaxes(1, 2) @ (positions[:, 1] - positions[:, 0])[..., None])[..., 0]
        own = (rotations[:, 0].swapaxes(1, 2) @ normals[..., None])[..., 0]
        distances = (way * own).sum(axis=1) - np.abs(own) @ HALF
        return replace(contacts, distances=distances, normals=normals)


def passing(ways: np.ndarray, root: np.ndarray, pair: int = 0, first: int = 0) -> PlacedContacts:
    """A box moving along ways (N, 3) [m] past another, each frame with the shortest separation; root axes (N, 3, 3)."""
    frames = np.arange(first, first + len(ways))
    beyond = np.abs(ways) - HALF
    axis = beyond.argmax(axis=1)
    local = np.eye(3)[axis] * np.sign(ways[np.arange(len(ways)), axis])[:, None]
    normals = (root @ local[..., None])[..., 0]
    contacts = Contacts(
        frames, np.full(len(ways), pair), beyond.max(axis=1), np.zeros((len(ways), 2, 3)), normals,
        np.zeros((len(ways), 2), int),
    )  # fmt: skip
    positions = np.stack([np.zeros_like(ways), (root @ ways[..., None])[..., 0]], axis=1)
    detector = cast(CollisionDetector, Boxes(ways))
    return PlacedContacts(detector, contacts, np.repeat(root[:, None], 2, axis=1), positions)


def turning(count: int) -> np.ndarray:
    return exp(np.linspace(0.0, 2.0, count)[:, None] * [0.2, -0.3, 0.9])


def switching(count: int, depth: float, most: float) -> np.ndarray:
    """Ways (N, 3) [m] that overlap by a depth in x, and for a third of the time by a little less in y."""
    inner = np.abs(np.arange(count) - count / 2) < count / 6
    return np.column_stack([np.full(count, HALF[0] - depth), np.where(inner, HALF[1] - most, 0.0), np.zeros(count)])


@pytest.mark.parametrize("seed", range(12))
def test_no_other_choice_of_directions_costs_less(seed: int) -> None:
    """The chosen sequence has the least cost of all: mean push over `SWITCH_TIME`, and the leap of every switch."""
    generator = np.random.default_rng(seed)
    push = generator.uniform(0.0, 0.1, (3, 6))
    ways = generator.standard_normal((3, 1, 3)) + 0.1 * generator.standard_normal((3, 6, 3))
    ways /= np.linalg.norm(ways, axis=2, keepdims=True)
    step = SWITCH_TIME * (0.3, 1.0, 2.0)[seed % 3]

    def cost(choice: tuple[int, ...]) -> float:
        moves = np.array([push[k, frame] * ways[k, frame] for frame, k in enumerate(choice)])
        leaps = np.linalg.norm(np.diff(moves, axis=0), axis=1) * (np.diff(choice) != 0)
        return float(push[list(choice), np.arange(6)].sum() * step / SWITCH_TIME + leaps.sum())

    chosen = tuple(int(k) for k in _choose_directions(push, ways, step))
    assert cost(chosen) == pytest.approx(min(cost(choice) for choice in product(range(3), repeat=6)))


def test_a_short_switch_is_left_out() -> None:
    """The direction stays, relative to the root, where for a moment another one is a little shorter."""
    root = turning(60)
    placed = passing(switching(60, 0.05, 0.045), root)
    found = steady_directions(placed, root, STEP, SEPARATION)
    local = (root.swapaxes(1, 2) @ found.normals[..., None])[..., 0]
    np.testing.assert_allclose(local, np.tile([1.0, 0.0, 0.0], (60, 1)), atol=1e-9)
    np.testing.assert_allclose(found.distances, -0.05, atol=1e-9)
    for name in ("frames", "pairs", "shapes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(placed.contacts, name))


def test_a_long_way_out_is_not_kept() -> None:
    """Where the other direction is shorter by much for long, it is used, and each frame has one of the two."""
    root = turning(3000)
    placed = passing(switching(3000, 0.09, 0.011), root)
    found = steady_directions(placed, root, STEP, SEPARATION)
    np.testing.assert_allclose(found.normals, placed.contacts.normals, atol=1e-9)
    np.testing.assert_allclose(found.distances, placed.contacts.distances, atol=1e-9)


def test_pairs_and_runs_are_independent() -> None:
    """Pairs that do not overlap, and other runs of frames, keep what they have."""
    root = turning(100)
    parts = [
        passing(switching(40, 0.05, 0.045), root[:40]),  # overlaps, and switches
        passing(switching(40, -0.005, -0.006), root[60:], first=60),  # the same pair later is only near
        passing(switching(100, -0.005, -0.006), root, pair=3),  # another pair is only near
    ]
    contacts = Contacts(*(np.concatenate([getattr(part.contacts, name) for part in parts]) for name in (
        "frames", "pairs", "distances", "points", "normals", "shapes")))  # fmt: skip
    both = PlacedContacts(
        parts[0].detector, contacts, np.concatenate([part.rotations for part in parts]),
        np.concatenate([part.positions for part in parts]),
    )  # fmt: skip
    found = steady_directions(both, root, STEP, SEPARATION)
    alone = steady_directions(parts[0], root[:40], STEP, SEPARATION)
    assert not np.allclose(alone.normals, parts[0].contacts.normals)
    np.testing.assert_allclose(found.normals[:40], alone.normals)
    np.testing.assert_array_equal(found.normals[80:], contacts.normals[80:])
    np.testing.assert_array_equal(found.distances[80:], contacts.distances[80:])
    near = passing(switching(60, -0.005, -0.006), root[:60])
    assert steady_directions(near, root[:60], STEP, SEPARATION) is near.contacts
