"""The exact Hessian and its steps between bounds."""

from __future__ import annotations

import numpy as np
import pytest

from solver.qp.pivoting import Box, between_bounds, pivoted
from solver.tracking.newton import Indefinite, Newton

SIZE = 6


def positive(seed: int) -> np.ndarray:
    half = np.random.default_rng(seed).normal(size=(SIZE, SIZE))
    return half @ half.T + np.eye(SIZE)


def test_an_indefinite_hessian_is_stiffened_or_refused() -> None:
    matrix = np.diag([1.0, -2.0, 3.0])
    assert Newton.of(matrix.copy(), 0, 5.0) is None
    newton = Newton.of(matrix.copy(), 1, 5.0)
    assert newton is not None
    assert newton.stiff == [1]
    assert not newton.exact(None)
    assert not newton.exact(np.array([1, 0, 0]))
    assert newton.exact(np.array([0, -1, 0]))
    np.testing.assert_allclose(newton.solution(np.ones(3)), [1.0, 1.0 / 3.0, 1.0 / 3.0])


def test_what_is_held_may_bend_down_until_it_lets_go() -> None:
    """A coordinate at its bound needs no curvature; without it the Hessian has no minimum, and says so."""
    newton = Newton.of(np.diag([1.0, -2.0, 3.0]), 0, 5.0, np.array([0, 1, 0]))
    assert newton is not None
    assert newton.exact(np.array([0, 1, 0]))
    with pytest.raises(Indefinite):
        newton.solution(np.ones(3))


@pytest.mark.parametrize("guess", [None, np.array([1, 0, -1, 0, 0, 1])])
def test_bounds_are_held_as_by_the_whole_matrix(guess: np.ndarray | None) -> None:
    newton = Newton.of(positive(5), 0, 1.0, guess)
    assert newton is not None
    gradient = 5.0 * np.random.default_rng(6).normal(size=SIZE)
    box = Box(np.full(SIZE, -0.2), np.full(SIZE, 0.3), np.zeros((0, SIZE)), np.zeros(0))
    found = pivoted(newton.within(gradient, box), box, guess)
    expected = between_bounds(positive(5), gradient, box)
    assert expected.held.any()
    np.testing.assert_array_equal(found.held, expected.held)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-8)
