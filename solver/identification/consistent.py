"""Physically consistent identification: every link's pseudo-inertia is positive semi-definite, with an explicit prior.

The cost is Bayesian: ||W (Y phi - f)||^2 / (2 v c) + sum_i d(P_i), with v the variance of a weighted residual, c the
number of correlated equations that carry the information of one independent equation, and d the divergence from the
prior, scaled so that a link whose mass and size grow by its relative standard deviation costs 1/2. For tracked people
the covariance v c 1 of the normal equations' right-hand side grows by that of errors that follow posture
(`blocks.PostureErrors`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ..base.errors import BackendError, InvalidValue, UnknownLink
from ..qp import PSD, Cone, Problem, Rows, Status, solve, triangle_of
from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, MASS, PER_LINK, InertialParameters
from .body_coordinates import PSEUDO_INERTIA_ORDER, BodyCoordinates
from .constraints import SYMMETRY, ConstraintOptions, box_rows, fixed_link_rows, mass_rows, plausible_rows
from .entropic import Minimum, RowSides, minimise
from .estimate import Estimate
from .weighted_equations import (
    EquationsWithErrors,
    WeightedEquations,
    count_weighted_rows,
    data_inflation,
    noise_variance,
)

RELATIVE_STD = 0.25
"""Default relative standard deviation of a link's mass around its prior. Individuals vary by 10 to 15 % around
regression tables, tables by as much among each other, and errors of the skeleton add to it. Chosen for its intervals:
on 144 simulated bodies in six kinds of motion whose table the prior leaves out (`benchmarks validation`), 92, 94 and
95 % of the 95 % intervals contain the true masses with 0.2, 0.25 and 0.3; errors are .86, .93, 1.00 of the prior's."""
RELATIVE_STD_SETTING = "relative std of the prior"
"""Name of the relative standard deviation in an estimate's settings."""
MIN_DENSITY_RATIO = 1e-4
"""Least density of the result as a fraction of the reference's (of 1 + X): keeps rounding from crossing the boundary.
Measured on a simulated robot, whose masses are 222 g off: half and twice the value give the same."""
BOUNDARY_FACTOR = 3.0
"""Smallest eigenvalue of 1 + X, over `MIN_DENSITY_RATIO`, up to which a link counts as on the boundary of consistency.
"""
MAX_ITERATIONS = 8
"""Noise and inflation are estimated from the residuals, which in turn depend on them. Measured on a simulated robot,
whose masses are 222 g off: half and twice the value give the same."""
CONVERGED = 0.1
"""Relative change of the data's weight that ends the iterations. Measured on a simulated robot, whose masses are 222 g
off: half and twice the value give 225 and 222 g."""
START_DENSITY_RATIO = 1e-2
"""Least density, as a fraction of the reference's, of a starting point. Measured on a simulated robot, whose masses
are 222 g off: half and twice the value give the same."""
MIN_NOISE_VARIANCE = 1e-12
"""Variance of a residual as a fraction of the mean square of the equations, for data without noise."""
TOLERANCE = 1e-9
ACTIVE_TOLERANCE = 1e-6
"""Distance to a row, in the coordinates, up to which it counts as active."""


@dataclass(frozen=True, slots=True)
class ConsistentOptions:
    """Options of the consistent method.

    Attributes:
        relative_std: relative standard deviation of a link's mass under the prior, which scales the divergence as a
            whole.
        relative_stds: other values by link, for a link known to be modified.
        mass_prior: a further prior on each link's mass, with its relative standard deviation. The divergence alone
            allows twice that if the size does not change with the mass. For people; a robot's link may carry something.
        midline_links: by link with a further prior on its centre of mass across its plane of symmetry, the unit normal
            (3,) of that plane in the link's frame, see `population_rows`. For people whose left and right are alike.
        data_inflation: c above; None estimates it from the blocks of the regression.
        noise_variance: v above; None estimates it from the residuals.
        constraints: further constraints; inertia directions are not used. Symmetry and mass bounds only if
            ``plausible``; boxes and total mass as set there.
        plausible: whether symmetry and mass bounds (jovic2016 level 2) hold as well.
    """

    relative_std: float = RELATIVE_STD
    relative_stds: dict[str, float] = field(default_factory=dict)
    mass_prior: bool = False
    midline_links: Mapping[str, np.ndarray] = field(default_factory=dict)
    data_inflation: float | None = None
    noise_variance: float | None = None
    constraints: ConstraintOptions = field(default_factory=ConstraintOptions)
    plausible: bool = False

    def __post_init__(self) -> None:
        if not self.relative_std > 0.0:
            raise InvalidValue(f"relative_std must be positive, not {self.relative_std:g}")
        for name in ("data_inflation", "noise_variance"):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise InvalidValue(f"{name} must be positive, not {value:g}")


