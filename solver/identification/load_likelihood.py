"""Likelihood of loads that a body carries in a second recording and did not carry in a first one.

Bare body phi and loads d are estimated together from both recordings,

    Y_1 phi = f_1 + E_1 g + e_1,    Y_2 (phi + d) = f_2 + E_2 g + e_2    and the prior of phi,

where the errors of the motion that follow posture have the same gains g, of unit variance, in both recordings
(`blocks.PostureErrors`), and the rest e has a variance of its own in each. phi and g are profiled out, which leaves a
quadratic form in d. A load is a body of its own: its pseudo-inertia is positive semi-definite and its mass lies in the
box of its link, widened by a margin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from ..base.errors import BackendError
from ..qp import PSD, Cone, Problem, Rows, Status, solve
from ..skeleton.rig import Rig
from ..values.inertials import DIAGONAL, FIRST_MOMENT, MASS, PER_LINK, InertialParameters
from .body_coordinates import BodyCoordinates
from .consistent import ConsistentOptions, data_weight, prior_strengths
from .regression import Regression
from .weighted_equations import EquationsWithErrors

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

    def __init__(
        self,
        rig: Rig,
        recordings: tuple[Regression, Regression],
        bodies: tuple[InertialParameters, InertialParameters],
        margin: float,
    ) -> None:
        """Likelihood of two recordings.

        Args:
            rig: with the prior of the bare body.
            recordings: without and with the load.
            bodies: the body in each, from whose residuals the noise of each axis is estimated.
            margin: [m] by which boxes are widened.
        """
        self.count = len(rig.links)
        self.bodies = BodyCoordinates.from_reference(rig.prior)
        self.boxes = rig.boxes + np.array([[-margin], [margin]])
        self.loads = BodyCoordinates.from_reference(_solid_boxes(rig.links, self.boxes))
        weighted = [own.weighted_by(body, rig.prior) for own, body in zip(recordings, bodies)]
        # errors that follow posture are stated apart, not as inflation of the rest
        weights = [data_weight(replace(own, posture_errors=None), body) for own, body in zip(weighted, bodies)]
        equations = _stack([own.equations_with_errors for own in weighted], weights)
        whitening, loaded = equations.whitening(1.0), equations.factor.copy()
        loaded[: -len(recordings[1].factor)] = 0.0
        columns = self.bodies.transform_columns(whitening @ equations.factor)
        load_columns = self.loads.transform_columns(whitening @ loaded)
        residual = whitening @ (equations.target - equations.factor @ rig.prior.vector)
        strengths = np.repeat(prior_strengths(rig.links, ConsistentOptions()), PER_LINK)
        coupling = columns.T @ load_columns
        inverse = np.linalg.solve(
            columns.T @ columns + np.diag(strengths), np.column_stack([coupling, columns.T @ residual])
        )
        self._response, self._bare = inverse[:, :-1], inverse[:, -1]
        P = load_columns.T @ load_columns - coupling.T @ self._response
        self.P = 0.5 * (P + P.T) + RIDGE * np.eye(len(P))
        self.q = coupling.T @ self._bare - load_columns.T @ residual

    def bodies_with(self, loads: np.ndarray) -> tuple[InertialParameters, InertialParameters]:
        """The most likely body without and with the load if these (L, 10) are the loads."""
        x = np.linalg.solve(self.loads.blocks, loads[:, :, None]).ravel()
        bare = self.bodies.parameters(self._bare - self._response @ x)
        return bare, InertialParameters(bare.links, bare.values + loads)

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
        masses = self._mass_rows(carriers)
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

    def mass_covariance(self, carriers: tuple[int, ...]) -> np.ndarray:
        """(K, K) [kg^2] of the masses if these K links carry. Inequalities are not considered."""
        masses, columns = self._mass_rows(carriers), _parameter_columns(carriers)
        return np.asarray(masses @ np.linalg.solve(self.P[np.ix_(columns, columns)], masses.T))

    def _mass_rows(self, carriers: tuple[int, ...]) -> np.ndarray:
        """(K, 10 K) masses as functions of the coordinates of these links."""
        return block_diag(*[self.loads.blocks[link][[MASS]] for link in carriers])

    def _box_rows(self, link: int) -> np.ndarray:
        """Rows (3, 10) in a load's parameters, not negative if its mass lies in the box: (x - low) (high - x) >= 0."""
        low, high = self.boxes[link]
        rows = np.zeros((3, PER_LINK))
        # the second moment along an axis is half of the two other moments of inertia minus half of its own
        rows[:, DIAGONAL] = np.eye(3) - 0.5
        rows[:, FIRST_MOMENT] = np.diag(low + high)
        rows[:, MASS] = -low * high
        return rows


def _stack(recordings: Sequence[EquationsWithErrors], weights: Sequence[float]) -> EquationsWithErrors:
    """Equations of several recordings, of variance one; gains that only some have are of other plates."""
    most = max(own.posture_errors.shape[1] for own in recordings)
    errors = [np.pad(own.posture_errors, ((0, 0), (0, most - own.posture_errors.shape[1]))) for own in recordings]
    scale = np.repeat(np.sqrt(weights), [len(own.target) for own in recordings])
    return EquationsWithErrors(
        scale[:, None] * np.vstack([own.factor for own in recordings]),
        scale * np.concatenate([own.target for own in recordings]),
        scale[:, None] * np.vstack(errors),
        recordings[0].origins,
    )


def _parameter_columns(carriers: tuple[int, ...]) -> np.ndarray:
    return np.concatenate([np.arange(0), *(np.arange(PER_LINK * k, PER_LINK * (k + 1)) for k in carriers)])


def _solid_boxes(links: tuple[str, ...], boxes: np.ndarray) -> InertialParameters:
    """Bodies of 1 kg with uniform density that fill boxes (L, 2, 3) [m]."""
    squares = np.maximum(boxes[:, 1] - boxes[:, 0], MIN_SIDE) ** 2 / 12.0
    inertias = squares.sum(axis=1)[:, None, None] * np.eye(3) - squares[:, :, None] * np.eye(3)
    return InertialParameters.from_com(links, np.ones(len(links)), boxes.mean(axis=1), inertias)
