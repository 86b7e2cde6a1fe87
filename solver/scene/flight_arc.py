"""The parabola of the centre of mass of a jumping body between two stances. SI, world z up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..base.errors import InvalidValue
from ..values.inertials import GRAVITY, GRAVITY_VECTOR


@dataclass(frozen=True, slots=True)
class FlightArc(ArrayValue):
    """The parabola through the centre of mass at take-off and landing.

    c(t) = take_off + velocity t + g t^2 / 2, with the velocity that has c(stop - start) = landing.

    Attributes:
        start, stop: [s] of take-off and landing.
        take_off, landing: (3,) [m] centre of mass there, world.
    """

    start: float
    stop: float
    take_off: Annotated[np.ndarray, Array(3)]
    landing: Annotated[np.ndarray, Array(3)]

    def require_consistent(self) -> None:
        if not (np.isfinite([self.start, self.stop]).all() and self.stop > self.start):
            raise InvalidValue(f"a flight must end after it starts, got {self.start:g} to {self.stop:g} s")

    @property
    def velocity(self) -> np.ndarray:
        """(3,) [m/s] of the centre of mass at take-off."""
        lasts = self.stop - self.start
        return (self.landing - self.take_off) / lasts - 0.5 * GRAVITY_VECTOR * lasts

    @property
    def apex(self) -> np.ndarray:
        """(3,) [m] The highest point; an end of the flight if it only rises or only falls."""
        return self.at(np.array([np.clip(self.start + self.velocity[2] / GRAVITY, self.start, self.stop)]))[0]

    @property
    def rise(self) -> float:
        """[m] Height of the apex above the take-off."""
        return float(self.apex[2] - self.take_off[2])

    def at(self, times: np.ndarray) -> np.ndarray:
        """(N, 3) [m] centre of mass at times (N,) [s]."""
        since = (np.asarray(times, float) - self.start)[:, None]
        return self.take_off + self.velocity * since + 0.5 * GRAVITY_VECTOR * since**2

    def distances(self, times: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """(N,) [m] Distance of centre-of-mass positions (N, 3) [m] at times (N,) [s] from the parabola."""
        return np.linalg.norm(np.asarray(positions, float) - self.at(times), axis=1)
