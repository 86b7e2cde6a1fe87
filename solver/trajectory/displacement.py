"""The least displacement of a trajectory that keeps its limits: sequential quadratic programming on splines.

Root and joints move away from the given trajectory along sixth-order splines. What is minimised is the mean square
move of the body's points; each step's quadratic programme has the limits linearised at every sample, with a penalty on
what cannot be kept, and is sparse because a spline value acts on six knot spans only. The zero-moment point of this
programme is that of the whole body, of which the linear inverted pendulum is the special case of a moving root.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from .. import qp
from ..errors import InvalidValue
from ..feasibility.margins import Checks
from ..qp.softened import softened
from .flown import GAUSS, Flown
from .limited import Values
from .limits import TrajectoryLimits
from .planted_feet import PlantedTrajectory, Rates
from .splines import AT_REST, ORDER, Spline, UnevenSpline, around_flights
from .trust_region import Trust, descend

NAME = "softened rows"
BACKEND = qp.SPARSE
"""Where the active set comes to no end. Twenty iterations where OSQP needs some thousand: slopes by accelerations are
stiff, and the optimum sharp."""
ACCURACY = 1e-6
NEAR = 1.0
"""Limits closer than so many of their units enter the programme."""
PENALTY = 30.0
"""Of one unit beyond a limit at one sample; a displacement of 1 % of the body's size throughout costs one."""
FULL = 1.0 / 3.0
"""Share of the displacements within a row's reach that rows depend on, from which solving knot by knot is quicker: it
treats what lies between as full. Programmes of forces are above it, those of joints' ranges and links below."""
TRUST = Trust(6.0, 1e-3, refused=0.1, shortened=0.5, whole=2.0, most=6.0)
"""Largest step, in units of `SMALL`: one that was shortened far from the limits may be whole again near them."""
SHARES = (1.0, 0.4, 0.15)
"""Of a step, tried in turn."""
LEAST_GAIN = 1e-3
"""Share of the penalty on what is violated that a step must gain for the search to go on."""
SETTLED = 0.05
"""Relative change of cost below which a kept trajectory counts as near enough."""
KEPT = 0.02
"""Sum of violations that counts as none: the slack beyond the limits is larger by far."""
WIDEST = 2**16
"""More limits than any sample has; those whose number depends on what is near come last."""
JUMPED = 0.025
"""[s] Largest spacing of knots in a flight: legs swing quickly there, and nothing holds the body."""
PER_KNOT = 3
"""Samples at least between two knots on the ground around a flight; with two, torques were broken in between."""
EVENNESS = 0.2
"""[s] Displacements that change within this time cost twice. Of motions keyed at random .1 s made the jerk up to nine
times larger than keyed where .2 s makes it 1.5 times, with as little moved and fewer programmes."""
PREFERRED = 1.0
"""[s] A displacement at a preferred key costs as if it lasted so much longer."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of a trajectory to be displaced.

    Attributes:
        start, stop: [s].
        open_start, open_stop: the trajectory begins or ends here, and its end may move; else it is met without a jump.
        fixed, preferred: times [s] within at which the trajectory must, or should, not move.
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
        window: where.
        columns: (n,) flat coordinates displaced.
        control: (C, n) control values.
        spline: theirs, from the window's start on.
        iterations: of the search.
        violation: what it could not keep at its samples, in the limits' units.
        cost: mean square displacement over (`SMALL` of the body's size)^2.
        flaws: of programmes whose solutions were bad, and not used.
    """

    window: Window
    columns: np.ndarray
    control: np.ndarray
    spline: Spline | UnevenSpline
    iterations: int = 0
    violation: float = 0.0
    cost: float = 0.0
    flaws: tuple[str, ...] = ()

    def added(self, times: np.ndarray, rates: Rates) -> Rates:
        """Coordinates (N, nv) and derivatives with the displacement."""
        window, result = self.window, tuple(np.array(part, float) for part in rates)
        inside = np.flatnonzero((times >= window.start) & (times <= window.stop))
        basis = self.spline.basis(np.clip(times[inside] - window.start, 0.0, self.spline.duration))
        for part, values in zip(result, basis.curves(self.control)):
            part[np.ix_(inside, self.columns)] += values
        return result[0], result[1], result[2]


@dataclass(frozen=True, slots=True)
class Judged:
    """A displacement of one window and what it is worth.

    Attributes:
        x: (m, n) free control values.
        values: of the limits.
        near: checks at the samples.
        cost: see `Displacement`.
    """

    x: np.ndarray
    values: Values
    near: Checks
    cost: float

    @property
    def merit(self) -> float:
        """Cost and penalty."""
        return self.cost + PENALTY * self.values.violation


