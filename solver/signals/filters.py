"""Zero-phase low-pass Butterworth filters; order and cut-off are named presets from the papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.signal import butter, sosfilt, sosfilt_zi

from ..base.arrays import true_runs
from ..base.errors import InvalidValue
from ..values.filter_presets import FilterPreset
from .gaps import LONGEST_GAP, bridge, columns_by_mask

SETTLED = 0.02
"""Fraction of a step within which the step response has settled. By definition of the settling time in control
engineering."""
_PAD_PERIODS = 6.0
"""Padding at each end, in periods of the cut-off: the transient at the start has decayed to 1e-8 by then. Derived: the
slowest pole of a filter of third order has decayed to e^(-6 pi) = 7e-9."""

CHUNK_CHANNELS = 8
"""Signals filtered at once. Transposing thousands of columns costs more than filtering them unless they fit the cache:
Measured on tables of thousands of columns: 8 to 64 took the same time, all at once two to seven times as long; 8 need
the least memory."""
PIECE = 512
"""Least number of samples in a filtered piece of values that arrive in pieces."""


def require_rate(preset: FilterPreset, rate: float) -> None:
    """Check that the sample rate is high enough for a filter.

    Raises:
        InvalidValue: the cut-off is not below half the sample rate [1/s].
    """
    if not preset.design_cutoff < 0.5 * rate:
        raise InvalidValue(
            f"filter {preset.name!r} cuts off at {preset.design_cutoff:g} Hz, which is not below half the sample rate "
            f"({0.5 * rate:g} Hz); choose a lower cut-off or data at a higher rate"
        )


COORDINATE_CUTOFF = 2.5
"""Cut-off for coordinates, as a multiple of the preset that filters their equations afterwards."""
MAX_CUTOFF = 0.4
"""Highest cut-off for coordinates that are differentiated, as a fraction of the frame rate."""


def light_preset(preset: FilterPreset, rate: float, multiple: float = COORDINATE_CUTOFF) -> FilterPreset:
    """The filter of coordinates, and of their wrenches, whose equations then pass ``preset``.

    Args:
        preset: of the equations.
        rate: frames per second.
        multiple: of the preset's cut-off.
    """
    cutoff = max(min(multiple * preset.cutoff, MAX_CUTOFF * rate), preset.cutoff)
    return replace(preset, name=f"{preset.name}, coordinates", cutoff=cutoff)


def low_pass(values: np.ndarray, rate: float, preset: FilterPreset, longest_gap: float = LONGEST_GAP) -> np.ndarray:
    """Zero-phase low-pass along the first axis.

    Gaps (NaN) up to ``longest_gap`` [s] are bridged by a spline; longer ones stay NaN, and each segment between them
    is filtered separately.

    Args:
        values: (N, ...) samples, time first.
        rate: samples per second.
        preset: order and cut-off.
        longest_gap: [s].

    Returns:
        (N, ...) filtered.

    Raises:
        InvalidValue: the cut-off is not below half the sample rate.
    """
    sections = design_sections(preset, rate)
    values = bridge(values, rate, longest_gap)
    columns = values.reshape(len(values), -1)
    known = np.isfinite(columns)
    pad = padding(preset, rate)
    for pattern, of_pattern in columns_by_mask(known):
        for (start, stop), first in product(true_runs(pattern), range(0, len(of_pattern), CHUNK_CHANNELS)):
            some = of_pattern[first : first + CHUNK_CHANNELS]
            part = columns[start:stop, some]
            longer, before = extend(part, pad, pad)
            columns[start:stop, some] = filter_both_ways(sections, longer.T).T[before : before + len(part)]
    return columns.reshape(values.shape)


def padding(preset: FilterPreset, rate: float) -> int:
    """Number of padding samples in which the filter settles before the data begin."""
    return int(np.ceil(_PAD_PERIODS * rate / preset.cutoff))


def filter_padded(padded: np.ndarray, rate: float, preset: FilterPreset) -> np.ndarray:
    """Zero-phase filter of finite values (N, C) that are already padded."""
    return filter_both_ways(design_sections(preset, rate), padded.T).T


def settling_time(preset: FilterPreset) -> float:
    """Time [s] on either side of a step after which the two-pass response stays within `SETTLED` of it.

    An error that begins at some frame affects frames up to this distance, so these do not count.
    """
    return _settling_time(preset.order, preset.design_cutoff)


@lru_cache(maxsize=32)
def _settling_time(order: int, cutoff: float) -> float:
    rate = 200.0 * cutoff
    sections = butter(order, cutoff, fs=rate, output="sos")
    half = 1000  # samples: five periods of the cut-off
    response = filter_both_ways(sections, np.repeat([0.0, 1.0], half)[None])[0, half:]
    unsettled = np.flatnonzero(np.abs(response - 1.0) > SETTLED)
    return float((unsettled[-1] + 1) / rate)


def design_sections(preset: FilterPreset, rate: float) -> np.ndarray:
    """Second-order sections of one pass.

    Raises:
        InvalidValue: the cut-off is not below half the sample rate.
    """
    require_rate(preset, rate)
    return _designed(preset.order, preset.design_cutoff, rate).copy()  # SciPy filters with writable sections only


@lru_cache(maxsize=64)
def _designed(order: int, cutoff: float, rate: float) -> np.ndarray:
    return butter(order, cutoff, fs=rate, output="sos")


@lru_cache(maxsize=64)
def _settled(sections: bytes, count: int) -> np.ndarray:
    """State (count, 2) of the sections in the steady state of a unit step."""
    return np.asarray(sosfilt_zi(np.frombuffer(sections).reshape(count, -1)))


def filter_both_ways(sections: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Filter signals (C, n), time last, with the sections forwards and backwards."""
    start = _settled(sections.tobytes(), len(sections))[:, None]
    forward, _ = sosfilt(sections, values, zi=start * values[:, :1])
    backward, _ = sosfilt(sections, forward[:, ::-1], zi=start * forward[:, -1:])
    return backward[:, ::-1]


def extend(values: np.ndarray, before: int, after: int) -> tuple[np.ndarray, int]:
    """Values (n, C), time first, padded with odd reflections at both ends, and the number of samples put before them.

    The reflection is repeated if the values are shorter than the padding; a single value is not padded.
    """
    put = 0
    while (put < before or after > 0) and len(values) > 1:
        count = min(before - put, len(values) - 1)
        behind = min(after, len(values) - 1)
        head, tail = 2.0 * values[:1] - values[count:0:-1], 2.0 * values[-1:] - values[-2 : -behind - 2 : -1]
        values = np.concatenate([head, values, tail])
        put, after = put + count, after - behind
    return values, put


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
