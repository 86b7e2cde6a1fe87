"""Centre of mass and momentum rate from the wrench: bailly2019 (6b) and (8).

Components come first here, (3, N), so that array arithmetic runs along contiguous memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.so3 import cross
from ..signals import GRAVITY
from .complementary_filters import FLIGHT, RIDGE
from .values import CentroidalData

RAMP = 0.05
"""[s] over which the weight of a source rises to 1 after an interval without a known wrench."""


@dataclass(frozen=True, slots=True)
class Kinetics:
    """The wrench of `CentroidalData`, prepared for the recursion.

    Attributes:
        force: (3, N) [N].
        moment: (3, N) [N m] about the world origin.
        square: (N,) [N^2] of the force, never zero.
        weight: (N,) of the momentum rate, from 0 where the wrench is unknown to 1.
        axis_weight: (N,) the same of the central axis, which does not exist in flight.
    """

    force: np.ndarray
    moment: np.ndarray
    square: np.ndarray
    weight: np.ndarray
    axis_weight: np.ndarray

    @staticmethod
    def from_data(data: CentroidalData, *, causal: bool) -> Kinetics:
        """Of all samples; with ``causal`` the weight does not decrease before the wrench becomes unknown."""
        force, moment = np.ascontiguousarray(data.force.T), np.ascontiguousarray(data.moment.T)
        square = np.einsum("an,an->n", force, force)  # axes a, samples n
        small = FLIGHT * data.mass * GRAVITY
        weight = ramp_weights(data.known, data.rate, causal=causal) * data.has_moment
        square = np.maximum(square, 1e-9 * small**2)
        loaded = np.minimum(0.5 * np.sqrt(square) / small, 1.0)
        return Kinetics(force, moment, square, weight, (1.0 - RIDGE) * weight * loaded)

    def axis_point(self, com: np.ndarray, rate: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """(6b): centre of mass (3, N) from the central axis and estimates of c and of its momentum rate.

        (6b) is c + f x r / |f|^2 with the remainder r of the moments about c. With weights S of their axes it is
        c + D f x (S r) / |f|^2: its fixed point under a low-pass is a weighted least-squares estimate of c, on which
        the diagonal D, which keeps the size of the step, has hardly any influence.

        Args:
            com: (3, N) [m].
            rate: (3, N) [N m].
            weights: (3,) of the axes of the moment; equal by default.
        """
        if weights is None:
            return com + cross(self.force, self.momentum_rate(com) - rate) / self.square
        scale = 2.0 / (weights.sum() - weights)
        remainder = weights[:, None] * (self.momentum_rate(com) - rate)
        return com + scale[:, None] * cross(self.force, remainder) / self.square

    def momentum_rate(self, com: np.ndarray) -> np.ndarray:
        """(8): momentum rate (3, N) about a centre of mass (3, N)."""
        return self.moment + cross(self.force, com)


def ramp_weights(known: np.ndarray, rate: float, *, causal: bool) -> np.ndarray:
    """(N,) 0 where not known, rising to 1 within `RAMP` of it: after it, and unless ``causal`` before it too."""
    steps = max(1, round(RAMP * rate))
    since = _samples_since_unknown(known)
    near = since if causal else np.minimum(since, _samples_since_unknown(known[::-1])[::-1])
    return np.clip(near / steps, 0.0, 1.0)


def _samples_since_unknown(known: np.ndarray) -> np.ndarray:
    """Number of samples since the last unknown one; infinite if all samples before are known."""
    index = np.arange(len(known), dtype=float)
    last = np.where(known, -np.inf, index)
    return index - np.maximum.accumulate(last)
