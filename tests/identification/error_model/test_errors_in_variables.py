"""Equations from noisy motion, and the uncertainty that remains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.identification.accumulate import accumulate_regression
from solver.identification.body_coordinates import BodyCoordinates
from solver.identification.consistent import METRIC, ConsistentOptions, consistent
from solver.identification.constraints import ConstraintOptions
from solver.identification.error_model.errors_in_variables import MAX_NOISE_FRACTION, calibrate_equations
from solver.identification.estimate import CONSISTENT
from solver.identification.posterior import posterior
from solver.inertials import MASS, InertialParameters
from solver.motion import Motion
from solver.rig import Rig
from solver.trial import Trial
from tests.identification.bodies import WEIGHTS, other_body, regression_of, small_rig, trial_of

LOOSE = ConsistentOptions(
    relative_std=0.5, constraints=ConstraintOptions(boxes=False), data_inflation=1.0, noise_variance=1.0
)


def noisy(rig: Rig, truth: InertialParameters, level: float, frames: int = 1500, copies: int = 4) -> Trial:
    """A trial with white noise on its accelerations, and noise replicas with as much noise again."""
    generator = np.random.default_rng(3)
    exact = trial_of(rig, truth, frames=frames)

    def moved(motion: Motion) -> Motion:
        noise = level * generator.standard_normal(motion.a.shape)
        return Motion(motion.times, motion.q, motion.v, motion.a + noise)

    measured = moved(exact.motion)
    return replace(exact, motion=measured, noise_replicas=tuple(moved(measured) for _ in range(copies)))


def test_calibrated_equations_have_the_corrected_minimum() -> None:
    """The minimum solves (H - B) phi = g - b, and so finds the parameters that Y'Y alone biases towards zero."""
    generator = np.random.default_rng(0)
    truth = np.array([2.0, -1.0, 0.5])
    clean, noise = generator.standard_normal((50, 3)), 0.3 * generator.standard_normal((50, 3))
    noise -= clean @ np.linalg.lstsq(clean, noise, rcond=None)[0]  # orthogonal, so that the law holds exactly
    equations = np.column_stack([clean + noise, clean @ truth])
    changes = np.column_stack([noise, np.zeros(50)])
    factor, target, shares = calibrate_equations(equations, changes)
    drawn = np.linalg.lstsq(equations[:, :3], equations[:, 3], rcond=None)[0]
    assert np.linalg.lstsq(factor, target, rcond=None)[0] == pytest.approx(truth, abs=1e-9)
    assert np.linalg.norm(drawn - truth) > 0.1
    assert shares.max() < 0.5


def test_noise_common_to_motion_and_wrench_is_corrected() -> None:
    """If the same noise changes Y by E and f by e, the minimum solves (H - E'E) phi = Y'f - E'e: the truth again."""
    generator = np.random.default_rng(4)
    truth = np.array([2.0, -1.0, 0.5])
    clean, noise = generator.standard_normal((50, 3)), 0.3 * generator.standard_normal((50, 3))
    shared = 0.2 * generator.standard_normal(50) + noise @ np.array([1.0, 0.5, -2.0])  # moments about a noisy point
    both = np.column_stack([noise, shared])
    both -= clean @ np.linalg.lstsq(clean, both, rcond=None)[0]  # orthogonal, so that the law holds exactly
    equations = np.column_stack([clean, clean @ truth]) + both
    factor, target, shares = calibrate_equations(equations, both)
    assert shares.max() < 0.5
    assert np.linalg.lstsq(factor, target, rcond=None)[0] == pytest.approx(truth, abs=1e-9)
    blind = np.linalg.lstsq(*calibrate_equations(equations, both * [1.0, 1.0, 1.0, 0.0])[:2], rcond=None)[0]
    assert np.linalg.norm(blind - truth) > 0.1


def test_noise_fractions_are_limited() -> None:
    """With more noise than signal the factor keeps its rank and every fraction its limit."""
    generator = np.random.default_rng(1)
    equations = generator.standard_normal((60, 5))
    factor, _, shares = calibrate_equations(equations, 30.0 * generator.standard_normal((60, 5)))
    assert shares.max() == pytest.approx(MAX_NOISE_FRACTION)
    assert np.linalg.matrix_rank(factor) == 4


