"""The planar example of bonnet2016 III.C: trunk, arm and hand in the frontal plane, hinged to the ground.

The external wrench (F_x, F_y about the world's axes, M_z about the fixed hinge) depends on ten base parameters, (13).
Everything here is analytic: the regressor in closed form and, through a complex step, exact derivatives of it.

What the paper leaves open is chosen here and named: joint ranges (its figure is not in the text), masses (from the
tables for its subject of 65 kg), and how four via points make a curve of sixth order. The last must give a straight
line for via points on a line, because only then is the start as ill-conditioned as printed (5e16): the natural quintic
spline does, through via points at the ends and the thirds of the period.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import LinearConstraint, minimize

from ..errors import InvalidValue
from .excitation import condition, condition_gradient

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
_STEP = 1e-30


@dataclass(frozen=True, slots=True)
class Round:
    """One period of 2 s, optimised with the earlier ones kept.

    Attributes:
        via: (4, 3) [rad].
        condition: cond(W_b) of all periods so far.
        criterion: J_exc of all periods so far.
        start: cond(W_b) at the optimiser's start.
        evaluations: of the objective.
        message: the optimiser's.
    """

    via: np.ndarray
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

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration (n, 4) of a joint as linear maps of its via points."""
        knots = np.linspace(0.0, self.period, VIA_POINTS)
        rest = ([(3, np.zeros(VIA_POINTS)), (4, np.zeros(VIA_POINTS))],) * 2
        spline = make_interp_spline(knots, np.eye(VIA_POINTS), k=5, bc_type=rest)
        parts = [np.asarray(spline(self.times, order)) for order in range(3)]
        return parts[0], parts[1], parts[2]

    def poor_start(self) -> np.ndarray:
        """Via points (4, 3) on the straight line from the lower to the upper limits."""
        return np.linspace(self.ranges[:, 0], self.ranges[:, 1], VIA_POINTS)

    def regressor(self, via: np.ndarray) -> np.ndarray:
        """W_b (..., 3 n, 10) of via points (..., 4, 3); rows F_x, F_y, M_z of each sample."""
        position, velocity, acceleration = self.matrices()
        rows = planar_rows(position @ via, velocity @ via, acceleration @ via, self.lengths)
        return rows.reshape(*rows.shape[:-3], -1, 10)

    def slopes(self, via: np.ndarray) -> np.ndarray:
        """Derivatives (12, 3 n, 10) of W_b by the via points, exact to rounding (complex step)."""
        steps = 1j * _STEP * np.eye(via.size).reshape(via.size, *via.shape)
        return self.regressor(via + steps).imag / _STEP

    def total(self, via: np.ndarray, history: np.ndarray) -> tuple[float, np.ndarray]:
        """log cond(W_b) and its gradient (12,)."""
        value, gradient = condition_gradient(*self._stacked(via, history))
        return float(np.log(value)), gradient / value

    def criterion(self, via: np.ndarray, history: np.ndarray) -> tuple[float, np.ndarray]:
        """J_exc (12) and its gradient (12,)."""
        matrix, slopes = self._stacked(via, history)
        parts = [condition_gradient(matrix[:, c], slopes[:, :, c]) for c in COLUMNS.values()]
        value = sum(m * part[0] for m, part in zip(self.masses, parts))
        gradient = np.sum([m * part[1] for m, part in zip(self.masses, parts)], axis=0)
        return float(np.log(value)), gradient / value

    def _stacked(self, via: np.ndarray, history: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = self.slopes(via)
        none = np.zeros((len(slopes), *history.shape))
        return np.concatenate([history, self.regressor(via)]), np.concatenate([none, slopes], axis=1)


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
    problem: PlanarProblem, objective: str, rounds: int = 6, start: np.ndarray | None = None, iterations: int = 200
) -> list[Round]:
    """Fig. 4: period after period, each minimising over its own via points with all earlier rows kept.

    Args:
        problem: what moves.
        objective: ``"criterion"`` (J_exc) or ``"total"`` (cond(W_b)).
        rounds: periods.
        start: (4, 3) of every round; the straight way through the ranges by default.
        iterations: of SLSQP, which gets exact gradients of the objective's logarithm.

    Raises:
        InvalidValue: unknown objective.
    """
    if objective not in ("criterion", "total"):
        raise InvalidValue(f"objective must be 'criterion' or 'total', not {objective!r}")
    function = problem.criterion if objective == "criterion" else problem.total
    begin = problem.poor_start() if start is None else np.asarray(start, float)
    history = np.zeros((0, 10))
    position = np.kron(problem.matrices()[0], np.eye(3))
    limits = np.tile(problem.ranges, (len(problem.times), 1))
    inside = LinearConstraint(position, limits[:, 0], limits[:, 1])
    result = []
    for _ in range(rounds):
        earlier = history

        def value(x: np.ndarray, earlier: np.ndarray = earlier) -> tuple[float, np.ndarray]:
            return function(x.reshape(VIA_POINTS, 3), earlier)

        found = minimize(
            value, begin.ravel(), jac=True, method="SLSQP", constraints=[inside],
            options={"maxiter": iterations, "ftol": 1e-7},
        )  # fmt: skip
        via = found.x.reshape(VIA_POINTS, 3)
        first = condition(np.concatenate([earlier, problem.regressor(begin)]))
        history = np.concatenate([earlier, problem.regressor(via)])
        parts = [condition(history[:, c]) for c in COLUMNS.values()]
        result.append(Round(via, condition(history), float(problem.masses @ parts), first, found.nfev, found.message))
    return result
