"""Flight phases: intervals in which nothing touches the body."""

from __future__ import annotations

import numpy as np

from ..signals import GRAVITY, find_flights, true_runs
from .settings import FLIGHT
from .values import CentroidalData

MIN_FLIGHT = 0.05
"""[s] least duration of a flight."""


def is_unloaded(data: CentroidalData) -> np.ndarray:
    """(N,) True where the measured force is almost zero, and where nothing is measured."""
    return np.asarray(np.linalg.norm(data.force, axis=1) < FLIGHT * data.mass * GRAVITY)


def flight_intervals(data: CentroidalData, *, by_motion: bool = True) -> tuple[tuple[int, int], ...]:
    """First frame and one past the last of each flight.

    Args:
        data: signals.
        by_motion: whether the fall of the kinematic centre of mass indicates flight where contacts are not measured.
    """
    falling = find_flights(data.times, data.acceleration[:, 2]) & by_motion
    spans = true_runs(np.where(data.known, is_unloaded(data), falling))
    return tuple((start, stop) for start, stop in spans if stop - start >= MIN_FLIGHT * data.rate)
