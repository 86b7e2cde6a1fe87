"""Interface between accumulated equations and the identification methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

import numpy as np
from scipy.linalg import solve_triangular, svd

from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, INERTIA, MASS, InertialParameters
from .base_parameters import BaseParameters

RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest are rounding, in parameters divided by their typical size."""
MIN_BLOCKS = 4
"""Least number of blocks from which the correlation of residuals can be estimated."""
MIN_MASS_FRACTION = 1e-4
"""Least mass of a link, as a fraction of the mean, so that a massless link has a scale."""
MIN_LENGTH = 0.01
"""[m] least length of a link, so that a link whose box has no extent has a scale."""


@dataclass(frozen=True, slots=True)
class EquationsWithErrors:
    """Equations ||factor phi - target||^2 to be fitted, without the residual that no parameters can remove.

    White noise of the motion is not part of it. It biases least squares towards zero, and regression calibration
    (Carroll et al., Measurement Error in Nonlinear Models, ch. 4) would correct that if the noise of every direction
    were known. But some directions always have more expected than actual noise, and reducing all corrections until
    those are possible left a tenth of them or nothing. Instead the cut-off is chosen so that the equations hold more
    motion than noise.

    Attributes:
        factor: (k, 10 L), weighted.
        target: (k,), weighted.
        posture_errors: (k, S) errors of the target by one standard deviation of each of the S errors of the motion that
            follow posture (`blocks.PostureErrors`); S = 0 without them.
        origins: (K, 10 L) changes of the parameters by displaced origins, see `blocks.PostureErrors`.
    """

    factor: np.ndarray
    target: np.ndarray
    posture_errors: np.ndarray
    origins: np.ndarray

    @staticmethod
    def without_posture_errors(factor: np.ndarray, target: np.ndarray) -> EquationsWithErrors:
        """Equations of a motion that was measured at the joints themselves."""
        return EquationsWithErrors(factor, target, np.zeros((len(factor), 0)), np.zeros((0, factor.shape[1])))

    def whitening(self, noise_variance: float) -> np.ndarray:
        """(k, k) matrix that makes errors independent with variance one.

        Args:
            noise_variance: of an equation, without the errors that follow posture.
        """
        errors = self.posture_errors / np.sqrt(noise_variance)
        root = np.linalg.cholesky(np.eye(len(errors)) + errors @ errors.T)
        return solve_triangular(root, np.eye(len(root)), lower=True) / np.sqrt(noise_variance)


