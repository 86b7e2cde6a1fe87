"""The NumPy engine against Pinocchio and coal: the same values, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from solver import engine
from solver.base.errors import InvalidValue
from solver.base.so3 import exp
from solver.engine import numpy_configurations, numpy_frames, numpy_model, numpy_tree
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig
from tests.random_motion import (
    breadth_first_order,
    every_joint_rig,
    humanoid_rig,
    list_breadth_first,
    mixed_rig,
    random_motion,
)

FRAMES = 300
"""More than one piece of the NumPy engine."""
VALUE_ERROR = 1e-9
STEP = 1e-6


def breadth_first_tree(seed: int, *, without: Sequence[str] = ()) -> Rig:
    """A random tree whose links are not listed depth first."""
    return list_breadth_first(every_joint_rig(seed, without=without))


RIGS: dict[str, Callable[[], Rig]] = {
    **{f"tree {seed}": partial(every_joint_rig, seed) for seed in range(6)},
    **{f"tree {seed}, breadth first": partial(breadth_first_tree, seed) for seed in range(3)},
    "tree without universal joints": partial(every_joint_rig, 7, without=("universal",)),
    "the same, breadth first": partial(breadth_first_tree, 7, without=("universal",)),
    "mixed": mixed_rig,
    "humanoid": humanoid_rig,
    "person": lambda: human(1.75, 70.0, "female"),
    "person with three trunk links": lambda: human(1.75, 70.0, "male", trunk="three"),
    "person with girdle": lambda: human(1.75, 70.0, "male", shoulders="girdle"),
    "hoap3": hoap3,
    "hrp2": hrp2,
}


def model_of(rig: Rig) -> numpy_model.Model:
    """The NumPy engine's model."""
    return numpy_model.build_model(rig.name, rig.joints, rig.prior, rig.limits)


@pytest.fixture(params=RIGS)
def rig(request: pytest.FixtureRequest) -> Rig:
    """Random trees with joints of every kind, and the built-in rigs."""
    return RIGS[request.param]()


def needs_pinocchio() -> None:
    if engine.NAME != "pinocchio":
        pytest.skip("there is no first engine here")


def assert_same(found: object, expected: object) -> None:
    """Arrays, or tuples of them, agree to `VALUE_ERROR`, relative to the largest entry beyond one."""
    if isinstance(found, tuple):
        assert isinstance(expected, tuple)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        return
    scale = max(1.0, float(np.abs(expected).max()))  # type: ignore[call-overload]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=VALUE_ERROR * scale)  # type: ignore[call-overload]


def test_steps_are_those_of_the_first_engine(rig: Rig) -> None:
    """Integrated configurations and their differences, of single rows and batches, also of large steps."""
    needs_pinocchio()
    model, generator = model_of(rig), np.random.default_rng(1)
    start = engine.integrate(rig.model, rig.neutral, generator.standard_normal((40, rig.nv)))
    for size in (1e-3, 1.0, 3.0):
        step = size * generator.standard_normal((40, rig.nv))
        reached = engine.integrate(rig.model, start, step)
        assert_same(numpy_configurations.integrate(model, start, step), reached)
        assert_same(numpy_configurations.integrate(model, start[3], step[3]), reached[3])
        if size < 2.0:
            expected = engine.difference(rig.model, start, reached)
            assert_same(numpy_configurations.difference(model, start, reached), expected)
            assert_same(numpy_configurations.difference(model, start[3], reached[3]), expected[3])


def test_difference_is_the_inverse_of_a_step(rig: Rig) -> None:
    """A step of less than half a turn is found again."""
    model, generator = model_of(rig), np.random.default_rng(2)
    start = numpy_configurations.integrate(model, rig.neutral, generator.standard_normal((40, rig.nv)))
    for size in (1e-9, 1e-5, 1.2):
        step = size * generator.uniform(-1.0, 1.0, (40, rig.nv))
        reached = numpy_configurations.integrate(model, start, step)
        np.testing.assert_allclose(numpy_configurations.difference(model, start, reached), step, atol=1e-13)


@pytest.mark.parametrize(
    "name",
    [
        "poses", "motions", "inverse_dynamics", "root_wrenches", "centres_of_mass", "centre_of_mass_jacobians",
        "jacobians", "joint_force_regressor",
    ],
)  # fmt: skip
def test_frames_are_those_of_the_first_engine(rig: Rig, name: str) -> None:
    """Kinematics and dynamics of many frames; links, joints and coordinates in the same order."""
    needs_pinocchio()
    motion = random_motion(rig, FRAMES)
    states = (motion.q, motion.v, motion.a) if name in TAKES_MOTION else (motion.q,)
    found, expected = (
        getattr(dynamics, name)(*states)
        for dynamics in (numpy_frames.FrameDynamics(model_of(rig)), engine.FrameDynamics(rig.model))
    )
    assert_same(found, expected)


TAKES_MOTION = {"motions", "inverse_dynamics", "root_wrenches", "joint_force_regressor"}


