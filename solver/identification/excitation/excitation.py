"""How well a motion excites the inertial parameters: bonnet2016 (12) and derived measures.

The motions so far are represented by one triangular factor of their base-parameter regressor W_b, so that the hundredth
transition costs as much as the first. Every measure is a function of that factor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from ...base.arrays import frozen
from ...base.errors import InvalidValue, checked
from ...dynamics import regressor_pieces
from ...dynamics.regressor_derivatives import regressor_derivatives
from ...skeleton.rig import Rig
from ...values.inertials import PER_LINK, InertialParameters
from ...values.motion import Motion
from ..base_parameters import BaseParameters, base_parameters
from ..triangular import append_rows, join_factors, triangular_factor

PLATE_NOISE = np.array([2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
"""Residuals (6,) [N, N m] that bonnet2016 reports for HOAP-3 on a force plate ("less than 2 N and 1 N m")."""
INDEPENDENT_RATE = 14.5
"""[1/s] Frames of a recorded wrench whose errors are independent, at any rate of its samples. Measured on simulated
robots whose recordings are low-passed at 8 Hz."""
RANK_TOLERANCE = 1e-10
"""Singular values below this fraction of the largest are zero: the parameters they belong to are not excited."""


@dataclass(frozen=True, slots=True)
class Excitation:
    """Information of the motions so far on the base parameters.

    Attributes:
        structure: the rig's base parameters, B of them.
        factor: (k, B) triangular factor of all rows of W_b, each divided by the noise of its axis.
        noise: (6,) [N, N m] standard deviation of one sample of the wrench, per axis, at the base link.
        frames: number of frames.
    """

    structure: BaseParameters
    factor: np.ndarray
    noise: np.ndarray
    frames: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", frozen("factor", self.factor, (None, len(self.structure))))
        object.__setattr__(self, "noise", frozen("noise", self.noise, (6,)))
        if not (self.noise > 0.0).all():
            raise InvalidValue("the noise of every axis must be positive")

    @staticmethod
    def before_motion(structure: BaseParameters, noise: np.ndarray | None = None) -> Excitation:
        """Before any motion; noise one by default, which leaves the regressor unweighted as in bonnet2016 (12)."""
        return Excitation(structure, np.zeros((0, len(structure))), np.ones(6) if noise is None else noise)

    def with_rows(self, rows: np.ndarray) -> Excitation:
        """After further rows (n, 6, B) of W_b, not yet weighted."""
        weighted = np.asarray(rows, float) / self.noise[:, None]
        factor = append_rows(
            np.array(self.factor, order="F"), np.asfortranarray(weighted.reshape(-1, len(self.structure)))
        )
        return replace(self, factor=np.array(factor), frames=self.frames + len(rows))

    def with_motion(self, rig: Rig, motion: Motion, base: int | str = 0) -> Excitation:
        """After a further motion."""
        return self.with_rows(base_regressor(rig, motion, self.structure, base))

    def merge(self, others: Iterable[Excitation]) -> Excitation:
        """After the motions of others too."""
        others = list(others)
        if any(not np.array_equal(o.structure.independent, self.structure.independent) for o in others):
            raise InvalidValue("excitations of different base parameters cannot be merged")
        if any(not np.array_equal(o.noise, self.noise) for o in others):
            raise InvalidValue("excitations with different noise cannot be merged")
        factor = join_factors([self.factor, *(o.factor for o in others)], len(self.structure))
        return replace(self, factor=np.array(factor), frames=self.frames + sum(o.frames for o in others))

    def columns(self, link: str, part: str) -> np.ndarray:
        """W_bi: the factor's columns (k, n) of one link, ``part`` ``"static"``, ``"dynamic"`` or ``"all"``."""
        return self.factor[:, self.structure.link_indices(link, part)]

    def link_conditions(self, part: str = "all") -> np.ndarray:
        """cond(W_bi) per link (L,): NaN for a link without such parameters, infinite if one is not excited."""
        return np.array([condition(self.columns(link, part)) for link in self.structure.links])

    @property
    def total_condition(self) -> float:
        """cond(W_b), the classical criterion; infinite while some base parameter is not excited."""
        return condition(self.factor)

    def deviations(self) -> np.ndarray:
        """Standard deviation (B,) of every base parameter identified from these frames; infinite if not determined.

        Assumes independent errors between samples, as bonnet2016 and its references do; filtered recordings have fewer
        independent samples than frames.
        """
        count = self.factor.shape[1]
        if np.isinf(self.total_condition):
            return _rank_deficient_deviations(self.factor)
        return np.linalg.norm(solve_triangular(triangular_factor(self.factor), np.eye(count)), axis=1)

    def relative_deviations(self, parameters: InertialParameters) -> np.ndarray:
        """sigma% / 100 (B,): standard deviation over size of every base parameter that ``parameters`` would have."""
        size = np.abs(self.structure.project(parameters))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 0.0, self.deviations() / size, np.inf)


