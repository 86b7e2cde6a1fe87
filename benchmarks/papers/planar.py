"""The planar example of bonnet2016 III.C: trunk, arm and hand in the frontal plane, hinged to the ground.

The external wrench (F_x, F_y about the world's axes, M_z about the fixed hinge) depends on ten base parameters, (13).
Everything here is analytic: the regressor in closed form and, through a complex step, exact derivatives of it.

What the paper leaves open is chosen here and named: joint ranges (its figure is not in the text), masses (from the
tables for its subject of 65 kg), and the ends of a period: rest at one end of the ranges, as its splines prescribe, and
at the other end a period later, then back. All joints on the straight way have proportional accelerations, so three
inertia columns are dependent: the start is as ill-conditioned as printed (5e16).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from solver.base.errors import InvalidValue
from solver.identification.excitation.excitation import condition
from solver.trajectory.splines import REST_CONTROLS, Spline

LENGTHS = np.array([0.8, 0.2])
"""[m] trunk and arm, from the regrouping (13)."""
MASSES = np.array([33.64, 2.28, 0.33])
"""[kg] head, trunk and pelvis; upper arm and forearm; hand, of a woman of 65 kg."""
RANGES = np.radians([[45.0, 135.0], [-170.0, 20.0], [-80.0, 80.0]])
"""[rad] (3, 2) leaning to either side by 45 degrees, abduction of the arm, bending of the hand."""
GRAVITY = np.array([0.0, -9.81])
VIA_POINTS, PERIOD, RATE = 4, 2.0, 50.0
COLUMNS = {"link 1": [0, 1, 2, 3], "link 2": [4, 5, 6], "link 3": [7, 8, 9]}
"""Columns of W_b by link: M1 MX1 MY1 ZZ1, MX2 MY2 ZZ2, MX3 MY3 ZZ3."""
STATIC, DYNAMIC = [0, 1, 2, 4, 5, 7, 8], [3, 6, 9]
"""c_S and c_D of bonnet2016."""
NUDGE = 1e-3
CHECKED = 4
"""Every so many samples enter the optimiser's limits; the rest are checked afterwards."""
_STEP = 1e-30
Whole = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class Round:
    """One period of 2 s, optimised with the earlier ones kept.

    Attributes:
        points: (6, 3) [rad] first end, via points, last end.
        condition: cond(W_b) of all periods so far.
        criterion: J_exc of all periods so far.
        start: cond(W_b) at the optimiser's start.
        evaluations: of the objective.
        message: the optimiser's.
    """

    points: np.ndarray
    condition: float
    criterion: float
    start: float
    evaluations: int
    message: str


