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

NEAR = 0.2
"""[s] around a sample in which the kinematic rate's size is taken."""
USUAL_SIZE, FLOOR = 0.3, 0.05
"""[m^2/s^2] of a momentum rate over the mass (a walk's), by whose logarithm sizes are told; share of it that counts as
nothing."""
CARRIED, CALM = 0.3, 0.05
"""Share of the body weight of half the effect of a force; [s] over which it is averaged."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """Share of the smoother's momentum rate where no wrench is known, the rest is the kinematics'.

    share = aloft + load (carried + slope log(size)), by axis and held to [0, 1], with load and size as seen.

    Attributes:
        aloft: (3,) share where nothing carries the body.
        carried: (3,) added to it where something does, at the usual size.
        slope: (3,) and by so much with every factor e of the size.
    """

    aloft: tuple[float, float, float]
    carried: tuple[float, float, float]
    slope: tuple[float, float, float]

    def of(self, seen: np.ndarray) -> np.ndarray:
        """(N, 3) shares from what is seen (N, 3, 3), see `seen`."""
        numbers = np.array([self.aloft, self.carried, self.slope]).T
        return np.clip(np.einsum("nak,ak->na", seen, numbers), 0.0, 1.0)


NONE = Leaning((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
"""The smoother alone."""


def seen(data: CentroidalData, acceleration: np.ndarray) -> np.ndarray:
    """(N, 3, 3) by axis: one, the load, and the load times the logarithm of the kinematic rate's size.

    Args:
        data: signals.
        acceleration: (N, 3) [m/s^2] of the centre of mass as estimated.
    """
    square = _mean((data.momentum_rate / (data.mass * USUAL_SIZE)) ** 2, NEAR * data.rate)
    size = np.log(np.sqrt(square) + FLOOR)
    force = _mean(acceleration / GRAVITY + np.array([0.0, 0.0, 1.0]), CALM * data.rate)
    load = np.sum(force**2, axis=1, keepdims=True)
    load = np.broadcast_to(load / (load + CARRIED**2), size.shape)
    return np.stack([np.ones((len(data), AXES)), load, load * size], axis=2)


def _mean(values: np.ndarray, samples: float) -> np.ndarray:
    return np.asarray(uniform_filter1d(values, max(1, round(samples)), axis=0))
