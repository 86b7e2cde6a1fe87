"""A trial in overlapping parts, so that what is made of every frame of every link need not be held for all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..signals import rate_of_grid
from ..signals.filters import padding
from ..trial import Trial

CHUNK_FRAMES = 8192
"""Frames of a part, those apart that it shares with its neighbours; what has no more is one part."""


@dataclass(frozen=True, slots=True)
class TrialChunk:
    """A row of a trial's frames, with as many of its neighbours' as filters reach.

    Attributes:
        trial: the frames, neighbours' too.
        frames: of the part's own frames in the whole trial.
        core: of the same in ``trial``.
    """

    trial: Trial
    frames: slice
    core: slice


def split_trial(trial: Trial, cutoffs: Iterable[float] = ()) -> Iterator[TrialChunk]:
    """The parts of a trial, in order: a filter of their frames gives what it gives of all, to 1e-8 of their size.

    Args:
        trial: to cut.
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
    """Frames to either side on which a filtered frame depends."""
    if trial.preset is None:
        return 0
    rate = rate_of_grid(trial.motion.times)
    lowest = min(cutoffs, default=np.inf)
    further = padding(replace(trial.preset, cutoff=lowest), rate) if np.isfinite(lowest) else 0
    return padding(trial.preset, rate) + further
