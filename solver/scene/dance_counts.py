"""Counts of a dance: a phrase has eight beats, after a pick-up of five, six, seven, eight."""

from __future__ import annotations

import numpy as np

from ..options.dances import PHRASE

PICK_UP_COUNTS = 4
"""Beats before the first phrase: five, six, seven, eight."""
BEAT_TOLERANCE = 1e-6
"""Fraction of a beat by which a time before it counts as on it."""


def counts_at(times: np.ndarray, bpm: float) -> np.ndarray:
    """(N,) Count within the phrase, 1 to 8, at times [s] from the start of a dance."""
    return (np.floor(np.asarray(times) * bpm / 60.0 + BEAT_TOLERANCE).astype(int) - PICK_UP_COUNTS) % PHRASE + 1
