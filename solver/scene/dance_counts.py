"""Counts of a dance: a phrase has eight beats, after a pick-up of five, six, seven, eight."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..options.dances import PHRASE

PICK_UP_COUNTS = 4
"""Beats before the first phrase: five, six, seven, eight. By definition of a pick-up in dance."""
BEAT_TOLERANCE = 1e-6
"""Fraction of a beat by which a time before it counts as on it."""
SOUND_RATE, PITCHES, DECAY = 22050, (1000.0, 1500.0), 0.01
"""[1/s, 1/s, s] Sampling rate of clicks; pitch of one, and of the first of a phrase; time in which they fade."""


def counts_at(times: np.ndarray, bpm: float) -> np.ndarray:
    """(N,) Count within the phrase, 1 to 8, at times [s] from the start of a dance."""
    return (np.floor(np.asarray(times) * bpm / 60.0 + BEAT_TOLERANCE).astype(int) - PICK_UP_COUNTS) % PHRASE + 1


def list_counts(duration: float, count: float) -> tuple[tuple[float, int], ...]:
    """Time [s] and number of every count of a dance; none if ``count`` [s], the duration of one, is zero."""
    times = np.arange(0.0, duration, count) if count else np.zeros(0)
    return tuple(zip(times.tolist(), ((np.arange(len(times)) - PICK_UP_COUNTS) % PHRASE + 1).tolist()))


def write_clicks(path: Path, counts: np.ndarray, rate: float) -> Path:
    """Write a sound file (.wav) with a click at each frame from which another count is shown; returns its path.

    Args:
        path: of the file.
        counts: (F,) count of each frame of a video, 0 for none.
        rate: [1/s] frames a second.
    """
    from scipy.io import wavfile  # rarely needed

    begins = np.flatnonzero((np.diff(counts, prepend=0) != 0) & (counts > 0))
    times = np.arange(round(len(counts) / rate * SOUND_RATE)) / SOUND_RATE
    last = np.searchsorted(begins / rate, times, side="right") - 1  # -1: before the first click
    since = np.where(last < 0, np.inf, times - (begins / rate)[last])
    pitch = np.where(counts[begins] == 1, *PITCHES[::-1])[last]
    sound = np.exp(-since / DECAY) * np.sin(2.0 * np.pi * pitch * np.where(last < 0, 0.0, since))
    wavfile.write(path, SOUND_RATE, (0.5 * np.iinfo(np.int16).max * sound).astype(np.int16))
    return path
