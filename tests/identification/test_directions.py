"""Directions on the sphere and their rows."""

from __future__ import annotations

import numpy as np
import pytest

from solver.identification.directions import DirectionRows, direction_coefficients, icosphere
from solver.values.inertials import INERTIA, symmetric_entries, symmetric_matrix

LINKS = ("one", "two", "three")


@pytest.mark.parametrize("level", range(6))
def test_icosphere(level: int) -> None:
    """Level n has 10 4^n + 2 distinct unit vectors, evenly spread: their second moment is a third of the identity."""
    points = icosphere(level)
    assert points.shape == (10 * 4**level + 2, 3)
    assert np.linalg.norm(points, axis=1) == pytest.approx(np.ones(len(points)))
    assert len(np.unique(points.round(9), axis=0)) == len(points)
    assert points.T @ points / len(points) == pytest.approx(np.eye(3) / 3.0, abs=1e-12)


def test_coefficients_are_the_quadratic_form() -> None:
    """Coefficients times the six inertia parameters are v'I v."""
    generator = np.random.default_rng(0)
    v, six = generator.standard_normal(3), generator.standard_normal(6)
    assert direction_coefficients(v) @ six == pytest.approx(v @ symmetric_matrix(six) @ v)


def test_rows_are_found_exactly_while_they_are_violated() -> None:
    """Rows are returned if and only if one of all 10,242 directions of a link is violated, the worst one among them."""
    generator = np.random.default_rng(1)
    rows = DirectionRows(LINKS, np.array([0.1, 0.2, 0.3]), min_eigenvalue_fraction=None)
    everything = rows.all()
    assert len(everything) == 3 * 10242 // 2
    for _ in range(20):
        spread = generator.standard_normal((3, 3, 3))
        inertia = spread @ np.swapaxes(spread, 1, 2) + generator.uniform(-0.3, 0.5) * np.eye(3)
        x = np.zeros((3, 10))
        x[:, INERTIA] = symmetric_entries(inertia)
        found, slack = rows.violated(x.ravel(), 1e-9), everything.slack(x.ravel())
        assert bool(len(found)) == bool(slack.max() > 1e-8)
        if len(found):
            assert found.slack(x.ravel()).max() == pytest.approx(slack.max())


def test_the_eigenvector_is_checked_between_the_samples() -> None:
    """An inertia that satisfies all coarse directions but has a negative eigenvalue is still refused."""
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    inertia = turn @ np.diag([-0.01, 10.0, 10.0]) @ turn.T
    x = np.zeros(10)
    x[INERTIA] = symmetric_entries(inertia)
    sampled = DirectionRows(("slender",), np.array([1e-3]), level=1, min_eigenvalue_fraction=None)
    exact = DirectionRows(("slender",), np.array([1e-3]), level=1)
    assert len(sampled.violated(x, 1e-9)) == 0
    assert len(exact.violated(x, 1e-9)) == 1
