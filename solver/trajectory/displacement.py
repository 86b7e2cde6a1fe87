"""Smallest displacement of a trajectory that satisfies its limits: sequential quadratic programming on splines.

Root and joints are displaced by sixth-order splines. The cost is the mean square displacement of the body's points.
Each subproblem is a quadratic program with the limits linearised at every sample and a penalty on violations. It is
sparse because a control value acts on six knot intervals only. The zero-moment point is that of the whole body; the
linear inverted pendulum is the special case in which only the root moves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from .. import qp
from ..base.errors import InvalidValue
from ..dynamics.coordinates import to_manifold
from ..dynamics.mechanics import Mechanics
from ..feasibility.check_results import Checks
from ..options.authoring import SMOOTHING_TIME
from ..qp.soft_rows import solve_soft
from ..skeleton.rig import ROOT_NV, Rig
from .flight_momentum import GAUSS_POINTS, FlightMomentum
from .limit_values import LimitValues
from .planted_feet import PlantedTrajectory, Rates
from .splines import ORDER, REST_CONTROLS, Spline, UnevenSpline, spline_around_flights
from .trajectory_limits import TrajectoryLimits
from .trust_region import TrustRegion, solve_sequentially

SOFT_SOLVER_NAME = "softened rows"
BACKEND = qp.SPARSE
"""Used where the active set does not converge. It needs twenty iterations and OSQP thousands: derivatives by
accelerations are stiff."""
QP_TOLERANCE = 1e-6
NEAR_LIMIT = 1.0
"""Limits with a smaller margin, in their scale, enter the subproblem."""
VIOLATION_PENALTY = 30.0
"""Cost of a violation by one unit at one sample; a constant displacement by 1 % of the body's size costs one."""
DENSE_SHARE = 1.0 / 3.0
"""Density of the rows within their support above which an elimination ordered by knots is faster. Limits by force are
denser, those of joint ranges and link distances sparser."""
TRUST_REGION = TrustRegion(6.0, 1e-3, rejected_factor=0.1, partial_factor=0.5, full_factor=2.0, maximum=6.0)
"""Largest step, in units of `UNIT_SHARE`. The region grows again because steps far from the limits are shortened."""
STEP_SHARES = (1.0, 0.4, 0.15)
"""Fractions of a step that are tried, in this order."""
MIN_GAIN = 1e-3
"""Smallest gain of a step, over the penalty of all violations, with which the search continues."""
COST_TOLERANCE = 0.05
"""The search ends if no limit is violated and the cost changes relatively by less."""
VIOLATION_TOLERANCE = 0.02
"""Sum of violations that counts as none: the sampling margins are much larger."""
MAX_LIMITS = 2**16
"""More limits than any sample has; limits whose number depends on near pairs come last."""
FLIGHT_SPACING = 0.025
"""[s] Largest spacing of knots in a flight, where legs move fast and no contact supports the body."""
SAMPLES_PER_KNOT = 3
"""Smallest number of samples between two knots on the ground around a flight; with two, torque limits were exceeded
between samples."""
PREFERRED_DURATION = 1.0
"""[s] A displacement at a preferred key costs as if it lasted this much longer."""
UNIT_SHARE = 0.01
"""Unit of displacements, as a share of the body's size."""
MIN_VISIBILITY = 1e-4
"""Smallest mean square motion per radian, as a share of the size squared, for joints whose links are points."""


