"""Zero-phase low-pass of values that arrive in pieces, with memory independent of their length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..filter_presets import FilterPreset
from .filters import design_sections, extend, filter_both_ways, padding

PIECE = 512
"""Least number of samples in a filtered piece."""


def low_pass_pieces(pieces: Iterable[np.ndarray], rate: float, preset: FilterPreset) -> Iterator[np.ndarray]:
    """The result of `low_pass` on the concatenated pieces, to 1e-8 of their size.

    Each sample is filtered with as many neighbours as `low_pass` uses for padding: the influence of others has decayed.
    All columns pass exactly the same operator, so equations between them still hold.

    Args:
        pieces: (C, n) consecutive samples of C finite signals, time last, any n.
        rate: samples per second.
        preset: order and cut-off.

    Yields:
        (C, m) filtered, in order, in pieces of other lengths than the input.

    Raises:
        InvalidValue: the cut-off is not below half the rate.
    """
    sections, pad = design_sections(preset, rate), padding(preset, rate)
    step = max(PIECE, 2 * pad)
    waiting: list[np.ndarray] = []
    length, done, first = 0, 0, True  # samples in memory, and how many of them are already returned
    for piece in pieces:
        waiting.append(piece)
        length += piece.shape[1]
        if length < done + step + pad:
            continue
        held = np.concatenate(waiting, axis=1)
        while length >= done + step + pad:
            yield _filter_piece(sections, held[:, : done + step + pad], pad * first, 0)[:, done : done + step]
            kept = max(done + step - pad, 0)
            held, length, done, first = held[:, kept:], length - kept, done + step - kept, False
        waiting = [held]
    if length > done:
        yield _filter_piece(sections, np.concatenate(waiting, axis=1), pad * first, pad)[:, done:]


def _filter_piece(sections: np.ndarray, values: np.ndarray, before: int, after: int) -> np.ndarray:
    """Filtered (C, n), with ``before`` and ``after`` samples of padding at the ends."""
    longer, start = extend(values.T, before, after)
    return filter_both_ways(sections, np.ascontiguousarray(longer.T))[:, start : start + values.shape[1]]
