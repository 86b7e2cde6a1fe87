"""Laws of sequences of quadratic programs."""

from __future__ import annotations

import numpy as np
import pytest

from solver.errors import UnknownPreset
from solver.qp.principal_pivoting import Box
from solver.qp.sequential import SEQUENTIAL_SOLVERS, sequential_solver


def test_every_solver_finds_the_minima_of_a_sequence() -> None:
    """All solvers find the same minima of programs that change a little from one to the next."""
    rng = np.random.default_rng(2)
    root, rows = rng.normal(size=(10, 8)), rng.normal(size=(2, 8))
    methods = {name: sequential_solver(name) for name in SEQUENTIAL_SOLVERS}
    guesses: dict[str, np.ndarray | None] = dict.fromkeys(methods)
    for _ in range(6):
        root = root + 0.05 * rng.normal(size=root.shape)
        hessian, gradient = root.T @ root + 0.1 * np.eye(8), 3.0 * rng.normal(size=8)
        low, high = -rng.uniform(0.05, 0.3, 8), rng.uniform(0.05, 0.3, 8)
        box = Box(low, high, rows, rng.uniform(0.05, 0.2, 2))
        found = {name: method(hessian, gradient, box, guesses[name]) for name, method in methods.items()}
        guesses = {name: one.active for name, one in found.items()}
        assert all(one.converged for one in found.values())
        np.testing.assert_allclose(found["osqp"].x, found["pivoting"].x, atol=1e-6)


def test_an_unknown_solver_lists_the_known_ones() -> None:
    """The error of an unknown name lists the known names."""
    with pytest.raises(UnknownPreset, match="pivoting, osqp"):
        sequential_solver("daqp")
