"""Laws of resampling forces."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.signals import PRESETS, filter_wrenches, resample, uniform_times
from solver.values.wrenches import Wrenches

HUMAN = PRESETS["human_8hz"]


def tone(frequency: float, rate: float = 1000.0, seconds: float = 4.0) -> Wrenches:
    """One sensor whose six components oscillate at one frequency."""
    t = np.arange(int(rate * seconds)) / rate
    return Wrenches(t, ("plate",), np.sin(2 * np.pi * frequency * t)[:, None, None] * np.arange(1.0, 7.0))


def test_frequencies_above_nyquist_are_not_aliased() -> None:
    """Of 97 Hz sampled at 100 Hz, which would appear as 3 Hz, less than 1 % remains."""
    times = np.arange(50, 350) / 100.0
    assert np.abs(resample(tone(97.0), times).values[:, 0, 0]).max() < 0.01
    assert np.abs(np.interp(times, tone(97.0).times, tone(97.0).values[:, 0, 0])).max() > 0.9


def test_low_frequencies_are_preserved() -> None:
    """A 3 Hz signal is resampled at irregular times to 0.1 %."""
    times = 0.5 + np.arange(300) / 100.0 + 0.000371
    wanted = np.sin(2 * np.pi * 3.0 * times)
    assert np.allclose(resample(tone(3.0), times).values[:, 0, 0], wanted, atol=1e-3)


def test_resampling_commutes_with_the_reference_point() -> None:
    """The resampled wrench about another point is the wrench about that point, resampled."""
    generator = np.random.default_rng(2)
    t = np.arange(2000) / 1000.0
    values = generator.standard_normal((2000, 2, 6)).cumsum(axis=0)
    point = np.array([0.3, -1.2, 0.8])
    moved = values.copy()
    moved[:, :, 3:] -= np.cross(point, values[:, :, :3])
    times = np.arange(10, 190) / 100.0
    direct = resample(Wrenches(t, ("a", "b"), values), times, HUMAN).about(point)
    assert np.allclose(resample(Wrenches(t, ("a", "b"), moved), times, HUMAN).total, direct, atol=1e-8)


def test_resampling_to_its_own_times_is_the_filter_alone() -> None:
    """Interpolation at the sample times gives the filtered samples."""
    wrenches = tone(3.0)
    assert np.array_equal(resample(wrenches, wrenches.times).values, wrenches.values)
    assert np.allclose(resample(wrenches, wrenches.times, HUMAN).values, filter_wrenches(wrenches, HUMAN).values)


def test_times_outside_the_record_give_nan() -> None:
    """Times before or after the forces give NaN, and no overlap is an error."""
    result = resample(tone(1.0), np.arange(-50, 450) / 100.0)
    known = np.isfinite(result.total).all(axis=1)
    assert not known[:49].any()
    assert known[51:449].all()
    with pytest.raises(InvalidValue, match="overlap"):
        resample(tone(1.0), np.arange(10.0, 12.0, 0.01))


def test_missing_samples_stay_missing() -> None:
    """NaN over 0.3 s of one plate makes the total NaN there and nowhere else."""
    wrenches = tone(2.0)
    values = np.array(wrenches.values)
    values[1000:1300] = np.nan
    times = np.arange(400) / 100.0
    known = np.isfinite(resample(Wrenches(wrenches.times, ("plate",), values), times, HUMAN).total).all(axis=1)
    assert np.array_equal(np.flatnonzero(~known), np.arange(100, 130))


def test_rounded_stamps_are_uniform() -> None:
    """600 Hz written with four decimals is 600 Hz; a dropped sample is not uniform."""
    exact = np.arange(900) / 600.0
    grid, same = uniform_times(np.round(exact, 4))
    assert same
    assert np.allclose(grid, exact, atol=2e-5)
    assert np.ptp(np.diff(grid)) < 1e-12
    _, same = uniform_times(np.delete(exact, 400))
    assert not same


def test_a_rounded_record_is_filtered_at_its_true_rate() -> None:
    """600 Hz written with four decimals, whose median step reads 588 Hz, is filtered as 600 Hz, without a gap."""
    exact = np.arange(1200) / 600.0
    values = np.sin(2.0 * np.pi * 2.0 * exact)[:, None, None] * np.ones(6)
    forces = Wrenches(np.round(exact, 4), ("plate",), values)
    assert 1.0 / np.median(np.diff(forces.times)) == pytest.approx(588.2, abs=0.1)
    assert 1.0 / np.diff(filter_wrenches(forces, HUMAN).times).mean() == pytest.approx(600.0, rel=1e-4)
    times = np.arange(10, 110) / 60.0
    found = resample(forces, times, HUMAN).total[:, 0]
    np.testing.assert_allclose(found, np.sin(2.0 * np.pi * 2.0 * times), atol=5e-3)