def consistent(regression: WeightedEquations, rig: Rig, options: ConsistentOptions | None = None) -> Estimate:
    """The physically consistent parameters with the largest posterior probability under data and prior.

    Raises:
        InvalidValue: regression and rig name different links, or a prior that is not a solid body.
        BackendError: Clarabel failed, or the constraints contradict each other.
    """
    began = time.perf_counter()
    options = ConsistentOptions() if options is None else options
    if regression.links != rig.links:
        raise InvalidValue("the regression has other links than the rig")
    reference = rig.prior
    bodies = BodyCoordinates.from_reference(reference)
    rows = _linear_rows(rig, reference, bodies, options)
    scale = _DataWeight.estimate(regression, reference, options)
    task = _ConsistentProblem(
        regression.equations_with_errors,
        bodies,
        rows,
        RowSides.of_rows(rows),
        prior_strengths(rig.links, options),
        population_rows(bodies, options),
    )
    found = task.solve(scale.weight)
    for _ in range(0 if scale.is_fixed else MAX_ITERATIONS):
        previous, scale = scale, _DataWeight.estimate(regression, bodies.parameters(found.x), options)
        if abs(np.log(scale.weight / previous.weight)) < CONVERGED:
            scale = previous
            break
        found = task.solve(scale.weight, found)
    parameters = bodies.parameters(found.x)
    on_boundary = np.linalg.eigvalsh(bodies.matrices(found.x))[:, 0] <= BOUNDARY_FACTOR * MIN_DENSITY_RATIO
    active = _active_rows(rows, found.x) + tuple(
        f"{link}: pseudo-inertia at the edge of the physical" for link, on in zip(rig.links, on_boundary) if on
    )
    return Estimate(
        "consistent, entropic prior",
        parameters,
        reference,
        found.status,
        regression.cost(parameters),
        regression.cost(reference),
        active,
        settings={
            "data inflation": scale.inflation,
            "noise variance": scale.variance,
            RELATIVE_STD_SETTING: options.relative_std,
        },
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True, slots=True)
class _DataWeight:
    """Weight of a weighted equation."""

    variance: float
    inflation: float
    is_fixed: bool

    @property
    def weight(self) -> float:
        return 1.0 / (self.variance * self.inflation)

    @staticmethod
    def estimate(
        regression: WeightedEquations, parameters: InertialParameters, options: ConsistentOptions
    ) -> _DataWeight:
        variance, inflation = options.noise_variance, options.data_inflation
        # With hardly more equations than unknowns, the fit would be exact and the noise seem zero.
        few = count_weighted_rows(regression) < 2 * len(regression.factor)
        fixed = few or (variance is not None and inflation is not None)
        if variance is None:
            size = (float(regression.target @ regression.target) + regression.residual_cost) / max(
                1, count_weighted_rows(regression)
            )
            variance = max(
                noise_variance(regression, parameters), MIN_NOISE_VARIANCE * size, float(np.finfo(float).tiny)
            )
        if inflation is None:
            inflation = data_inflation(regression, parameters)
        return _DataWeight(variance, inflation, fixed)


def data_weight(regression: WeightedEquations, parameters: InertialParameters) -> float:
    """Weight of a weighted equation: one over the variance of its residual times the data inflation."""
    return _DataWeight.estimate(regression, parameters, ConsistentOptions()).weight


@dataclass(frozen=True, slots=True)
class _ConsistentProblem:
    """Data, coordinates, prior and constraints; only the weight of the data is a variable.

    Attributes:
        equations: with the covariance of their errors.
        bodies: coordinates around the reference.
        rows: linear rows in these coordinates.
        sides: the same rows, prepared for `minimise`.
        strengths: (L,) of the divergence.
        known: `population_rows`.
    """

    equations: EquationsWithErrors
    bodies: BodyCoordinates
    rows: Rows
    sides: RowSides
    strengths: np.ndarray
    known: np.ndarray

    def solve(self, weight: float, previous: Minimum | None = None) -> Minimum:
        """The optimum with noise of variance 1 / ``weight``, from the one with another variance."""
        whitening = self.equations.whitening(1.0 / weight)
        columns = self.bodies.transform_columns(whitening @ self.equations.factor)
        residual = whitening @ (self.equations.target - self.equations.factor @ self.bodies.reference.vector)
        hessian, gradient = columns.T @ columns + self.known.T @ self.known, -(columns.T @ residual)
        start = _strictly_feasible_start(self.bodies, self.rows) if previous is None else previous.x
        active = () if previous is None else previous.active
        return minimise(hessian, gradient, self.strengths, self.sides, start, active)


