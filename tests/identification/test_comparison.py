"""Measured against reconstructed wrenches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.identification.comparison import check_flight, compare, fit_wrenches
from solver.values.inertials import InertialParameters
from tests.random_motion import mixed_rig, random_trial


def test_fit_of_hand_computed_signals() -> None:
    """An offset of 2 has RMSE 2 and correlation 1; a mirrored signal correlation -1; an unmeasured axis neither."""
    measured = np.zeros((4, 6))
    measured[:, 0] = measured[:, 1] = [0.0, 1.0, 2.0, 3.0]
    measured[:, 2] = np.nan
    other = measured.copy()
    other[:, 0] += 2.0
    other[:, 1] *= -1.0
    other[:, 2] = 0.0
    found = fit_wrenches(measured, other)
    assert found.rmse[0] == pytest.approx(2.0)
    assert found.correlation[0] == pytest.approx(1.0)
    assert found.rmse[1] == pytest.approx(np.sqrt(np.mean((2.0 * np.arange(4)) ** 2)))
    assert found.correlation[1] == pytest.approx(-1.0)
    assert np.isnan(found.rmse[2])
    assert np.isnan(found.correlation[2])
    assert np.isnan(found.correlation[3])  # a constant has no correlation


def test_truth_explains_itself() -> None:
    """The parameters a trial was simulated with leave no error; a prior scaled by 1.1 leaves a tenth of the wrench."""
    rig = mixed_rig()
    trial = random_trial(rig, 40)
    wrong = InertialParameters(rig.links, 1.1 * rig.prior.values)
    result = compare(rig, trial, rig.prior, wrong)
    from solver.dynamics import predicted_wrench

    size = np.sqrt(np.mean(predicted_wrench(rig, trial.motion, rig.prior, axes="world") ** 2, axis=0))
    assert np.all(result.identified.rmse < 1e-9 * size)
    assert result.prior.rmse == pytest.approx(0.1 * size, rel=1e-6)


def test_uncounted_frames_have_no_influence() -> None:
    """Invalid values in frames that do not count change nothing."""
    rig = mixed_rig()
    trial = random_trial(rig, 30, noise=1.0)
    counted = np.arange(30) < 20
    values = trial.wrenches.values.copy()
    values[20:] += 1e4
    invalid = replace(trial, counted=counted, wrenches=replace(trial.wrenches, values=values))
    clean = replace(trial, counted=counted)
    prior = InertialParameters(rig.links, 1.2 * rig.prior.values)
    one, two = (compare(rig, t, rig.prior, prior) for t in (invalid, clean))
    assert np.array_equal(one.ratio, two.ratio)


def test_a_trial_without_counted_frames_is_refused() -> None:
    """A trial without counted frames cannot be compared; the error says so."""
    rig = mixed_rig()
    trial = replace(random_trial(rig, 10), counted=np.zeros(10, bool))
    with pytest.raises(InvalidValue, match="random"):
        compare(rig, trial, rig.prior, rig.prior)


def test_flight_error_does_not_depend_on_scale_of_mass() -> None:
    """Without contact only the mass distribution matters: both errors vanish for the truth in a simulated free
    flight."""
    rig = mixed_rig()
    trial = random_trial(rig, 30)
    everywhere = np.ones(30, bool)
    wrong = rig.prior.replaced("ball", 1.5 * rig.prior.link("ball"))
    result = check_flight(rig, trial, everywhere, rig.prior, wrong)
    assert result.acceleration[0] < 1e-8 < result.acceleration[1]
    assert result.momentum_rate[0] < 1e-8 < result.momentum_rate[1]
