"""Clicks on the counts of a video."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io import wavfile

from solver.scene.dance_counts import write_clicks


def test_each_new_count_has_a_click(tmp_path: Path) -> None:
    """A click begins where another count is shown, not where it stays or ends: half the loudest sine of 1,000 Hz, the
    first of a phrase of 1,500 Hz, that fades by e every hundredth of a second."""
    counts = np.repeat([0, 8, 1, 0, 2], [5, 10, 10, 5, 10])
    rate, sound = wavfile.read(write_clicks(tmp_path / "clicks.wav", counts, 21.0))
    frames = sound.reshape(len(counts), rate // 21)
    assert rate == 22050
    assert list(np.flatnonzero(np.abs(frames).max(axis=1) > 0.3 * np.abs(sound).max())) == [5, 15, 30]
    times = np.arange(rate // 21) / rate
    for frame, pitch in ((5, 1000.0), (15, 1500.0), (30, 1000.0)):
        wanted = 0.5 * 32767.0 * np.exp(-times / 0.01) * np.sin(2.0 * np.pi * pitch * times)
        np.testing.assert_allclose(frames[frame], wanted, atol=1.0)
    assert not frames[:5].any()
