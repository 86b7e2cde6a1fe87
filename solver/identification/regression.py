"""The accumulated equations Y phi = f of any number of recordings: jovic2016 (3), (5), as a few triangular factors.

Y is not stored. Every axis of the wrench has its own triangular factor, in the columns of the base parameters, for each
block of consecutive frames. New weights or the residual of any parameters therefore need no second
pass over the recordings, and memory does not grow with duration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue
from ..dynamics import Axes
from ..signals.plate_errors import PARAMETERS, LikelyErrors, count_errors
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from .base_parameters import BaseParameters
from .blocks import AXES, FORCE_AXES, MAX_BLOCKS, Block, PostureErrors, axis_columns, merge_blocks
from .estimate import Estimate
from .triangular import join_factors, scatter_columns, squared_residual, triangular_factor
from .weighted_equations import (
    RANK_TOLERANCE,
    EquationsWithErrors,
    FullParameterForm,
    data_inflation,
    noise_variance,
)

WEIGHT_ITERATIONS = 2
"""Weights follow from residuals and residuals from weights; two iterations determine them within a few per cent.
Measured on a simulated robot, whose masses are 222 g off: half and twice the value give 223 and 222 g."""
ROUNDING = 1e-6
"""Residual, as a fraction of the prior's largest one, that is attributed to rounding."""

POSTURE_SECONDS = 1.0
"""[s] that a posture lasts, as a swing of a limb does. On ten simulated people whose table the prior leaves out, with
squats, exercises, gait and rising from chairs, errors of masses are .78 of the prior's, .95 without it; forces of one
person's unseen trials stay as they are."""

Method = Callable[["Regression"], Estimate]


