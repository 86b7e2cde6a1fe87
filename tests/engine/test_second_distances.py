"""Distances by FCL: against coal, and against formulas."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
import pytest

from solver import engine
from solver.base.so3 import exp
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.workflows.check import check
from solver.engine import fcl_distances
from solver.feasibility.capsules import segment_distance
from solver.rigs import human
from solver.values.shape import Shape
from tests.dance.example_dances import home, rotate_joints
from tests.pinocchio import pin

KINDS = {"capsule": 2, "sphere": 1, "box": 3, "ellipsoid": 3, "mesh": 0}
DISTANCE_ERROR = 1e-6


def random_shape(kind: str, generator: np.random.Generator) -> Shape:
    """A shape about the size of a limb, at its link's origin."""
    if kind == "mesh":
        points = generator.standard_normal((60, 3)) * generator.uniform(0.05, 0.2, 3)
        return Shape("link", kind, (1.0, 1.0, 1.0), np.eye(3), np.zeros(3), points)
    return Shape("link", kind, tuple(generator.uniform(0.03, 0.2, KINDS[kind])), np.eye(3), np.zeros(3))


def random_pose(generator: np.random.Generator, spread: float = 0.15) -> fcl_distances.Pose:
    """Axes and origin."""
    return exp(2.0 * generator.standard_normal(3)), spread * generator.standard_normal(3)


@pytest.mark.skipif(engine.NAME != "pinocchio", reason="compares with coal")
def test_both_engines_have_one_interface() -> None:
    """Functions and public methods have the same names, parameters, kinds and results."""
    coal_distances = importlib.import_module("solver.engine.coal_distances")
    for name in ("solid_of", "convex_hull_solid", "solid_distance"):
        first, second = (getattr(module, name) for module in (coal_distances, fcl_distances))
        assert inspect.signature(first) == inspect.signature(second), name
    first, second = (_methods(module.ShapeDistances) for module in (coal_distances, fcl_distances))
    assert first == second
    assert set(first) == {"__init__", "distances", "nearest_points"}


def test_a_corner_with_many_neighbours_is_no_error() -> None:
    """A cone of 1,000 sides, whose tip has more neighbours than coal counts, keeps its tip and its rim within 1 %."""
    angles = 2.0 * np.pi * np.arange(1000) / 1000
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(1000)])
    cone = engine.convex_hull_solid(np.vstack([ring, [0.0, 0.0, 1.0]]))
    flat = engine.convex_hull_solid(np.array([[0, 0, 3.0], [1, 0, 3.0], [0, 1, 3.0], [0, 0, 4.0]]))
    assert engine.solid_distance(cone, flat) == pytest.approx(2.0, abs=0.01)
    side = engine.convex_hull_solid(np.array([[3.0, 0, 0], [4.0, 0, 0], [4.0, 1, 0], [4.0, 0, 1]]))
    assert engine.solid_distance(cone, side) == pytest.approx(2.0, abs=0.01)


def _methods(kind: type) -> dict[str, inspect.Signature]:
    """Signatures of the constructor and the public methods."""
    found = {name: value for name, value in vars(kind).items() if inspect.isfunction(value)}
    return {name: inspect.signature(value) for name, value in found.items() if name == "__init__" or name[0] != "_"}


@pytest.mark.parametrize(("one", "other"), list(combinations_with_replacement(KINDS, 2)))
def test_distances_are_coals(one: str, other: str) -> None:
    """Apart and overlapping, for every pair of kinds; the normal's gap is the distance."""
    generator = np.random.default_rng(3)
    apart, overlapping = 0, 0
    for _ in range(60):
        shapes = random_shape(one, generator), random_shape(other, generator)
        poses = random_pose(generator), random_pose(generator)
        solids = [fcl_distances.solid_of(shape) for shape in shapes]
        distance, start, stop, normal = fcl_distances.measure(solids[0], poses[0], solids[1], poses[1])
        assert (stop - start) @ normal == pytest.approx(distance, abs=1e-9)
        expected = coal_distance(shapes, poses)
        apart, overlapping = apart + (expected > 0.0), overlapping + (expected < 0.0)
        assert distance == pytest.approx(expected, abs=DISTANCE_ERROR)
    assert min(apart, overlapping) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_depths_of_ellipsoids_are_coals(kind: str) -> None:
    """Of ellipsoids in the middle of other solids, which both libraries find by growing polytopes."""
    generator = np.random.default_rng(4)
    for _ in range(40):
        shapes = random_shape("ellipsoid", generator), random_shape(kind, generator)
        poses = (np.eye(3), np.zeros(3)), random_pose(generator, 0.02)
        solids = [fcl_distances.solid_of(shape) for shape in shapes]
        found = fcl_distances.measure(solids[0], poses[0], solids[1], poses[1])[0]
        assert found == pytest.approx(coal_distance(shapes, poses), abs=DISTANCE_ERROR)


def coal_distance(shapes: Sequence[Shape], poses: Sequence[fcl_distances.Pose]) -> float:
    """Signed distance [m] by coal, as the first engine uses it."""
    coal = pin.coal  # ends the test where coal is not the engine
    from solver.engine.coal_distances import distance_request

    solids, places = [engine.solid_of(shape) for shape in shapes], [coal.Transform3s(*pose) for pose in poses]
    return float(coal.distance(solids[0], places[0], solids[1], places[1], distance_request(), coal.DistanceResult()))


