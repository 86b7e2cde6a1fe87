"""Derivatives of what acts instant by instant: whole batches of frames with one coordinate or rate of it shifted.

A limit or a criterion of a spline is at each instant a function of (y, y', y'') there. Its derivative by control values
is the one by these three, a difference of batches, times the spline's basis at the instant, which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STEPS = np.array([1e-6, 1e-5, 1e-4])
"""Differences of coordinates, velocities and accelerations."""


def shift_coordinates(rates: np.ndarray, shifts: Sequence[tuple[int, int]]) -> np.ndarray:
    """Rates (3, N, D) once for each place (order of the rate, column of y), shifted there by its step: (3, P, N, D)."""
    result = np.tile(np.asarray(rates)[:, None], (1, len(shifts), 1, 1))
    for number, (order, column) in enumerate(shifts):
        result[order, number, :, column] += STEPS[order]
    return result
