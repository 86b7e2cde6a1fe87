"""Base parameters: the combinations of inertial parameters on which the external wrench depends, bonnet2016 (4), (5).

Some parameters affect the wrench only in a sum with parameters of the parent link. The columns Y_b of an independent
set then span all columns: Y = Y_b K, so Y phi = Y_b phi_b with the base parameters phi_b = K phi.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..base.arrays import frozen
from ..base.errors import InvalidValue, checked
from ..dynamics import STATIC_PARAMETERS, integrate, wrench_regressor
from ..skeleton.rig import Rig
from ..values.inertials import PARAMETERS, PER_LINK, InertialParameters
from ..values.motion import Motion
from .triangular import triangular_factor

STRUCTURE_TOLERANCE = 1e-9
"""A column is dependent if its part outside the span of its predecessors is smaller than this fraction of it."""
REGROUPING_TOLERANCE = 1e-9
"""Regrouping coefficients below this are rounding: the smallest true ones are squares of lengths in metres."""
SAMPLES_PER_COLUMN = 0.6
"""Random frames per column; each gives six rows, so the sample has 3.6 rows a column. Measured on a simulated robot,
whose masses are 222 g off: half and twice the value give the same."""
SAMPLE_SEED = 20160523
"""Any seed gives the same structure; a fixed one gives the same last digit."""


@checked
@dataclass(frozen=True, slots=True)
class BaseParameters:
    """An independent set of columns of the regressor, and how the other columns depend on it.

    Attributes:
        links: L link names.
        independent: (B,) independent columns of phi (10 L), ascending.
        regrouping: K (B, 10 L) with Y = Y[:, independent] K; K[:, independent] is the identity.
    """

    links: tuple[str, ...]
    independent: np.ndarray
    regrouping: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(self.links))
        independent = np.array(self.independent, dtype=int)
        independent.setflags(write=False)
        object.__setattr__(self, "independent", independent)
        shape = (len(independent), PER_LINK * len(self.links))
        object.__setattr__(self, "regrouping", frozen("regrouping", self.regrouping, shape))

    def __len__(self) -> int:
        return len(self.independent)

    def project(self, parameters: InertialParameters) -> np.ndarray:
        """Base parameters phi_b = K phi (B,) of a set of inertial parameters."""
        if parameters.links != self.links:
            raise InvalidValue("the inertial parameters have other links than the base parameters")
        return self.regrouping @ parameters.vector

    def to_full_parameters(self, triangle_factor: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Equations in phi from a triangle (k, B + 1) of [Y_b f]: factor (r, 10 L), upper triangular, target (r,),
        residual cost.

        ||Y_b phi_b - f||^2 = ||factor phi - target||^2 + residual cost for every phi; r is B or, if smaller, the number
        of rows.
        """
        size = len(self)
        # factored again so that it is triangular in the order of phi too
        combined = triangular_factor(
            np.column_stack([triangle_factor[:size, :size] @ self.regrouping, triangle_factor[:size, size]])
        )
        rows = min(size, len(combined))
        residual = float(np.sum(triangle_factor[size:, size] ** 2) + np.sum(combined[rows:, -1] ** 2))
        factor, target = combined[:rows, :-1].copy(), combined[:rows, -1].copy()
        factor.setflags(write=False)
        target.setflags(write=False)
        return factor, target, residual

    @property
    def names(self) -> tuple[str, ...]:
        """Each base parameter as a sum, such as ``hx_thigh + 0.4 m_shank + 0.4 m_foot``."""
        symbols = parameter_names(self.links)
        return tuple(_format_sum(row, symbols, int(first)) for row, first in zip(self.regrouping, self.independent))

    @property
    def symbols(self) -> tuple[str, ...]:
        """Short names: the independent parameter of each sum, such as ``hx_thigh``."""
        symbols = parameter_names(self.links)
        return tuple(symbols[column] for column in self.independent)

    @property
    def static(self) -> np.ndarray:
        """(B,) True for masses and first moments, False for inertias (bonnet2016, static and dynamic columns)."""
        return self.independent % PER_LINK < STATIC_PARAMETERS

    def link_indices(self, link: str, part: str = "all") -> np.ndarray:
        """Indices of one link's base parameters: ``"static"``, ``"dynamic"`` or ``"all"`` (bonnet2016 (12)).

        Raises:
            InvalidValue: no such link or part.
        """
        if link not in self.links or part not in ("static", "dynamic", "all"):
            raise InvalidValue(f"no {part!r} base parameters of link {link!r}")
        mine = self.independent // PER_LINK == self.links.index(link)
        if part != "all":
            mine = mine & (self.static == (part == "static"))
        return np.flatnonzero(mine)


