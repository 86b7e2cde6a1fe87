"""Selects the frames of a recording for a calibration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..file_arrays import FileRows, iterate_slices
from ..motion import Markers

STATIC_SPEED = 0.05
"""[m/s] In a static trial most markers move slower than this half of the time."""
SPEED_PERCENTILE = 90.0
"""[%] Percentile of the markers' speeds that is compared: a dance on both feet keeps many markers still, but not so
many."""
STATIC_WINDOW = 0.25
"""[s] Positions are averaged over this time before their speed is computed, because camera noise alone is faster."""
STATIC_STD = 0.004
"""[m] Standard deviation of a marker about its location while standing, for all static frames together."""
STATIC_FRAME_COUNT = 3
MOVING_STD = 0.007
"""[m] Standard deviation of a marker about its location in each frame of one moving recording, caused by skin motion.
It follows the joints and repeats itself, so many moving recordings together count as two."""
MOVING_FRAME_COUNT = 24
"""Frames selected from each moving recording."""
FRAMES_AT_ONCE = 2**14
MIN_SEEN_FRACTION = 0.6
"""A selected frame shows at least this fraction of the most markers seen at once."""


def is_static(markers: Markers) -> bool:
    """True for a static trial: the median speed of nearly all markers is that of a standing person."""
    if len(markers) < 2:
        return True
    frames = min(max(round(STATIC_WINDOW * markers.rate), 1), len(markers) // 2)
    parts = len(markers) // frames
    places = np.empty((parts, len(markers.names), 3))
    for own in iterate_slices(parts, FRAMES_AT_ONCE // frames + 1):
        part = markers.positions[own.start * frames : own.stop * frames]
        part = part.reshape(own.stop - own.start, frames, len(markers.names), 3)
        seen = np.isfinite(part[..., 0]).sum(axis=1)
        places[own] = np.nansum(part, axis=1) / np.where(seen > 0, seen, np.nan)[..., None]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=2)
    usual = np.nanmedian(steps[:, np.isfinite(steps).any(axis=0)], axis=0)
    return len(usual) > 0 and float(np.percentile(usual, SPEED_PERCENTILE)) * markers.rate / frames < STATIC_SPEED


def select_markers(markers: Markers, names: Sequence[str]) -> np.ndarray:
    """(N, M, 3) positions in the order of ``names``; NaN where the recording lacks a marker."""
    there = [column for column, name in enumerate(names) if name in markers.names]
    taken, result = [markers.index(names[column]) for column in there], FileRows()
    for own in iterate_slices(len(markers)):
        rows = np.full((own.stop - own.start, len(names), 3), np.nan)
        rows[:, there] = markers.positions[own][:, taken]
        result.add(rows)
    return result.finish()


def select_static_frames(table: np.ndarray, recordings: int) -> tuple[list[np.ndarray], float]:
    """Medians over parts of a static trial (N, M, 3), and the standard deviation [m] of each among so many static
    recordings.

    Empty for a recording without any of the markers, such as one with another marker set.
    """
    frames = [_median(part) for part in np.array_split(table, STATIC_FRAME_COUNT) if len(part)]
    return [frame for frame in frames if np.isfinite(frame).any()], STATIC_STD * float(
        np.sqrt(STATIC_FRAME_COUNT * recordings)
    )


def select_moving_frames(table: np.ndarray, recordings: int) -> tuple[list[np.ndarray], float]:
    """Frames with most markers seen, spread evenly over a recording (N, M, 3), and the standard deviation [m] of each.

    Empty for a recording without any of the markers.
    """
    seen = np.isfinite(table[:, :, 0]).sum(axis=1)
    usable = np.flatnonzero((seen > 0) & (seen >= MIN_SEEN_FRACTION * seen.max(initial=0)))
    chosen = usable[np.linspace(0, len(usable) - 1, min(MOVING_FRAME_COUNT, len(usable))).astype(int)]
    return [table[k] for k in chosen], MOVING_STD * float(np.sqrt(max(recordings, 2)))


def _median(part: np.ndarray) -> np.ndarray:
    seen = np.isfinite(part[:, :, 0]).any(axis=0)
    result = np.full(part.shape[1:], np.nan)
    result[seen] = np.nanmedian(part[:, seen], axis=0)
    return result
