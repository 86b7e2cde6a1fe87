"""Hidden wrenches, and settings estimated from them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks.figures.centroidal_hidden import hidden_masks, hidden_score, kinematic_wrench, wrench_error
from benchmarks.figures.centroidal_learning import CUTOFF_GRID, choose_cutoffs, learn_momentum_blend
from solver.base.errors import InvalidValue
from solver.centroidal.complementary import complementary
from solver.centroidal.complementary_filters import ComplementarySettings
from solver.centroidal.momentum_blend import SMOOTHER_ONLY, blend_features
from solver.centroidal.smoother import DEFAULT_SETTINGS, smooth_centroidal
from solver.signals import GRAVITY
from tests.centroidal.simulated_bodies import jumping, swaying


def test_masks_hide_every_loaded_interval_once() -> None:
    """Masks of one length cover the stance together, are separated within a mask, and omit the flight."""
    data = jumping().data
    masks = list(hidden_masks(data, 0.1))
    together = np.sum(masks, axis=0)
    assert together.max() == 1
    assert not together[data.force[:, 2] < 0.1 * data.mass * GRAVITY].any()
    assert together.sum() > 0.7 * (data.force[:, 2] > 0.2 * data.mass * GRAVITY).sum()
    flights = list(hidden_masks(data, 0.0))
    assert len(flights) == 1
    assert abs(flights[0].sum() / data.rate - 0.5) < 0.06


def test_exact_kinematics_have_no_error() -> None:
    """The wrench that exact kinematics require is the measured one."""
    data = swaying(2.0).data
    frames = np.zeros(len(data), bool)
    frames[100:200] = True
    assert np.abs(wrench_error(data, kinematic_wrench(data), frames)).max() < 1e-6


def test_cut_offs_are_chosen_by_the_hidden_wrench() -> None:
    """The chosen cut-offs predict hidden wrenches at least as well as the paper's; unusable data are refused."""
    truth = swaying(3.0, seed=2)
    noise = 3e-3 * np.sin(2.0 * np.pi * 0.3 * truth.data.times)[:, None] * np.ones(3)
    data = replace(truth.data, com=truth.com + noise, momentum_rate=truth.momentum_rate + 0.5)
    data = replace(data, acceleration=truth.acceleration + 50.0 * noise)
    few = CUTOFF_GRID[::11]
    found = choose_cutoffs(data, (*few, ComplementarySettings()))
    score, paper = (hidden_score([data], partial(complementary, settings=s)) for s in (found, ComplementarySettings()))
    assert score <= paper
    with pytest.raises(InvalidValue, match="no hidden wrench"):
        choose_cutoffs(replace(data, wrench=np.full_like(data.wrench, np.nan), measured=None))


def test_a_momentum_blend_is_estimated_from_hidden_moments() -> None:
    """If the kinematic rate is exact and the smoother too smooth, the estimated blend prefers the kinematics and
    reduces the error of the hidden moments; measured samples are unchanged."""
    truth, often = swaying(3.0, seed=1), 40.0
    stiff = replace(
        DEFAULT_SETTINGS,
        momentum=replace(DEFAULT_SETTINGS.momentum, std=(1e-3, 1e-3, 1e-3)),
        momentum_blend=SMOOTHER_ONLY,
    )
    wrench = truth.data.wrench + np.concatenate([0.0 * truth.com, (often - 1.0) * truth.momentum_rate], axis=1)
    rate, wrong = often * truth.momentum_rate + 1.0, truth.acceleration + 0.05
    skin = np.random.default_rng(0).standard_normal(truth.com.shape)
    data = replace(truth.data, momentum=often * truth.data.momentum + skin, momentum_rate=rate, wrench=wrench)
    data = replace(data, acceleration=wrong)
    found = learn_momentum_blend([data], stiff)
    shares = found.momentum_blend.shares(blend_features(data, data.acceleration))
    assert np.median(shares) < 0.3
    errors = [hidden_score([data], partial(smooth_centroidal, settings=settings)) for settings in (found, stiff)]
    assert errors[0] < errors[1] - 0.3
    np.testing.assert_array_equal(
        smooth_centroidal(data, found).momentum_rate, smooth_centroidal(data, stiff).momentum_rate
    )


def test_the_blend_follows_its_features() -> None:
    """Without load only the share in flight counts; under load the size of the kinematic rate counts as well."""
    flying = jumping().data
    found = blend_features(flying, flying.acceleration)
    aloft = np.abs(flying.times - 1.45) < 0.15
    assert np.abs(found[aloft, :, 1:]).max() < 1e-6
    assert found[flying.times < 0.5, :, 1].min() > 0.9
    larger = replace(flying, momentum_rate=flying.momentum_rate + 0.3 * flying.mass)
    more = blend_features(larger, larger.acceleration)[:100, :, 2] - found[:100, :, 2]
    assert more.min() > 2.5
