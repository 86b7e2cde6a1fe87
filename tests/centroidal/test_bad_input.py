"""Problems of the signals are reported or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import linregress, t

from solver.base.errors import InvalidValue
from solver.centroidal.estimate import METHODS, estimate_centroidal
from solver.centroidal.signal_checks import MIN_FLIGHT, check_signals, estimate_drift, flight_intervals, require_load
from solver.centroidal.values import CentroidalData
from solver.signals import GRAVITY
from tests.centroidal.simulated_bodies import jumping, swaying


def drifting(data: CentroidalData, newtons: float) -> CentroidalData:
    """The same signals with a linear drift of the plates from first to last sample."""
    wrench = np.array(data.wrench)
    wrench[:, 2] += newtons * np.linspace(0.0, 1.0, len(data))
    return replace(data, wrench=wrench)


def test_drift_of_the_plates_is_reported() -> None:
    """A drift of 30 N over eight seconds is reported in newtons; a constant offset and white noise are not."""
    data = swaying(8.0).data
    found = estimate_drift(drifting(data, 30.0))
    assert found.change == pytest.approx(30.0, rel=0.05)
    (sentence,) = check_signals(drifting(data, 30.0))
    assert "drift" in sentence
    assert "+30 N" in sentence
    assert estimate_centroidal(drifting(data, 30.0)).notes[-1] == sentence
    offset = np.array(data.wrench)
    offset[:, 2] += 30.0 + 20.0 * np.random.default_rng(1).standard_normal(len(data))
    assert check_signals(replace(data, wrench=offset)) == ()


@pytest.mark.parametrize("seconds", [1.2, 2.0, 3.0])
def test_a_large_drift_is_reported_for_short_contacts(seconds: float) -> None:
    """Below four seconds too, a large drift is reported with an interval that contains the truth, and noise is not;
    half a second of contact gives no report."""
    data = swaying(seconds).data
    noise = 10.0 * np.random.default_rng(3).standard_normal((40, len(data)))
    reports, contained = 0, 0
    for row in noise:
        wrench = np.array(data.wrench)
        wrench[:, 2] += row
        still, moved = replace(data, wrench=wrench), drifting(replace(data, wrench=wrench), 60.0)
        reports += bool(check_signals(still))
        found = estimate_drift(moved)
        contained += abs(found.change - 60.0) < found.interval
        assert not found.is_significant(moved) or "drift" in check_signals(moved)[0]
    assert reports <= 2
    assert contained >= 36
    wrench = np.array(data.wrench)
    wrench[:, 2] += noise[0]
    assert "+- " in check_signals(drifting(replace(data, wrench=wrench), 200.0))[0]
    assert estimate_drift(swaying(0.5).data) is None


def test_trend_and_interval_are_those_of_a_line_through_window_means() -> None:
    """Eight seconds in windows of one: slope and 99 % interval are those of linear regression, on whatever clock."""
    data = swaying(8.0).data
    wrench = np.array(data.wrench)
    wrench[:, 2] += 10.0 * np.random.default_rng(3).standard_normal(len(data))
    noisy = drifting(replace(data, wrench=wrench), 60.0)
    rest = noisy.force[:, 2] - data.mass * (data.acceleration[:, 2] + GRAVITY)
    line = linregress(data.times.reshape(8, -1).mean(axis=1), rest.reshape(8, -1).mean(axis=1))
    seconds = float(np.ptp(data.times))
    for clock in (0.0, 100.0):
        found = estimate_drift(replace(noisy, times=noisy.times + clock))
        assert found.change == pytest.approx(line.slope * seconds)
        assert found.interval == pytest.approx(t.ppf(0.995, 6) * line.stderr * seconds)


def test_zero_forces_of_a_standing_body_are_refused() -> None:
    """Forces of zero while the body stands belong to another trial; while it falls they are valid."""
    data = swaying(2.0).data
    empty = replace(data, wrench=np.zeros_like(data.wrench))
    with pytest.raises(InvalidValue, match=r"'walk'.*no load"):
        require_load(empty, "walk")
    require_load(replace(empty, acceleration=data.acceleration - [0.0, 0.0, GRAVITY]), "thrown")
    require_load(replace(data, wrench=np.full_like(data.wrench, np.nan)), "unmeasured")


def test_permanent_contact_has_no_flights_and_no_warning() -> None:
    """A body that never leaves the ground is estimated as usual."""
    data = swaying(4.0).data
    assert flight_intervals(data) == ()
    assert check_signals(data) == ()
    assert estimate_centroidal(data).flights == ()


def test_without_wrenches_the_estimate_is_kinematic() -> None:
    """Every method returns the kinematics where nothing is measured; the default one notes it."""
    truth = swaying(3.0)
    blind = truth.data.without_wrench(np.ones(len(truth.data), bool))
    for method in METHODS:
        found = estimate_centroidal(blind, method)
        assert np.abs(found.com - truth.com).max() < 5e-3, method
        assert np.isfinite(found.momentum_rate).all()
    assert "no wrench is known" in estimate_centroidal(blind).notes[-1]


def test_gaps_in_the_wrench_are_unknown_intervals() -> None:
    """NaN in one component makes the sample unknown in every method; NaN in the motion is refused by name."""
    truth = swaying()
    wrench = np.array(truth.data.wrench)
    wrench[300:330, 4] = np.nan
    gappy = replace(truth.data, wrench=wrench)
    assert not gappy.known[300:330].any()
    for method in METHODS:
        found = estimate_centroidal(gappy, method)
        assert np.isfinite(found.com).all(), method
        assert np.isfinite(found.momentum_rate).all(), method
    np.testing.assert_allclose(estimate_centroidal(gappy).com, truth.com, atol=1e-3)
    (sentence,) = check_signals(gappy)
    assert "the wrench is unknown for 0.15 s" in sentence
    com = np.array(truth.data.com)
    com[7, 1] = np.nan
    with pytest.raises(InvalidValue, match=r"com has a value that is not finite at index \(7, 1\)"):
        replace(truth.data, com=com)


def test_motion_and_forces_at_different_rates_are_refused() -> None:
    """A wrench with ten times as many samples, or non-uniform times, are refused with a remedy."""
    data = swaying(1.0).data
    with pytest.raises(InvalidValue, match=r"2000 samples, the motion 200.*resample"):
        replace(data, wrench=np.zeros((2000, 6)), measured=None)
    times = np.array(data.times)
    times[100:] += 0.5 / data.rate
    with pytest.raises(InvalidValue, match=r"not uniform.*resample"):
        replace(data, times=times)


@pytest.mark.parametrize("mass", [0.0, -3.0, float("nan")])
def test_an_unknown_mass_is_refused(mass: float) -> None:
    """Forces cannot be used without the mass."""
    with pytest.raises(InvalidValue, match="total mass must be known"):
        replace(swaying(1.0).data, mass=mass)


def test_a_short_flight_is_reported() -> None:
    """Some milliseconds without load are not used as a flight, and are reported; half a second is one."""
    data = jumping().data
    assert len(flight_intervals(data)) == 1
    assert check_signals(data) == ()
    wrench = np.array(data.wrench)
    wrench[20 : 20 + round(0.5 * MIN_FLIGHT * data.rate)] = 0.0
    (sentence,) = check_signals(replace(data, wrench=wrench))
    assert "too short" in sentence
    assert len(flight_intervals(replace(data, wrench=wrench))) == 1
