"""Interface between accumulated equations and the identification methods."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, cast

import numpy as np
from scipy.linalg import svd

from ..inertials import InertialParameters
from .base_parameters import BaseParameters
from .error_model.equation_errors import EquationsWithErrors


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
    def counts(self) -> np.ndarray:
        """(K,) how often each block is used."""

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

    def block_gradients(self, parameters: InertialParameters) -> np.ndarray:
        """(K, B) gradient of half the weighted squared residual of each block used once."""


class FullParameterForm:
    """Mixin that gives equations with a `structure` and a `base_triangle` their form in phi. Not slotted: it is
    cached."""

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