@checked
def base_parameters(rig: Rig) -> BaseParameters:
    """Structural base parameters of a rig, for any motion and base link.

    QR factorisation of the regressor of random motion, columns in the order of phi: a column that depends on its
    predecessors is regrouped into them, so that parameters of children are regrouped into their parents as usual.

    Example:
        >>> import solver
        >>> len(solver.base_parameters(solver.hoap3()).names)  # of 22 links with ten parameters each
        157
    """
    count = int(np.ceil(SAMPLES_PER_COLUMN * PER_LINK * len(rig.links)))
    generator = np.random.default_rng(SAMPLE_SEED)
    q = integrate(rig, rig.neutral, generator.standard_normal((count, rig.nv)))
    v, a = 3.0 * generator.standard_normal((2, count, rig.nv))
    rows = wrench_regressor(rig, Motion(np.arange(count), q, v, a))
    factor = triangular_factor(rows.reshape(-1, rows.shape[2]))
    return _regroup(rig.links, factor, independent_columns(factor))


def independent_columns(factor: np.ndarray, tolerance: float = STRUCTURE_TOLERANCE) -> np.ndarray:
    """Columns of a triangular factor (n, n) of many more rows that are not in the span of their predecessors.

    The diagonal entry is the part of a column outside this span.
    """
    outside = np.abs(np.diag(factor)) / np.maximum(np.linalg.norm(factor, axis=0), np.finfo(float).tiny)
    return np.flatnonzero(outside > tolerance)


def from_factor(links: Sequence[str], factor: np.ndarray, tolerance: float) -> BaseParameters:
    """Base parameters of any regressor (m, 10 L), or of its triangular factor, columns in the order of phi.

    Args:
        links: L names.
        factor: rows or their triangular factor.
        tolerance: fraction of a column that must lie outside the span of the independent ones before it.
    """
    scale = np.linalg.norm(factor, axis=0)
    return _regroup(links, factor, _independent_columns(factor / np.where(scale > 0.0, scale, 1.0), tolerance))


def _regroup(links: Sequence[str], factor: np.ndarray, independent: np.ndarray) -> BaseParameters:
    """The dependent columns in terms of the independent ones, by least squares."""
    scale = np.linalg.norm(factor, axis=0)
    columns = factor / np.where(scale > 0.0, scale, 1.0)
    dependent = np.setdiff1d(np.arange(columns.shape[1]), independent)
    rank = len(independent)
    ordered = triangular_factor(columns[:, np.r_[independent, dependent]])
    coefficients = solve_triangular(ordered[:rank, :rank], ordered[:rank, rank:])
    regrouping = np.zeros((rank, columns.shape[1]))
    regrouping[np.arange(rank), independent] = 1.0
    coefficients *= scale[dependent] / scale[independent][:, None]
    coefficients[np.abs(coefficients) < REGROUPING_TOLERANCE] = 0.0
    regrouping[:, dependent] = coefficients
    return BaseParameters(tuple(links), independent, regrouping)


def _independent_columns(columns: np.ndarray, tolerance: float) -> np.ndarray:
    """Columns (unit length) that are not in the span of earlier ones, by Gram-Schmidt with reorthogonalisation."""
    basis = np.zeros((columns.shape[0], min(columns.shape)))
    found: list[int] = []
    for index in range(columns.shape[1]):
        if len(found) == basis.shape[1]:
            break
        residual = columns[:, index].copy()
        span = basis[:, : len(found)]
        for _ in range(2):
            residual -= span @ (span.T @ residual)
        length = float(np.linalg.norm(residual))
        if length > tolerance:
            basis[:, len(found)] = residual / length
            found.append(index)
    return np.array(found, dtype=int)


def parameter_names(links: Sequence[str]) -> tuple[str, ...]:
    """Names of phi's entries (10 L), such as ``m_pelvis``, ``Ixy_left_shank``."""
    return tuple(f"{parameter}_{link}" for link in links for parameter in PARAMETERS)


def _format_sum(row: np.ndarray, symbols: Sequence[str], first: int) -> str:
    others = [int(column) for column in np.flatnonzero(row) if column != first]
    text = symbols[first]
    for column in others:
        size = f"{abs(row[column]):.4g}"
        text += (" + " if row[column] > 0.0 else " - ") + ("" if size == "1" else size + " ") + symbols[column]
    return text
