"""B-splines of sixth order between two postures at rest, bonnet2016 III.A.

A coordinate is s(t) = sum_i B_i(t) c_i with clamped knots. Zero velocity and acceleration at an end mean that its first
three control values equal the end value, which leaves N_K control values free. The curve stays within the range of
its control values (and its speed within that of the derivative's control values), so limits on these are limits on the
curve at every instant, not only at samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.interpolate import BSpline

from ..base.arrays import frozen
from ..base.errors import InvalidValue
from ..options.dances import DEFAULT_VIA_POINTS

ORDER = 6
"""Degree 5: the acceleration is twice differentiable, its derivative continuous. The paper's order, bonnet2016."""
REST_CONTROLS = 3
"""Control values at each end that equal the end value, for zero velocity and acceleration. Derived: position, velocity
and acceleration."""
CORNER_MULTIPLICITY = 3
"""Multiplicity of a knot at a corner: the acceleration is continuous there, its derivative is not. Derived: the degree
5 less the two continuous derivatives."""
SPACING_GROWTH = 0.25
"""Growth of the knot spacing with the distance from a flight: each interval is a quarter longer than the previous."""
GRADING_SAMPLES = 8
"""Samples per smallest knot spacing, used to place uneven knots."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Basis functions and their derivatives at given times: curves are linear in the control values.

    Attributes:
        times: (N,) [s].
        position, velocity, acceleration: (N, C) matrices; times control values (C, n), they give the curves.
    """

    times: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    def curves(self, control: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration (N, n) of the curves with control values (C, n)."""
        return self.position @ control, self.velocity @ control, self.acceleration @ control


@dataclass(frozen=True, slots=True)
class Spline:
    """A space of sixth-order B-splines on [0, duration] with ``free`` control values between two states of rest.

    Attributes:
        duration: T_F [s].
        free: N_K, number of control values (or via points) that are free.
    """

    duration: float
    free: int = DEFAULT_VIA_POINTS

    def __post_init__(self) -> None:
        if not (np.isfinite(self.duration) and self.duration > 0.0):
            raise InvalidValue(f"a spline needs a positive duration, got {self.duration!r} s")
        if self.free < 0:
            raise InvalidValue(f"a spline cannot have {self.free} free control values")

    @property
    def count(self) -> int:
        """C, number of control values."""
        return self.free + 2 * REST_CONTROLS

    @property
    def knots(self) -> np.ndarray:
        """(C + 6,) [s], each end six times."""
        inner = np.linspace(0.0, self.duration, self.count - ORDER + 2)
        return np.concatenate([np.zeros(ORDER - 1), inner, np.full(ORDER - 1, self.duration)])

    def basis(self, times: np.ndarray) -> Basis:
        """Basis matrices at times (N,) in [0, duration]."""
        times = np.asarray(times, float)
        slack = 1e-9 * self.duration
        if len(times) and (times.min() < -slack or times.max() > self.duration + slack):
            raise InvalidValue(f"times must lie within the spline's 0 ... {self.duration:g} s")
        parts = _basis_matrices(self.free, tuple(np.clip(times / self.duration, 0.0, 1.0)))
        return Basis(times, parts[0], parts[1] / self.duration, parts[2] / self.duration**2)

    def samples(self, rate: float) -> np.ndarray:
        """Evenly spaced times from 0 to the duration, both included, at least ``rate`` per second."""
        return np.linspace(0.0, self.duration, max(2, int(np.ceil(self.duration * rate - 1e-9)) + 1))

    def control(self, start: np.ndarray, stop: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Control values (C, n) from end values (n,) and free control values (free, n); at rest at both ends."""
        start, stop = np.atleast_1d(np.asarray(start, float)), np.atleast_1d(np.asarray(stop, float))
        free = frozen("free control values", np.reshape(free, (self.free, len(start))), (self.free, len(start)))
        return np.concatenate([np.tile(start, (REST_CONTROLS, 1)), free, np.tile(stop, (REST_CONTROLS, 1))])

    def straight_line(self, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Control values (C, n) of the straight path between two states of rest."""
        fraction = np.linspace(0.0, 1.0, self.free + 2)[1:-1, None]
        start, stop = np.asarray(start, float), np.asarray(stop, float)
        return self.control(start, stop, (1.0 - fraction) * start + fraction * stop)

    def speed_controls(self, control: np.ndarray) -> np.ndarray:
        """Control values (C - 1, n) of the derivative, whose range bounds the velocity."""
        knots, degree = self.knots, ORDER - 1
        spans = knots[degree + 1 : -1] - knots[1 : -degree - 1]
        return degree * np.diff(control, axis=0) / spans[:, None]

    def refinement_matrix(self, finer: Spline) -> np.ndarray:
        """(C_finer, C): control values of the same curve in a finer space whose knots include these.

        Raises:
            InvalidValue: other duration, or knots that are not included (N_K + 1 must divide the finer N_K + 1).
        """
        if abs(finer.duration - self.duration) > 1e-12 * self.duration or (finer.free + 1) % (self.free + 1):
            raise InvalidValue(f"a spline with {finer.free} free values does not contain those with {self.free}")
        return np.array(_refinement(self.free, finer.free))


@lru_cache(maxsize=64)
def _basis_matrices(free: int, phases: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    unit = Spline(1.0, free)
    spline = BSpline(unit.knots, np.eye(unit.count), ORDER - 1)
    at = np.array(phases)
    parts = tuple(np.asarray(spline(at, order)) for order in range(3))
    for part in parts:
        part.setflags(write=False)
    return parts[0], parts[1], parts[2]


@lru_cache(maxsize=16)
def _refinement(coarse: int, fine: int) -> np.ndarray:
    # the fine basis is unisolvent at its Greville points, so interpolation there inserts the knots exactly
    unit = Spline(1.0, fine)
    knots = unit.knots
    greville = np.array([knots[i + 1 : i + ORDER].mean() for i in range(unit.count)])
    result = np.linalg.solve(unit.basis(greville).position, Spline(1.0, coarse).basis(greville).position)
    result[np.abs(result) < 1e-12] = 0.0
    result.setflags(write=False)
    return result


@dataclass(frozen=True, slots=True)
class UnevenSpline:
    """A space of sixth-order B-splines on [0, duration] with uneven knots.

    Attributes:
        knots: (C + 6,) [s] from 0, each end six times; a triple knot is a corner of the acceleration.
    """

    knots: tuple[float, ...]

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return self.knots[-1]

    @property
    def count(self) -> int:
        """C, number of control values."""
        return len(self.knots) - ORDER

    def basis(self, times: np.ndarray) -> Basis:
        """Basis matrices at times (N,) in [0, duration]."""
        spline = BSpline(np.array(self.knots), np.eye(self.count), ORDER - 1)
        return Basis(times, *(np.asarray(spline(times, order)) for order in range(3)))

    def samples(self, rate: float, per_knot: int) -> np.ndarray:
        """All knots [s] and even times between them: at least ``per_knot`` intervals, and ``rate`` per second."""
        spans = pairwise(np.unique(self.knots))
        even = [np.linspace(a, b, max(per_knot, int(np.ceil((b - a) * rate))) + 1)[:-1] for a, b in spans]
        return np.append(np.concatenate(even), self.duration)

    def gauss_points(self, spans: Sequence[tuple[float, float]], count: int) -> np.ndarray:
        """``count`` Gauss-Legendre points [s] in each knot interval within spans that begin and end at knots."""
        knots, share = np.unique(self.knots), 0.5 + 0.5 * np.polynomial.legendre.leggauss(count)[0]
        slack = 1e-9 * self.duration
        inside = [(a, b) for a, b in pairwise(knots) for s, e in spans if a > s - slack and b < e + slack]
        return np.array([a + (b - a) * share for a, b in inside]).ravel()


def spline_around_flights(
    duration: float, spacing: float, flights: Sequence[tuple[float, float]], flight_spacing: float
) -> UnevenSpline:
    """Splines with corners of the acceleration at the ends of flights, and closer knots near them.

    Args:
        duration: [s].
        spacing: [s] largest knot spacing, far from the flights.
        flights: [s] intervals inside the duration, ascending.
        flight_spacing: [s] between knots in the flights.
    """
    ends = [0.0, *(corner for flight in flights for corner in flight), duration]
    fine = np.linspace(0.0, duration, int(np.ceil(duration / flight_spacing)) * GRADING_SAMPLES + 1)
    start, stop = np.array(flights).T
    away = np.maximum(np.maximum(start - fine[:, None], fine[:, None] - stop), 0.0).min(axis=1)
    dense = 1.0 / np.minimum(spacing, flight_spacing + SPACING_GROWTH * away)
    count = np.concatenate([[0.0], np.cumsum(0.5 * (dense[1:] + dense[:-1]) * np.diff(fine))])
    inner: list[float] = []
    for first, last in pairwise(ends):
        low, high = (float(np.interp(end, fine, count)) for end in (first, last))
        even = np.linspace(low, high, max(1, int(np.ceil(high - low))) + 1)
        inner += [*np.interp(even[1:-1], count, fine), *[last] * CORNER_MULTIPLICITY]
    return UnevenSpline((*[0.0] * ORDER, *inner[:-CORNER_MULTIPLICITY], *[duration] * ORDER))