@dataclass(frozen=True, slots=True)
class Window:
    """An interval of a trajectory to be displaced.

    Attributes:
        start, stop: [s].
        open_start, open_stop: the trajectory begins or ends here, and its end may move. Otherwise the displacement and
            its first two derivatives vanish there.
        fixed, preferred: times [s] at which the trajectory must not, or preferably does not, move.
    """

    start: float
    stop: float
    open_start: bool = False
    open_stop: bool = False
    fixed: tuple[float, ...] = ()
    preferred: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Displacement:
    """Splines added to a trajectory in one window.

    Attributes:
        window: interval.
        columns: (n,) displaced flat coordinates.
        control: (C, n) control values.
        spline: spline space, from the window's start on.
        iterations: subproblems solved.
        violation: sum of the remaining violations at the samples, in the limits' scales.
        cost: mean square displacement over (`UNIT_SHARE` of the body's size)^2.
        solver_failures: subproblems whose solutions were inaccurate, and not used.
    """

    window: Window
    columns: np.ndarray
    control: np.ndarray
    spline: Spline | UnevenSpline
    iterations: int = 0
    violation: float = 0.0
    cost: float = 0.0
    solver_failures: tuple[str, ...] = ()

    def apply(self, times: np.ndarray, rates: Rates) -> Rates:
        """Coordinates (N, nv) and derivatives with the displacement."""
        window, result = self.window, tuple(np.array(part, float) for part in rates)
        inside = np.flatnonzero((times >= window.start) & (times <= window.stop))
        basis = self.spline.basis(np.clip(times[inside] - window.start, 0.0, self.spline.duration))
        for part, values in zip(result, basis.curves(self.control)):
            part[np.ix_(inside, self.columns)] += values
        return result[0], result[1], result[2]


@dataclass(frozen=True, slots=True)
class DisplacementEvaluation:
    """A displacement of one window with its limits and cost.

    Attributes:
        x: (m, n) free control values.
        values: of the limits.
        near: results of the checks at the samples.
        cost: see `Displacement`.
    """

    x: np.ndarray
    values: LimitValues
    near: Checks
    cost: float

    @property
    def merit(self) -> float:
        """Cost plus penalty of the violations."""
        return self.cost + VIOLATION_PENALTY * self.values.violation


@dataclass(frozen=True, slots=True)
class DisplacementModel:
    """The near limits to first order.

    Attributes:
        matrix: (R, n m) derivatives of the margins by the displacement.
        values: (R,) margins.
        limit_ids: (R,) number of each limit of each sample, the same in every model.
    """

    matrix: sparse.csr_array
    values: np.ndarray
    limit_ids: np.ndarray


