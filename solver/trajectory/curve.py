"""Smooth curves in the flat coordinates of a rig, through keys or dense samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BPoly, BSpline, PchipInterpolator, PPoly, make_interp_spline

from ..dynamics.coordinates import flat_rates, to_manifold, unwrap
from ..skeleton.rig import Rig
from ..values.motion import Motion

DEGREE = 5
CORNER_MULTIPLICITY = 3
"""Multiplicity of a knot at a corner: the acceleration is continuous there, the jerk is not. Derived: the degree 5
less the two continuous derivatives."""
SAME_TIME_SHARE = 1e-3
"""A corner nearer to a sample than this share of the step is placed at the sample."""


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
            interpolation: ``"clamped"`` passes inner configurations at speed, ``"rest"`` stops at each.
            ends: velocities and accelerations (2, nv) of the first and last configuration; at rest by default.
        """
        y = unwrap(rig, q)
        velocities, accelerations = np.zeros((2, *y.shape))
        if interpolation == "clamped" and len(times) > 2:
            velocities[1:-1] = PchipInterpolator(times, y, axis=0).derivative()(times[1:-1])
        if ends is not None:
            velocities[[0, -1]], accelerations[[0, -1]] = flat_rates(rig, y[[0, -1]], *ends)
        states = [list(state) for state in zip(y, velocities, accelerations)]
        return FlatCurve(polynomial_through_states(times, states), float(times[0]), float(times[-1]))

    @staticmethod
    def through_samples(rig: Rig, times: np.ndarray, q: np.ndarray, corners: Sequence[float] = ()) -> FlatCurve:
        """The curve through dense samples.

        Args:
            rig: that moves.
            times: (N,) [s].
            q: (N, nq).
            corners: [s] ascending times at which the jerk is discontinuous, such as take-off and landing. A corner with
                too few samples beside it is smoothed.
        """
        degree = min(DEGREE, len(times) - 1)
        degree -= (degree + 1) % 2
        knots = _knots(times, corners) if degree == DEGREE and len(corners) else None
        spline = make_interp_spline(times, unwrap(rig, q), k=degree, t=knots)
        return FlatCurve(spline, float(times[0]), float(times[-1]))

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates (N, nv) and their first and second derivatives."""
        inside = np.clip(times, self.start, self.stop)
        if isinstance(self.spline, PPoly):
            return _evaluate_pieces(self.spline, inside)
        return self.spline(inside), self.spline(inside, 1), self.spline(inside, 2)

    def motion(self, rig: Rig, times: np.ndarray) -> Motion:
        """The motion at times (N,) [s]."""
        return to_manifold(rig, *self.at(times)).motion(times)


def _knots(times: np.ndarray, corners: Sequence[float]) -> np.ndarray:
    """Knots (N + 6,) of the interpolating spline with corners through samples at times (N,) [s].

    Without corners the knots are the sample times except the two next to each end. The multiple knot of a corner
    replaces knots beside it, so that their number stays the same.
    """
    ends = (DEGREE + 1) // 2
    found = _with_end_knots(times, list(times[ends:-ends]))
    for corner in corners:
        place = int(np.clip(np.searchsorted(times, corner), 1, len(times) - 1))
        step, near = times[place] - times[place - 1], times[place - 1 : place + 1]
        own = near[np.abs(near - corner) < SAME_TIME_SHARE * step]
        bent = _add_corner(times, found, float(own[0]) if len(own) else float(corner))
        if bent is not None:
            found = bent
    return found


def _add_corner(times: np.ndarray, knots: np.ndarray, corner: float) -> np.ndarray | None:
    """Knots with a multiple one at a corner; None if the samples would not determine the spline any more."""
    inner = knots[DEGREE + 1 : -DEGREE - 1]
    before, after = list(inner[inner < corner]), list(inner[inner > corner])
    earlier = not before or not after or corner - before[-1] <= after[0] - corner
    for _ in range(CORNER_MULTIPLICITY - (len(inner) - len(before) - len(after))):
        side, last = (before, -1) if earlier else (after, 0)
        if not side or side.count(side[last]) > 1:  # another corner's
            return None
        side.pop(last)
        earlier = not earlier
    bent = _with_end_knots(times, [*before, *[corner] * CORNER_MULTIPLICITY, *after])
    determined = (bent[: len(times)] < times) & (times < bent[DEGREE + 1 :])  # Schoenberg and Whitney
    return bent if determined[1:-1].all() else None


def _with_end_knots(times: np.ndarray, inner: Sequence[float]) -> np.ndarray:
    return np.concatenate([np.full(DEGREE + 1, times[0]), inner, np.full(DEGREE + 1, times[-1])])


def _evaluate_pieces(spline: PPoly, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values (N, n) of piecewise polynomials and their first and second derivatives, with one product per piece."""
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


def polynomial_through_states(times: Sequence[float] | np.ndarray, states: Sequence[Sequence[np.ndarray]]) -> PPoly:
    """The piecewise polynomial of lowest degree with given values (n,) and derivatives at times (K,).

    It is in the power basis, which is evaluated twenty times faster than Bernstein's.
    """
    return PPoly.from_bernstein_basis(BPoly.from_derivatives(times, states))


def sample_times(start: float, stop: float, rate: float) -> np.ndarray:
    """Evenly spaced times from start to stop [s], both included, at least ``rate`` per second."""
    return np.linspace(start, stop, max(2, int(np.ceil((stop - start) * rate - 1e-6)) + 1))
