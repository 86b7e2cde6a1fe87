"""Overlapping chunks of a trial: intermediate arrays of all links need not be stored for the whole trial at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..signals import rate_of_grid
from ..signals.filters import padding
from ..trial import Trial

CHUNK_FRAMES = 8192
"""Core frames of a chunk, without the overlap; a shorter trial is one chunk."""


@dataclass(frozen=True, slots=True)
class TrialChunk:
    """Consecutive frames of a trial, with as many neighbouring frames as the filters need.

    Attributes:
        trial: core and neighbouring frames.
        frames: slice of the core frames in the whole trial.
        core: slice of the core frames in ``trial``.
    """

    trial: Trial
    frames: slice
    core: slice


def split_trial(trial: Trial, cutoffs: Iterable[float] = ()) -> Iterator[TrialChunk]:
    """Chunks of a trial, in order. Filtered core frames equal those of the whole filtered trial within 1e-8 of their
    size.

    Args:
        trial: to split.
        cutoffs: [Hz] of the low-passes that follow the trial's own; an infinite one is none.
    """
    count = len(trial.motion)
    if count <= CHUNK_FRAMES:
        yield TrialChunk(trial, slice(0, count), slice(0, count))
        return
    reach = _filter_reach(trial, cutoffs)
    for start in range(0, count, CHUNK_FRAMES):
        stop = min(start + CHUNK_FRAMES, count)
        first, last = max(start - reach, 0), min(stop + reach, count)
        yield TrialChunk(trial.part(first, last), slice(start, stop), slice(start - first, stop - first))


def _filter_reach(trial: Trial, cutoffs: Iterable[float]) -> int:
    """Number of frames to either side on which a filtered frame depends."""
    if trial.preset is None:
        return 0
    rate = rate_of_grid(trial.motion.times)
    lowest = min(cutoffs, default=np.inf)
    further = padding(replace(trial.preset, cutoff=lowest), rate) if np.isfinite(lowest) else 0
    return padding(trial.preset, rate) + further
