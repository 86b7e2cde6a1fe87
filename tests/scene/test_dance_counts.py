"""Clicks on the counts of a video."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io import wavfile

from solver.scene.dance_counts import write_clicks


def test_each_new_count_has_a_click(tmp_path: Path) -> None:
    """A click begins where another count is shown, not where it stays or ends; the first of a phrase is higher."""
    counts = np.repeat([0, 8, 1, 0, 2], [5, 10, 10, 5, 10])
    rate, sound = wavfile.read(write_clicks(tmp_path / "clicks.wav", counts, 21.0))
    frames = sound.reshape(len(counts), rate // 21)
    assert list(np.flatnonzero(np.abs(frames).max(axis=1) > 0.3 * np.abs(sound).max())) == [5, 15, 30]
    usual, first, other = np.abs(np.fft.rfft(frames[[5, 15, 30]], axis=1)).argmax(axis=1)
    assert first > 1.3 * usual == 1.3 * other