@checked
def base_regressor(
    rig: Rig, motion: Motion, structure: BaseParameters | None = None, base: int | str = 0
) -> np.ndarray:
    """Base regressor W_b (N, 6, B), bonnet2016 (4): W_b phi_b is the external wrench at the base link, in its axes.

    Its columns are independent, so that its condition number is finite for a motion that excites all of them. That of
    `dynamics.wrench_regressor`, whose columns are all parameters of the links, never is.

    Args:
        rig, motion: N frames.
        structure: B base parameters of the rig; computed by default.
        base: link, by name or index, about whose origin the moment is taken.

    Raises:
        UnknownLink: no such base link.
        InvalidValue: motion of another rig.

    Example:
        >>> import numpy as np, solver
        >>> robot = solver.demo.simulated_robot()
        >>> motion = solver.track(robot.recordings, robot.rig).record("dance").motion
        >>> rows = solver.identification.base_regressor(robot.rig, motion)
        >>> bool(np.linalg.matrix_rank(rows.reshape(-1, rows.shape[2])) == rows.shape[2])
        True
    """
    structure = base_parameters(rig) if structure is None else structure
    rows = np.zeros((len(motion), 6, len(structure)))
    links, parameters = structure.independent // PER_LINK, structure.independent % PER_LINK
    forces = np.flatnonzero(structure.static)
    for piece in regressor_pieces(rig, motion, base):
        rows[piece.frames, 3:] = piece.moment[:, parameters, links].transpose(2, 0, 1)
        rows[piece.frames, :3, forces] = piece.force[:, parameters[forces], links[forces]].transpose(2, 0, 1)
    return rows


def base_gradients(rig: Rig, motion: Motion, structure: BaseParameters, weights: np.ndarray) -> np.ndarray:
    """Derivatives (3, N, nv) of sum(weights * W_b) by tangent coordinates, their speeds and their accelerations.

    Args:
        rig, motion: N frames.
        structure: B base parameters.
        weights: (N, 6, B), for the root as base.
    """
    all_weights = np.zeros((6, PER_LINK, len(rig.links), len(motion)))
    links, parameters = structure.independent // PER_LINK, structure.independent % PER_LINK
    all_weights[:, parameters, links] = weights.transpose(1, 2, 0)
    return regressor_derivatives(rig, motion, all_weights)


def condition(matrix: np.ndarray) -> float:
    """Largest over smallest singular value of a matrix (m, n); NaN without columns, infinite if rank deficient."""
    if not matrix.shape[1]:
        return np.nan
    if len(matrix) < matrix.shape[1]:
        return np.inf
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > RANK_TOLERANCE * values[0] else np.inf


def _rank_deficient_deviations(factor: np.ndarray) -> np.ndarray:
    """Standard deviations if some parameters are not determined: infinite for those with a component in the null
    space."""
    if not len(factor):
        return np.full(factor.shape[1], np.inf)
    scale = np.linalg.norm(factor, axis=0)
    scaled = factor / np.where(scale > 0.0, scale, 1.0)
    _, values, right = np.linalg.svd(scaled, full_matrices=True)
    is_nonzero = values > RANK_TOLERANCE * values[0]
    rank = int(is_nonzero.sum())
    variance = ((right[:rank] / values[:rank, None]) ** 2).sum(axis=0)
    undetermined = (right[rank:] ** 2).sum(axis=0) > RANK_TOLERANCE
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(undetermined | (scale == 0.0), np.inf, np.sqrt(variance) / scale)
