"""The planar example of bonnet2016 III.C, against Pinocchio and against the paper's figures."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.planar import (
    COLUMNS,
    DYNAMIC,
    LENGTHS,
    STATIC,
    PlanarProblem,
    optimise,
    planar_rows,
)
from solver.base.so3 import exp as exp_so3
from tests.pinocchio import pin


def chain(masses: np.ndarray, coms: np.ndarray, inertias: np.ndarray) -> pin.Model:
    """Three links hinged about z, in the plane x, y, gravity along -y; inertias about the joints."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    parent = 0
    for link, length in enumerate([0.0, *LENGTHS]):
        place = pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"q{link}")
        at_com = inertias[link] - masses[link] * coms[link] @ coms[link]
        lever = np.append(coms[link], 0.0)
        model.appendBodyToJoint(parent, pin.Inertia(masses[link], lever, at_com * np.eye(3)), pin.SE3.Identity())
    return model


def test_regressor_predicts_the_wrench_of_inverse_dynamics() -> None:
    """W_b times the base parameters of (13) is the force and moment at the fixed hinge."""
    generator = np.random.default_rng(0)
    masses, coms, inertias = (
        np.array([3.0, 2.0, 1.0]),
        0.1 * generator.standard_normal((3, 2)),
        np.array([0.5, 0.3, 0.2]),
    )
    model = chain(masses, coms, inertias)
    data = model.createData()
    (m1, m2, m3), (l1, l2) = masses, LENGTHS
    h = masses[:, None] * coms
    base = np.array([
        m1 + m2 + m3, h[0, 0] + l1 * (m2 + m3), h[0, 1], inertias[0] + l1**2 * (m2 + m3),
        h[1, 0] + l2 * m3, h[1, 1], inertias[1] + l2**2 * m3, h[2, 0], h[2, 1], inertias[2],
    ])  # fmt: skip
    for _ in range(5):
        q, v, a = generator.standard_normal((3, 3))
        pin.rnea(model, data, q, v, a)
        force = data.f[1]
        world = pin.SE3(exp_so3(np.array([0.0, 0.0, q[0]])), np.zeros(3)).act(force).vector
        found = planar_rows(q[None], v[None], a[None], LENGTHS)[0] @ base
        np.testing.assert_allclose(found, world[[0, 1, 5]], atol=1e-10)


def test_columns_are_all_used_once() -> None:
    """The links' columns, and the static and dynamic ones, each split the ten base parameters."""
    assert sorted(c for columns in COLUMNS.values() for c in columns) == list(range(10))
    assert sorted(STATIC + DYNAMIC) == list(range(10))


@pytest.mark.parametrize("objective", ["total", "criterion"])
def test_gradients_are_exact(objective: str) -> None:
    """Complex-step gradients of both objectives equal central differences."""
    problem = PlanarProblem()
    generator = np.random.default_rng(0)
    points = problem.near_start(0)
    points[1:-1] = generator.uniform(problem.ranges[:, 0], problem.ranges[:, 1], (4, 3))
    history = problem.regressor(problem.near_start(1))
    function = getattr(problem, objective)
    _, gradient = function(points, history)
    for place in range(12):
        step = np.zeros((4, 3))
        step.flat[place] = 1e-6
        ends = [points.copy(), points.copy()]
        ends[0][1:-1] += step
        ends[1][1:-1] -= step
        slope = (function(ends[0], history)[0] - function(ends[1], history)[0]) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-4, abs=1e-4 * np.abs(gradient).max())


def test_the_papers_start_is_singular() -> None:
    """All joints on the straight way between their limits leave W_b rank deficient to rounding, as printed (5e16)."""
    problem = PlanarProblem()
    assert np.linalg.cond(problem.regressor(problem.poor_start())) > 1e14


def test_the_criterion_beats_the_total_condition_from_the_papers_start() -> None:
    """From the paper's start, minimising J_exc brings cond(W_b) to 62 or less; minimising cond(W_b) itself does not."""
    problem = PlanarProblem()
    by_criterion = optimise(problem, "criterion", rounds=1)[0]
    by_total = optimise(problem, "total", rounds=1)[0]
    assert by_criterion.condition <= 62.0
    assert by_criterion.condition < by_total.condition
    curve = problem.matrices()[0] @ by_criterion.points
    assert np.all(curve >= problem.ranges[:, 0] - 0.02)
    assert np.all(curve <= problem.ranges[:, 1] + 0.02)
