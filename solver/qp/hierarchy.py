"""Lexicographic least squares with inequalities: each level is met as well as the levels above it allow.

Levels are rows l <= A x <= u, in order of importance; the first is solved in the least-squares sense, the second
without worsening the first, and so on (Escande, Mansard, Wieber, IJRR 33, 2014; jovic2016 (7)). Here every level is
brought to the nearest-point problem of `active_set`: what the levels above leave free is an affine space, in which a
least-squares level has a singular value decomposition that makes its cost a plain distance. So the costly matrices
are factored once, and rows come and go in coordinates where the Hessian is the identity.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.linalg import qr, svd

from ..errors import BackendError, InvalidValue
from .active_set import NearestPoint, RowPool, nearest_point
from .rows import Rows, RowSource
from .solution import Status

RANK = 1e-6
"""Singular values below this share of the largest count as zero: the level does not see those directions."""
MET = 1e-8
"""Relative violation of a row, in scaled variables, that counts as none."""
SETTLED = 1e-7
"""Violation of a row at the optimum of the levels above, in scaled variables, that is put down to rounding."""
WORSENING = 1e-6
"""Relative worsening of an upper level's optimum that is still put down to rounding."""
PROXIMAL = 0.1
"""Weight of what a level does not see, as a share of the smallest singular value it does see."""
PROXIMAL_ROUNDS = 30
PROXIMAL_GAP = 1e-10
"""Relative distance from the optimum at which the proximal rounds end."""
PUSHING = 1e-6
"""Share of the largest multiplier above which a row surely holds with equality for every lower level."""


@dataclass(frozen=True, slots=True)
class Level:
    """Rows of equal importance, to be met in the least-squares sense.

    Attributes:
        name: for reports.
        rows: inequalities and equalities.
        source: inequalities too many to write down, belonging to the same level. They are always met exactly: when
            the level contradicts itself, it is its rows that give way.
    """

    name: str
    rows: Rows
    source: RowSource | None = None


@dataclass(frozen=True, slots=True)
class LevelOptimum:
    """How well one level was met.

    Attributes:
        name: of the level.
        optimum: 2-norm of its violation when it was solved; for rows with l = u, ||A x - b||.
        final: the same at the final point: no lower level may have worsened it.
        violation_of_higher_levels: (final - optimum) relative to the size of the level's numbers.
        met: whether all its rows hold to rounding.
        rows: how many rows were written down while it was solved: its own and those that sources handed out.
        iterations: active-set changes.
        rounds: how often the sources were asked.
    """

    name: str
    optimum: float
    final: float
    violation_of_higher_levels: float
    met: bool
    rows: int
    iterations: int
    rounds: int


@dataclass(frozen=True, slots=True)
class HierarchySolution:
    """Outcome of a hierarchy.

    Attributes:
        x: (n,).
        levels: one per level.
        status: OPTIMAL when no level was worsened by a lower one.
        active: names of inequality rows that hold with equality at x.
        seconds: wall clock.
    """

    x: np.ndarray
    levels: tuple[LevelOptimum, ...]
    status: Status
    active: tuple[str, ...]
    seconds: float