@pytest.mark.parametrize("name", engine.ENGINES)
def test_derivatives_are_differences(rig: Rig, name: str) -> None:
    """Derivatives of the inverse dynamics by tangent coordinates, velocities and accelerations, for any rig."""
    if name == "pinocchio":
        needs_pinocchio()
    steps: Any
    frames: Any
    model: Any
    steps, frames, model = (
        (numpy_configurations.integrate, numpy_frames.FrameDynamics, model_of(rig))
        if name == "numpy"
        else (engine.integrate, engine.FrameDynamics, rig.model)
    )
    dynamics, motion = frames(model), random_motion(rig, 2)
    states = motion.q, motion.v, motion.a
    _, found, _ = dynamics.inverse_dynamics_derivatives(*states)
    _, root = dynamics.root_force_derivatives(*states)
    coms, jacobians = dynamics.centre_of_mass_jacobians(motion.q)
    np.testing.assert_allclose(coms, dynamics.centres_of_mass(motion.q), atol=1e-12)
    moved_coms = np.empty(jacobians.shape)
    for order in range(3):
        expected = np.empty(found[order].shape)
        for column in range(rig.nv):
            sides = []
            for sign in (1.0, -1.0):
                way = sign * STEP * np.eye(rig.nv)[column]
                moved = list(states)
                moved[order] = steps(model, motion.q, way) if not order else moved[order] + way
                sides.append((dynamics.inverse_dynamics(*moved)[1], dynamics.centres_of_mass(moved[0])))
            expected[:, :, column] = (sides[0][0] - sides[1][0]) / (2.0 * STEP)
            if not order:
                moved_coms[:, :, column] = (sides[0][1] - sides[1][1]) / (2.0 * STEP)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(found[order], expected, atol=1e-7 * scale)
        np.testing.assert_allclose(root[:, :, order], expected[:, :6], atol=1e-7 * scale)
    np.testing.assert_allclose(jacobians, moved_coms, atol=1e-8)


def test_one_configuration_is_that_of_the_first_engine(rig: Rig) -> None:
    """Poses, Jacobians, pose errors and the tree's algorithms, also with moved joint centres."""
    needs_pinocchio()
    generator, links = np.random.default_rng(4), len(rig.links)
    q = random_motion(rig, 3).q
    ours, theirs = numpy_tree.LoadedTree(model_of(rig)), engine.LoadedTree(rig.model)
    assert_same(ours.joint_positions, theirs.joint_positions)
    centres = ours.joint_positions + 0.01 * generator.standard_normal((links, 3))
    masses, levers = generator.uniform(0.1, 1.0, (links, 1)), generator.standard_normal((links, 3))
    rows = np.hstack([masses, levers, np.tile([2.0, 0.1, 2.0, 0.2, -0.1, 2.0], (links, 1))])
    forces, torques = generator.standard_normal((links, 6)), generator.standard_normal(rig.nv)
    target = exp(np.array([0.3, -0.2, 0.9])), np.array([0.4, 0.1, -0.3])
    some = np.array([0, links - 1])
    results = []
    for tree in (ours, theirs):
        tree.move_joints(centres)
        tree.set_inertias(rows)
        tree.set_rotor_inertias(np.full(rig.nv, 0.1))
        tree.forces[:] = forces
        tree.update_kinematics(q[1])
        tree.update_kinematics(q[0])
        found = [np.array(tree.rotations), np.array(tree.positions), np.array(tree.jacobian)]
        found += [*tree.pose_error(links - 1, *target), *tree.local_poses(some), *tree.evaluate_batch(q)]
        found += [tree.accelerations(q[1], torques), tree.generalised_forces(q[1])]
        found.append(tree.mass_matrix(q[1]))
        results.append(tuple(np.array(each) for each in found))
    assert_same(*results)


def test_the_mass_matrix_maps_accelerations_to_torques(rig: Rig) -> None:
    """For any rig M a = t of the accelerations a that torques t cause, and M is symmetric."""
    generator, links = np.random.default_rng(5), len(rig.links)
    tree, q = numpy_tree.LoadedTree(model_of(rig)), random_motion(rig, 1).q[0]
    tree.set_inertias(np.tile([1.0, 0.1, 0.1, 0.1, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], (links, 1)))
    torques = generator.standard_normal(rig.nv)
    matrix = tree.mass_matrix(q)
    np.testing.assert_allclose(matrix @ tree.accelerations(q, torques), torques, atol=1e-9)
    np.testing.assert_array_equal(matrix, matrix.T)


def test_the_order_of_links_changes_nothing_else() -> None:
    """Links listed in another order give the same poses and derivatives, link by link, on the engine in use."""
    rig = every_joint_rig(1)
    other, order = list_breadth_first(rig), breadth_first_order(rig)
    assert other.links != rig.links
    columns = np.concatenate([np.arange(rig.nv)[rig.v_slices[k]] for k in order])
    rows = 0.5 * np.random.default_rng(6).standard_normal((3, rig.nv))
    found = []
    for one, (by, v, a) in ((rig, rows), (other, rows[:, columns])):
        q = engine.integrate(one.model, one.neutral, by)[None]
        dynamics = engine.FrameDynamics(one.model)
        forces, derivatives, _ = dynamics.inverse_dynamics_derivatives(q, v[None], a[None])
        found.append((dynamics.poses(q)[0], forces[0], derivatives[:, 0], dynamics.centre_of_mass_jacobians(q)[1][0]))
    (poses, forces, derivatives, jacobian), moved = found
    expected = poses[order], forces[columns], derivatives[:, columns][:, :, columns], jacobian[:, columns]
    assert_same(moved, expected)


def test_an_unknown_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """ENGINE names one of the engines, in a sentence with the choices."""
    monkeypatch.setenv("ENGINE", "bullet")
    with pytest.raises(InvalidValue, match=r"ENGINE='bullet'.*pinocchio or numpy"):
        engine.choose_engine()
    monkeypatch.setenv("ENGINE", "numpy")
    assert engine.choose_engine() == "numpy"


def test_no_frames_give_no_rows(rig: Rig) -> None:
    """Steps and dynamics of an empty motion are empty arrays of the right widths."""
    model, none = model_of(rig), np.zeros((0, rig.nv))
    q = numpy_configurations.integrate(model, rig.neutral, none)
    assert q.shape == (0, rig.nq)
    assert numpy_configurations.difference(model, rig.neutral, q).shape == (0, rig.nv)
    assert numpy_frames.FrameDynamics(model).inverse_dynamics(q, none, none)[1].shape == (0, rig.nv)
