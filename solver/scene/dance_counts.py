"""How a dance is counted: eight to a phrase, after a pick-up of five, six, seven, eight."""

from __future__ import annotations

import numpy as np

PHRASE = 8
"""Counts of a phrase."""
PICK_UP_COUNTS = 4
"""Counts before the first phrase: five, six, seven, eight."""
SLOWEST_BEAT, FASTEST_BEAT = 20.0, 400.0
"""Beats a minute that are taken for a tempo."""
BEAT_TOLERANCE = 1e-6
"""Of a beat: so much before it counts as on it."""


def is_tempo(bpm: float) -> bool:
    """Whether a number can be beats a minute."""
    return SLOWEST_BEAT <= bpm <= FASTEST_BEAT


def counts_at(times: np.ndarray, bpm: float) -> np.ndarray:
    """(N,) count of the phrase, 1 to 8, at moments [s] from the start of a dance."""
    beats = np.floor(np.asarray(times) * bpm / 60.0 + BEAT_TOLERANCE).astype(int)
    return (beats - PICK_UP_COUNTS) % PHRASE + 1
