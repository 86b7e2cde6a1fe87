"""Planes between shapes: bounds that are never too large, and leave little to measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.feasibility import CollisionDetector, Mechanics
from solver.feasibility.capsules import WorldCapsules
from solver.feasibility.separating_planes import SupportFunctions, find_separated, support_points
from solver.options.checks import CheckOptions
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.values.shape import Shape
from tests.dance.static_motions import sinusoidal_motion
from tests.pinocchio import pin

KINDS: dict[str, tuple[float, ...]] = {
    "capsule": (0.05, 0.2), "box": (0.02, 0.05, 0.3), "sphere": (0.05,), "ellipsoid": (0.02, 0.06, 0.2),
    "mesh": (1.0, 1.0, 1.0),
}  # fmt: skip


def _shape(kind: str, generator: np.random.Generator, link: str = "") -> Shape:
    turn = pin.SE3.Random().rotation
    points = generator.normal(size=(60, 3)) * [0.03, 0.05, 0.1] if kind == "mesh" else np.zeros((0, 3))
    return Shape(link, kind, KINDS[kind], turn, generator.normal(size=3) * (kind != "mesh"), points @ turn.T)


def _bony() -> Rig:
    """A person of pointed hulls, two on every link, so that capsules around them are too wide."""
    person, generator = human(1.75, 70.0, "male"), np.random.default_rng(3)
    shapes = []
    for link, (lower, upper) in zip(person.links, person.boxes):
        for _ in range(2):
            points = generator.uniform(lower, upper, (40, 3)) * generator.uniform(0.3, 1.0, 3)
            shapes.append(Shape(link, "mesh", (1.0, 1.0, 1.0), np.eye(3), np.zeros(3), points))
    return replace(person, shapes=tuple(shapes))


@pytest.mark.parametrize("kind", KINDS)
def test_tabulated_supports_bound_the_true_ones(kind: str) -> None:
    """In any direction the bound lies above the farthest point: 0.4 mm for 10 cm of a ball, 6 % where faces meet."""
    generator = np.random.default_rng(1)
    shape = _shape(kind, generator)
    directions = generator.normal(size=(5000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    directions = np.concatenate([directions, np.eye(3), -np.eye(3)])
    true = (directions * support_points(shape, directions)).sum(axis=1)
    if kind == "mesh":
        np.testing.assert_allclose(true, (directions @ shape.vertices.T).max(axis=1), atol=1e-12)
    bound, points = SupportFunctions((_shape("box", generator), shape)).evaluate(
        np.ones(len(directions), int), directions
    )
    assert np.all(bound >= true - 1e-12)
    size = np.ptp(support_points(shape, np.concatenate([np.eye(3), -np.eye(3)])), axis=0).max() / 2.0
    assert np.all(bound <= true + (4e-3 if kind == "sphere" else 0.06) * size)
    assert np.all((directions * points).sum(axis=1) <= true + 1e-12)


@pytest.mark.parametrize("within", [-0.005, 0.0, 0.03, 0.1])
def test_nothing_near_is_left_out(within: float) -> None:
    """In a fast motion, contacts and near pairs are those that the engine finds, with its distances (1e-6 m)."""
    rig = _bony()
    detector = CollisionDetector(rig, CheckOptions(reach=max(within, 0.03)))
    q = sinusoidal_motion(rig, np.linspace(0.0, 4.0, 40), size=1.5).q
    still = np.zeros((len(q), rig.nv))
    state = Mechanics(rig).compute_state(q, still, still)
    size = len(q), len(detector.shape_pairs)
    every = detector._distances.distances(q, *(index.ravel() for index in np.indices(size))).reshape(size)
    every += detector.allowances[detector._pair_index]
    near = detector.find_near_pairs(q, state.rotation, state.position)
    touches = detector.find_contacts(q, state.rotation, state.position, within)
    for found, limit in ((near, detector.reach), (touches, within)):
        frames, columns = np.nonzero(every < limit)
        assert len(frames) > 20
        np.testing.assert_array_equal(found.frames, frames)
        np.testing.assert_array_equal(found.pairs, detector._pair_index[columns])
        np.testing.assert_allclose(found.distances, every[frames, columns], atol=1e-6)
    gap = ((touches.points[:, 1] - touches.points[:, 0]) * touches.normals).sum(axis=1)
    np.testing.assert_allclose(gap + detector.allowances[touches.pairs], touches.distances, atol=1e-5)
    # a plane parts shapes by no more than their distance, and by that where it lies across the way between them
    links = np.array([[rig.index(link) for link in detector.pairs[pair]] for pair in touches.pairs])
    at = touches.frames[:, None]
    placed = state.rotation[at, links], state.position[at, links]
    across = detector.measure_along(touches, touches.normals, *placed).distances
    np.testing.assert_allclose(across, touches.distances, atol=1e-4)
    other = np.random.default_rng(4).normal(size=touches.normals.shape)
    other /= np.linalg.norm(other, axis=1)[:, None]
    assert (detector.measure_along(touches, other, *placed).distances <= touches.distances + 1e-5).all()


def test_planes_leave_little_to_measure() -> None:
    """Of what capsules around pointed hulls let pass, planes leave not much more than what does overlap."""
    rig = _bony()
    detector = CollisionDetector(rig, CheckOptions())
    q = sinusoidal_motion(rig, np.linspace(0.0, 4.0, 40), size=1.5).q
    still = np.zeros((len(q), rig.nv))
    state = Mechanics(rig).compute_state(q, still, still)
    placed = WorldCapsules(detector._capsules, state.rotation, state.position)
    frames, columns = placed.find_near(detector.shape_pairs, 0.0)
    passed = (placed.distances(frames, detector.shape_pairs[columns]) < 0.0).sum()
    candidates = len(detector._candidates(state.rotation, state.position, 0.0)[0])
    overlapping = len(detector.find_contacts(q, state.rotation, state.position, 0.0).frames)
    assert passed > 3 * overlapping
    assert candidates < 1.2 * overlapping


@pytest.mark.filterwarnings("error")
def test_looking_begins_in_one_point_of_both() -> None:
    """Two spheres about one point are not separated, and nothing is divided by zero."""
    supports = SupportFunctions([_shape("sphere", np.random.default_rng(0))])
    still, none = np.eye(3)[None], np.zeros((1, 3))
    assert not find_separated(supports, np.zeros((1, 2), int), (still, still), none, none, np.zeros(1)).any()