@dataclass
class DisplacementProblem:
    """The displacement of one window as a sequential quadratic program.

    Attributes:
        trajectory: to be displaced.
        limits: to be kept.
        window: where.
        spacing: [s] between knots.
        rate: [1/s] of the samples.
        weights: (n,) cost of a squared unit of each free coordinate, in (`UNIT_SHARE` of the size)^2.
        extra_times: times [s] to be sampled as well.
        smoothing_time: [s] displacements that change within this time cost twice.
        flights: [s] spans inside the window; the acceleration may have a corner at their ends, and knots are
            `FLIGHT_SPACING` apart there.
    """

    trajectory: PlantedTrajectory
    limits: TrajectoryLimits
    window: Window
    spacing: float
    rate: float
    weights: np.ndarray
    extra_times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    smoothing_time: float = SMOOTHING_TIME
    flights: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        window = self.window
        duration = window.stop - window.start
        self.spline: Spline | UnevenSpline
        flown, also, rate = None, self.extra_times, self.rate
        if self.flights:
            flights = [(a - window.start, b - window.start) for a, b in self.flights]
            self.spline = spline_around_flights(duration, self.spacing, flights, min(self.spacing, FLIGHT_SPACING))
            flown = window.start + self.spline.gauss_points(flights, GAUSS_POINTS)
            often = self.spline.samples(
                rate, SAMPLES_PER_KNOT
            )  # where knots are close it pushes off, and much changes quickly
            stands = np.all([(often < a) | (often > b) for a, b in flights], axis=0)
            also, rate = np.concatenate([also, window.start + often[stands]]), 0.0
        else:
            self.spline = Spline(duration, max(1, int(np.ceil(duration / self.spacing)) - 1))
        self.times = self.limits.sample_times(window.start, window.stop, rate, also, flown)
        self._flight_momentum = None if flown is None else FlightMomentum(self.times, flown, self.limits.options.flight)
        self._cost_settled = False
        self._base = self.trajectory.curve.at(self.times)
        self._ties = _free_controls(self.spline.count, window)
        basis = self.spline.basis(np.clip(self.times - window.start, 0.0, duration))
        self._basis = [part @ self._ties for part in (basis.position, basis.velocity, basis.acceleration)]
        even = self.spline.basis(np.linspace(0.0, duration, 6 * self.spline.count))
        value, bend = even.position @ self._ties, self.smoothing_time**2 * even.acceleration @ self._ties
        metric = (value.T @ value + bend.T @ bend) / len(even.times)
        at = self.spline.basis(np.array(window.preferred) - window.start).position @ self._ties
        self._metric = metric + PREFERRED_DURATION / duration * at.T @ at
        self._fixed = self.spline.basis(np.array(window.fixed) - window.start).position @ self._ties
        self._fixed_pseudo_inverse = (
            np.linalg.pinv(self._fixed) if len(self._fixed) else np.zeros((self._ties.shape[1], 0))
        )
        self._last_multipliers, self._active_set_failed = (np.zeros(0, int), np.zeros(0)), False
        self._free_compliance = np.linalg.inv(self._metric)
        if len(self._fixed):
            leads = self._free_compliance @ self._fixed.T
            self._free_compliance = self._free_compliance - leads @ np.linalg.solve(self._fixed @ leads, leads.T)

    def solve(self, start: np.ndarray, max_iterations: int, deadline: float = np.inf) -> Displacement:
        """Search from a start (m, n) on.

        Args:
            start: (m, n) free control values.
            max_iterations: largest number of subproblems.
            deadline: of `time.monotonic`, after which no iteration begins.
        """
        found = solve_sequentially(
            self, self._evaluate(self._respect_fixed_keys(start)), TRUST_REGION, max_iterations, deadline
        )
        point = found.point
        return replace(
            self.displacement(point.x), iterations=found.subproblems, violation=point.values.violation,
            cost=point.cost, solver_failures=found.solver_failures,
        )  # fmt: skip

    def displacement(self, x: np.ndarray) -> Displacement:
        """The displacement of free control values (m, n), without its limits."""
        return Displacement(self.window, self.trajectory.free_columns, self._ties @ x, self.spline)

    def project_displacement(self, displacement: Displacement) -> np.ndarray:
        """Free control values (m, n) nearest to a displacement of another problem."""
        zeros = np.zeros_like(self._base[0])
        return self.project(displacement.apply(self.times, (zeros, zeros, zeros))[0])

    def project(self, added: np.ndarray) -> np.ndarray:
        """Free control values (m, n) nearest to a displacement of the flat coordinates (N, nv) at the samples."""
        values = added[:, self.trajectory.free_columns]
        return self._respect_fixed_keys(np.linalg.lstsq(self._basis[0], values, rcond=None)[0])

    @property
    def given_coordinates(self) -> np.ndarray:
        """(N, nv) flat coordinates at the samples, without displacement."""
        return self._base[0]

    @property
    def zero_displacement(self) -> np.ndarray:
        """Zero free control values (m, n)."""
        return np.zeros((self._ties.shape[1], len(self.trajectory.free_columns)))

    def lower_root(self, drop: float) -> np.ndarray:
        """Free control values (m, n) that lower the root by ``drop`` [m] where it may move."""
        x = self.zero_displacement
        x[:, self.trajectory.free_columns == 2] = -drop
        return self._respect_fixed_keys(x)

    def evaluate_limits(self, x: np.ndarray) -> LimitValues:
        """Limits with a displacement (m, n)."""
        return self._evaluate(x).values

    def _respect_fixed_keys(self, x: np.ndarray) -> np.ndarray:
        """The nearest displacement that vanishes at the fixed keys."""
        return x - self._fixed_pseudo_inverse @ (self._fixed @ x)

    def _rates(self, x: np.ndarray) -> Rates:
        parts = tuple(np.array(part) for part in self._base)
        for part, basis in zip(parts, self._basis):
            part[:, self.trajectory.free_columns] += basis @ x
        return parts[0], parts[1], parts[2]

    def _evaluate(self, x: np.ndarray) -> DisplacementEvaluation:
        rates = self._rates(x)
        near = self.limits.check(self.times, rates)
        values = self.limits.values(self.times, rates, near)
        if self._flight_momentum is not None:
            values = self._flight_momentum.add_means(values)
        # i coordinates, m and k control values
        return DisplacementEvaluation(
            x, values, near, float(self.weights @ np.einsum("mi,mk,ki->i", x, self._metric, x))
        )

    def linearise(self, point: DisplacementEvaluation) -> DisplacementModel:
        """Near limits to first order."""
        names, values, flown = point.values.names, point.values.values, self._flight_momentum
        near = values < NEAR_LIMIT if flown is None else flown.select_limits(names, values < NEAR_LIMIT)
        rows, limits, derivatives = self.limits.derivatives(self.times, point.values, point.near, near)
        matrix, margins, limit_ids = (
            self._limit_rows(rows, derivatives),
            values[rows, limits],
            rows * MAX_LIMITS + limits,
        )
        if flown is None:
            return DisplacementModel(matrix, margins, limit_ids)
        means = flown.mean_rows(names, rows, limits) @ matrix
        own = (len(self.times) + np.arange(len(point.values.means))) * MAX_LIMITS
        stacked = sparse.csr_array(sparse.vstack([matrix, means]))
        return DisplacementModel(
            stacked, np.concatenate([margins, point.values.means]), np.concatenate([limit_ids, own])
        )

    def solve_subproblem(
        self, point: DisplacementEvaluation, model: DisplacementModel, trust_radius: float
    ) -> qp.Solution:
        """Solution of the quadratic program for the displacement.

        Rows that no step within the trust region can violate are omitted. If the active-set method fails once because
        too many rows are active, it is not used again. Once the cost of a jump has converged, the objective is the
        distance from the current point instead of the cost: steps along which the cost hardly changes would be long and
        would violate nonlinear limits again.
        """
        (m, n), matrix, values, flat = point.x.shape, model.matrix, model.values, point.x.T.ravel()
        box = self._box(m, trust_radius)
        near = np.flatnonzero(values <= abs(matrix) @ box)
        matrix, values = matrix[near], values[near]
        room = values - matrix @ flat
        count = len(values)
        metric = 2.0 * sparse.kron(sparse.diags(self.weights), self._metric)
        toward = flat if self._cost_settled else np.zeros(m * n)
        program = qp.Problem(
            sparse.block_diag([metric, sparse.csc_matrix((count, count))], "csc"),
            np.concatenate([-metric @ toward, np.full(count, VIOLATION_PENALTY)]),
            self._constraint_rows(matrix, room, n),
            np.concatenate([flat - box, np.zeros(count)]),
            np.concatenate([flat + box, np.full(count, np.inf)]),
        )
        solution = None
        if not self._active_set_failed:
            solution = self._solve_active_set(program, matrix, values, model.limit_ids[near], flat - toward)
            self._active_set_failed = solution is None
        if solution is None or not solution.usable:
            full = matrix.nnz > DENSE_SHARE * count * n * ORDER
            solution = qp.solve(
                program, BACKEND, tolerance=QP_TOLERANCE, order=_knot_order(matrix, m, n) if full else None
            )
        return solution

    def _solve_active_set(
        self,
        program: qp.Problem,
        matrix: sparse.csr_array,
        values: np.ndarray,
        limit_ids: np.ndarray,
        start: np.ndarray,
    ) -> qp.Solution | None:
        """Solution by an active-set method, started with the rows that were active in the previous subproblem.

        Its variables are offsets (n m,) from the minimum of the metric, with the value ``start`` at the current point.
        """
        began = time.perf_counter()
        size = len(start)
        least = 0.5 * (program.lower[:size] + program.upper[:size]) - start
        _, here, before = np.intersect1d(limit_ids, self._last_multipliers[0], assume_unique=True, return_indices=True)
        guess = np.zeros(len(limit_ids))
        guess[here] = self._last_multipliers[1][before]
        box = program.lower[:size] - least, program.upper[:size] - least
        found = solve_soft(self._invert_metric, matrix, values - matrix @ start, VIOLATION_PENALTY, box, guess)
        if found is None:
            return None
        self._last_multipliers = limit_ids, found.multipliers
        forces = program.P[:size, :size] @ found.x - matrix.T @ found.multipliers + found.bounds
        held = np.linalg.lstsq(self._fixed.T, -forces.reshape(len(self.weights), -1).T, rcond=None)[0].T
        slack = np.maximum(-(matrix @ (found.x - start) + values), 0.0)
        return qp.Solution(
            program, np.concatenate([least + found.x, slack]), np.concatenate([-found.multipliers, held.ravel()]),
            np.concatenate([found.bounds, found.multipliers - VIOLATION_PENALTY]), (), qp.Status.OPTIMAL, found.steps,
            time.perf_counter() - began, SOFT_SOLVER_NAME,
        )  # fmt: skip

    def _invert_metric(self, forces: np.ndarray) -> np.ndarray:
        """Inverse of the metric, restricted to displacements that vanish at fixed keys, times forces (k, n m)."""
        each = forces.reshape(len(forces), len(self.weights), -1)
        return np.asarray((each @ self._free_compliance / (2.0 * self.weights[:, None])).reshape(forces.shape))

    def try_step(
        self, point: DisplacementEvaluation, solution: qp.Solution
    ) -> tuple[DisplacementEvaluation, bool] | None:
        """The largest fraction of the step that lowers the sum of cost and penalty."""
        m, n = point.x.shape
        wanted = solution.x[: m * n].reshape(n, m).T
        for share in STEP_SHARES:
            try:
                trial = self._evaluate(self._respect_fixed_keys(point.x + share * (wanted - point.x)))
            except InvalidValue:
                continue  # a stretched leg has unbounded rates: the step is too long
            if trial.merit < point.merit:
                return trial, share == 1.0
        return None

    def is_finished(self, before: DisplacementEvaluation, after: DisplacementEvaluation | None) -> bool:
        """No limit is violated and the cost has converged, or the violations do not decrease any more."""
        if after is None:
            return before.values.violation < VIOLATION_TOLERANCE
        same = abs(before.cost - after.cost) < COST_TOLERANCE * before.cost
        if after.values.violation < VIOLATION_TOLERANCE:
            return same
        self._cost_settled = self._flight_momentum is not None and same
        return before.merit - after.merit < MIN_GAIN * VIOLATION_PENALTY * before.values.violation

    def _box(self, m: int, trust: float) -> np.ndarray:
        reach = np.minimum(trust / np.sqrt(np.maximum(self.weights, 1e-12)), 0.6)
        return np.repeat(reach, m)

    def _limit_rows(self, samples: np.ndarray, derivatives: np.ndarray) -> sparse.csr_array:
        """(R, n m) derivatives of the limits by the displacement, (n, m) flattened."""
        m, n = self._ties.shape[1], derivatives.shape[2]
        support = np.any([part != 0.0 for part in self._basis], axis=0)
        columns = np.argsort(~support, axis=1, kind="stable")[:, : min(ORDER + 2, m)]
        parts = [np.take_along_axis(part, columns, axis=1)[samples] for part in self._basis]
        data = sum(derivatives[:, order, :, None] * parts[order][:, None, :] for order in range(3))
        places = (np.arange(n)[None, :, None] * m + columns[samples][:, None, :]) + np.zeros_like(data, int)
        row = np.broadcast_to(np.arange(len(samples))[:, None, None], data.shape)
        kept = np.abs(data) > 1e-9
        return sparse.csr_array((data[kept], (row[kept], places[kept])), shape=(len(samples), n * m))

    def _constraint_rows(self, matrix: sparse.csr_array, room: np.ndarray, n: int) -> qp.Rows:
        count = len(room)
        fixed = sparse.kron(sparse.eye(n), sparse.csr_matrix(self._fixed)) if len(self._fixed) else None
        soft = sparse.hstack([matrix, sparse.eye(count)])
        blocks = [soft] if fixed is None else [soft, sparse.hstack([fixed, sparse.csr_matrix((fixed.shape[0], count))])]
        zeros = np.zeros(0 if fixed is None else fixed.shape[0])
        names = ("limit",) * count + ("fixed key",) * len(zeros)
        upper = np.concatenate([np.full(count, np.inf), zeros])
        return qp.Rows(sparse.csr_array(sparse.vstack(blocks)), np.concatenate([-room, zeros]), upper, names)


