"""Sources of uncertainty: noise, prior, and errors of the reconstructed wrenches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.identification.accumulate import accumulate_regression
from solver.identification.consistent import RELATIVE_STD
from solver.identification.equations import measured_wrench
from solver.identification.error_model.error_propagation import (
    NO_BIAS_NOTE,
    WrenchErrors,
    add_error_sources,
    propagate_wrench_errors,
)
from solver.identification.identify import IdentifyOptions, get_method, identify_trials
from solver.identification.result import NOISE, PRIOR, SKIN, Identification
from solver.rig import Rig
from solver.trial import Trial
from solver.wrenches import Wrenches
from tests.identification.bodies import other_body, small_rig, trial_of

OPTIONS = IdentifyOptions(cross_validate=False, jobs=1, bootstrap=0)


def identify_one(rig: Rig, trial: Trial) -> Identification:
    """Identification from one trial."""
    return identify_trials(rig, [trial], OPTIONS)


def noisy(rig: Rig, noise: float = 1.0) -> Trial:
    """A simulated trial of another body than the prior."""
    return trial_of(rig, other_body(rig), frames=400, noise=noise)


def test_noise_and_prior_add_up_to_the_posterior() -> None:
    """Squares by noise and prior sum to the variances of the posterior; more noise increases both."""
    rig = small_rig()
    sizes = []
    for noise in (0.1, 30.0):
        found = identify_one(rig, noisy(rig, noise))
        assert found.covariance_root is not None
        whole = (found.covariance_root**2).sum(axis=0)
        np.testing.assert_allclose(found.std_by_source[NOISE] ** 2 + found.std_by_source[PRIOR] ** 2, whole, rtol=1e-6)
        sizes.append([float((found.std_by_source[cause] ** 2).sum()) for cause in (NOISE, PRIOR)])
    assert sizes[1][0] > 10.0 * sizes[0][0]
    assert sizes[1][1] > sizes[0][1]


def test_wrench_errors_move_the_estimate_as_predicted() -> None:
    """Small known errors of the wrenches move the estimate as the linear propagation predicts."""
    rig = small_rig()
    trial = noisy(rig)
    options = replace(OPTIONS, relative_std=RELATIVE_STD)  # a learnt spread is narrower than the intervals'
    found = identify_trials(rig, [trial], options)
    wrong = 0.03 * np.sin(np.arange(6) + 0.01 * np.arange(len(trial.motion))[:, None])
    at_world = wrong.copy()
    at_world[:, 3:] += np.cross(trial.motion.q[:, :3], wrong[:, :3])
    total = Wrenches(trial.wrenches.times, ("all",), (trial.wrenches.total + at_world)[:, None])
    misled = replace(trial, wrenches=total)
    np.testing.assert_allclose(measured_wrench(rig, misled) - measured_wrench(rig, trial), wrong, atol=1e-9)
    predicted = propagate_wrench_errors(rig, found, [WrenchErrors(trial, 1.0, {SKIN: wrong[:, None]})])[SKIN][0]
    method = get_method(rig, options, found.estimate)  # the same noise and weights
    regressions = (
        accumulate_regression(rig, [own], axes="world").with_weights(found.weights) for own in (trial, misled)
    )
    before, after = (method(regression).parameters.values for regression in regressions)
    moved = after - before
    assert np.linalg.norm(predicted) > 1e-4
    assert np.linalg.norm(moved - predicted) < 0.05 * np.linalg.norm(predicted)


def test_a_further_source_widens_every_interval() -> None:
    """Squares add, to both sides, and the notes no longer say that skin motion is not included."""
    rig = small_rig()
    found = identify_trials(rig, [noisy(rig)], replace(OPTIONS, bootstrap=8))
    draws = np.random.default_rng(0).standard_normal((6, len(rig.links), 10))
    wider = add_error_sources(found, {SKIN: draws})
    before, after = found.uncertainty, wider.uncertainty
    assert before is not None
    assert after is not None
    np.testing.assert_allclose(after.std**2, before.std**2 + np.mean(draws**2, axis=0), rtol=1e-12)
    assert np.all(after.lower < before.lower)
    assert np.all(after.upper > before.upper)
    whole = sum(std**2 for std in wider.std_by_source.values())
    np.testing.assert_allclose(whole, after.std**2, rtol=1e-6)
    assert not any(NO_BIAS_NOTE in note for note in wider.notes)
    assert wider.parameters.values == pytest.approx(found.parameters.values, abs=0.0)
