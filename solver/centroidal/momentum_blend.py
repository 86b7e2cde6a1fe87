"""Blend of the smoother's and the kinematic momentum rate where no wrench is known.

The smoother uses one process noise for all motions, although moments of a squat and of a landing differ by a factor of
forty: it keeps too much of the kinematic rate in the one and removes too much in the other. Two quantities that are
known without plates indicate how large the moment may be: the size of the kinematic rate around the sample, and the
force that the smoother requires there, because without force there is no moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

from ..signals import GRAVITY
from .values import AXES, CentroidalData

RATE_WINDOW = 0.2
"""[s] around a sample over which the kinematic rate's size is averaged."""
REFERENCE_SIZE, SIZE_FLOOR = 0.3, 0.05
"""[m^2/s^2] momentum rate over mass (of a walk) by which sizes are divided before the logarithm; fraction of it that is
added so that the logarithm is finite."""
HALF_LOAD, FORCE_WINDOW = 0.3, 0.05
"""Force, as a fraction of the body weight, with half of the full effect."""


@dataclass(frozen=True, slots=True)
class MomentumBlend:
    """Share of the smoother's momentum rate where no wrench is known; the rest is the kinematic rate.

    share = flight + load (loaded + size_gain log(size)), by axis and clipped to [0, 1], with the features load and
    size.

    Attributes:
        flight: (3,) share in flight.
        loaded: (3,) added to it under load, at the reference size.
        size_gain: (3,) added under load for every factor e of the size.
    """

    flight: tuple[float, float, float]
    loaded: tuple[float, float, float]
    size_gain: tuple[float, float, float]

    def shares(self, features: np.ndarray) -> np.ndarray:
        """(N, 3) shares from features (N, 3, 3), see `blend_features`."""
        numbers = np.array([self.flight, self.loaded, self.size_gain]).T
        return np.clip(np.einsum("nak,ak->na", features, numbers), 0.0, 1.0)


SMOOTHER_ONLY = MomentumBlend((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
"""The smoother alone."""


def blend_features(data: CentroidalData, acceleration: np.ndarray) -> np.ndarray:
    """(N, 3, 3) by axis: one, the load, and the load times the logarithm of the kinematic rate's size.

    Args:
        data: signals.
        acceleration: (N, 3) [m/s^2] of the centre of mass as estimated.
    """
    square = _mean((data.momentum_rate / (data.mass * REFERENCE_SIZE)) ** 2, RATE_WINDOW * data.rate)
    size = np.log(np.sqrt(square) + SIZE_FLOOR)
    force = _mean(acceleration / GRAVITY + np.array([0.0, 0.0, 1.0]), FORCE_WINDOW * data.rate)
    load = np.sum(force**2, axis=1, keepdims=True)
    load = np.broadcast_to(load / (load + HALF_LOAD**2), size.shape)
    return np.stack([np.ones((len(data), AXES)), load, load * size], axis=2)


def _mean(values: np.ndarray, samples: float) -> np.ndarray:
    return np.asarray(uniform_filter1d(values, max(1, round(samples)), axis=0))