@dataclass(frozen=True)
class Regression(FullParameterForm):
    """Weighted least-squares problem ||W (Y phi - f)||^2 = ||factor phi - target||^2 + residual cost.

    Not slotted: the factors derived from the blocks are cached.

    Attributes:
        links: L names.
        base: name of the base link.
        axes: of the wrench, ``"link"`` or ``"world"``.
        structure: base parameters of the rig; Y = Y_b K holds for every motion.
        weights: (6,) one over the residual's standard deviation per axis [1/N, 1/(N m)].
        blocks: at most `MAX_BLOCKS`, in the order of accumulation.
        posture_errors: of a tracked person's motion, over all blocks; None for others.
    """

    links: tuple[str, ...]
    base: str
    axes: Axes
    structure: BaseParameters
    weights: np.ndarray
    blocks: tuple[Block, ...]
    posture_errors: PostureErrors | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen("weights", self.weights, (AXES,)))
        if np.any(self.weights < 0.0):
            raise InvalidValue(f"weights must not be negative: {self.weights}")

    @property
    def frames(self) -> int:
        """Number of frames used."""
        return sum(block.frames for block in self.blocks)

    @property
    def axis_rows(self) -> np.ndarray:
        """Number of measured values per axis (6,)."""
        return np.sum([block.rows for block in self.blocks], axis=0)

    @property
    def frames_per_posture(self) -> float:
        """As in `WeightedEquations`."""
        seconds = sum(block.stop - block.start for block in self.blocks)
        return (
            1.0 if self.posture_errors is None or seconds == 0.0 else max(1.0, POSTURE_SECONDS * self.frames / seconds)
        )

    @property
    def rows(self) -> int:
        """Number of scalar equations."""
        return int(self.axis_rows.sum())

    @property
    def trials(self) -> tuple[str, ...]:
        """Names of the trials, in order."""
        return tuple(dict.fromkeys(name for block in self.blocks for name in block.trials))

    @cached_property
    def axis_factors(self) -> tuple[np.ndarray, ...]:
        """Per axis the unweighted factor (k, n + 1) of [Y_b f] over all blocks."""
        return tuple(
            join_factors((block.factors[axis] for block in self.blocks), len(self._axis_columns[axis]))
            for axis in range(AXES)
        )

    @cached_property
    def base_triangle(self) -> np.ndarray:
        """Triangular factor (k, B + 1) of W [Y_b f], from which `factor`, `target` and `residual_cost` are computed."""
        return self._weighted(self.axis_factors)

    @cached_property
    def equations_with_errors(self) -> EquationsWithErrors:
        """The equations with the `posture_errors` of the motion."""
        if self.posture_errors is None:
            return EquationsWithErrors.without_posture_errors(self.factor, self.target)
        size, origins = len(self.structure), self.posture_errors.origins
        gradients = np.zeros((size, self.posture_errors.gradients[0].shape[1]))
        for weight, own, columns in zip(self.weights, self.posture_errors.gradients, self._axis_columns):
            gradients[columns[:-1]] += weight**2 * own
        U, s, Vt = self.base_decomposition
        rank = int(np.sum(s > RANK_TOLERANCE * s[0]))
        errors = U[:, :rank] @ ((Vt[:rank] @ gradients) / s[:rank, None])  # whose gradients these are
        triangle = self.base_triangle[:size]
        factor = triangle[:, :size] @ self.structure.regrouping
        return EquationsWithErrors(factor, triangle[:, size], errors, origins.reshape(len(origins), -1))

    def find_likely_plate_errors(self, parameters: InertialParameters) -> tuple[LikelyErrors, ...]:
        """Most likely errors of the plates of each layout if the body has these parameters; none if they are unknown.

        The fit uses the covariance of these errors, so its parameters and these errors are the most likely together.
        """
        errors = self.posture_errors
        if errors is None or not errors.layouts:
            return ()
        phi, count = self.structure.project(parameters), count_errors(errors.layouts)
        noise = noise_variance(self, parameters) * data_inflation(self, parameters)
        normal, right = np.eye(count), np.zeros(count)
        for weight, columns, own, products in zip(self.weights, self._axis_columns, errors.gradients, errors.plates):
            normal += weight**2 / noise * products[:, :-1]
            right += weight**2 / noise * (products[:, -1] - own[:, -count:].T @ phi[columns[:-1]])
        sizes = np.linalg.solve(normal, right)[: PARAMETERS * (count // PARAMETERS)].reshape(-1, PARAMETERS)
        last = np.cumsum([len(layout) for layout in errors.layouts])
        return tuple(LikelyErrors(*own) for own in zip(errors.layouts, np.split(sizes, last[:-1])))

    def squared_residuals(self, parameters: InertialParameters) -> np.ndarray:
        """Sum of squared residuals per axis (6,), unweighted [N^2, N^2 m^2]."""
        phi = self.structure.project(parameters)
        return np.array([squared_residual(t, phi[p[:-1]]) for t, p in zip(self.axis_factors, self._axis_columns)])

    def axis_rmse(self, parameters: InertialParameters) -> np.ndarray:
        """Root mean square of the residual per axis (6,) [N, N m]; NaN for an axis that was never measured."""
        rows = self.axis_rows
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(np.where(rows > 0, self.squared_residuals(parameters) / rows, np.nan))

    def block_gradients(self, phi: np.ndarray) -> np.ndarray:
        """Gradient (B, n) by the base parameters phi (n,) of half the squared residual of each block."""
        by_axis = [phi[columns[:-1]] for columns in self._axis_columns]
        result = np.zeros((len(self.blocks), len(phi)))
        for gradient, block in zip(result, self.blocks):
            parts = [
                weight**2 * ((factor[:, :-1] @ own - factor[:, -1]) @ factor[:, :-1])
                for weight, factor, own in zip(self.weights, block.factors, by_axis)
            ]
            gradient[self._axis_columns[0][:-1]] = sum(parts[:FORCE_AXES])
            gradient += sum(parts[FORCE_AXES:])
        return result

    def with_weights(self, weights: np.ndarray) -> Regression:
        """The same equations with other weights, (6,) per axis."""
        other = replace(self, weights=weights)
        if "axis_factors" in self.__dict__:  # unweighted, so they remain valid
            other.__dict__["axis_factors"] = self.axis_factors
        return other

    def weighted_by(self, parameters: InertialParameters, prior: InertialParameters) -> Regression:
        """The same equations, weighted by one over the residual's standard deviation; exact data by a fraction of the
        prior's residual instead."""
        floor = ROUNDING * np.nanmax(np.append(self.axis_rmse(prior), np.finfo(float).tiny))
        return self.with_weights(np.nan_to_num(1.0 / np.maximum(self.axis_rmse(parameters), floor), nan=0.0))

    def merge(self, other: Regression) -> Regression:
        """These equations and another recording's, with the weights of this one.

        Raises:
            InvalidValue: other links, base link or axes.
        """
        own_key, other_key = (self.links, self.base, self.axes), (other.links, other.base, other.axes)
        if own_key != other_key or not np.array_equal(self.structure.independent, other.structure.independent):
            raise InvalidValue("only regressions of the same rig, base link and axes can be merged")
        blocks = [*self.blocks, *other.blocks]
        merge_blocks(blocks, MAX_BLOCKS)
        posture = self.posture_errors or other.posture_errors
        if self.posture_errors and other.posture_errors:
            posture = self.posture_errors.merge(other.posture_errors)
        return replace(self, blocks=tuple(blocks), posture_errors=posture)

    @cached_property
    def _axis_columns(self) -> tuple[np.ndarray, ...]:
        return axis_columns(self.structure)

    def _weighted(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        columns = len(self.structure) + 1
        parts = [
            w * scatter_columns(t, p, columns) for w, t, p in zip(self.weights, factors, self._axis_columns) if w > 0.0
        ]
        return triangular_factor(np.vstack(parts)) if parts else np.zeros((0, columns))


def fit_axis_weights(regression: Regression, method: Method, rig: Rig) -> tuple[Regression, Estimate]:
    """Weighted least squares: the weights follow from the residuals of the method, starting with the prior's
    residuals.

    Trials are not weighted by their residuals. On one person this explained unused trials slightly better (0.661 to
    0.656 of the prior's residual) but flights, in which no plate measures, worse (angular momentum rate 9.5 instead of
    8.3 N m).
    """
    parameters = rig.prior
    for _ in range(WEIGHT_ITERATIONS):
        regression = regression.weighted_by(parameters, rig.prior)
        parameters = method(regression).parameters
    regression = regression.weighted_by(parameters, rig.prior)
    return regression, method(regression)


def merge_regressions(regressions: Sequence[Regression]) -> Regression:
    """One regression with the equations of all."""
    return reduce(Regression.merge, regressions)