@dataclass
class _State:
    """What the levels solved so far leave free: x = origin + basis y, subject to the pool and the sources."""

    scale: np.ndarray
    origin: np.ndarray
    basis: np.ndarray
    pool: RowPool
    sources: list[RowSource] = field(default_factory=list)
    iterations: int = 0
    rounds: int = 0
    found: int = 0

    def begin_with(self, source: RowSource, pool: RowPool) -> None:
        """Give a pool the rows that a source wants there from the start."""
        rows = source.initial()
        self.found += len(rows)
        pool.add(rows)

    def nearest(
        self,
        origin: np.ndarray,
        basis: np.ndarray,
        target: np.ndarray,
        pool: RowPool,
        start: tuple[int, ...] = (),
        *,
        allowed: bool = False,
    ) -> NearestPoint:
        """The nearest point that satisfies the pool and all sources.

        ``allowed`` says that the origin satisfies them to rounding, so that what is left of a row's violation there
        must not count as a contradiction.
        """
        count = len(self.scale)

        def ask(x: np.ndarray) -> int:
            # x may carry the slacks of a level behind the variables.
            before = len(pool.bounds)
            for source in self.sources:
                found = source.violated(x[:count] * self.scale, MET)
                pool.add(_widen(found, len(pool.scale)))
                self.found += len(found)
            if allowed:
                pool.absorb_rounding(origin, SETTLED)
            return len(pool.bounds) - before

        if allowed:
            pool.absorb_rounding(origin, SETTLED)
        result = nearest_point(origin, basis, target, pool, ask, start)
        self.iterations += result.iterations
        self.rounds += result.rounds
        return result


def solve_hierarchy(
    levels: Sequence[Level], *, scale: np.ndarray | None = None, guess: np.ndarray | None = None
) -> HierarchySolution:
    """Solve a hierarchy of any number of levels.

    Args:
        levels: most important first.
        scale: (n,) typical size of each variable: tolerances and ranks are judged in x / scale. Default: ones.
        guess: (n,) where to look first; affects the time, and the result only where no level decides.

    Raises:
        InvalidValue: levels of different widths, or a scale that is not positive.
        BackendError: the active-set method did not end.
    """
    began = time.perf_counter()
    count = levels[0].rows.variables
    scale = np.ones(count) if scale is None else np.asarray(scale, float)
    guess = np.zeros(count) if guess is None else np.asarray(guess, float)
    if any(level.rows.variables != count for level in levels) or scale.shape != (count,) or guess.shape != (count,):
        raise InvalidValue("the levels, the scale and the guess must share their variables")
    if not np.all(scale > 0.0):
        raise InvalidValue(f"the scale of variable {int(np.argmin(scale))} is not positive")
    state = _State(scale, guess / scale, np.eye(count), RowPool(scale))
    solved = []
    for level in levels:
        found, iterations, rounds = state.found, state.iterations, state.rounds
        if level.source is None and level.rows.equality.all():
            _least_squares(state, level)
        elif not _feasible(state, level):
            _relax(state, level)
        optimum = _violation(level, state.origin * scale)
        written = len(level.rows) + state.found - found
        solved.append((optimum, written, state.iterations - iterations, state.rounds - rounds))
    x = state.origin * scale
    reports = []
    for level, (optimum, written, iterations, rounds) in zip(levels, solved, strict=True):
        final = _violation(level, x)
        size = _magnitude(level, x)
        worsening = (final - optimum) / size
        met = optimum <= MET * size
        reports.append(LevelOptimum(level.name, optimum, final, worsening, met, written, iterations, rounds))
    kept = all(report.violation_of_higher_levels <= WORSENING for report in reports)
    tight = np.abs(state.pool.excess(state.origin)) <= MET
    active = tuple(dict.fromkeys(name for name, on in zip(state.pool.names, tight) if on))
    status = Status.OPTIMAL if kept else Status.INACCURATE
    return HierarchySolution(x, tuple(reports), status, active, time.perf_counter() - began)


