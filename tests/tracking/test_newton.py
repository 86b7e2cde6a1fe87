"""The exact Hessian and its steps between bounds."""

from __future__ import annotations

import numpy as np
import pytest

from solver.qp.principal_pivoting import Box, pivot, solve_box
from solver.tracking.newton import IndefiniteHessian, Newton

SIZE = 6


def positive(seed: int) -> np.ndarray:
    half = np.random.default_rng(seed).normal(size=(SIZE, SIZE))
    return half @ half.T + np.eye(SIZE)


def test_an_indefinite_hessian_is_stiffened_or_refused() -> None:
    matrix = np.diag([1.0, -2.0, 3.0])
    assert Newton.from_hessian(matrix.copy(), 0, 5.0) is None
    newton = Newton.from_hessian(matrix.copy(), 1, 5.0)
    assert newton is not None
    assert newton.stiffened == [1]
    assert not newton.is_exact(None)
    assert not newton.is_exact(np.array([1, 0, 0]))
    assert newton.is_exact(np.array([0, -1, 0]))
    np.testing.assert_allclose(newton.solve(np.ones(3)), [1.0, 1.0 / 3.0, 1.0 / 3.0])


def test_coordinates_at_bounds_need_no_curvature() -> None:
    """A coordinate at its bound may have negative curvature; after its release the Hessian has no minimum, which is an
    error.
    """
    newton = Newton.from_hessian(np.diag([1.0, -2.0, 3.0]), 0, 5.0, np.array([0, 1, 0]))
    assert newton is not None
    assert newton.is_exact(np.array([0, 1, 0]))
    with pytest.raises(IndefiniteHessian):
        newton.solve(np.ones(3))


@pytest.mark.parametrize("guess", [None, np.array([1, 0, -1, 0, 0, 1])])
def test_bounds_hold_as_with_the_whole_matrix(guess: np.ndarray | None) -> None:
    newton = Newton.from_hessian(positive(5), 0, 1.0, guess)
    assert newton is not None
    gradient = 5.0 * np.random.default_rng(6).normal(size=SIZE)
    box = Box(np.full(SIZE, -0.2), np.full(SIZE, 0.3), np.zeros((0, SIZE)), np.zeros(0))
    found = pivot(newton.solve_within(gradient, box), box, guess)
    expected = solve_box(positive(5), gradient, box)
    assert expected.active.any()
    np.testing.assert_array_equal(found.active, expected.active)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-8)