def test_calibration_reduces_the_bias_of_noisy_accelerations() -> None:
    """With white noise on the accelerations the error of the true motion's wrench is less than a fifth of before."""
    rig = small_rig()
    truth = other_body(rig, spread=0.1)
    trial = noisy(rig, truth, level=3.0)
    exact = accumulate_regression(rig, [trial_of(rig, truth, frames=1500)]).with_weights(WEIGHTS)
    options = replace(LOOSE, noise_variance=None)
    before, after = (
        exact.cost(consistent(accumulate_regression(rig, [t]).with_weights(WEIGHTS), rig, options).parameters)
        for t in (replace(trial, noise_replicas=()), trial)
    )
    assert np.sqrt(after) < np.sqrt(before) / 5.0


def test_a_motion_without_noise_is_not_corrected() -> None:
    """Replicas that equal the motion change nothing, and neither do no replicas."""
    rig = small_rig()
    trial = trial_of(rig, other_body(rig), noise=2.0)
    alone = accumulate_regression(rig, [trial]).with_weights(WEIGHTS)
    with_copies = accumulate_regression(rig, [replace(trial, noise_replicas=(trial.motion,) * 2)]).with_weights(WEIGHTS)
    assert not len(alone.calibrated_equations.noise_fractions)
    one, other = (consistent(r, rig, LOOSE).parameters.values for r in (alone, with_copies))
    assert np.array_equal(one, other)


def test_the_result_stays_consistent() -> None:
    """For any noise of the motion the result is physically consistent."""
    rig = small_rig()
    trial = noisy(rig, other_body(rig), level=100.0, frames=300)
    found = consistent(accumulate_regression(rig, [trial]).with_weights(WEIGHTS), rig, LOOSE)
    assert found.satisfies == CONSISTENT


def test_noise_of_recordings_adds_up() -> None:
    """Two merged recordings have the noise fractions of both accumulated in one pass; each block twice, those of
    once."""
    rig = small_rig()
    first, second = (noisy(rig, other_body(rig), level=1.0, frames=n) for n in (200, 300))
    second = replace(second, name="b")
    together = accumulate_regression(rig, [first, second]).with_weights(WEIGHTS)
    merged = (
        accumulate_regression(rig, [first])
        .with_weights(WEIGHTS)
        .merge(accumulate_regression(rig, [second]).with_weights(WEIGHTS))
    )
    twice = together.resample(np.full(len(together.blocks), 2.0))
    assert merged.calibrated_equations.noise_fractions == pytest.approx(
        together.calibrated_equations.noise_fractions, abs=1e-9
    )
    assert twice.calibrated_equations.noise_fractions == pytest.approx(
        together.calibrated_equations.noise_fractions, abs=1e-9
    )


def test_without_data_the_std_is_the_priors() -> None:
    """Equations without weight leave each mass with twice the prior's relative standard deviation of a whole link."""
    rig = small_rig()
    regression = regression_of(rig, rig.prior, noise=1.0)
    options = replace(LOOSE, relative_std=0.1, noise_variance=1e12)
    found = consistent(regression, rig, options)
    assert posterior(regression, found, rig, options).std[:, MASS] == pytest.approx(0.2 * rig.prior.masses, rel=1e-3)


def test_a_given_total_mass_narrows_the_intervals() -> None:
    """With one link's mass the complement of all others', intervals shrink and never grow."""
    rig = small_rig()
    regression = regression_of(rig, rig.prior, noise=1.0)
    free = replace(LOOSE, prior=METRIC, noise_variance=1e6)
    fixed = replace(free, constraints=ConstraintOptions(boxes=False, total_mass=rig.prior.total_mass))
    loose, tight = (posterior(regression, consistent(regression, rig, o), rig, o).std for o in (free, fixed))
    assert np.all(tight <= loose * (1.0 + 1e-6))
    assert tight[0, MASS] < 0.8 * loose[0, MASS]


def test_intervals_contain_the_truth() -> None:
    """Bodies drawn from the prior lie within two standard deviations in about 95 % of the cases."""
    rig = small_rig()
    bodies = BodyCoordinates.from_reference(rig.prior)
    generator = np.random.default_rng(8)
    options = ConsistentOptions(
        prior=METRIC, relative_std=0.05, constraints=ConstraintOptions(boxes=False), data_inflation=1.0
    )
    inside = []
    for draw in range(25):
        truth = bodies.parameters(0.1 * generator.standard_normal(10 * len(rig.links)))
        trial = trial_of(rig, truth, frames=60, noise=20.0, seed=draw)
        regression = accumulate_regression(rig, [trial]).with_weights(np.full(6, 1.0 / 20.0))
        chosen = replace(options, noise_variance=1.0)
        found = consistent(regression, rig, chosen)
        spread = posterior(regression, found, rig, chosen)
        inside.append(np.abs(found.parameters.values - truth.values) < 2.0 * spread.std)
    assert 0.9 < np.mean(inside) < 0.99