def test_no_depth_is_infinite() -> None:
    """Where coal's search for the depth of an overlap fails, one with a coarser tolerance finds it: in one frame of an
    arm that is swung through the trunk."""
    person = human(1.7, 65.0, "female")
    q, anchors = home(person)
    swung = rotate_joints(person, q, {"left_upper_arm": (0, -1.2)})
    keys = (Keyframe(0.0333, q), Keyframe(0.7771, swung), Keyframe(1.911, q))
    found = check(AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, 2.0)))
    assert (
        -0.2 < min(margin.smallest.min() for margin in found.checks.margins if margin.check.category == "touch") < 0.0
    )


def test_depths_of_boxes_in_line_are_their_least_overlap() -> None:
    """Boxes, spheres and capsules with common planes and edges, as in robots at rest: by the formula for boxes."""
    generator = np.random.default_rng(7)
    for _ in range(60):
        kind = str(generator.choice(["box", "capsule", "sphere"]))
        sizes, radius = generator.choice([0.05, 0.1, 0.2], (2, 3)), 0.0 if kind == "box" else 0.03
        sizes[1] *= {"box": (1.0, 1.0, 1.0), "capsule": (0.0, 0.0, 1.0), "sphere": (0.0, 0.0, 0.0)}[kind]
        size = {"box": tuple(sizes[1]), "capsule": (radius, sizes[1, 2]), "sphere": (radius,)}[kind]
        shapes = [Shape("link", *each, np.eye(3), np.zeros(3)) for each in (("box", tuple(sizes[0])), (kind, size))]
        place = generator.choice([0.0, 1e-9, 0.05], 3)
        overlap = float((sizes.sum(axis=0) - np.abs(place)).min())
        if overlap <= 1e-6:
            continue
        solids = [fcl_distances.solid_of(shape) for shape in shapes]
        still = np.eye(3), np.zeros(3)
        distance, start, stop, normal = fcl_distances.measure(solids[0], still, solids[1], (np.eye(3), place))
        assert distance == pytest.approx(-overlap - radius, abs=1e-12)
        assert (stop - start) @ normal == pytest.approx(distance, abs=1e-12)


def test_crossing_capsules_overlap_by_their_radii() -> None:
    """Along the common normal of their axes."""
    shapes = [Shape("link", "capsule", (radius, 0.2), np.eye(3), np.zeros(3)) for radius in (0.03, 0.05)]
    solids = [fcl_distances.solid_of(shape) for shape in shapes]
    still, turned = (np.eye(3), np.zeros(3)), (exp(np.array([0.5, 0.0, 0.0])), np.zeros(3))
    for second in (still, turned):
        distance, start, stop, normal = fcl_distances.measure(solids[0], still, solids[1], second)
        assert distance == pytest.approx(-0.08, abs=1e-12)
        assert (stop - start) @ normal == pytest.approx(distance, abs=1e-12)
        assert normal[2] == pytest.approx(0.0, abs=1e-9)


def test_capsules_are_their_axes_less_their_radii() -> None:
    """By the formula for segments."""
    generator = np.random.default_rng(5)
    for _ in range(50):
        shapes = [random_shape("capsule", generator) for _ in range(2)]
        poses = [random_pose(generator, 0.4) for _ in range(2)]
        axes = [2.0 * shape.size[1] * turn[:, 2] for shape, (turn, _) in zip(shapes, poses)]
        starts = [place - axis / 2.0 for (_, place), axis in zip(poses, axes)]
        gap = segment_distance(starts[0][None], axes[0][None], starts[1][None], axes[1][None])[0]
        solids = [fcl_distances.solid_of(shape) for shape in shapes]
        found = fcl_distances.measure(solids[0], poses[0], solids[1], poses[1])[0]
        if gap > 1e-6:
            assert found == pytest.approx(gap - shapes[0].size[0] - shapes[1].size[0], abs=1e-12)


def test_a_point_is_as_far_from_an_ellipsoid_as_its_foot() -> None:
    """The nearest point q of an ellipsoid to a point p outside has p - q along the surface's normal there."""
    generator = np.random.default_rng(6)
    still = np.eye(3), np.zeros(3)
    for _ in range(50):
        shape = random_shape("ellipsoid", generator)
        size = np.array(shape.size)
        direction = generator.standard_normal(3)
        foot = size**2 * direction / np.sqrt(size**2 @ direction**2)
        normal = foot / size**2 / np.linalg.norm(foot / size**2)
        away = generator.uniform(0.01, 0.3)
        ball = Shape("link", "sphere", (0.005,), np.eye(3), np.zeros(3))
        place = np.eye(3), foot + away * normal
        found = fcl_distances.measure(fcl_distances.solid_of(shape), still, fcl_distances.solid_of(ball), place)[0]
        assert found == pytest.approx(away - 0.005, abs=fcl_distances.DISTANCE_ERROR)


def test_ellipsoids_of_equal_axes_are_spheres() -> None:
    """In the same place too, where a search for the direction of the least depth does not end."""
    ball = Shape("link", "ellipsoid", (0.1, 0.1, 0.1), np.eye(3), np.zeros(3))
    assert engine.solid_distance(engine.solid_of(ball), engine.solid_of(ball)) == pytest.approx(-0.2, abs=1e-12)
    solid = fcl_distances.solid_of(ball)
    assert fcl_distances.solid_distance(solid, solid) == pytest.approx(-0.2, abs=1e-12)
    assert not Shape("link", "ellipsoid", (0.1, 0.1, 0.100001), np.eye(3), np.zeros(3)).is_sphere
