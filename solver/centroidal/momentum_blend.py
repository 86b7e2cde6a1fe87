"""How far the momentum rate leans on the smoother, and how far on the kinematics, where no wrench is known.

The smoother holds a body to one unrest for all motions, though moments of a squat and of a landing differ by a factor
of forty: it leaves too much of the kinematic rate in the one and takes too much away in the other. Two things that are
seen without plates tell what the moment may be: how large the kinematic rate is around the sample, and the force that
the smoother needs there, for without force there is no moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

from ..signals import GRAVITY
from .values import AXES, CentroidalData

RATE_WINDOW = 0.2
"""[s] around a sample in which the kinematic rate's size is taken."""
REFERENCE_SIZE, SIZE_FLOOR = 0.3, 0.05
"""[m^2/s^2] of a momentum rate over the mass (a walk's), by whose logarithm sizes are told; share of it that counts as
nothing."""
HALF_LOAD, FORCE_WINDOW = 0.3, 0.05
"""Share of the body weight of half the effect of a force; [s] over which it is averaged."""


@dataclass(frozen=True, slots=True)
class MomentumBlend:
    """Share of the smoother's momentum rate where no wrench is known, the rest is the kinematics'.

    share = aloft + load (carried + slope log(size)), by axis and held to [0, 1], with load and size as seen.

    Attributes:
        flight: (3,) share where nothing carries the body.
        loaded: (3,) added to it where something does, at the usual size.
        size_gain: (3,) and by so much with every factor e of the size.
    """

    flight: tuple[float, float, float]
    loaded: tuple[float, float, float]
    size_gain: tuple[float, float, float]

    def shares(self, features: np.ndarray) -> np.ndarray:
        """(N, 3) shares from what is seen (N, 3, 3), see `seen`."""
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
