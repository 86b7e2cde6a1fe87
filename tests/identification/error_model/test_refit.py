"""Fits with frequency weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.identification.accumulate import EquationAccumulator, accumulate_regression
from solver.identification.base_parameters import base_parameters
from solver.identification.comparison import compare
from solver.identification.error_model.frequency_weights import (
    DELAYS,
    FrequencyWeights,
    PairedWeights,
)
from solver.identification.error_model.refit import GroupFit, refit_with_frequency_weights, weighted_equations
from solver.identification.identify import IdentifyOptions, get_method, identify_trials
from solver.identification.regression import Regression, fit_axis_weights, merge_regressions
from solver.signals import FilterPreset, low_pass, smooth_motion
from solver.signals.trial import Trial
from solver.values.inertials import FIRST_MOMENT, INERTIA, MASS
from tests.identification.bodies import other_body, small_rig, weights_of
from tests.identification.error_model.test_weight_estimation import REGIONS, WIDE, late_trial, learnt
from tests.identification.test_equations import FRAMES, RATE, swinging_trial


def weighted(trial: Trial, sets: Sequence[FrequencyWeights]) -> list[Regression]:
    """Regressions of a trial with each of several sets of weights."""
    rig, structure = small_rig(), base_parameters(small_rig())
    collected = [EquationAccumulator(rig, structure) for _ in sets]
    coefficients = np.array([own.coefficients_of(own.spectra[0]) for own in sets])
    for pieces in weighted_equations(rig, trial, coefficients, sets[0].cutoffs, 0):
        for accumulator, piece in zip(collected, pieces):
            accumulator.add(trial, piece)
    return [accumulator.regression(rig.links[0]) for accumulator in collected]


@pytest.mark.parametrize("frames", [FRAMES, 3072])
def test_zero_coefficients_leave_the_equations_unchanged(frames: int) -> None:
    """Without changes the equations are those of the motion; in a longer trial no row is lost, repeated or
    refused."""
    rig = small_rig()
    trial = replace(swinging_trial(rig, other_body(rig), 0, frames), preset=WIDE)
    plain = accumulate_regression(rig, [trial], axes="world")
    (same,) = weighted(trial, [weights_of(trial, np.zeros((REGIONS, 6, 5 + len(DELAYS))))])
    for one, two in zip(plain.axis_factors, same.axis_factors):
        np.testing.assert_allclose(one.T @ one, two.T @ two, rtol=0, atol=1e-7 * np.abs(one.T @ one).max())


def test_regression_and_comparison_have_the_same_residuals() -> None:
    """Residuals of the prior are the same in the regression and in the comparison with the same frequency weights."""
    rig = small_rig()
    trial = replace(swinging_trial(rig, other_body(rig)), preset=WIDE)
    generator = np.random.default_rng(0)
    sets = [weights_of(trial, generator.uniform(-0.5, 0.5, (REGIONS, 6, 5 + len(DELAYS)))) for _ in range(2)]
    for weights, regression in zip(sets, weighted(trial, sets)):
        left = compare(rig, trial, rig.prior, rig.prior, weights=PairedWeights(weights)).identified.rmse
        assert regression.axis_rmse(rig.prior) == pytest.approx(left, rel=1e-6)


def trembling_trial(seed: int) -> Trial:
    """A slow motion with a false vibration of the tracked joints between 5 and 9 Hz."""
    rig = small_rig()
    exact = replace(swinging_trial(rig, other_body(rig), seed), preset=WIDE, name=f"trembling {seed}")
    noise = np.random.default_rng(seed).standard_normal((FRAMES, rig.nv))
    noise = low_pass(noise, RATE, FilterPreset("high", 5, 9.0)) - low_pass(noise, RATE, FilterPreset("low", 5, 5.0))
    noise[:, :6] = 0.0
    moved = integrate(rig, exact.motion.q, 0.1 * noise / noise[:, 6:].std())
    return replace(exact, motion=smooth_motion(rig, exact.motion.times, moved, None))


def refit(trials: Sequence[Trial]) -> tuple[GroupFit, GroupFit, PairedWeights]:
    """A fit to trials of `other_body`, the same repeated, and its weights."""
    rig = small_rig()
    method = get_method(rig, IdentifyOptions(total_mass=other_body(rig).total_mass))
    parts = [accumulate_regression(rig, [trial], axes="world") for trial in trials]
    regression, estimate = fit_axis_weights(merge_regressions(parts), method, rig)
    first = GroupFit.of(tuple(range(len(trials))), regression, estimate, keep=True)
    groups = [[trial] for trial in trials]
    ((again, weights),) = refit_with_frequency_weights(rig, groups, [first], method, 0, base_parameters(rig))
    return first, again, weights


def test_a_refit_improves_the_parameters() -> None:
    """Refitted with frequency weights to vibrating motions, masses, first moments and inertias are nearer the truth."""
    first, again, weights = refit([trembling_trial(seed) for seed in range(3)])
    assert weights.identified is not None
    before, after = (fit.estimate.parameters.values - other_body(small_rig()).values for fit in (first, again))
    for group in (slice(MASS, MASS + 1), FIRST_MOMENT, INERTIA):
        assert np.linalg.norm(after[:, group]) < 0.9 * np.linalg.norm(before[:, group])


def test_an_exact_motion_is_fitted_once() -> None:
    """If nothing is learnt from the trials, the fit is unchanged."""
    rig = small_rig()
    trials = [replace(swinging_trial(rig, other_body(rig), k), preset=WIDE, name=str(k)) for k in range(2)]
    first, again, weights = refit(trials)
    assert again is first
    assert weights.identified is None


def test_errors_of_the_prior_do_not_depend_on_the_method() -> None:
    """The prior's errors, with its own frequency weights and without, do not depend on the identified parameters.

    Its weights are those that the training trials alone give it, and reduce its error on a trial that was not used.
    """
    rig = small_rig()
    trials = [replace(late_trial(seed), name=f"late {seed}") for seed in range(3)]
    total = other_body(rig).total_mass
    by_method = [
        identify_trials(rig, trials, IdentifyOptions(method, total_mass=total)).comparisons
        for method in ("consistent", "minimum_norm")
    ]
    for one, two in zip(*by_method, strict=True):
        assert not np.allclose(one.identified.rmse, two.identified.rmse, rtol=1e-3)
        np.testing.assert_allclose(one.prior.rmse, two.prior.rmse, rtol=1e-9)
        np.testing.assert_array_equal(one.unweighted_prior.rmse, two.unweighted_prior.rmse)
    unseen = [c for c in by_method[0] if not c.used]
    assert [c.trial for c in unseen] == [trial.name for trial in trials]
    prior = rig.prior.scaled(total)
    for left_out, comparison in zip(trials, unseen):
        own = PairedWeights(learnt([trial for trial in trials if trial is not left_out], prior))
        alone = compare(rig, left_out, prior, prior, weights=own).identified.rmse
        np.testing.assert_allclose(comparison.prior.rmse, alone, rtol=1e-6)
        assert comparison.prior.rmse.mean() < 0.95 * comparison.unweighted_prior.rmse.mean()
        np.testing.assert_allclose(
            comparison.ratio_to_unweighted * comparison.unweighted_prior.rmse, comparison.ratio * comparison.prior.rmse
        )
