"""Fits with frequency weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.identification.accumulate import BUFFER_ROWS, accumulate_regression
from solver.identification.base_parameters import base_parameters
from solver.identification.comparison import compare
from solver.identification.error_model.frequency_weights import FrequencyWeights, PairedWeights
from solver.identification.error_model.refit import (
    TrialFit,
    accumulate_frequency_weighted,
    refit_with_frequency_weights,
)
from solver.identification.error_model.weight_estimation import ResidualGrams
from solver.identification.identify import IdentifyOptions, get_method, identify_trials
from solver.identification.regression import fit_axis_weights, merge_regressions
from solver.signals import FilterPreset, low_pass, smooth_motion
from solver.trial import Trial
from tests.identification.bodies import ideal_weights, other_body, small_rig
from tests.identification.error_model.test_skin_compliance import soft_trial
from tests.identification.error_model.test_weight_estimation import WIDE
from tests.identification.test_equations import FRAMES, RATE, swinging_trial


@pytest.mark.parametrize("frames", [FRAMES, 3 * BUFFER_ROWS])
def test_unit_gains_leave_the_equations_unchanged(frames: int) -> None:
    """With every gain 1 the equations are those of the motion; with more frames than the row buffer holds no row is
    lost, repeated or refused."""
    rig = small_rig()
    trial = replace(swinging_trial(rig, other_body(rig), 0, frames), preset=WIDE)
    plain = accumulate_regression(rig, [trial], axes="world")
    whole = ideal_weights(np.full((6, 6), np.inf))
    (same,) = accumulate_frequency_weighted(rig, trial, [whole], 0, base_parameters(rig))
    for one, two in zip(plain.axis_factors, same.axis_factors):
        np.testing.assert_allclose(one.T @ one, two.T @ two, rtol=0, atol=1e-7 * np.abs(one.T @ one).max())


def test_regression_and_comparison_have_the_same_residuals() -> None:
    """Residuals of the prior are the same in the regression and in the comparison with the same frequency weights."""
    rig = small_rig()
    trial = soft_trial(rig, 0)
    shares = np.random.default_rng(1).uniform(-1.0, 1.0, (6, 3))
    gains = np.sort(np.random.default_rng(0).uniform(0.0, 1.0, (6, 6, 3)), axis=2)[:, :, ::-1].copy()
    gains[:, :, 0] = 1.0
    trusts = [
        FrequencyWeights(np.array([2.0, 5.0, np.inf]), gains, shares),
        ideal_weights(np.full((6, 6), 4.0)),
    ]
    made = accumulate_frequency_weighted(rig, trial, trusts, 0, base_parameters(rig))
    for trust, regression in zip(trusts, made):
        left = compare(rig, trial, rig.prior, rig.prior, weights=PairedWeights(trust)).identified.rmse
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


def test_a_refit_improves_the_parameters() -> None:
    """Refitted with frequency weights to vibrating motions, the parameters explain an exact motion better than
    before."""
    rig = small_rig()
    truth = other_body(rig)
    trials = tuple(trembling_trial(seed) for seed in range(2))
    method = get_method(rig, IdentifyOptions(bootstrap=0, total_mass=truth.total_mass))
    parts = [accumulate_regression(rig, [trial], axes="world") for trial in trials]
    first = TrialFit(trials, *fit_axis_weights(merge_regressions(parts), method, rig))
    ((again, weights),) = refit_with_frequency_weights(rig, [first], method, 0)
    assert np.any(weights.identified.gains < 1.0)
    exact = replace(swinging_trial(rig, truth, 7), preset=WIDE)
    before, after = (compare(rig, exact, fit.estimate.parameters, rig.prior).identified.rmse for fit in (first, again))
    assert after.mean() < 0.9 * before.mean()


def test_an_exact_motion_is_fitted_once() -> None:
    """If every gain is 1 and there are no marker displacements, the fit is unchanged."""
    rig = small_rig()
    truth = other_body(rig)
    trials = tuple(replace(swinging_trial(rig, truth, seed), preset=WIDE, name=str(seed)) for seed in range(2))
    method = get_method(rig, IdentifyOptions(bootstrap=0, total_mass=truth.total_mass))
    parts = [accumulate_regression(rig, [trial], axes="world") for trial in trials]
    regression, estimate = fit_axis_weights(merge_regressions(parts), method, rig)
    first = TrialFit(trials, regression, replace(estimate, parameters=truth))
    ((again, _),) = refit_with_frequency_weights(rig, [first], method, 0)
    assert again is first


def test_errors_of_the_prior_do_not_depend_on_the_method() -> None:
    """The prior's errors, with its own frequency weights and without, do not depend on the identified parameters.

    Its weights are those that the training trials alone give it, and reduce its error on a trial that was not used.
    """
    rig = small_rig()
    trials = [trembling_trial(seed) for seed in range(3)]
    total = other_body(rig).total_mass
    by_method = [
        identify_trials(rig, trials, IdentifyOptions(method, total_mass=total, bootstrap=0)).comparisons
        for method in ("consistent", "minimum_norm")
    ]
    for one, two in zip(*by_method, strict=True):
        assert not np.allclose(one.identified.rmse, two.identified.rmse, rtol=1e-3)
        np.testing.assert_allclose(one.prior.rmse, two.prior.rmse, rtol=1e-9)
        np.testing.assert_array_equal(one.unweighted_prior.rmse, two.unweighted_prior.rmse)
    unseen = [c for c in by_method[0] if not c.used]
    assert len(unseen) == len(trials)
    for left_out, comparison in zip(trials, unseen):
        assert comparison.trial == left_out.name
        others = [trial for trial in trials if trial is not left_out]
        own = PairedWeights(ResidualGrams.from_trials(rig, others, [rig.prior]).estimate_frequency_weights())
        alone = compare(rig, left_out, rig.prior, rig.prior, weights=own).identified.rmse
        np.testing.assert_allclose(comparison.prior.rmse, alone, rtol=1e-6)
        assert comparison.prior.rmse.mean() < 0.95 * comparison.unweighted_prior.rmse.mean()
        np.testing.assert_allclose(
            comparison.ratio_to_unweighted * comparison.unweighted_prior.rmse, comparison.ratio * comparison.prior.rmse
        )


def test_only_fits_with_gains_below_one_are_repeated() -> None:
    """A fit with unit gains is returned unchanged; another fit with smaller gains is repeated."""
    rig = small_rig()
    truth = other_body(rig)
    still = replace(swinging_trial(rig, truth, 3), preset=WIDE, name="true")
    trembling = trembling_trial(0)
    method = get_method(rig, IdentifyOptions(bootstrap=0, total_mass=truth.total_mass))
    fits = []
    for trial in (still, trembling):
        regression, estimate = fit_axis_weights(accumulate_regression(rig, [trial], axes="world"), method, rig)
        fits.append(TrialFit((trial,), regression, replace(estimate, parameters=truth)))
    (unchanged, whole), (again, weights) = refit_with_frequency_weights(rig, fits, method, 0)
    assert unchanged is fits[0]
    assert np.all(whole.identified.gains == 1.0)
    assert again is not fits[1]
    assert np.any(weights.identified.gains < 1.0)
