"""Minimum-norm least squares."""

from __future__ import annotations

import numpy as np
import pytest

from solver.identification.accumulate import accumulate_regression
from solver.identification.least_squares import minimum_norm
from tests.identification.bodies import other_body, regression_of, small_rig
from tests.random_motion import humanoid_rig, random_trial


def test_no_other_solution_is_shorter() -> None:
    """The solution explains noise-free data exactly and is orthogonal to the null space of the regressor."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig))
    found = minimum_norm(regression, rig)
    phi = found.parameters.vector
    assert regression.factor @ phi == pytest.approx(regression.target, abs=1e-7)
    null = np.linalg.svd(regression.factor)[2][int(found.settings["rank"]) :]
    assert len(null) == 10 * len(rig.links) - len(regression.structure)
    assert null @ phi == pytest.approx(np.zeros(len(null)), abs=1e-9)


def test_inconsistent_results_are_reported() -> None:
    """Without a prior, noisy data of a humanoid give some negative masses; the result is marked as inconsistent and
    lists them."""
    rig = humanoid_rig()
    regression = accumulate_regression(rig, [random_trial(rig, 60, noise=300.0)])
    found = minimum_norm(regression, rig)
    assert found.satisfies == "none"
    negative = [link for link, mass in zip(rig.links, found.parameters.masses) if mass < 0.0]
    assert negative
    assert all(any(link in note for note in found.notes) for link in negative)
