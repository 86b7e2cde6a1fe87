"""Inertial parameters from flight alone (ayusawa)."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.ayusawa import MASS, chain
from benchmarks.papers.thrown import simulate_flight
from solver.base.errors import InvalidValue
from solver.identification.accumulate import accumulate_regression
from solver.identification.base_estimation import estimate_base
from solver.identification.flight import null_space
from solver.identification.regression import Regression
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.wrenches import Wrenches

TIMES = np.arange(60) / 100.0


def throw_equations(rig: Rig, spins: np.ndarray, fall: float = 0.0) -> Regression:
    """Equations of exactly known throws, each with its initial velocities (T, nv)."""
    trials = []
    for number, spin in enumerate(spins):
        motion = simulate_flight(rig, rig.prior, (rig.neutral, spin), TIMES, None)
        force = np.zeros((len(TIMES), 1, 6))
        force[:, 0, 2] = fall
        trials.append(Trial(f"throw {number}", motion, Wrenches(TIMES, ("air",), force), np.ones(len(TIMES), bool)))
    return accumulate_regression(rig, trials, axes="world")


@pytest.fixture(scope="module")
def rig() -> Rig:
    return chain()


@pytest.fixture(scope="module")
def spins(rig: Rig) -> np.ndarray:
    return 6.0 * np.random.default_rng(2).standard_normal((4, rig.nv))


def test_exact_flights_determine_every_base_parameter_up_to_the_mass(rig: Rig, spins: np.ndarray) -> None:
    """The null space has one dimension, and the mass scales it to the body."""
    regression = throw_equations(rig, spins)
    found = null_space(regression, MASS)
    assert found.dimension == 1
    assert f"all {len(found.base)} base parameters" in found.summary
    np.testing.assert_allclose(found.values, regression.structure.project(rig.prior), atol=1e-7)
    twice = null_space(regression, 2.0 * MASS)
    np.testing.assert_allclose(twice.values, 2.0 * found.values, rtol=1e-9)


def test_a_joint_that_never_moves_leaves_its_link_undetermined(rig: Rig) -> None:
    """Links that move as one body have more than one null direction; the summary gives their number."""
    still = np.zeros((4, rig.nv))
    still[:, 3:6] = 6.0 * np.random.default_rng(3).standard_normal((4, 3))
    trials = []
    for number, spin in enumerate(still):
        motion = simulate_flight(rig, rig.prior, (rig.neutral, spin), TIMES, lambda _: np.zeros(1))
        air = Wrenches(TIMES, ("air",), np.zeros((len(TIMES), 1, 6)))
        trials.append(Trial(f"throw {number}", motion, air, np.ones(len(TIMES), bool)))
    found = null_space(accumulate_regression(rig, trials, axes="world"), MASS)
    # one body: mass and inertia each have a scale of their own; and the second link's seven are the first's
    assert found.dimension == 9
    assert "without motion" in found.summary
    assert found.values[0] == pytest.approx(MASS)


def test_equations_of_contact_are_refused(rig: Rig, spins: np.ndarray) -> None:
    """Forces, and no mass."""
    with pytest.raises(InvalidValue, match="equations with forces"):
        null_space(throw_equations(rig, spins, fall=1.0), MASS)
    with pytest.raises(InvalidValue, match="must be positive"):
        null_space(throw_equations(rig, spins), 0.0)


def test_least_squares_of_flights_is_refused(rig: Rig, spins: np.ndarray) -> None:
    """Without forces least squares would give a body without mass: refused."""
    with pytest.raises(InvalidValue, match="up to a factor"):
        estimate_base(throw_equations(rig, spins))
