"""Laws of the low-pass filter and of gaps."""

from __future__ import annotations

import sys
from types import FrameType

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownPreset
from solver.signals import PRESETS, FilterPreset, bridge, low_pass, preset_of, settling_time, unbridged

HUMAN = PRESETS["jovic_human"]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda p: p.name)
def test_a_straight_line_passes_unchanged(preset: FilterPreset) -> None:
    """Constants and straight lines pass any filter unchanged, up to the ends."""
    line = np.linspace(-2.0, 5.0, 300)[:, None] * [1.0, -3.0] + [7.0, 0.5]
    assert np.allclose(low_pass(line, 100.0, preset), line, atol=1e-9)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("order", [2, 3, 5])
def test_the_amplitude_at_a_frequency_is_butterworths_squared(order: int, corrected: bool) -> None:
    """Two passes have the gain 1 / (1 + r^(2n)), r the warped frequency ratio; 'corrected' has -3 dB at the cut-off."""
    rate, cutoff = 200.0, 6.0
    preset = FilterPreset("test", order, cutoff, corrected=corrected)
    t = np.arange(4000) / rate
    for frequency in (2.0, 6.0, 11.0):
        passed = low_pass(np.sin(2 * np.pi * frequency * t), rate, preset)[1500:2500]
        ratio = np.tan(np.pi * frequency / rate) / np.tan(np.pi * preset.design_cutoff / rate)
        wanted = 1.0 / (1.0 + ratio ** (2 * order)) * np.sin(2 * np.pi * frequency * t[1500:2500])
        assert np.allclose(passed, wanted, atol=1e-6)
        if frequency == cutoff:
            assert np.abs(passed).max() == pytest.approx(np.sqrt(0.5) if corrected else 0.5, abs=0.01)


def test_filtering_is_linear_and_acts_on_each_column_alone() -> None:
    """F(a x + b y) = a F(x) + b F(y), for any trailing shape."""
    x, y = np.random.default_rng(1).standard_normal((2, 250, 2, 6))
    together = low_pass(2.0 * x - 3.0 * y, 100.0, HUMAN)
    assert np.allclose(together, 2.0 * low_pass(x, 100.0, HUMAN) - 3.0 * low_pass(y, 100.0, HUMAN), atol=1e-10)
    assert np.allclose(together[:, 1, 4], low_pass((2.0 * x - 3.0 * y)[:, 1, 4], 100.0, HUMAN), atol=1e-12)


def test_a_cutoff_above_nyquist_is_refused() -> None:
    """A cut-off of 20 Hz for data at 40 samples per second is an error."""
    with pytest.raises(InvalidValue, match="half the sample rate"):
        low_pass(np.zeros(100), 40.0, PRESETS["jovic_hrp2"])


def test_an_unknown_preset_names_the_known_ones() -> None:
    """The error of an unknown name lists the known names."""
    with pytest.raises(UnknownPreset, match="jovic_human"):
        preset_of("jovic_humn")


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda p: p.name)
def test_beyond_the_settling_time_a_step_is_over(preset: FilterPreset) -> None:
    """Outside the settling time a step is within 2 % of its ends, and just inside it is not."""
    rate = 2000.0
    t = (np.arange(4000) - 2000) / rate
    passed = low_pass((t >= 0).astype(float), rate, preset)
    error = np.abs(passed - (t >= 0))
    far = settling_time(preset)
    assert error[np.abs(t) > far + 2 / rate].max() <= 0.0201
    assert error[np.abs(np.abs(t) - far) < 0.005].max() > 0.015


def test_short_gaps_are_bridged_and_long_ones_excluded() -> None:
    """A gap of 5 samples is bridged to spline accuracy; one of 30 stays a gap and does not affect its neighbours."""
    t = np.arange(300) / 100.0
    curve = np.sin(2 * np.pi * 0.7 * t)
    holed = curve.copy()
    holed[50:55] = np.nan
    holed[150:180] = np.nan
    bridged = bridge(holed, 100.0, 0.1)
    assert np.abs(bridged[50:55] - curve[50:55]).max() < 1e-4
    assert np.isnan(bridged[150:180]).all()
    assert np.isfinite(np.delete(bridged, np.arange(150, 180))).all()
    filtered = low_pass(holed, 100.0, HUMAN, 0.1)
    assert np.isnan(filtered[150:180]).all()
    assert np.allclose(filtered[180:], low_pass(curve[180:], 100.0, HUMAN))


def test_gaps_at_the_ends_are_never_invented() -> None:
    """A gap at an end stays, however short it is."""
    values = np.ones((20, 2))
    values[:2, 0] = np.nan
    values[-1, 1] = np.nan
    assert np.isnan(bridge(values, 100.0, 1.0)[:2, 0]).all()
    missing = np.zeros(20, bool)
    missing[[0, 1, 8, 19]] = True
    assert np.flatnonzero(unbridged(missing, 100.0, 0.05)).tolist() == [0, 1, 19]


def test_columns_with_the_same_gaps_are_bridged_together_and_each_by_its_own_values() -> None:
    """Every column is bridged as it is alone, and columns with the same gaps share one search for gaps."""
    rng = np.random.default_rng(5)
    values = np.cumsum(rng.standard_normal((200, 4, 3)), axis=0)
    values[40:44, 0] = values[90:95, 1:3] = values[120:160, 2] = values[:3, 3] = np.nan
    alone = np.stack([bridge(column, 100.0) for column in values.reshape(200, -1).T], axis=1)
    assert np.allclose(bridge(values, 100.0).reshape(200, -1), alone, rtol=0.0, atol=1e-9, equal_nan=True)
    assert np.isfinite(bridge(values, 100.0)[40:44, 0]).all()
    assert _calls(np.tile(values, (1, 1, 10))) == _calls(values)


def _calls(values: np.ndarray) -> int:
    """Number of calls of `unbridged` while values (N, ...) are bridged."""
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is unbridged.__code__

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        bridge(values, 100.0)
    finally:
        sys.setprofile(before)
    return count
