"""A motion bent towards what the plates measured, as far as its markers let it.

The bend d(t), in tangent coordinates, is a cubic spline whose knots are the unknowns: then its derivatives, which the
wrench needs, are as linear in them as it is itself, and the normal equations reach three knots aside the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline

from ...dynamics.wrench_slopes import WrenchSlopes
from ...tracking.smoothing.band import BlockBand

DEGREE = 3


@dataclass(frozen=True, slots=True)
class Spline:
    """Cubic splines over a stretch of time, with M unknowns for each curve.

    Attributes:
        knots: (M + 4,) [s].
    """

    knots: np.ndarray

    @staticmethod
    def over(start: float, stop: float, spacing: float) -> Spline:
        """Over a stretch [s], whose ends are at rest: values and slopes beyond the last unknowns are zero."""
        spans = max(int(np.ceil((stop - start) / spacing)), 1)
        step = (stop - start) / spans
        return Spline(start + step * np.arange(-DEGREE, spans + DEGREE + 1))

    @property
    def unknowns(self) -> int:
        """M."""
        return len(self.knots) - DEGREE - 1

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The four splines that reach each of N times: the first's place (N,), and values and derivatives (N, 4, 3)."""
        first = np.clip(np.searchsorted(self.knots, times, side="right") - 1, DEGREE, self.unknowns - 1) - DEGREE
        result = np.empty((len(times), DEGREE + 1, 3))
        local = self._basis()
        inside = (times - self.knots[first + DEGREE]) / (self.knots[1] - self.knots[0])
        for order in range(3):
            result[:, :, order] = local(inside[:, None] + np.arange(DEGREE, -1, -1.0), order)
            result[:, :, order] /= (self.knots[1] - self.knots[0]) ** order
        return first, result

    def values(self, times: np.ndarray, unknowns: np.ndarray) -> np.ndarray:
        """Curves (N, n) of unknowns (M, n)."""
        first, basis = self.at(times)
        return np.einsum("ns,nsi->ni", basis[:, :, 0], unknowns[first[:, None] + np.arange(DEGREE + 1)])

    @staticmethod
    def _basis() -> BSpline:
        return BSpline.basis_element(np.arange(DEGREE + 2.0), extrapolate=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """What N frames ask of the bend; `bent` is told how they are bent now.

    Attributes:
        times: (N,) [s].
        stiffness: (N, nv, nv) what the markers cost it.
        slopes: of what is left of the wrench.
        left: (N, 6) of the wrench by the motion as it is bent now, root axes, about the root's origin.
        weights: (N, 6) of the wrench's rows; 0 where nothing was measured.
    """

    times: np.ndarray
    stiffness: np.ndarray
    slopes: WrenchSlopes
    left: np.ndarray
    weights: np.ndarray


def bent(spline: Spline, now: np.ndarray, asked: Asked) -> np.ndarray:
    """Unknowns (M, nv) of the likeliest bend, by one step of Gauss and Newton from those that it has now (M, nv).

    It minimises d' S d of every frame, S its stiffness, and the weighted squares of what is left of the wrenches.

    Raises:
        BackendError: the equations cannot be solved.
    """
    first, basis = spline.at(asked.times)
    slopes = asked.slopes
    rows = np.stack(
        [
            basis[:, s, 0, None, None] * slopes.place
            + basis[:, s, 1, None, None] * slopes.rate
            + basis[:, s, 2, None, None] * slopes.acceleration
            for s in range(DEGREE + 1)
        ]
    )
    weighted = asked.weights[:, :, None] * rows
    # splines s, frames n, rows r, tangent coordinates i
    reached = now[first[:, None] + np.arange(DEGREE + 1)]
    wanted = asked.left + np.einsum("snri,nsi->nr", rows, reached, optimize=True)
    unknowns, freedoms = spline.unknowns, slopes.place.shape[2]
    band, right = BlockBand(unknowns, freedoms, DEGREE), np.zeros((unknowns, freedoms))
    for high in range(DEGREE + 1):
        np.add.at(right, first + high, np.einsum("nri,nr->ni", weighted[high], wanted, optimize=True))
        for low in range(high + 1):
            own = (basis[:, high, 0] * basis[:, low, 0])[:, None, None] * asked.stiffness
            own += weighted[high].swapaxes(1, 2) @ rows[low]
            blocks = np.zeros((unknowns, freedoms, freedoms))
            starts = np.flatnonzero(np.diff(first, prepend=-1))
            blocks[first[starts] + low] = np.add.reduceat(own, starts)
            band.add(high - low, blocks[: unknowns - (high - low)])
    return band.solved(right)