@dataclass(frozen=True, slots=True)
class PlanarProblem:
    """Three links in a plane; the defaults are the paper's example."""

    ranges: np.ndarray = field(default_factory=lambda: RANGES)
    masses: np.ndarray = field(default_factory=lambda: MASSES)
    lengths: np.ndarray = field(default_factory=lambda: LENGTHS)
    period: float = PERIOD
    rate: float = RATE

    @property
    def times(self) -> np.ndarray:
        """Sample times (n,) [s]."""
        return np.arange(1, round(self.period * self.rate) + 1) / self.rate

    @property
    def spline(self) -> Spline:
        """Of every joint."""
        return Spline(self.period, VIA_POINTS)

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration (n, 6) of a joint as linear maps of first end, via points, last end."""
        spline = self.spline
        unit = np.eye(VIA_POINTS + 2)
        ends = spline.control(unit[0], unit[-1], np.zeros((VIA_POINTS, len(unit))))
        at_points = spline.basis(np.linspace(0.0, self.period, len(unit))[1:-1]).position
        free = np.linalg.solve(at_points[:, REST_CONTROLS:-REST_CONTROLS], unit[1:-1] - at_points @ ends)
        control = spline.control(unit[0], unit[-1], free)
        return spline.basis(self.times).curves(control)

    def poor_start(self) -> np.ndarray:
        """Ends and via points (6, 3) on the straight line from the lower to the upper limits."""
        return np.linspace(self.ranges[:, 0], self.ranges[:, 1], VIA_POINTS + 2)

    def near_start(self, seed: int) -> np.ndarray:
        """The poor start with via points moved by a random thousandth of the ranges: on it there is no gradient."""
        start = self.poor_start()
        noise = np.random.default_rng(seed).uniform(-NUDGE, NUDGE, (VIA_POINTS, 3))
        start[1:-1] += noise * np.diff(self.ranges, axis=1).T
        return start

    def regressor(self, points: np.ndarray) -> np.ndarray:
        """W_b (..., 3 n, 10) of ends and via points (..., 6, 3); rows F_x, F_y, M_z of each sample."""
        position, velocity, acceleration = self.matrices()
        rows = planar_rows(position @ points, velocity @ points, acceleration @ points, self.lengths)
        return rows.reshape(*rows.shape[:-3], -1, 10)

    def slopes(self, points: np.ndarray) -> np.ndarray:
        """Derivatives (12, 3 n, 10) of W_b by the via points, exact to rounding (complex step)."""
        steps = np.zeros((3 * VIA_POINTS, *points.shape), complex)
        steps[:, 1:-1] = 1j * _STEP * np.eye(3 * VIA_POINTS).reshape(-1, VIA_POINTS, 3)
        return self.regressor(points + steps).imag / _STEP

    def total(self, points: np.ndarray, history: np.ndarray) -> tuple[float, np.ndarray]:
        """cond(W_b) and its gradient (12,) by the via points."""
        return condition_gradient(*self._stacked(points, history))

    def criterion(self, points: np.ndarray, history: np.ndarray) -> tuple[float, np.ndarray]:
        """J_exc (12) and its gradient (12,) by the via points."""
        matrix, slopes = self._stacked(points, history)
        parts = [condition_gradient(matrix[:, c], slopes[:, :, c]) for c in COLUMNS.values()]
        value = sum(m * part[0] for m, part in zip(self.masses, parts))
        gradient = np.sum([m * part[1] for m, part in zip(self.masses, parts)], axis=0)
        return float(value), gradient

    def _stacked(self, points: np.ndarray, history: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = self.slopes(points)
        none = np.zeros((len(slopes), *history.shape))
        return np.concatenate([history, self.regressor(points)]), np.concatenate([none, slopes], axis=1)


def planar_rows(q: np.ndarray, v: np.ndarray, a: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """W_b rows (..., n, 3, 10) of joint angles, speeds and accelerations (..., n, 3)."""
    angle, omega, alpha = (np.cumsum(x, axis=-1) for x in (q, v, a))
    rows = np.zeros((*q.shape[:-1], 3, 10), dtype=q.dtype)
    joint = np.zeros((*q.shape[:-1], 2), dtype=q.dtype)
    specific = np.zeros_like(joint) - GRAVITY
    column = 0
    for link in range(3):
        along = np.stack([np.cos(angle[..., link]), np.sin(angle[..., link])], axis=-1)
        across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
        w2, al = omega[..., link, None] ** 2, alpha[..., link, None]
        if link == 0:  # the other masses are regrouped into the links before them
            rows[..., :2, column] = specific
            rows[..., 2, column] = _cross(joint, specific)
            column += 1
        for direction, turned in ((along, across), (across, -along)):
            force = al * turned - w2 * direction
            rows[..., :2, column] = force
            rows[..., 2, column] = _cross(joint, force) + _cross(direction, specific)
            column += 1
        rows[..., 2, column] = alpha[..., link]
        column += 1
        if link < 2:
            joint = joint + lengths[link] * along
            specific = specific + lengths[link] * (al * across - w2 * along)
    return rows


def _cross(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return left[..., 0] * right[..., 1] - left[..., 1] * right[..., 0]


def optimise(
    problem: PlanarProblem,
    objective: str,
    rounds: int = 6,
    start: np.ndarray | None = None,
    *,
    logarithm: bool = False,
    iterations: int = 200,
) -> list[Round]:
    """Fig. 4: period after period, each minimising over its own via points with all earlier rows kept.

    From the paper's start the total condition number cannot be minimised as it stands: it is infinite there to
    rounding, and so is its slope. Its logarithm from a start a thousandth away can, and then it is the better
    objective for this small model, because the criterion does not see how the links' columns correlate.

    Args:
        problem: what moves.
        objective: ``"criterion"`` (J_exc) or ``"total"`` (cond(W_b)).
        rounds: periods.
        start: (6, 3) of the first round, reversed for the next and so on; the paper's `poor_start` by default.
        logarithm: minimise the objective's logarithm instead.
        iterations: of SLSQP, which gets exact gradients.

    Raises:
        InvalidValue: unknown objective.
    """
    if objective not in ("criterion", "total"):
        raise InvalidValue(f"objective must be 'criterion' or 'total', not {objective!r}")
    function = problem.criterion if objective == "criterion" else problem.total
    points = problem.poor_start() if start is None else np.array(start, float)
    history = np.zeros((0, 10))
    some = problem.matrices()[0][CHECKED - 1 : -1 : CHECKED]
    inner = np.kron(some[:, 1:-1], np.eye(3))
    result = []
    for _ in range(rounds):
        earlier, ends = history, (points[:1], points[-1:])

        def whole(x: np.ndarray, ends: tuple[np.ndarray, np.ndarray] = ends) -> np.ndarray:
            return np.concatenate([ends[0], x.reshape(VIA_POINTS, 3), ends[1]])

        def value(x: np.ndarray, earlier: np.ndarray = earlier, whole: Whole = whole) -> tuple[float, np.ndarray]:
            result, slope = function(whole(x), earlier)
            return (float(np.log(result)), slope / result) if logarithm else (result, slope)

        fixed = (some[:, [0, -1]] @ np.concatenate(ends)).ravel()
        lower, upper = (np.tile(problem.ranges[:, k], len(some)) - fixed for k in (0, 1))
        found = minimize(
            value, points[1:-1].ravel(), jac=True, method="SLSQP", constraints=[LinearConstraint(inner, lower, upper)],
            options={"maxiter": iterations, "ftol": 1e-7},
        )  # fmt: skip
        first = condition(np.concatenate([earlier, problem.regressor(points)]))
        best = whole(found.x)
        history = np.concatenate([earlier, problem.regressor(best)])
        parts = [condition(history[:, c]) for c in COLUMNS.values()]
        result.append(Round(best, condition(history), float(problem.masses @ parts), first, found.nfev, found.message))
        points = points[::-1]
    return result


def condition_gradient(matrix: np.ndarray, derivatives: np.ndarray) -> tuple[float, np.ndarray]:
    """Condition number of (m, n) and its gradient (k,) given the matrix's derivatives (k, m, n)."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    # m rows, n columns, k derivatives
    largest = np.einsum("m,kmn,n->k", left[:, 0], derivatives, right[0])
    smallest = np.einsum("m,kmn,n->k", left[:, -1], derivatives, right[-1])
    low = max(values[-1], np.finfo(float).tiny)
    value = float(values[0] / low)
    return value, (largest - value * smallest) / low
