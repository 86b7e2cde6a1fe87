"""Newton's method with the entropic divergence."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from solver.identification.entropic import RowSides, minimise
from solver.qp import Rows, Status


def program() -> tuple[np.ndarray, np.ndarray, np.ndarray, Rows]:
    """A strictly convex program of three bodies with a sum, bounds that decide some coordinates, and others that do
    not."""
    generator = np.random.default_rng(0)
    size = 30
    root = generator.standard_normal((size, size))
    matrix = np.vstack([np.ones(size), np.eye(size)])
    lower, upper = np.full(size + 1, -0.1), np.full(size + 1, 0.1)
    lower[0] = upper[0] = 0.0
    rows = Rows(sparse.csr_array(matrix), lower, upper, tuple(map(str, range(size + 1))))
    return root.T @ root, 20.0 * generator.standard_normal(size), np.ones(3), rows


def test_rows_that_were_active_elsewhere_do_not_change_the_optimum() -> None:
    """From the optimum's own rows, from none, and from wrong ones, the same point is found; its gradient is a
    combination of the active rows with multipliers of the right sign."""
    hessian, gradient, strengths, rows = program()
    sides, start = RowSides.of_rows(rows), np.zeros(30)
    found = minimise(hessian, gradient, strengths, sides, start)
    assert found.status is Status.OPTIMAL
    inequalities = [index for index in found.active if not sides.equal[index]]
    assert inequalities
    wrong = tuple(index for index in range(1, 9) if index not in found.active)
    for active in (found.active, wrong):
        again = minimise(hessian, gradient, strengths, sides, start, active)
        np.testing.assert_allclose(again.x, found.x, rtol=0.0, atol=1e-8)
    assert abs(found.x.sum()) < 1e-9
    assert sides.pool.excess(found.x).min() > -1e-8
    # central differences of the divergence, which a symmetric 4 x 4 matrix of each body gives
    slope = hessian @ found.x + gradient + numerical_slope(found.x)
    normals = sides.normals[list(found.active)]
    multipliers = np.linalg.lstsq(normals.T, slope, rcond=None)[0]
    np.testing.assert_allclose(normals.T @ multipliers, slope, rtol=0.0, atol=1e-4)
    assert all(m > 0.0 for m, index in zip(multipliers, found.active) if index in inequalities)


def numerical_slope(x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Slope of the divergence at x, by central differences."""

    def divergence(values: np.ndarray) -> float:
        total = 0.0
        for body in values.reshape(3, 10):
            matrix = np.eye(4)
            for value, (i, j) in zip(body, zip(*np.tril_indices(4))):
                scale = 1.0 if i == j else np.sqrt(0.5)
                matrix[i, j] += scale * value
                matrix[j, i] = matrix[i, j]
            total += np.trace(matrix) - 4.0 - np.linalg.slogdet(matrix)[1]
        return float(total)

    units = step * np.eye(len(x))
    return np.array([(divergence(x + unit) - divergence(x - unit)) / (2.0 * step) for unit in units])
