"""Likelihood of loads that a body carries in a second recording and did not carry in a first one.

Bare body phi and loads d are estimated together from both recordings,

    ||W (Y_1 phi - f_1)||^2 + ||W (Y_2 (phi + d) - f_2)||^2  and the prior of phi,

so that errors common to both recordings (skeleton, markers) cancel. phi is profiled out, which leaves a quadratic form
in d. A load is a body of its own: its pseudo-inertia is positive semi-definite and its mass lies in the box of its
link, widened by a margin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..base.errors import BackendError
from ..qp import PSD, Cone, Problem, Rows, Status, solve
from ..skeleton.rig import Rig
from ..values.inertials import DIAGONAL, FIRST_MOMENT, MASS, PER_LINK, InertialParameters
from .body_coordinates import BodyCoordinates
from .consistent import ConsistentOptions, prior_strengths
from .regression import Regression

TOLERANCE = 1e-9
RIDGE = 1e-6
"""Curvature added for directions that neither recording determines, for a load of 1 kg that fills its box."""
MIN_SIDE = 0.002
"""[m] least side of a box."""


@dataclass(frozen=True, slots=True)
class LoadFit:
    """The most likely loads on some links.

    Attributes:
        carriers: indices of the links, ascending.
        loads: (L, 10) parameters of the loads, zero elsewhere.
        cost: negative log-likelihood, 0 without any load.
    """

    carriers: tuple[int, ...]
    loads: np.ndarray
    cost: float


class LoadLikelihood:
    """Negative log-likelihood 1/2 x'Px + q'x of loads in coordinates x, ten for each link."""

    def __init__(self, rig: Rig, first: Regression, second: Regression, margin: float, weight: float) -> None:
        """Likelihood of two recordings.

        Args:
            rig: with the prior of the bare body.
            first, second: without and with the load, of the same weights.
            margin: [m] by which boxes are widened.
            weight: of a weighted equation, one over the variance of its residual times the data inflation.
        """
        self.count = len(rig.links)
        self.bodies = BodyCoordinates.from_reference(rig.prior)
        self.boxes = rig.boxes + np.array([[-margin], [margin]])
        self.loads = BodyCoordinates.from_reference(_solid_boxes(rig.links, self.boxes))
        prior = rig.prior.vector
        (R1, c1), (R2, c2) = (
            (self.bodies.transform_columns(r.factor), r.target - r.factor @ prior) for r in (first, second)
        )
        strengths = np.repeat(prior_strengths(rig.links, ConsistentOptions()), PER_LINK)
        load_columns = self.loads.transform_columns(second.factor)
        H = weight * (R1.T @ R1 + R2.T @ R2) + np.diag(strengths)
        coupling = weight * R2.T @ load_columns
        inverse = np.linalg.solve(H, np.column_stack([coupling, weight * (R1.T @ c1 + R2.T @ c2)]))
        self._response, self._bare = inverse[:, :-1], inverse[:, -1]
        P = weight * load_columns.T @ load_columns - coupling.T @ self._response
        self.P = 0.5 * (P + P.T) + RIDGE * np.eye(len(P))
        self.q = coupling.T @ self._bare - weight * load_columns.T @ c2

    def bare_body(self, loads: np.ndarray) -> InertialParameters:
        """The most likely bare body if these (L, 10) are the loads."""
        x = np.linalg.solve(self.loads.blocks, loads[:, :, None]).ravel()
        return self.bodies.parameters(self._bare - self._response @ x)

    def lower_bound(self, carriers: tuple[int, ...]) -> float:
        """Lower bound of the cost of any loads on these links: without constraints."""
        columns = _parameter_columns(carriers)
        P, q = self.P[np.ix_(columns, columns)], self.q[columns]
        return -0.5 * float(q @ np.linalg.solve(P, q))

    def fit(self, carriers: tuple[int, ...], min_share: float = 0.0) -> LoadFit:
        """The most likely loads on these links, each at least a given share of their total mass.

        Raises:
            BackendError: the cone solver failed.
        """
        columns = _parameter_columns(carriers)
        inside = [self._box_rows(link) @ self.loads.blocks[link] for link in carriers]
        rows = sparse.block_diag([block / np.linalg.norm(block, axis=1, keepdims=True) for block in inside])
        masses = np.zeros((len(carriers), len(columns)))
        for row, link in enumerate(carriers):
            masses[row, PER_LINK * row : PER_LINK * (row + 1)] = self.loads.blocks[link][MASS]
        shares = masses - min_share * masses.sum(axis=0)
        matrix = sparse.csr_array(sparse.vstack([rows, shares] if min_share else [rows]))
        names = tuple(f"load {k}" for k in range(matrix.shape[0]))
        limits = Rows(matrix, np.zeros(matrix.shape[0]), np.full(matrix.shape[0], np.inf), names)
        eye = sparse.eye_array(len(columns), format="csr")
        cones = tuple(
            Cone(PSD, eye[PER_LINK * k : PER_LINK * (k + 1)], np.zeros(PER_LINK)) for k in range(len(carriers))
        )
        P, q = self.P[np.ix_(columns, columns)], self.q[columns]
        size = float(np.trace(P)) / len(columns)
        problem = Problem.quadratic(P / size, q / size, rows=limits, cones=cones)
        solution = solve(problem, "clarabel", tolerance=TOLERANCE)
        if solution.status not in (Status.OPTIMAL, Status.INACCURATE):
            raise BackendError(f"{solution.backend}: {solution.message}")
        loads = np.zeros((self.count, PER_LINK))
        for row, link in enumerate(carriers):
            loads[link] = self.loads.blocks[link] @ solution.x[PER_LINK * row : PER_LINK * (row + 1)]
        return LoadFit(carriers, loads, size * solution.objective)

    def fit_within(self, sets: Iterable[tuple[int, ...]], tolerance: float) -> dict[tuple[int, ...], LoadFit]:
        """Fits of those sets of carriers whose cost is within a tolerance of the best, best first."""
        best, found = np.inf, []
        for bound, carriers in sorted((self.lower_bound(carriers), carriers) for carriers in sets):
            if bound > best + tolerance:
                break
            fit = self.fit(carriers)
            best = min(best, fit.cost)
            found.append(fit)
        near = sorted((fit for fit in found if fit.cost <= best + tolerance), key=lambda fit: fit.cost)
        return {fit.carriers: fit for fit in near}

    def mass_std(self, carriers: tuple[int, ...]) -> tuple[np.ndarray, float]:
        """(L,) [kg] standard deviations of masses if these links carry, NaN elsewhere, and of their sum.

        Inequalities are not considered.
        """
        result, weights = np.full(self.count, np.nan), np.zeros((len(carriers), PER_LINK * len(carriers)))
        for row, link in enumerate(carriers):
            weights[row, PER_LINK * row : PER_LINK * (row + 1)] = self.loads.blocks[link][MASS]
        columns = _parameter_columns(carriers)
        covariance = weights @ np.linalg.solve(self.P[np.ix_(columns, columns)], weights.T)
        result[list(carriers)] = np.sqrt(np.diag(covariance))
        return result, float(np.sqrt(covariance.sum()))

    def _box_rows(self, link: int) -> np.ndarray:
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


def _parameter_columns(carriers: tuple[int, ...]) -> np.ndarray:
    return np.concatenate([np.arange(PER_LINK * k, PER_LINK * (k + 1)) for k in carriers])


def _solid_boxes(links: tuple[str, ...], boxes: np.ndarray) -> InertialParameters:
    """Bodies of 1 kg with uniform density that fill boxes (L, 2, 3) [m]."""
    squares = np.maximum(boxes[:, 1] - boxes[:, 0], MIN_SIDE) ** 2 / 12.0
    inertias = squares.sum(axis=1)[:, None, None] * np.eye(3) - squares[:, :, None] * np.eye(3)
    return InertialParameters.from_com(links, np.ones(len(links)), boxes.mean(axis=1), inertias)
