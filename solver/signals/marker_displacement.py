"""Displacements of links with derivatives, filtered as the motion that they belong to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..filter_presets import FilterPreset
from ..motion import LinkDisplacements
from .filters import extend, filter_padded, padding
from .manifold import LEAST_PAD, fit_spline
from .resample import rate_of_grid


def smooth_displacements(
    times: np.ndarray, values: np.ndarray, preset: FilterPreset, grid: np.ndarray, known: np.ndarray
) -> LinkDisplacements:
    """Filtered displacements with their derivatives, computed as in `smooth_motion`.

    Args:
        times: (N,) [s].
        values: (N, L, 3) [m].
        preset: low-pass.
        grid: (G,) [s] times of the motion, evenly spaced.
        known: (N,) False where the configuration is not measured: displacements are interpolated linearly there.
    """
    columns = values.reshape(len(times), -1)
    even = np.array([np.interp(grid, times[known], column[known]) for column in columns.T]).T
    rate = rate_of_grid(grid)
    pad = max(LEAST_PAD, padding(preset, rate))
    longer, before = extend(even, pad, pad)
    local = np.arange(len(longer)) / rate
    spline = fit_spline(local, filter_padded(longer, rate, preset))
    inside = local[before : before + len(grid)]
    return LinkDisplacements(*(spline(inside, order).reshape(len(grid), -1, 3) for order in range(3)))


@dataclass(frozen=True, slots=True)
class MarkerDisplacements:
    """Mean displacement of each link's markers from the model, filtered and differentiated on request.

    Attributes:
        times: (N,) [s].
        sums: (N, L, 3) [m] sum of measured minus modelled positions of a link's markers, world axes.
        weights: (N, L) number of markers in the sum.
        known: (N,) False where the configuration is not measured.
        grid: (G,) [s] times of the motion, evenly spaced.
        preset: low-pass.
    """

    times: np.ndarray
    sums: np.ndarray
    weights: np.ndarray
    known: np.ndarray
    grid: np.ndarray
    preset: FilterPreset

    def __call__(self, frames: slice) -> LinkDisplacements:
        """Displacements of the links if each followed its own markers only, in consecutive frames of the motion.

        Only these frames and their neighbours within the filter's reach are computed.
        """
        start, stop, _ = frames.indices(len(self.grid))
        reach = max(LEAST_PAD, padding(self.preset, rate_of_grid(self.grid)))
        first, last = max(start - reach, 0), min(stop + reach, len(self.grid))
        near = self._between(self.grid[first], self.grid[last - 1])
        means = self.sums[near] / np.maximum(self.weights[near], 1.0)[:, :, None]
        found = smooth_displacements(self.times[near], means, self.preset, self.grid[first:last], self.known[near])
        return found.frames(slice(start - first, stop - first))

    def _between(self, start: float, stop: float) -> slice:
        """Samples from the last one known at ``start`` to the first one known at ``stop``."""
        known = np.flatnonzero(self.known)
        first = max(int(np.searchsorted(self.times[known], start, side="right")) - 1, 0)
        last = min(int(np.searchsorted(self.times[known], stop)), len(known) - 1)
        return slice(int(known[first]), int(known[last]) + 1)
