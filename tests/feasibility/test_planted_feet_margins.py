"""Laws of the distances of planted feet from their anchors and from each other."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.so3 import exp
from solver.contacts.schedule import Anchor, stance
from solver.dynamics.coordinates import to_manifold
from solver.dynamics.mechanics import Mechanics
from solver.feasibility.checks.planted_feet import placement_errors, slip_by_axis, slip_distances
from solver.rigs import human
from solver.skeleton.rig import Rig

RIG = human(1.75, 70.0, "male")
ANCHORS = stance(RIG, "both")
FRAMES = 9


def standing(moves: dict[str, np.ndarray], turns: dict[str, np.ndarray] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Poses (N, L, 3, 3) and (N, L, 3) of links with both feet on their anchors, then moved (N, 3) and turned."""
    none = np.zeros((FRAMES, RIG.nv))
    state = Mechanics(RIG).compute_poses(to_manifold(RIG, none, none, none).q)
    rotation, position = np.array(state.rotation), np.array(state.position)
    for anchor in ANCHORS:
        link = RIG.patch(anchor.patch).link
        rotation[:, RIG.index(link)], position[:, RIG.index(link)] = anchor.rotation, anchor.position
    for link, by in moves.items():
        position[:, RIG.index(link)] += by
    for link, by in (turns or {}).items():
        rotation[:, RIG.index(link)] = exp(by) @ rotation[:, RIG.index(link)]
    return rotation, position


def some(seed: int, size: float = 0.01) -> np.ndarray:
    return size * np.random.default_rng(seed).standard_normal((FRAMES, 3))


def corners(rotation: np.ndarray, position: np.ndarray, anchor: Anchor, rig: Rig = RIG) -> np.ndarray:
    """(N, V, 3) offsets [m] of a patch's corners from where they are planted, frame by frame."""
    link = rig.index(rig.patch(anchor.patch).link)
    return np.array(
        [
            [turn @ v + place for v in rig.patch(anchor.patch).vertices]
            for turn, place in zip(rotation[:, link], position[:, link])
        ]
    ) - anchor.points(rig)


LINKS = [RIG.patch(anchor.patch).link for anchor in ANCHORS]


def test_feet_in_place_do_not_slip() -> None:
    """On their anchors feet have neither distance nor error."""
    poses = standing({})
    np.testing.assert_allclose(slip_distances(RIG, *poses, ANCHORS), 0.0, atol=1e-12)
    np.testing.assert_allclose(placement_errors(RIG, *poses, ANCHORS), 0.0, atol=1e-12)


def test_a_shifted_foot_slips_by_as_much() -> None:
    """Each foot has its own distance; the error between them is that of their shifts, horizontally."""
    one, other = some(0), some(1)
    poses = standing(dict(zip(LINKS, (one, other))))
    expected = np.column_stack([np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)])
    np.testing.assert_allclose(slip_distances(RIG, *poses, ANCHORS), expected, atol=1e-12)
    apart = np.linalg.norm((one - other)[:, :2], axis=1)
    np.testing.assert_allclose(placement_errors(RIG, *poses, ANCHORS), apart, atol=1e-12)
    np.testing.assert_array_equal(placement_errors(RIG, *poses, ANCHORS[:1]), 0.0)
    together = standing(dict.fromkeys(LINKS, one))
    np.testing.assert_allclose(placement_errors(RIG, *together, ANCHORS), 0.0, atol=1e-12)


def test_the_corner_that_moves_most_counts() -> None:
    """Of a foot that turns, the largest distance of any corner, by definition; of three feet the largest error."""
    poses = standing({LINKS[0]: some(2)}, {LINKS[0]: some(3, 0.1), LINKS[1]: some(4, 0.1)})
    offsets = [corners(*poses, anchor) for anchor in ANCHORS]
    expected = np.column_stack([np.linalg.norm(each, axis=2).max(axis=1) for each in offsets])
    np.testing.assert_allclose(slip_distances(RIG, *poses, ANCHORS), expected, atol=1e-12)
    errors = placement_errors(RIG, *poses, ANCHORS)
    most = np.linalg.norm((offsets[1] - offsets[0])[:, :, :2], axis=2).max(axis=1)
    assert (errors <= most + 1e-12).all()
    assert (errors > 0.5 * most).all()
    np.testing.assert_allclose(placement_errors(RIG, *poses, (*ANCHORS, ANCHORS[0])), errors, atol=1e-12)


@pytest.mark.parametrize("allowed", [0.001, 0.004])
def test_a_box_of_slips_keeps_both_limits(allowed: float) -> None:
    """Where every axis has room, no corner slips farther than allowed, nor do feet relative to each other."""
    generator, inside = np.random.default_rng(5), 0
    for size in (0.2, 0.35, 0.5, 1.0):
        moves = {link: allowed * size * generator.uniform(-1.0, 1.0, (FRAMES, 3)) for link in LINKS}
        poses = standing(moves)
        room = slip_by_axis(RIG, *poses, ANCHORS, allowed)
        assert room.shape == (FRAMES, 48)
        kept = room.min(axis=1) >= 0.0
        inside += kept.sum()
        assert (slip_distances(RIG, *poses, ANCHORS)[kept] <= allowed).all()
        assert (placement_errors(RIG, *poses, ANCHORS)[kept] <= allowed + 1e-12).all()
    assert 9 < inside < 36
    # the box is as large as both limits allow: at its edge one of them is used up
    edge = allowed * np.array([np.sqrt(0.125), np.sqrt(0.125), np.sqrt(0.75)])
    poses = standing({LINKS[0]: np.tile(edge, (FRAMES, 1)), LINKS[1]: np.tile(-edge, (FRAMES, 1))})
    np.testing.assert_allclose(slip_by_axis(RIG, *poses, ANCHORS, allowed).min(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(slip_distances(RIG, *poses, ANCHORS), allowed)
    np.testing.assert_allclose(placement_errors(RIG, *poses, ANCHORS), allowed)
    np.testing.assert_allclose(slip_by_axis(RIG, *standing({}), ANCHORS, allowed), np.tile(edge, (FRAMES, 16)))