def _least_squares(state: _State, level: Level) -> None:
    """A level of equalities: minimise ||A x - b|| over what is free."""
    if not state.basis.shape[1]:
        return
    matrix = sparse.csr_array(level.rows.matrix * state.scale[None, :])
    residual = level.rows.upper - matrix @ state.origin
    dense = np.asarray(matrix @ state.basis)
    U, s, Vt = svd(dense, full_matrices=False, check_finite=False)
    rank = int(np.sum(s > RANK * s[0])) if len(s) and s[0] > 0.0 else 0
    if not rank:
        return
    seen = Vt[:rank].T
    unseen = null_space_of(seen)
    weight = PROXIMAL * s[rank - 1]
    inner = np.hstack([seen / s[:rank], unseen / weight])
    basis = state.basis @ inner
    wanted = U[:, :rank].T @ residual
    target = np.concatenate([wanted, np.zeros(unseen.shape[1])])
    floor = float(residual @ residual - wanted @ wanted)
    start: tuple[int, ...] = ()
    for _ in range(PROXIMAL_ROUNDS):
        found = state.nearest(state.origin, basis, target, state.pool, start, allowed=True)
        if not found.feasible:
            raise BackendError(f"hierarchy: level {level.name!r} lost the feasible set of the levels above it")
        moved = found.z[rank:] - target[rank:]
        # What the proximal term still pulls, times how far it might let go: a bound on the cost above the optimum.
        pull = float(np.linalg.norm(moved)) * max(float(np.linalg.norm(moved)), weight)
        cost = max(floor, 0.0) + float(np.sum((found.z[:rank] - wanted) ** 2))
        target[rank:] = found.z[rank:]
        start = found.active
        if pull <= PROXIMAL_GAP * max(cost, PROXIMAL_GAP * float(residual @ residual)):
            break
    state.origin = found.x
    reach = np.linalg.norm(state.pool.matrix[list(found.active)] @ basis, axis=1).max(initial=1.0)
    # Multipliers that rounding alone can leave behind when no row holds the level back.
    ordinary = float(np.linalg.norm(residual)) / float(reach)
    _hold_active_rows(state, state.basis @ unseen, found.active, found.multipliers, ordinary)


def _feasible(state: _State, level: Level) -> bool:
    """Take the level as hard rows if they contradict nothing above; leaves the state alone and says False otherwise."""
    equal = level.rows.equality
    origin, basis = state.origin, state.basis
    if equal.any():
        matrix = (level.rows.matrix[equal] * state.scale[None, :]).toarray()
        lengths = np.maximum(np.linalg.norm(matrix, axis=1), np.finfo(float).tiny)
        matrix, values = matrix / lengths[:, None], level.rows.upper[equal] / lengths
        within = matrix @ basis
        if basis.shape[1]:
            origin = origin + basis @ np.linalg.lstsq(within, values - matrix @ origin, rcond=RANK)[0]
        if np.max(np.abs(matrix @ origin - values)) > MET:
            return False
        basis = _project_null_space(basis, within)
    pool = state.pool.copy()
    pool.add(level.rows.select(~equal))
    sources = state.sources
    if level.source is not None:
        state.sources = [*sources, level.source]
        state.begin_with(level.source, pool)
    found = state.nearest(origin, basis, np.zeros(basis.shape[1]), pool)
    if not found.feasible:
        state.sources = sources
        return False
    state.origin, state.basis, state.pool = found.x, basis, pool
    return True