def _knot_order(matrix: sparse.csr_array, m: int, n: int) -> np.ndarray:
    """(n m + R,) order of the variables by knots, with the slack of each row after the last knot that it depends on."""
    last = np.zeros(matrix.shape[0])
    entries = matrix.tocoo()
    np.maximum.at(last, entries.row, entries.col % m)
    return np.argsort(np.concatenate([np.tile(np.arange(m), n), last]), kind="stable")


def _free_controls(count: int, window: Window) -> np.ndarray:
    """(C, m) map from free control values to all: at rest at both ends, and zero at ends that are not open."""
    inner = np.eye(count)[:, REST_CONTROLS:-REST_CONTROLS]
    first, last = np.zeros((2, count, 1))
    first[:REST_CONTROLS], last[-REST_CONTROLS:] = 1.0, 1.0
    return np.concatenate(
        [*([first] if window.open_start else []), inner, *([last] if window.open_stop else [])], axis=1
    )


def point_motion(rig: Rig, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean square motion (nv,) of the corners of the links' boxes per unit of each flat coordinate, and the size [m].

    The size is the diagonal of the box around these points.
    """
    mechanics, nv = Mechanics(rig), rig.nv
    step = 1e-6
    shifted = np.concatenate([y[None], y + step * np.eye(nv)])
    zeros = np.zeros_like(shifted)
    curves = to_manifold(rig, shifted, zeros, zeros)
    state = mechanics.compute_state(curves.q, curves.v, curves.a)
    corners = np.array([[box[list(pick), [0, 1, 2]] for pick in np.ndindex(2, 2, 2)] for box in rig.boxes])  # (L, 8, 3)
    local = np.concatenate([corners, np.zeros((len(rig.links), 1, 3))], axis=1)
    # n shifts, l links, p points, i axes of the world, j axes of the link
    points = state.position[:, :, None] + np.einsum("nlij,lpj->nlpi", state.rotation, local)
    points = points.reshape(len(shifted), -1, 3)
    ways = (points[1:] - points[0]) / step
    return (ways**2).sum(axis=2).mean(axis=1), float(np.linalg.norm(np.ptp(points[0], axis=0)))


def displacement_weights(rig: Rig, y: np.ndarray, columns: np.ndarray, preference: float) -> np.ndarray:
    """Cost (n,) of a squared unit of each coordinate; joints cost ``preference`` times as much as the root."""
    seen, size = point_motion(rig, y)
    weights = np.maximum(seen, MIN_VISIBILITY * size**2) / (UNIT_SHARE * size) ** 2
    weights[ROOT_NV:] *= preference
    return weights[columns]
