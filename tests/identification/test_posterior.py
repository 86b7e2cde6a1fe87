"""What data and prior leave undetermined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.identification.accumulate import accumulate_regression
from solver.identification.consistent import ConsistentOptions, consistent
from solver.identification.error_model.posture_wrenches import posture_wrenches
from solver.identification.posterior import Posterior
from solver.skeleton.rig import Rig
from solver.tracking.motion_errors import MotionErrors
from tests.identification.bodies import other_body, posterior_of, regression_of, small_rig, trial_of
from tests.random_motion import random_motion


def posterior_with(rig: Rig, noise_variance: float = 1.0, relative_std: float = 0.2) -> Posterior:
    """Posterior of one simulated trial with options; a person's joint centres are not exact, the posture is."""
    options = ConsistentOptions(relative_std, data_inflation=1.0, noise_variance=noise_variance)
    trial = trial_of(rig, other_body(rig), frames=200)
    if rig.is_person:
        errors = posture_wrenches(rig, trial.motion, MotionErrors.of_rig(rig))
        trial = replace(trial, posture_wrenches=replace(errors, values=0.0 * errors.values))
    regression = accumulate_regression(rig, [trial], axes="world")
    return posterior_of(regression, consistent(regression, rig, options), rig, options)


def ratios(found: Posterior) -> np.ndarray:
    """Widths over the prior's of all quantities that the data may determine."""
    return np.array([one.ratio for one in found.determined])


def test_noise_and_narrow_priors_leave_more_to_the_prior() -> None:
    """Each ratio rises when the noise grows and when the prior narrows; without data it is one."""
    rig = small_rig()
    few, many, none = (ratios(posterior_with(rig, noise_variance=noise)) for noise in (1e4, 1e-2, 1e15))
    narrow = ratios(posterior_with(rig, noise_variance=1e-2, relative_std=0.002))
    assert np.all(many <= few + 1e-9)
    assert many.sum() < few.sum()
    assert many.sum() < narrow.sum()
    assert many.min() < 0.01
    assert none == pytest.approx(1.0, abs=1e-3)


def test_joint_centres_displace_what_the_data_determine() -> None:
    """A first moment that data determine has the error of its link's origin; one that the prior supplies has not."""
    person = replace(small_rig(), provenance={"kind": "human"})
    exact, empty = (posterior_with(person, noise_variance=noise) for noise in (1e-8, 1e15))
    errors = posture_wrenches(person, random_motion(person, 200, 0), MotionErrors.of_rig(person))
    expected = (errors.origins[:, :, 1:4] ** 2).sum(axis=0)
    variances = exact.uncertainty.std[:, 1:4] ** 2 / expected
    assert np.count_nonzero(np.abs(variances - 1.0) < 0.02) >= 3
    apart = empty.uncertainty.std[:, 1:4] ** 2 - posterior_with(small_rig(), 1e15).uncertainty.std[:, 1:4] ** 2
    assert np.abs(apart).max() < 1e-3 * expected.max()


def test_the_intervals_are_as_wide_as_the_standard_deviations() -> None:
    """Intervals are symmetric about the parameters and 2 x 1.96 standard deviations wide."""
    rig = small_rig()
    options = ConsistentOptions()
    regression = regression_of(rig, rig.prior, noise=1.0)
    found = posterior_of(regression, consistent(regression, rig, options), rig, options)
    spread = found.uncertainty
    np.testing.assert_allclose(spread.upper - spread.lower, 3.92 * spread.std)
    np.testing.assert_allclose(0.5 * (spread.upper + spread.lower), found.parameters.values, atol=1e-12)