@dataclass(frozen=True, slots=True)
class Model:
    """The limits that are near, to first order.

    Attributes:
        matrix: (R, n m) their derivative by the displacement.
        values: (R,) what is left.
        places: (R,) a number that each limit of each sample has in every model.
    """

    matrix: sparse.csr_array
    values: np.ndarray
    places: np.ndarray


@dataclass
class Program:
    """The displacement of one window, improved step by step.

    Attributes:
        trajectory: to be displaced.
        limits: to be kept.
        window: where.
        spacing: [s] between knots.
        rate: [1/s] of the samples.
        weights: (n,) cost of a unit of each moved coordinate squared, in (`SMALL` size)^2.
        also: times [s] to be sampled as well.
        evenness: [s] displacements that change within this time cost twice.
        flights: [s] spans inside the window; the acceleration may have a corner at their ends, and knots are `JUMPED`
            apart there.
    """

    trajectory: PlantedTrajectory
    limits: TrajectoryLimits
    window: Window
    spacing: float
    rate: float
    weights: np.ndarray
    also: np.ndarray = field(default_factory=lambda: np.zeros(0))
    evenness: float = EVENNESS
    flights: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        window = self.window
        duration = window.stop - window.start
        self.spline: Spline | UnevenSpline
        flown, also, rate = None, self.also, self.rate
        if self.flights:
            flights = [(a - window.start, b - window.start) for a, b in self.flights]
            self.spline = around_flights(duration, self.spacing, flights, min(self.spacing, JUMPED))
            flown = window.start + self.spline.within(flights, GAUSS)
            often = self.spline.samples(rate, PER_KNOT)  # where knots are close it pushes off, and much changes quickly
            stands = np.all([(often < a) | (often > b) for a, b in flights], axis=0)
            also, rate = np.concatenate([also, window.start + often[stands]]), 0.0
        else:
            self.spline = Spline(duration, max(1, int(np.ceil(duration / self.spacing)) - 1))
        self.times = self.limits.samples(window.start, window.stop, rate, also, flown)
        self._flown = None if flown is None else Flown(self.times, flown, self.limits.options.flight)
        self._settled = False
        self._base = self.trajectory.curve.at(self.times)
        self._ties = _ties(self.spline.count, window)
        basis = self.spline.basis(np.clip(self.times - window.start, 0.0, duration))
        self._basis = [part @ self._ties for part in (basis.position, basis.velocity, basis.acceleration)]
        even = self.spline.basis(np.linspace(0.0, duration, 6 * self.spline.count))
        value, bend = even.position @ self._ties, self.evenness**2 * even.acceleration @ self._ties
        metric = (value.T @ value + bend.T @ bend) / len(even.times)
        at = self.spline.basis(np.array(window.preferred) - window.start).position @ self._ties
        self._metric = metric + PREFERRED / duration * at.T @ at
        self._fixed = self.spline.basis(np.array(window.fixed) - window.start).position @ self._ties
        self._back = np.linalg.pinv(self._fixed) if len(self._fixed) else np.zeros((self._ties.shape[1], 0))
        self._paid, self._many_bind = (np.zeros(0, int), np.zeros(0)), False
        self._soft = np.linalg.inv(self._metric)
        if len(self._fixed):
            leads = self._soft @ self._fixed.T
            self._soft = self._soft - leads @ np.linalg.solve(self._fixed @ leads, leads.T)

    def solve(self, first: np.ndarray, most: int, until: float = np.inf) -> Displacement:
        """The least displacement found in at most so many steps, from first (m, n) on.

        No step is begun after ``until``, a time of `time.monotonic`.
        """
        found = descend(self, self._judged(self._exact(first)), TRUST, most, until)
        point = found.point
        return replace(
            self.displacement(point.x), iterations=found.programmes, violation=point.values.violation,
            cost=point.cost, flaws=found.flaws,
        )  # fmt: skip

    def displacement(self, x: np.ndarray) -> Displacement:
        """That of control values (m, n), not judged."""
        return Displacement(self.window, self.trajectory.moved, self._ties @ x, self.spline)

    def continued(self, earlier: Displacement) -> np.ndarray:
        """(m, n) the displacement of an earlier programme, as near as this one's splines come."""
        still = np.zeros_like(self._base[0])
        return self.nearest(earlier.added(self.times, (still, still, still))[0])

    def nearest(self, added: np.ndarray) -> np.ndarray:
        """(m, n) the displacement nearest to what is added to the flat coordinates (N, nv) at the samples."""
        values = added[:, self.trajectory.moved]
        return self._exact(np.linalg.lstsq(self._basis[0], values, rcond=None)[0])

    @property
    def given(self) -> np.ndarray:
        """(N, nv) flat coordinates at the samples, nothing displaced."""
        return self._base[0]

    @property
    def nothing(self) -> np.ndarray:
        """(m, n) no displacement."""
        return np.zeros((self._ties.shape[1], len(self.trajectory.moved)))

    def lowered(self, drop: float) -> np.ndarray:
        """(m, n) the root lower [m] wherever it may move."""
        x = self.nothing
        x[:, self.trajectory.moved == 2] = -drop
        return self._exact(x)

    def judged(self, x: np.ndarray) -> Values:
        """Limits with a displacement (m, n)."""
        return self._judged(x).values

    def _exact(self, x: np.ndarray) -> np.ndarray:
        """The nearest displacement that vanishes at the fixed keys to rounding."""
        return x - self._back @ (self._fixed @ x)

    def _rates(self, x: np.ndarray) -> Rates:
        parts = tuple(np.array(part) for part in self._base)
        for part, basis in zip(parts, self._basis):
            part[:, self.trajectory.moved] += basis @ x
        return parts[0], parts[1], parts[2]

    def _judged(self, x: np.ndarray) -> Judged:
        rates = self._rates(x)
        near = self.limits.check(self.times, rates)
        values = self.limits.values(self.times, rates, near)
        if self._flown is not None:
            values = self._flown.of(values)
        # i coordinates, m and k control values: each coordinate's displacement in the spline's metric
        cost = float(self.weights @ np.einsum("mi,mk,ki->i", x, self._metric, x))
        return Judged(x, values, near, cost)

    def model(self, point: Judged) -> Model:
        """The near limits to first order."""
        names, values, flown = point.values.names, point.values.values, self._flown
        near = values < NEAR if flown is None else flown.asked(names, values < NEAR)
        rows, limits, slopes = self.limits.derivatives(self.times, point.values, point.near, near)
        matrix, left, places = self._rows(rows, slopes), values[rows, limits], rows * WIDEST + limits
        if flown is None:
            return Model(matrix, left, places)
        means = flown.rows(names, rows, limits) @ matrix
        own = (len(self.times) + np.arange(len(point.values.means))) * WIDEST
        stacked = sparse.csr_array(sparse.vstack([matrix, means]))
        return Model(stacked, np.concatenate([left, point.values.means]), np.concatenate([places, own]))

    def programme(self, point: Judged, model: Model, trust: float) -> qp.Solution:
        """The quadratic programme for the displacement, solved; rows that no step within the trust can break are left
        out. Where so many rows bind once that active sets give up, they are not asked again.

        Once a jump's cost has settled the nearest displacement that keeps the limits is asked for, not the least: steps
        along which the cost hardly changes are long, and what bends on the way is broken anew.
        """
        (m, n), matrix, values, flat = point.x.shape, model.matrix, model.values, point.x.T.ravel()
        box = self._box(m, trust)
        near = np.flatnonzero(values <= abs(matrix) @ box)
        matrix, values = matrix[near], values[near]
        room = values - matrix @ flat
        count = len(values)
        metric = 2.0 * sparse.kron(sparse.diags(self.weights), self._metric)
        toward = flat if self._settled else np.zeros(m * n)
        program = qp.Problem(
            sparse.block_diag([metric, sparse.csc_matrix((count, count))], "csc"),
            np.concatenate([-metric @ toward, np.full(count, PENALTY)]),
            self._all_rows(matrix, room, n),
            np.concatenate([flat - box, np.zeros(count)]),
            np.concatenate([flat + box, np.full(count, np.inf)]),
        )
        solution = None
        if not self._many_bind:
            solution = self._softened(program, matrix, values, model.places[near], flat - toward)
            self._many_bind = solution is None
        if solution is None or not solution.usable:
            full = matrix.nnz > FULL * count * n * ORDER
            solution = qp.solve(program, BACKEND, tolerance=ACCURACY, order=_in_time(matrix, m, n) if full else None)
        return solution

    def _softened(
        self, program: qp.Problem, matrix: sparse.csr_array, values: np.ndarray, places: np.ndarray, begun: np.ndarray
    ) -> qp.Solution | None:
        """The programme solved by the rows that bind, from those on that bound the one before.

        Its variables are ways (n m,) from where the metric is least; what they were before is ``begun``.
        """
        began = time.perf_counter()
        size = len(begun)
        least = 0.5 * (program.lower[:size] + program.upper[:size]) - begun
        _, here, before = np.intersect1d(places, self._paid[0], assume_unique=True, return_indices=True)
        guess = np.zeros(len(places))
        guess[here] = self._paid[1][before]
        box = program.lower[:size] - least, program.upper[:size] - least
        found = softened(self._inverse, matrix, values - matrix @ begun, PENALTY, box, guess)
        if found is None:
            return None
        self._paid = places, found.prices
        forces = program.P[:size, :size] @ found.x - matrix.T @ found.prices + found.bounds
        held = np.linalg.lstsq(self._fixed.T, -forces.reshape(len(self.weights), -1).T, rcond=None)[0].T
        slack = np.maximum(-(matrix @ (found.x - begun) + values), 0.0)
        return qp.Solution(
            program, np.concatenate([least + found.x, slack]), np.concatenate([-found.prices, held.ravel()]),
            np.concatenate([found.bounds, found.prices - PENALTY]), (), qp.Status.OPTIMAL, found.steps,
            time.perf_counter() - began, NAME,
        )  # fmt: skip

    def _inverse(self, forces: np.ndarray) -> np.ndarray:
        """Displacements (k, n m), fixed keys kept, that the metric turns into so many forces."""
        each = forces.reshape(len(forces), len(self.weights), -1)
        return np.asarray((each @ self._soft / (2.0 * self.weights[:, None])).reshape(forces.shape))

    def tried(self, point: Judged, solution: qp.Solution) -> tuple[Judged, bool] | None:
        """The largest share of the step that lowers cost and penalty together."""
        m, n = point.x.shape
        wanted = solution.x[: m * n].reshape(n, m).T
        for share in SHARES:
            try:
                trial = self._judged(self._exact(point.x + share * (wanted - point.x)))
            except InvalidValue:
                continue  # a leg stretched all the way has rates beyond all measure: the step is too long
            if trial.merit < point.merit:
                return trial, share == 1.0
        return None

    def ends(self, before: Judged, after: Judged | None) -> bool:
        """The limits are kept and the cost has settled, or they cannot be kept better."""
        if after is None:
            return before.values.violation < KEPT
        same = abs(before.cost - after.cost) < SETTLED * before.cost
        if after.values.violation < KEPT:
            return same
        self._settled = self._flown is not None and same
        return before.merit - after.merit < LEAST_GAIN * PENALTY * before.values.violation

    def _box(self, m: int, trust: float) -> np.ndarray:
        reach = np.minimum(trust / np.sqrt(np.maximum(self.weights, 1e-12)), 0.6)
        return np.repeat(reach, m)

    def _rows(self, samples: np.ndarray, slopes: np.ndarray) -> sparse.csr_array:
        """(R, n m) derivative of the limits by the displacement, (n, m) raveled."""
        m, n = self._ties.shape[1], slopes.shape[2]
        support = np.any([part != 0.0 for part in self._basis], axis=0)
        columns = np.argsort(~support, axis=1, kind="stable")[:, : min(ORDER + 2, m)]
        parts = [np.take_along_axis(part, columns, axis=1)[samples] for part in self._basis]
        data = sum(slopes[:, order, :, None] * parts[order][:, None, :] for order in range(3))
        places = (np.arange(n)[None, :, None] * m + columns[samples][:, None, :]) + np.zeros_like(data, int)
        row = np.broadcast_to(np.arange(len(samples))[:, None, None], data.shape)
        kept = np.abs(data) > 1e-9
        return sparse.csr_array((data[kept], (row[kept], places[kept])), shape=(len(samples), n * m))

    def _all_rows(self, matrix: sparse.csr_array, room: np.ndarray, n: int) -> qp.Rows:
        count = len(room)
        fixed = sparse.kron(sparse.eye(n), sparse.csr_matrix(self._fixed)) if len(self._fixed) else None
        soft = sparse.hstack([matrix, sparse.eye(count)])
        blocks = [soft] if fixed is None else [soft, sparse.hstack([fixed, sparse.csr_matrix((fixed.shape[0], count))])]
        zeros = np.zeros(0 if fixed is None else fixed.shape[0])
        names = ("limit",) * count + ("fixed key",) * len(zeros)
        upper = np.concatenate([np.full(count, np.inf), zeros])
        return qp.Rows(sparse.csr_array(sparse.vstack(blocks)), np.concatenate([-room, zeros]), upper, names)


def _in_time(matrix: sparse.csr_array, m: int, n: int) -> np.ndarray:
    """(n m + R,) the variables in the order of knots, each of R rows' slack behind the last knot it depends on."""
    last = np.zeros(matrix.shape[0])
    entries = matrix.tocoo()
    np.maximum.at(last, entries.row, entries.col % m)
    return np.argsort(np.concatenate([np.tile(np.arange(m), n), last]), kind="stable")


def _ties(count: int, window: Window) -> np.ndarray:
    """(C, m) control values from the free ones: at rest at both ends, and zero where the trajectory goes on."""
    inner = np.eye(count)[:, AT_REST:-AT_REST]
    first, last = np.zeros((2, count, 1))
    first[:AT_REST], last[-AT_REST:] = 1.0, 1.0
    return np.concatenate(
        [*([first] if window.open_start else []), inner, *([last] if window.open_stop else [])], axis=1
    )
