"""The exact Hessian and its steps between bounds."""

from __future__ import annotations

import numpy as np

from solver.tracking.newton import Newton


def test_an_indefinite_hessian_is_stiffened_or_refused() -> None:
    """Each stiffened coordinate is an attempt; the step is Newton's own if that coordinate is at a bound."""
    matrix = np.diag([1.0, -2.0, 3.0])
    assert Newton.from_hessian(matrix.copy(), 0, 5.0) is None
    newton = Newton.from_hessian(matrix.copy(), 1, 5.0)
    assert newton.stiffened == [1]
    assert not newton.is_exact(None)
    assert not newton.is_exact(np.array([True, False, False]))
    assert newton.is_exact(np.array([False, True, False]))
    np.testing.assert_allclose(newton.solve(np.ones(3)), [1.0, 1.0 / 3.0, 1.0 / 3.0])
