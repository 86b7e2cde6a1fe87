"""The Hessian that learns from the steps made by it."""

from __future__ import annotations

import numpy as np
import pytest

from solver.qp.pivoting import Box, between_bounds, pivoted
from solver.tracking.newton import Newton

SIZE = 6


def positive(seed: int) -> np.ndarray:
    half = np.random.default_rng(seed).normal(size=(SIZE, SIZE))
    return half @ half.T + np.eye(SIZE)


def test_steps_teach_the_whole_hessian() -> None:
    """On a quadratic, exact line searches with what was learnt end after as many steps as there are coordinates."""
    true = positive(1)
    newton = Newton.of(np.eye(SIZE), 0, 1.0, whole=True)
    assert newton is not None
    x = np.random.default_rng(2).normal(size=SIZE)
    for _ in range(SIZE):
        slope = true @ x
        step = -newton.inverse @ slope
        step *= -(slope @ step) / (step @ true @ step)
        newton.learn(step, true @ step)
        np.testing.assert_allclose(newton.inverse @ (true @ step), step, atol=1e-9)
        x = x + step
    assert np.abs(x).max() < 1e-9
    np.testing.assert_allclose(newton.inverse, np.linalg.inv(true), atol=1e-7)
    np.testing.assert_allclose(newton.matrix, true, atol=1e-7)


def test_only_the_inverse_learns_where_the_matrix_is_not_asked_for() -> None:
    newton = Newton.of(positive(3), 0, 1.0, whole=False)
    assert newton is not None
    before, step = newton.matrix.copy(), np.arange(1.0, SIZE + 1.0)
    newton.learn(step, 2.0 * before @ step)
    np.testing.assert_array_equal(newton.matrix, before)
    np.testing.assert_allclose(newton.inverse @ (2.0 * before @ step), step)


@pytest.mark.parametrize("share", [-1.0, 0.0, 1e-4])
def test_a_step_along_which_the_cost_bends_down_teaches_nothing(share: float) -> None:
    """Or the Hessian would not stay positive definite."""
    newton = Newton.of(positive(4), 0, 1.0, whole=True)
    assert newton is not None
    before, step = newton.inverse.copy(), np.ones(SIZE)
    newton.learn(step, share * newton.matrix @ step)
    np.testing.assert_array_equal(newton.inverse, before)


def test_an_indefinite_hessian_is_stiffened_or_refused() -> None:
    matrix = np.diag([1.0, -2.0, 3.0])
    assert Newton.of(matrix.copy(), 0, 5.0, whole=True) is None
    newton = Newton.of(matrix.copy(), 1, 5.0, whole=True)
    assert newton is not None
    assert newton.stiff == (1,)
    assert not newton.exact(None)
    assert not newton.exact(np.array([1, 0, 0]))
    assert newton.exact(np.array([0, -1, 0]))
    np.testing.assert_allclose(newton.inverse, np.diag([1.0, 1.0 / 3.0, 1.0 / 3.0]))


def test_bounds_are_held_by_the_inverse_as_by_the_matrix() -> None:
    newton = Newton.of(positive(5), 0, 1.0, whole=True)
    assert newton is not None
    gradient = 5.0 * np.random.default_rng(6).normal(size=SIZE)
    box = Box(np.full(SIZE, -0.2), np.full(SIZE, 0.3), np.zeros((0, SIZE)), np.zeros(0))
    found, expected = pivoted(newton.within(gradient, box), box), between_bounds(newton.matrix, gradient, box)
    assert expected.held.any()
    np.testing.assert_array_equal(found.held, expected.held)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-10)
