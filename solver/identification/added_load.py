"""What did the subject carry, and where? The change between two recordings of the same body, as in jovic2016 VIII.

The paper identifies twice and looks at the difference of the masses, telling the second identification which link
carries the belt. Here nobody is told. Bare body phi and loads d are estimated together from both recordings,

    ||W (Y_1 phi - f_1)||^2 + ||W (Y_2 (phi + d) - f_2)||^2  and the prior of phi,

so that what both recordings get wrong alike (skeleton, markers) cancels. A load is a body of its own: its
pseudo-inertia is positive semi-definite and its mass lies in the link's box, widened by a margin.

Masses alone cannot be told apart along a limb: a kilogram at the wrist is the hand's or the forearm's. If every link
may carry something, the loads therefore spread over neighbours (`spread`). A load is one object on one link, and so
the verdict takes as few links as explain the data: links are added one by one, by Schwarz's criterion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..arrays import frozen
from ..errors import BackendError, InvalidValue, UnknownLink
from ..inertials import DIAGONAL, FIRST_MOMENT, MASS, PER_LINK, InertialParameters
from ..qp import PSD, Cone, Problem, Rows, Status, solve
from ..rig import Rig
from ..trial import Trial
from .accumulate import accumulate
from .bodies import BodyCoordinates
from .consistent import ConsistentOptions, prior_strengths
from .estimate import Estimate
from .identify import IdentifyOptions, method_of
from .regression import Regression
from .weighing import weighted

MARGIN = 0.05
"""[m] A load worn on a segment reaches this far beyond the segment's box."""
MOST_LOADS = 3
TOLERANCE = 1e-9
RIDGE = 1e-6
"""Curvature, in units of the prior's, of what neither recording sees of a load."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Choices.

    Attributes:
        margin: [m] how far a load reaches beyond the box of the link that carries it.
        most: largest number of links that carry something.
        candidates: links that may carry something; empty for all.
        bare_mass: [kg] of the body without load; None leaves it to the data.
        base: base link of the wrench equation.
    """

    margin: float = MARGIN
    most: int = MOST_LOADS
    candidates: tuple[str, ...] = ()
    bare_mass: float | None = None
    base: str | int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin < np.inf or self.most < 1:
            raise InvalidValue("the margin must not be negative and at least one link must be allowed to carry a load")


@dataclass(frozen=True, slots=True, repr=False)
class AddedLoad:
    """Loads found; ``found.loads["right_hand"]`` is one of them as a body: mass [kg], centre of mass [m], inertia.

    Attributes:
        links: L names.
        carriers: links that carry something, heaviest first; empty when the data show no load.
        loads: what was added to each link; zero where nothing.
        spread: the same when every link may carry something: how far the data alone tell neighbours apart.
        evidence: (L,) how much less likely it is that this link alone carries the load than the likeliest one, natural
            logarithm; 0 for the likeliest.
        threshold: what one more carrier must gain in the likelihood's natural logarithm (Schwarz).
        bare: identification of the body without load.
        mass_std: (L,) [kg] standard deviation of each added mass by the residuals; NaN where nothing is carried. An
            offset of the plates between the recordings is no residual: it looks like a load.
    """

    links: tuple[str, ...]
    carriers: tuple[str, ...]
    loads: InertialParameters
    spread: InertialParameters
    evidence: np.ndarray
    threshold: float
    bare: Estimate
    mass_std: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", frozen("evidence", self.evidence, (len(self.links),)))
        object.__setattr__(self, "mass_std", frozen("mass_std", self.mass_std, (len(self.links),), finite=False))

    def __repr__(self) -> str:
        if not self.carriers:
            return "No load found"
        each = [
            f"{self.loads[name].mass:.2f} ± {self.mass_std[self.links.index(name)]:.2f} kg on {name}"
            for name in self.carriers
        ]
        others = ", ".join(self.alternatives)
        return f"Load found: {'; '.join(each)}\n  cannot be told from: {others or 'no other link'}"

    @property
    def masses(self) -> np.ndarray:
        """Added mass per link (L,) [kg]."""
        return self.loads.masses

    @property
    def total(self) -> float:
        """All loads together [kg]."""
        return self.loads.total_mass

    @property
    def alternatives(self) -> tuple[str, ...]:
        """Links that could as well carry the load alone: less likely by no more than the threshold, likeliest first."""
        if not self.carriers:
            return ()
        order = np.argsort(self.evidence, kind="stable")
        return tuple(
            self.links[k] for k in order if self.evidence[k] <= self.threshold and self.links[k] not in self.carriers
        )


