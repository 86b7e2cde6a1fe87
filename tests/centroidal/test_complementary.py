"""The recursion of bailly2019, Fig. 4, over a recording and live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.centroidal.causal_filter import CausalFilter, LiveSample
from solver.centroidal.complementary import causal_complementary, causal_recursion, complementary, zero_phase_recursion
from solver.centroidal.values import CentroidalData, CentroidalEstimate
from solver.signals import GRAVITY
from tests.centroidal.simulated_bodies import Truth, swaying

BIAS = np.array([0.01, -0.02, 0.015])


def biased(truth: Truth) -> CentroidalData:
    """The kinematic centre of mass with a constant error."""
    return replace(truth.data, com=truth.com + BIAS)


@pytest.mark.parametrize("form", [complementary, causal_complementary])
def test_exact_sources_are_returned(form: object) -> None:
    """If all sources agree, the filters, which sum to one, return them without loss, delay or remainder."""
    truth = swaying()
    found = form(truth.data)  # type: ignore[operator]
    np.testing.assert_allclose(found.com, truth.com, atol=2e-5)
    np.testing.assert_allclose(found.momentum_rate, truth.momentum_rate, atol=0.02)


def test_a_bias_across_the_force_is_found() -> None:
    """An error of the kinematic centre of mass is corrected across the force, where the central axis determines it."""
    truth = swaying()
    found = complementary(biased(truth))
    error = np.abs(found.com - truth.com)[200:-200].mean(axis=0)
    assert error[0] < 0.1 * abs(BIAS[0])
    assert error[1] < 0.1 * abs(BIAS[1])


@pytest.mark.parametrize("form", [complementary, causal_complementary])
@pytest.mark.parametrize("rate", [100.0, 250.0])
def test_position_and_acceleration_corrections_are_consistent(
    form: Callable[[CentroidalData], CentroidalEstimate], rate: float
) -> None:
    """The correction of the acceleration is the second derivative of the correction of the position, at any sample
    rate."""
    truth = swaying(4.0, rate)
    data = replace(truth.data, com=truth.com + BIAS * np.sin(np.pi * truth.data.times)[:, None])
    wrench = data.wrench.copy()
    wrench[:, 3:] = np.nan
    without = form(replace(data, wrench=wrench, measured=None, has_moment=False))
    found = form(data)
    gained = found.com - without.com
    bent = (gained[2:] - 2.0 * gained[1:-1] + gained[:-2]) * rate**2
    assert np.abs(bent).max() > 1e-3  # [m/s^2]
    np.testing.assert_allclose((found.acceleration - without.acceleration)[1:-1], bent, atol=1e-6 * np.abs(bent).max())


def test_the_estimate_is_the_limit_of_the_iteration() -> None:
    """One more iteration changes nothing, and iterations from the kinematic values approach the estimate."""
    data = biased(swaying())
    recursion, _ = zero_phase_recursion(data)
    (found, turning), solved = recursion.solve()
    assert solved
    com, rate = recursion.step(found, turning)
    np.testing.assert_allclose(com, found, atol=1e-7)
    np.testing.assert_allclose(rate, turning, atol=1e-4)
    left = []
    com, rate = data.com.T, data.momentum_rate.T
    for _ in range(3):
        for _ in range(20):
            com, rate = recursion.step(com, rate)
        left.append(np.abs(com - found).max())
    assert left[2] < left[1] < left[0]


def test_the_ends_of_a_recording_do_not_leak() -> None:
    """An error of the kinematic centre of mass that is fast, and ends in its middle, leaves no lasting offset.

    The slowest mode of the recursion, an offset along the mean force, is amplified hundreds of times.
    """
    truth = swaying()
    fast = np.zeros((len(truth.data), 3))
    fast[:, 2] = 0.005 * np.cos(2.0 * np.pi * 0.45 * np.arange(len(fast)))
    found = complementary(replace(truth.data, com=truth.com + fast))
    assert np.abs(found.com - truth.com)[200:-200].mean() < 1e-3


def test_the_closed_form_is_the_limit_of_the_causal_iteration() -> None:
    """Sample by sample, the live form solves the recursion over the whole recording."""
    data = biased(swaying(2.0))
    known = np.ones(len(data), bool)
    known[:7] = known[150:200] = False
    data = data.without_wrench(~known)
    found = causal_complementary(data)
    recursion, _ = causal_recursion(data)
    com, rate = recursion.step(found.com.T, found.momentum_rate.T)
    np.testing.assert_allclose(com, found.com.T, atol=1e-9)
    np.testing.assert_allclose(rate, found.momentum_rate.T, atol=1e-6)
    assert np.abs(com - recursion.com_part).max() > 1e-3


def test_the_start_is_the_kinematic_value() -> None:
    """The causal form starts at the kinematic values without a jump."""
    found = causal_complementary(biased(swaying()))
    data = biased(swaying())
    np.testing.assert_allclose(found.com[0], data.com[0], atol=1e-5)
    np.testing.assert_allclose(found.momentum_rate[0], data.momentum_rate[0], atol=1e-6)
    assert np.abs(np.diff(found.com - data.com, axis=0)).max() < 5e-4


def test_contacts_come_and_go_without_a_jump() -> None:
    """Where the wrench becomes unknown and known again the estimate stays near the truth and does not jump."""
    truth = swaying()
    hidden = np.zeros(len(truth.data), bool)
    hidden[400:480] = hidden[800:801] = True
    found = complementary(truth.data.without_wrench(hidden))
    np.testing.assert_allclose(found.com, truth.com, atol=1e-4)
    np.testing.assert_allclose(found.momentum_rate, truth.momentum_rate, atol=0.1)


def test_flight_has_no_central_axis() -> None:
    """Without force there is no axis and no momentum rate: the estimate stays finite and kinematic."""
    truth = swaying(2.0)
    wrench = np.zeros((len(truth.data), 6))
    found = complementary(replace(truth.data, wrench=wrench))
    assert np.isfinite(found.com).all()
    assert np.abs(found.com - truth.com).max() < 0.2


def test_forces_without_moments_leave_out_the_axis() -> None:
    """For plates without moments the axis term is omitted and the result says so."""
    truth = swaying()
    wrench = truth.data.wrench.copy()
    wrench[:, 3:] = np.nan
    found = complementary(replace(truth.data, wrench=wrench, measured=None, has_moment=False))
    assert "no moment" in found.notes[0]
    np.testing.assert_allclose(found.com, truth.com, atol=2e-5)


def test_a_live_sample_needs_wrench_or_acceleration() -> None:
    """A sample with neither wrench nor acceleration, and a body without mass, are refused."""
    with pytest.raises(InvalidValue, match="needs the acceleration"):
        CausalFilter(60.0, 200.0).step(LiveSample((0.0, 0.0, 0.9), (0.0, 0.0, 0.0)))
    with pytest.raises(InvalidValue, match="mass"):
        CausalFilter(float("nan"), 200.0)


def test_uneven_samples_and_unknown_mass_are_refused() -> None:
    """The filters need uniform times and a mass; the errors say what to do."""
    data = swaying(1.0).data
    times = np.array(data.times)
    times[100:] += 0.1
    with pytest.raises(InvalidValue, match="same times"):
        replace(data, times=times)
    with pytest.raises(InvalidValue, match="total mass"):
        replace(data, mass=float("nan"))


def test_quiet_standing_determines_no_height() -> None:
    """Without horizontal forces the height stays that of the kinematics, and noise does not drive it away."""
    generator = np.random.default_rng(0)
    count, mass = 2000, 60.0
    com = np.tile([0.0, 0.0, 0.9], (count, 1))
    wrench = np.zeros((count, 6))
    wrench[:, 2] = mass * GRAVITY
    wrench[:, :3] += generator.standard_normal((count, 3))
    wrench[:, 3:] = np.cross(com, wrench[:, :3])
    wrench[:, 3:] += generator.standard_normal((count, 3))
    still = np.zeros((count, 3))
    found = complementary(CentroidalData(np.arange(count) / 100.0, mass, com + BIAS, still, still, still, wrench))
    assert found.notes == ()
    error = np.abs(found.com - com)[200:-200].mean(axis=0)
    assert (error[:2] < 0.003).all()
    assert error[2] < 1.5 * abs(BIAS[2])
