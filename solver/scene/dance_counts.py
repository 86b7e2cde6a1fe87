"""Counts of a dance: a phrase has eight beats, after a pick-up of five, six, seven, eight."""

from __future__ import annotations

import numpy as np

PHRASE = 8
"""Beats of a phrase."""
PICK_UP_COUNTS = 4
"""Beats before the first phrase: five, six, seven, eight."""
SLOWEST_BEAT, FASTEST_BEAT = 20.0, 400.0
"""Range of the tempo, in beats a minute."""
BEAT_TOLERANCE = 1e-6
"""Fraction of a beat by which a time before it counts as on it."""


def is_tempo(bpm: float) -> bool:
    """Whether a number is a tempo in beats a minute."""
    return SLOWEST_BEAT <= bpm <= FASTEST_BEAT


def counts_at(times: np.ndarray, bpm: float) -> np.ndarray:
    """(N,) Count within the phrase, 1 to 8, at times [s] from the start of a dance."""
    beats = np.floor(np.asarray(times) * bpm / 60.0 + BEAT_TOLERANCE).astype(int)
    return (beats - PICK_UP_COUNTS) % PHRASE + 1