def find_added_load(
    rig: Rig, before: Sequence[Trial], after: Sequence[Trial], options: LoadOptions | None = None
) -> AddedLoad:
    """Mass and place of what a body carries in later trials and did not carry in earlier ones.

    The trials should excite the same joints; the later ones need not repeat the earlier ones' motion.

    Args:
        rig: with the prior of the bare body.
        before: without the load.
        after: with it.
        options: see there.

    Raises:
        InvalidValue: no frame counts before, or none after.
        UnknownLink: a candidate or base link does not exist.
        BackendError: the cone solver failed.

    Example:
        >>> import solver
        >>> robot = solver.simulated_robot()
        >>> quick = solver.Settings(bootstrap=0, cross_validate=False)
        >>> study = solver.identify_study(robot.recordings, rig=robot.rig, settings=quick)
        >>> only = solver.LoadOptions(candidates=("right_hand", "left_hand"))
        >>> solver.find_added_load(study.rig, study.trials, study.trials, only)  # nothing was added
        No load found
    """
    options = LoadOptions() if options is None else options
    method = method_of(rig, IdentifyOptions(base=options.base, total_mass=options.bare_mass))
    first = accumulate(rig, before, base=options.base, axes="world")
    first, bare = weighted(first, method, rig)
    second = accumulate(rig, after, base=options.base, axes="world", structure=first.structure)
    problem = _Change(rig, first, second.with_weights(first.weights), bare, options)
    alone = [problem.fitted((k,)) for k in problem.candidates]
    values = np.full(len(rig.links), np.inf)
    values[list(problem.candidates)] = [fit.value for fit in alone]
    best = _explained(problem, alone, options.most)
    order = sorted(best.carriers, key=lambda k: -best.loads[k, MASS])
    evidence = np.where(np.isfinite(values), values - values.min(), np.finfo(float).max)
    return AddedLoad(
        rig.links,
        tuple(rig.links[k] for k in order),
        InertialParameters(rig.links, best.loads),
        InertialParameters(rig.links, problem.fitted(problem.candidates).loads),
        evidence,
        problem.threshold,
        bare,
        problem.mass_std(best.carriers),
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    carriers: tuple[int, ...]
    loads: np.ndarray
    value: float


def _explained(problem: _Change, alone: Sequence[_Fit], most: int) -> _Fit:
    """As few carriers as explain the data: one more while it gains enough, and those that turn out idle let go."""
    best = _Fit((), np.zeros((problem.count, PER_LINK)), 0.0)
    while len(best.carriers) < most:
        others = [k for k in problem.candidates if k not in best.carriers]
        further = [problem.fitted((*best.carriers, k)) for k in others] if best.carriers else alone
        if not further:
            break
        fuller = min(further, key=lambda fit: fit.value)
        if best.value - fuller.value <= problem.threshold:
            break
        best = fuller
        while len(best.carriers) > 1:
            fewer = [problem.fitted(tuple(c for c in best.carriers if c != k)) for k in best.carriers]
            leaner = min(fewer, key=lambda fit: fit.value)
            if leaner.value - best.value > problem.threshold:
                break
            best = leaner
    return best


class _Change:
    """Negative log-likelihood of loads, the bare body profiled out: 1/2 d'Pd + q'd, zero without load."""

    def __init__(self, rig: Rig, first: Regression, second: Regression, bare: Estimate, options: LoadOptions) -> None:
        self.count = len(rig.links)
        for name in options.candidates:
            if name not in rig.links:
                raise UnknownLink(name, rig.links)
        self.candidates = tuple(rig.index(n) for n in options.candidates) or tuple(range(self.count))
        self.bodies = BodyCoordinates.around(rig.prior)
        self.boxes = rig.boxes + np.array([[-options.margin], [options.margin]])
        weight = 1.0 / (bare.settings["noise variance"] * bare.settings["data inflation"])
        prior = rig.prior.vector
        (R1, c1), (R2, c2) = ((self.bodies.columns(r.factor), r.target - r.factor @ prior) for r in (first, second))
        strengths = prior_strengths(rig.links, ConsistentOptions())
        H = weight * (R1.T @ R1 + R2.T @ R2) + np.diag(np.repeat(strengths, PER_LINK))
        C = weight * (R2.T @ R2)
        inverse = np.linalg.solve(H, np.column_stack([C, weight * (R1.T @ c1 + R2.T @ c2)]))
        P = C - C @ inverse[:, :-1]
        self.P = 0.5 * (P + P.T) + RIDGE * np.diag(np.repeat(strengths, PER_LINK))
        self.q = C @ inverse[:, -1] - weight * (R2.T @ c2)
        independent = weight * bare.settings["noise variance"] * (first.rows + second.rows)
        self.threshold = 0.5 * PER_LINK * float(np.log(max(independent, math.e)))

    def fitted(self, carriers: tuple[int, ...]) -> _Fit:
        """The likeliest loads on these links."""
        columns = np.concatenate([np.arange(PER_LINK * k, PER_LINK * (k + 1)) for k in carriers])
        matrix = np.zeros((3 * len(carriers), len(columns)))
        for place, link in enumerate(carriers):
            rows = self._inside(link) @ self.bodies.blocks[link]
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            matrix[3 * place : 3 * place + 3, PER_LINK * place : PER_LINK * (place + 1)] = rows
        names = tuple(f"load {k} inside its box" for k in range(len(matrix)))
        inside = Rows(sparse.csr_array(matrix), np.zeros(len(matrix)), np.full(len(matrix), np.inf), names)
        eye = sparse.eye_array(len(columns), format="csr")
        cones = tuple(
            Cone(PSD, eye[PER_LINK * k : PER_LINK * (k + 1)], np.zeros(PER_LINK)) for k in range(len(carriers))
        )
        P, q = self.P[np.ix_(columns, columns)], self.q[columns]
        size = float(np.trace(P)) / len(columns)
        problem = Problem.quadratic(P / size, q / size, rows=inside, cones=cones)
        solution = solve(problem, "clarabel", tolerance=TOLERANCE)
        if solution.status not in (Status.OPTIMAL, Status.INACCURATE):
            raise BackendError(f"{solution.backend}: {solution.message}")
        loads = np.zeros((self.count, PER_LINK))
        for place, link in enumerate(carriers):
            loads[link] = self.bodies.blocks[link] @ solution.x[PER_LINK * place : PER_LINK * (place + 1)]
        return _Fit(carriers, loads, size * solution.objective)

    def mass_std(self, carriers: tuple[int, ...]) -> np.ndarray:
        """(L,) [kg] standard deviations of the loads' masses, NaN elsewhere; inequalities are not counted."""
        result = np.full(self.count, np.nan)
        if carriers:
            columns = np.concatenate([np.arange(PER_LINK * k, PER_LINK * (k + 1)) for k in carriers])
            covariance = np.linalg.inv(self.P[np.ix_(columns, columns)])
            for place, link in enumerate(carriers):
                own = slice(PER_LINK * place, PER_LINK * (place + 1))
                row = self.bodies.blocks[link][MASS]
                result[link] = np.sqrt(row @ covariance[own, own] @ row)
        return result

    def _inside(self, link: int) -> np.ndarray:
        """Rows (3, 10) in a load's parameters, not negative if its mass lies in the box: (x - low) (high - x) >= 0."""
        rows = np.zeros((3, PER_LINK))
        low, high = self.boxes[link]
        for axis in range(3):
            # the second moment along an axis is half of the two other moments of inertia minus half of its own
            for other in range(3):
                rows[axis, DIAGONAL[other]] = 0.5 if other == axis else -0.5
            rows[axis, FIRST_MOMENT.start + axis] = low[axis] + high[axis]
            rows[axis, MASS] = -low[axis] * high[axis]
        return rows
