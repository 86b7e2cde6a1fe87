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
    assert len(sound) == 40 * rate / 21
    loud = np.abs(sound) > 0.3 * np.abs(sound).max()
    parts = loud.reshape(40, -1).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(parts), [5, 15, 30])
    pitches = [np.argmax(np.abs(np.fft.rfft(part))) for part in sound.reshape(40, -1)[parts]]
    assert pitches[1] > 1.3 * pitches[0]
    assert pitches[2] == pitches[0]
