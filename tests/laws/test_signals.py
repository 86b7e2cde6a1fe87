"""Laws of signals: splines keep what they can draw, clocks come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from solver.formats.text_files import check_times, undo_rounding
from solver.signals.resampling import resample
from solver.values.filter_presets import FilterPreset
from solver.values.wrenches import Wrenches
from tests.laws.strategies import arrays, reals


@given(arrays((2, 6), 100.0), reals(150.0, 20.0), st.integers(3, 60))
def test_resampling_keeps_lines_and_constants(line: np.ndarray, rate: float, count: int) -> None:
    """A force that changes evenly does so at any other rate, and without a filter nothing else is added."""
    times = np.arange(200) / 200.0
    values = (line[0] + times[:, None] * line[1])[:, None]
    new = np.linspace(0.1, 0.9, count)
    result = resample(Wrenches(times, ("plate",), values), new, FilterPreset("none", 2, 0.4 * min(rate, count)))
    inside = slice(count // 4, count - count // 4)
    expected = line[0] + new[:, None] * line[1]
    np.testing.assert_allclose(result.values[inside, 0], expected[inside], atol=1e-3 * (1.0 + np.abs(line[1]).max()))


@given(
    st.sampled_from([50.0, 100.0, 120.0, 200.0, 250.0, 300.0, 1000.0]),
    st.integers(3, 400),
    reals(60.0, 0.0),
    st.integers(3, 6),
)
def test_rounded_clocks_come_back(rate: float, count: int, start: float, digits: int) -> None:
    """Time stamps rounded when written lie on the regular clock again, nearer to it than the rounding."""
    step = 10.0**-digits
    true = np.round(start, digits) + np.arange(count) / rate
    rounded = np.array([float(f"{t:.{digits}f}") for t in true])
    assume(rounded[-1] > rounded[0])
    back = undo_rounding(rounded, digits, rate)
    check_times(back, np.arange(count), Path("law.trc"))
    assert np.abs(back - true).max() <= 1.1 * step
    np.testing.assert_allclose(np.diff(back), 1.0 / rate, rtol=1e-9)
