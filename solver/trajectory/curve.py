"""Smooth curves in the flat coordinates of a rig, through keys or through dense samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BPoly, BSpline, PchipInterpolator, PPoly, make_interp_spline

from ..coordinates import flat_rates, to_manifold, unwrapped
from ..motion import Motion
from ..rig import Rig

DEGREE = 5


@dataclass(frozen=True, slots=True)
class FlatCurve:
    """A smooth curve in the flat coordinates of a rig, see `coordinates`.

    Attributes:
        spline: of nv coordinates over time [s].
        start, stop: [s].
    """

    spline: PPoly | BSpline
    start: float
    stop: float

    @staticmethod
    def through_keys(
        rig: Rig,
        times: np.ndarray,
        q: Sequence[np.ndarray],
        interpolation: str = "clamped",
        ends: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> FlatCurve:
        """The curve through configurations (nq,) at times (K,).

        Args:
            rig: that moves.
            times: (K,) [s].
            q: K configurations.
            interpolation: ``"clamped"`` passes through the inner ones, ``"rest"`` stops at each.
            ends: velocity and acceleration (2, nv) of the first and last configuration; at rest by default.
        """
        y = unwrapped(rig, q)
        slopes, bends = np.zeros((2, *y.shape))
        if interpolation == "clamped" and len(times) > 2:
            slopes[1:-1] = PchipInterpolator(times, y, axis=0).derivative()(times[1:-1])
        if ends is not None:
            slopes[[0, -1]], bends[[0, -1]] = flat_rates(rig, y[[0, -1]], *ends)
        states = [list(state) for state in zip(y, slopes, bends)]
        return FlatCurve(through_states(times, states), float(times[0]), float(times[-1]))

    @staticmethod
    def through_samples(rig: Rig, times: np.ndarray, q: np.ndarray) -> FlatCurve:
        """The curve through dense samples (N, nq)."""
        degree = min(DEGREE, len(times) - 1)
        spline = make_interp_spline(times, unwrapped(rig, q), k=degree - (degree + 1) % 2)
        return FlatCurve(spline, float(times[0]), float(times[-1]))

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates (N, nv) and their first and second derivatives."""
        inside = np.clip(times, self.start, self.stop)
        if isinstance(self.spline, PPoly):
            return _by_piece(self.spline, inside)
        return self.spline(inside), self.spline(inside, 1), self.spline(inside, 2)

    def motion(self, rig: Rig, times: np.ndarray) -> Motion:
        """The motion at times (N,) [s]."""
        return to_manifold(rig, *self.at(times)).motion(times)


def _by_piece(spline: PPoly, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values (N, n) of piecewise polynomials and of their first and second derivatives, a product a piece."""
    degree = len(spline.c) - 1
    pieces = np.clip(np.searchsorted(spline.x, times, side="right") - 1, 0, len(spline.x) - 2)
    falling = np.arange(degree, -1, -1)
    powers = (times - spline.x[pieces])[:, None] ** falling
    factors = (np.ones(degree + 1), falling, falling * (falling - 1))
    results = np.empty((3, len(times), spline.c.shape[2]))
    starts = np.flatnonzero(np.diff(pieces, prepend=-1))
    for first, last in zip(starts, [*starts[1:], len(times)]):
        for order, factor in enumerate(factors):
            own = (factor[:, None] * spline.c[:, pieces[first]])[: degree + 1 - order]
            np.matmul(powers[first:last, order:], own, out=results[order, first:last])
    return results[0], results[1], results[2]


def through_states(times: Sequence[float] | np.ndarray, states: Sequence[Sequence[np.ndarray]]) -> PPoly:
    """The piecewise polynomial of least degree that meets values (n,) and their derivatives at times (K,).

    In powers of time, which are evaluated twenty times as quickly as Bernstein's polynomials.
    """
    return PPoly.from_bernstein_basis(BPoly.from_derivatives(times, states))


def sample_times(start: float, stop: float, rate: float) -> np.ndarray:
    """Even times from start to stop [s], both included, at least ``rate`` a second."""
    return np.linspace(start, stop, max(2, int(np.ceil((stop - start) * rate - 1e-6)) + 1))