def _relax(state: _State, level: Level) -> None:
    """A level that cannot be met: minimise the 2-norm of its slacks, then hold every row at its own slack.

    The variables are extended by one slack per side: minimise 1/2 ||w||^2 with g x + w >= b.
    """
    rows, count = level.rows, len(state.scale)
    if level.source is not None:
        state.sources.append(level.source)
        state.begin_with(level.source, state.pool)
    low, high = np.isfinite(rows.lower), np.isfinite(rows.upper)
    soft = sparse.vstack([rows.matrix[low], -rows.matrix[high]], format="csr")
    sides = soft.shape[0]
    lengths = np.sqrt(np.asarray((soft * state.scale[None, :]).power(2).sum(axis=1)).ravel())
    weight = PROXIMAL * float(lengths[lengths > 0.0].min(initial=1.0))
    hard = len(state.pool.bounds)
    pool = state.pool.widen(sides)
    bounds = np.concatenate([rows.lower[low], -rows.upper[high]])
    pool.add(Rows(sparse.hstack([soft, sparse.eye_array(sides)]), bounds, np.full(sides, np.inf), ("",) * sides))
    free = state.basis.shape[1]
    basis = np.zeros((count + sides, free + sides))
    basis[:count, :free] = state.basis / weight
    basis[count:, free:] = np.eye(sides)
    origin = np.concatenate([state.origin, np.zeros(sides)])
    target = np.zeros(free + sides)
    start: tuple[int, ...] = ()
    for _ in range(PROXIMAL_ROUNDS):
        found = state.nearest(origin, basis, target, pool, start)
        if not found.feasible:
            raise BackendError(f"hierarchy: the source of level {level.name!r} contradicts the levels above it")
        moved = float(np.linalg.norm(found.z[:free] - target[:free]))
        slack = float(np.linalg.norm(found.z[free:]))
        target[:free] = found.z[:free]
        start = found.active
        if moved <= PROXIMAL_GAP**0.5 * slack * PROXIMAL:
            break
    state.origin = found.x[:count]
    state.pool.adopt(pool, slice(hard + sides, None))
    pushing = [
        (index if index < hard else index - sides, multiplier)
        for index, multiplier in zip(found.active, found.multipliers)
        if not hard <= index < hard + sides
    ]
    _hold_active_rows(state, state.basis, tuple(i for i, _ in pushing), np.array([m for _, m in pushing]), slack)
    residual = rows.slack(state.origin * state.scale)
    reach = np.sqrt(np.asarray((rows.matrix * state.scale[None, :]).power(2).sum(axis=1)).ravel())
    fixed = (np.abs(residual) > MET * reach) | rows.equality
    within = (rows.matrix[fixed] * state.scale[None, :]) @ state.basis
    state.basis = _project_null_space(state.basis, within / np.maximum(reach[fixed], np.finfo(float).tiny)[:, None])
    lower, upper = rows.lower - np.maximum(residual, 0.0), rows.upper - np.minimum(residual, 0.0)
    state.pool.add(Rows(rows.matrix, lower, upper, rows.names).select(~rows.equality))


def _project_null_space(basis: np.ndarray, within: np.ndarray) -> np.ndarray:
    """The part of a basis (n, d) that rows, given in its coordinates (m, d), do not see."""
    if not within.size:
        return basis
    _, s, Vt = svd(within, check_finite=False)
    return basis @ Vt[int(np.sum(s > RANK)) :].T


def null_space_of(orthonormal: np.ndarray) -> np.ndarray:
    """Orthonormal complement (d, d - r) of orthonormal columns (d, r)."""
    Q, _ = qr(orthonormal, check_finite=False)
    return Q[:, orthonormal.shape[1] :]


def _hold_active_rows(
    state: _State, basis: np.ndarray, active: tuple[int, ...], multipliers: np.ndarray, largest: float = 0.0
) -> None:
    """Leave free only what keeps the rows tight that push against the level just solved."""
    pushing = multipliers > PUSHING * multipliers.max(initial=largest)
    indices = [index for index, push in zip(active, pushing) if push]
    state.basis = _project_null_space(basis, np.asarray(state.pool.matrix[indices] @ basis))


def _violation(level: Level, x: np.ndarray) -> float:
    total = float(np.sum(level.rows.slack(x) ** 2))
    if level.source is not None:
        total += float(np.sum(level.source.violated(x, MET).slack(x) ** 2))
    return total**0.5


def _magnitude(level: Level, x: np.ndarray) -> float:
    """Size of the level's numbers, to judge rounding by."""
    values = np.concatenate([level.rows.matrix @ x, level.rows.lower, level.rows.upper])
    return max(float(np.linalg.norm(values[np.isfinite(values)])), float(np.finfo(float).tiny))


def _widen(rows: Rows, count: int) -> Rows:
    """The same rows over more variables, which they do not mention."""
    if rows.variables == count:
        return rows
    matrix = sparse.csr_array((rows.matrix.data, rows.matrix.indices, rows.matrix.indptr), shape=(len(rows), count))
    return Rows(matrix, rows.lower, rows.upper, rows.names)
