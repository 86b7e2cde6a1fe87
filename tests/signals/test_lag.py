"""Laws of the time lag between plates and motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.errors import InvalidValue
from solver.signals import GRAVITY, Lag, combine_lags, estimate_lag, shift_wrenches, trial_lags
from tests.marker_com import SUBJECT_A, body
from tests.simulated_trials import HUMAN, SimulatedTrial, simulate

MASS = 65.0


def dance(t: np.ndarray) -> np.ndarray:
    """Forces in all directions up to about 3 Hz."""
    phases = 2 * np.pi * t
    return np.stack(
        [
            0.1 * np.sin(0.9 * phases) + 0.05 * np.sin(2.3 * phases),
            0.08 * np.cos(1.3 * phases),
            1.0 + 0.3 * np.sin(1.1 * phases) + 0.1 * np.cos(2.9 * phases),
        ],
        axis=1,
    )


def predicted(trial: SimulatedTrial, mass: float = MASS) -> np.ndarray:
    """Force (N, 3) that the motion requires."""
    return mass * (trial.acceleration + np.array([0.0, 0.0, GRAVITY]))


@pytest.mark.parametrize("lag", [-0.0137, 0.0, 0.0052])
def test_a_lag_is_found_to_a_tenth_of_a_millisecond(lag: float) -> None:
    """Plates that trail by 5.2 ms, half a frame, or lead, are found without noise; offset and gain do not matter."""
    trial = simulate(8.0, MASS, dance, lag=lag, bias=-35.0, gain=0.95)
    found = estimate_lag(trial.times, predicted(trial), trial.native, preset=HUMAN)
    assert found.seconds == pytest.approx(lag, abs=1e-4)
    assert found.gains == pytest.approx(0.95, abs=0.01)
    assert not found.at_bound


def test_the_standard_deviation_covers_the_error() -> None:
    """Over 16 noisy trials nearly all errors are within 3 standard deviations, and these are not far too large."""
    scores = []
    for seed in range(16):
        trial = simulate(6.0, MASS, dance, lag=0.004, noise=1.0, seed=seed)
        found = estimate_lag(trial.times, predicted(trial), trial.native, preset=HUMAN)
        scores.append((found.seconds - 0.004) / found.std)
    assert np.mean(np.abs(scores) < 3.0) > 0.9
    assert 0.2 < np.std(scores) < 2.0


def test_shifting_by_the_lag_leaves_none() -> None:
    """After `shift_wrenches` no lag is left."""
    trial = simulate(8.0, MASS, dance, lag=0.007)
    lag = estimate_lag(trial.times, predicted(trial), trial.native, preset=HUMAN)
    after = estimate_lag(trial.times, predicted(trial), shift_wrenches(trial.native, lag.seconds), preset=HUMAN)
    assert after.seconds == pytest.approx(0.0, abs=1e-4)


def test_only_counted_frames_matter() -> None:
    """Wrong forces in frames that do not count have no effect."""
    trial = simulate(8.0, MASS, dance, lag=0.006)
    counted = (trial.times > 2.0) & (trial.times < 7.0)
    wild = predicted(trial)
    wild[~counted] = 1e4 * np.random.default_rng(0).standard_normal((int(np.sum(~counted)), 3))
    found = estimate_lag(trial.times, wild, trial.native, preset=HUMAN, counted=counted)
    assert found.seconds == pytest.approx(0.006, abs=1e-4)


def test_a_lag_outside_the_search_is_reported() -> None:
    """A lag of 80 ms is outside +-50 ms: `at_bound` is set and the standard deviation is infinite."""
    trial = simulate(8.0, MASS, dance, lag=0.08)
    found = estimate_lag(trial.times, predicted(trial), trial.native, preset=HUMAN)
    assert found.at_bound
    assert not np.isfinite(found.std)


def test_standing_still_determines_no_lag() -> None:
    """Without motion the standard deviation is larger than any lag worth correcting."""
    trial = simulate(8.0, MASS, lambda t: np.ones_like(t), noise=0.05)
    found = estimate_lag(trial.times, predicted(trial), trial.native, preset=HUMAN)
    assert found.at_bound or found.std > 0.005


def test_too_few_frames_are_refused() -> None:
    """Five counted frames give an error, not a number."""
    trial = simulate(3.0, MASS, dance)
    with pytest.raises(InvalidValue, match="too few"):
        estimate_lag(trial.times, predicted(trial), trial.native, preset=HUMAN, counted=np.arange(301) < 10)


def test_lags_are_combined_by_inverse_variance() -> None:
    """Precise lags outweigh an imprecise one; disagreement increases the std; lags at the bound have no weight."""
    ones = np.ones(3)
    lags = [Lag(0.005, 0.0005, ones, False), Lag(0.006, 0.0005, ones, False), Lag(0.03, 0.02, ones, False)]
    mean = combine_lags([*lags, Lag(0.05, float("inf"), ones, True)])
    assert mean.seconds == pytest.approx(0.0055, abs=2e-4)
    apart = combine_lags([Lag(0.001, 0.0005, ones, False), Lag(0.011, 0.0005, ones, False)])
    assert apart.std > 0.003
    with pytest.raises(InvalidValue):
        combine_lags([Lag(0.05, float("inf"), ones, True)])


def test_trials_that_differ_by_chance_share_one_lag() -> None:
    """Where lags differ by no more than their standard deviations explain, every trial has the mean lag."""
    ones = np.ones(3)
    lags = [Lag(0.005, 0.001, ones, False), Lag(0.006, 0.001, ones, False), Lag(0.05, float("inf"), ones, True)]
    mean = combine_lags(lags).seconds
    assert [lag.seconds for lag in trial_lags(lags)] == pytest.approx([mean, mean, mean])


def test_trials_that_differ_more_keep_their_own_lags() -> None:
    """Precise lags that disagree stay, an imprecise one is shrunk to the mean, and one at the bound has the mean."""
    ones = np.ones(3)
    lags = [
        Lag(0.007, 0.0003, ones, False),
        Lag(0.013, 0.0003, ones, False),
        Lag(0.02, 0.02, ones, False),
        Lag(0.05, float("inf"), ones, True),
    ]
    mean = combine_lags(lags).seconds
    slow, late, vague, lost = trial_lags(lags)
    assert [slow.seconds, late.seconds] == pytest.approx([0.007, 0.013], abs=1e-4)
    assert abs(vague.seconds - mean) < 0.15 * (0.02 - mean)
    assert lost.seconds == pytest.approx(mean)
    assert slow.std == pytest.approx(0.0003, rel=0.1)
    assert lost.std > vague.std > 0.003


@pytest.mark.parametrize("trial", ["squats1", "walking1", "walkingTI1"])
def test_the_real_plates_trail_the_markers(shared_data: Path, trial: str) -> None:
    """The plates of subject_a lag by 2 to 8 ms (real recordings)."""
    folder = shared_data / "subject_a"
    read = body(folder / "markers" / f"{trial}.trc", folder / "forces" / f"{trial}.mot", SUBJECT_A, HUMAN)
    force = 63.5 * (read.acceleration + np.array([0.0, 0.0, GRAVITY]))
    counted = (read.times > 0.25) & (read.times < read.times[-1] - 0.1)
    found = estimate_lag(read.times, force, read.native, preset=HUMAN, counted=counted)
    assert 0.002 < found.seconds < 0.008
    assert found.std < 0.003