class WeightedEquations(Protocol):
    """Least squares ||factor phi - target||^2 + residual cost over blocks of time; see `regression.Regression`."""

    @property
    def links(self) -> tuple[str, ...]:
        """L names."""

    @property
    def structure(self) -> BaseParameters:
        """Base parameters, B of them."""

    @property
    def weights(self) -> np.ndarray:
        """(R,) of the measured rows."""

    @property
    def frames(self) -> int:
        """Number of frames used."""

    @property
    def axis_rows(self) -> np.ndarray:
        """(R,) number of measured values."""

    @property
    def factor(self) -> np.ndarray:
        """(k, 10 L), weighted."""

    @property
    def target(self) -> np.ndarray:
        """(k,), weighted."""

    @property
    def residual_cost(self) -> float:
        """Weighted squared residual that no parameters can remove."""

    @property
    def base_triangle(self) -> np.ndarray:
        """(k, B + 1) in base parameters."""

    @property
    def base_decomposition(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Singular value decomposition U, s, V' of the base parameters' columns of the triangle."""

    @property
    def equations_with_errors(self) -> EquationsWithErrors:
        """The equations with the covariance of their errors."""

    @property
    def frames_per_posture(self) -> float:
        """Frames whose errors are alike because they follow the posture, at least 1."""

    def block_gradients(self, phi: np.ndarray) -> np.ndarray:
        """(K, B) gradient by the base parameters phi (B,) of half the squared residual of each block."""

    def cost(self, parameters: InertialParameters) -> float:
        """||W (Y phi - f)||^2 of any parameters."""


class FullParameterForm:
    """Mixin that gives equations with a `structure` and a `base_triangle` their form in phi. Not slotted: it is
    cached."""

    @property
    def frames_per_posture(self) -> float:
        """One, for a motion that was measured at the joints."""
        return 1.0

    @cached_property
    def _full_parameter_form(self) -> tuple[np.ndarray, np.ndarray, float]:
        equations = cast(WeightedEquations, self)
        return equations.structure.to_full_parameters(equations.base_triangle)

    @cached_property
    def base_decomposition(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Singular value decomposition U, s, V' of the base parameters' columns (k, B), k <= B, of the triangle."""
        equations = cast(WeightedEquations, self)
        size = len(equations.structure)
        U, s, Vt = svd(equations.base_triangle[:size, :size], full_matrices=False, check_finite=False)
        return U, s, Vt

    @property
    def factor(self) -> np.ndarray:
        """R (k, 10 L), upper triangular, weighted; k is the number of base parameters or, if fewer, of rows."""
        return self._full_parameter_form[0]

    @property
    def target(self) -> np.ndarray:
        """c (k,), weighted."""
        return self._full_parameter_form[1]

    @property
    def residual_cost(self) -> float:
        """Weighted squared residual that no parameters can remove."""
        return self._full_parameter_form[2]

    def cost(self, parameters: InertialParameters) -> float:
        """||W (Y phi - f)||^2 of any parameters, including the residual that none can remove."""
        return float(np.sum((self.factor @ parameters.vector - self.target) ** 2) + self.residual_cost)


def noise_variance(regression: WeightedEquations, parameters: InertialParameters) -> float:
    """Mean square of a weighted residual; 1 if the weights are one over the standard deviations."""
    return regression.cost(parameters) / max(1, count_weighted_rows(regression))


def count_weighted_rows(regression: WeightedEquations) -> int:
    """Number of equations on axes with a weight above zero."""
    return int(regression.axis_rows[regression.weights > 0.0].sum())


def data_inflation(regression: WeightedEquations, parameters: InertialParameters) -> float:
    """Number of correlated equations that carry the information of one independent equation, at least 1.

    Residuals of neighbouring frames are correlated, so N equations carry less information than N independent ones. The
    gradient of each block of time is compared with what white noise would give (a sandwich estimate): the ratio of the
    variances, averaged over the directions that the data determine. The data's cost is divided by it.

    What repeats with every squat or step, the parameters absorb, and the gradients do not show it. Of a tracked person
    the frames of a posture therefore count as one at most (`frames_per_posture`).

    With fewer than `MIN_BLOCKS` blocks each counts as one frame, which favours the prior.

    Args:
        regression: with its blocks.
        parameters: near the solution.
    """
    gradients = regression.block_gradients(regression.structure.project(parameters))
    total = len(gradients)
    if total < MIN_BLOCKS:
        return max(1.0, regression.frames / max(1, total))
    gradients = gradients - gradients.mean(axis=0)
    _, s, Vt = regression.base_decomposition
    rank = int(np.sum(s > RANK_TOLERANCE * s[0]))
    whitened = (gradients @ Vt[:rank].T) / s[:rank]
    variance = float(np.sum(whitened**2)) / rank * total / (total - 1.0)
    return max(regression.frames_per_posture, variance / noise_variance(regression, parameters))


def parameter_scale(rig: Rig, reference: InertialParameters) -> np.ndarray:
    """Typical size of each parameter (L, 10): m, m l, m l^2 with the link's prior mass m and box half diagonal l."""
    masses = np.maximum(reference.masses, MIN_MASS_FRACTION * reference.total_mass / len(rig.links))
    lengths = np.maximum(0.5 * np.linalg.norm(rig.boxes[:, 1] - rig.boxes[:, 0], axis=1), MIN_LENGTH)
    result = np.empty((len(rig.links), 10))
    result[:, MASS] = masses
    result[:, FIRST_MOMENT] = (masses * lengths)[:, None]
    result[:, INERTIA] = (masses * lengths**2)[:, None]
    return result
