"""The smoother that combines all sources, and its Gauss-Markov solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import UnknownPreset
from solver.centroidal.estimate import METHODS, estimate_centroidal
from solver.centroidal.gauss_markov import Observations, Process, matern, ornstein_uhlenbeck, posterior_mean
from solver.centroidal.momentum_blend import FORCE_WINDOW, blend_features
from solver.centroidal.smoother import SmootherSettings, smooth_centroidal
from solver.centroidal.values import InertialModes
from solver.signals import GRAVITY
from tests.centroidal.simulated_bodies import jumping, swaying


def covariance(process: Process, count: int) -> np.ndarray:
    """(N, N) covariance of the first state of a stationary process."""
    states = np.linalg.inv(process.initial_information)
    rows = []
    moved = states
    for _ in range(count):
        rows.append(moved[0, 0])
        moved = process.transition @ moved
    lag = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    return np.array(rows)[lag]


@pytest.mark.parametrize("process", [matern(2.0, 3.0, 0.01), ornstein_uhlenbeck(2.0, 3.0, 0.01)])
def test_the_band_solver_gives_the_conditional_mean(process: Process) -> None:
    """The banded solution is the mean of the joint Gaussian given the observations, with gaps and a common unknown."""
    generator = np.random.default_rng(1)
    count, noise, spread = 40, 0.3, 5.0
    prior = covariance(process, count)
    assert abs(prior[0, 0] - 4.0) < 1e-9
    seen = np.delete(np.arange(count), np.arange(10, 20))
    values = generator.standard_normal(count)
    states = np.zeros((count, 1, len(process.transition)))
    states[:, 0, 0] = 1.0
    weights = np.zeros((count, 1))
    weights[seen] = noise**-2.0
    rows = Observations(states, np.ones((count, 1, 1)), values[:, None], weights)
    found, common = posterior_mean([process], rows, np.array([spread]))
    joint = prior[np.ix_(seen, seen)] + noise**2 * np.eye(len(seen)) + spread**2
    right = np.linalg.solve(joint, values[seen])
    np.testing.assert_allclose(found[:, 0], prior[:, seen] @ right, atol=1e-7)
    np.testing.assert_allclose(common, [spread**2 * right.sum()], atol=1e-7)


def test_correlations_over_time_are_those_of_the_spectrum() -> None:
    """A spectrum 1 / (1 + (f / cutoff)^2)^2 has the correlation (1 + w t) exp(-w t) with w = 2 pi cutoff, one of first
    order exp(-w t); the standard deviation is the one given.
    """
    std, cutoff, step = 2.0, 3.0, 0.01
    decay = 2.0 * np.pi * cutoff * step * np.arange(60)
    smooth, rough = (
        covariance(matern(std, cutoff, step), 60)[0],
        covariance(ornstein_uhlenbeck(std, cutoff, step), 60)[0],
    )
    np.testing.assert_allclose(smooth, std**2 * (1.0 + decay) * np.exp(-decay), atol=1e-9)
    np.testing.assert_allclose(rough, std**2 * np.exp(-decay), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_returns_what_all_sources_agree_on(method: str) -> None:
    """Without noise and bias no estimator changes anything."""
    truth = swaying(3.0)
    found = estimate_centroidal(truth.data, method)
    np.testing.assert_allclose(found.com, truth.com, atol=4e-3)
    np.testing.assert_allclose(found.momentum_rate, truth.momentum_rate, atol=2.0)
    with pytest.raises(UnknownPreset):
        estimate_centroidal(truth.data, "kinematics")


def test_in_flight_the_body_falls() -> None:
    """With known forces, a flight's acceleration is gravity and its momentum rate zero, for any kinematics."""
    truth = jumping()
    generator = np.random.default_rng(0)
    skin = 1e-4 * generator.standard_normal((len(truth.data), 3)).cumsum(axis=0)
    found = smooth_centroidal(replace(truth.data, com=truth.com + skin))
    inside = np.abs(truth.data.times - 1.45) < 0.2
    assert np.abs(truth.data.wrench[inside]).max() == 0.0
    assert np.abs(found.acceleration[inside] + np.array([0.0, 0.0, GRAVITY])).max() < 0.05
    assert np.abs(found.momentum_rate[inside]).max() < 2.0


def test_errors_along_inertial_modes_are_corrected() -> None:
    """An error of the centre of mass along a mode is corrected along the force too, where no axis determines it."""
    truth = swaying(4.0)
    count = len(truth.data)
    shape = np.sin(2.0 * np.pi * np.arange(count) / 300.0)[:, None] * np.array([0.3, 0.2, 1.0])
    modes = InertialModes(0.02 * shape[:, :, None], np.zeros((count, 3, 1)))
    wrong = replace(truth.data, com=truth.com + 0.01 * shape)
    without_modes, with_modes = smooth_centroidal(wrong), smooth_centroidal(replace(wrong, modes=modes))
    error = [np.abs(found.com - truth.com)[:, 2].mean() for found in (without_modes, with_modes)]
    assert error[1] < 0.2 * error[0]


def test_a_wrong_gain_of_the_plates_is_found() -> None:
    """Forces and moments three per cent too small are corrected by the gain in a recording with vertical motion."""
    truth = swaying(6.0)
    found = smooth_centroidal(replace(truth.data, wrench=truth.data.wrench / 1.03), SmootherSettings(gain=0.05))
    assert "+3.0" in found.notes[-1] or "+2.9" in found.notes[-1]
    assert np.abs(found.momentum_rate - truth.momentum_rate)[100:-100].mean() < 0.1
    right = smooth_centroidal(truth.data, SmootherSettings(gain=0.05))
    assert right.notes == ()


@pytest.mark.parametrize("rate", [100.0, 400.0])
def test_the_load_is_averaged_over_a_time_whatever_the_rate(rate: float) -> None:
    """One sample of acceleration changes the load for as many samples as the window's duration holds."""
    data = swaying(2.0, rate).data
    rest, pulse = np.zeros((2, len(data), 3))
    pulse[len(data) // 2, 2] = 5.0
    changed = blend_features(data, pulse)[:, 0, 1] != blend_features(data, rest)[:, 0, 1]
    assert changed.sum() == round(FORCE_WINDOW * rate)


def test_long_recordings_are_solved_in_pieces_without_a_seam() -> None:
    """Segments overlap so far that their boundaries cannot be seen."""
    truth = swaying(12.0)
    found = smooth_centroidal(truth.data)
    assert len(truth.data) > 1500
    np.testing.assert_allclose(found.com, truth.com, atol=1e-3)
    assert np.abs(np.diff(found.com - truth.com, axis=0)).max() < 1e-4