def _strictly_feasible_start(bodies: BodyCoordinates, rows: Rows) -> np.ndarray:
    """Strictly consistent coordinates that satisfy the rows: the reference if it does, otherwise the nearest point."""
    count = len(bodies.reference.links)
    x = np.zeros(PER_LINK * count)
    if np.max(np.abs(rows.slack(x)), initial=0.0) <= TOLERANCE:
        return x
    problem = Problem.quadratic(np.eye(len(x)), x, rows=rows, cones=_cones(count, START_DENSITY_RATIO))
    solution = solve(problem, "clarabel", tolerance=TOLERANCE)
    if solution.status not in (Status.OPTIMAL, Status.INACCURATE):
        raise BackendError(
            f"{solution.backend}: {solution.message}; the total mass, boxes or bounds may contradict each other"
        )
    return solution.x


def _cones(links: int, margin: float) -> tuple[Cone, ...]:
    """1 + X - margin positive semi-definite for every link."""
    offset = triangle_of((1.0 - margin) * np.eye(PSEUDO_INERTIA_ORDER))
    eye = sparse.eye_array(PER_LINK * links, format="csr")
    return tuple(Cone(PSD, eye[PER_LINK * k : PER_LINK * (k + 1)], offset, f"link {k}") for k in range(links))


def prior_strengths(links: tuple[str, ...], options: ConsistentOptions) -> np.ndarray:
    """Factor of each link's divergence (L,): 1 / (4 s^2), so that P = (1 + s) P_ref costs 1/2 to second order."""
    return 1.0 / (4.0 * _link_relative_stds(links, options) ** 2)


def _link_relative_stds(links: tuple[str, ...], options: ConsistentOptions) -> np.ndarray:
    for name in options.relative_stds:
        if name not in links:
            raise UnknownLink(name, links)
    return np.array([options.relative_stds.get(link, options.relative_std) for link in links])


def population_rows(bodies: BodyCoordinates, options: ConsistentOptions) -> np.ndarray:
    """Rows (M, 10 L) in the coordinates whose squares are twice the cost of the priors on masses and midline links.

    The divergence alone lets the centre of mass of a torso lie 3 to 4 cm to one side, where a tilted plate moves it.
    The two halves of a midline link are as much alike as left and right limbs: sideways its centre of mass has a
    standard deviation of `SYMMETRY` of its radius of gyration, 10 mm for a torso.
    """
    reference = bodies.reference
    links, masses, count = reference.links, reference.masses, len(reference.links) * PER_LINK
    heavy = np.flatnonzero(masses) if options.mass_prior else np.zeros(0, int)
    by_mass = (np.eye(len(links)) / (_link_relative_stds(links, options) * np.where(masses, masses, 1.0)))[heavy]
    rows = np.zeros((len(by_mass) + len(options.midline_links), count))
    rows[: len(by_mass), MASS::PER_LINK] = by_mass
    for row, (link, normal) in zip(rows[len(by_mass) :], options.midline_links.items()):
        index = reference.index(link)
        offset, pseudo = float(reference.coms[index] @ normal), reference.pseudo_inertias[index]
        second, first = normal @ pseudo[:3, :3] @ normal, normal @ pseudo[:3, 3]
        std = SYMMETRY * np.sqrt(masses[index] * second - first**2)  # of h_sideways - offset m
        own = row[PER_LINK * index :]
        own[FIRST_MOMENT], own[MASS] = normal / std, -offset / std
    return bodies.transform_columns(rows)


def _linear_rows(rig: Rig, reference: InertialParameters, bodies: BodyCoordinates, options: ConsistentOptions) -> Rows:
    """The linear rows in phi, transformed to the coordinates."""
    limits = options.constraints
    limits.check(rig.links)
    masses = mass_rows(rig, limits.total_mass)
    # The cones already keep the masses positive.
    parts = [masses.select(masses.equality), fixed_link_rows(rig, reference, limits)]
    parts += [box_rows(rig)] if limits.boxes else []
    parts += [plausible_rows(rig, reference, limits)] if options.plausible else []
    rows = Rows.stack(parts)
    shift = rows.matrix @ reference.vector
    matrix = sparse.csr_array(rows.matrix @ sparse.block_diag([sparse.coo_array(b) for b in bodies.blocks]))
    changes = np.diff(matrix.indptr) > 0  # rows of links without mass are empty
    return Rows(matrix, rows.lower - shift, rows.upper - shift, rows.names).select(changes)


def _active_rows(rows: Rows, x: np.ndarray) -> tuple[str, ...]:
    """Names of inequality rows that hold with equality."""
    values = rows.matrix @ x
    lengths = np.sqrt(np.asarray(rows.matrix.power(2).sum(axis=1)).ravel())
    near = np.minimum(np.abs(values - rows.lower), np.abs(values - rows.upper)) <= ACTIVE_TOLERANCE * np.maximum(
        lengths, 1e-300
    )
    return tuple(name for name, on in zip(rows.names, near & ~rows.equality) if on)
