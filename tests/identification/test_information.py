"""Noise of accumulated equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.identification.accumulate import accumulate_regression
from solver.identification.blocks import BlockOptions, PostureErrors
from solver.identification.weighted_equations import data_inflation, noise_variance
from solver.signals.trial import Trial
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.identification.bodies import small_rig, trial_of
from tests.random_motion import measured, random_motion

MOMENTS_ONLY = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])


def test_repeated_equations_count_once() -> None:
    """White residuals count one by one; equations that are repeated twenty times count a twentieth each."""
    rig = small_rig()
    frames, generator = 2400, np.random.default_rng(5)
    for times in (1, 20):
        motion = random_motion(rig, frames // times)
        values = measured(rig, motion).values.copy()
        # Moments only: a force error makes larger moment errors the farther away the body is.
        values[:, 0, 3:] += generator.standard_normal((len(motion), 3))
        q, v, a = (np.repeat(part, times, axis=0) for part in (motion.q, motion.v, motion.a))
        repeated = Motion(0.01 * np.arange(frames), q, v, a)
        wrenches = Wrenches(repeated.times, ("plate",), np.repeat(values, times, axis=0))
        trial = Trial("a", repeated, wrenches, np.ones(frames, bool))
        regression = accumulate_regression(rig, [trial], blocks=BlockOptions(seconds=0.4)).with_weights(MOMENTS_ONLY)
        assert data_inflation(regression, rig.prior) == pytest.approx(times, rel=0.3)
        tracked = replace(regression, posture_errors=PostureErrors((), np.zeros((0, 2, 10)), (), np.zeros(0)))
        assert data_inflation(tracked, rig.prior) == pytest.approx(100.0, rel=0.03)  # the frames of a second


def test_noise_variance_is_one_for_right_weights() -> None:
    """Weights of one over the noise make a weighted residual of variance one."""
    rig = small_rig()
    trial = trial_of(rig, rig.prior, frames=400, noise=1.0)
    spread = 1.0 / accumulate_regression(rig, [trial]).axis_rmse(rig.prior)
    assert noise_variance(accumulate_regression(rig, [trial]).with_weights(spread), rig.prior) == pytest.approx(1.0)
