"""The criterion (12) of very many candidate motions: condition numbers from small Gram matrices, all at once.

cond(W_bi) = sqrt(cond(W_bi' W_bi)), and Gram matrices of motions add up, so that a candidate costs one small eigenvalue
problem per link, however many motions came before. Squaring loses half of the digits, so that condition numbers are
right up to `MAX_CONDITION`, which is enough to rank candidates. Reported values come from `Excitation`, without
squaring.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...skeleton.rig import Rig
from ...values.motion import Motion
from ..base_parameters import BaseParameters
from .excitation import base_regressor

MAX_CONDITION = 1e6
"""Condition number at which a link counts as not excited."""


class GramMatrices:
    """Gram matrices of the sub-regressors of some links, padded to one size.

    Args:
        structure: base parameters.
        weights: (L,) M_i.
        part: ``"static"``, ``"dynamic"`` or ``"all"``.
        links: that count; all by default.
    """

    def __init__(
        self, structure: BaseParameters, weights: np.ndarray, part: str, links: Iterable[str] | None = None
    ) -> None:
        names = [n for n in (structure.links if links is None else links) if len(structure.link_indices(n, part))]
        self.structure, self.links = structure, tuple(names)
        columns = [structure.link_indices(name, part) for name in names]
        self._weights = np.array([weights[structure.links.index(name)] for name in names])
        self.max_columns = max((len(c) for c in columns), default=0)
        self._sizes = np.array([len(c) for c in columns], int)
        self._columns = np.zeros((len(names), self.max_columns), int)
        self._used = np.zeros((len(names), self.max_columns), bool)
        for row, own in enumerate(columns):
            self._columns[row, : len(own)] = own
            self._used[row, : len(own)] = True

    @property
    def prior_matrices(self) -> np.ndarray:
        """(n, k, k) before any motion: zero."""
        return np.zeros((len(self.links), self.max_columns, self.max_columns))

    def row_matrices(self, rows: np.ndarray) -> np.ndarray:
        """Gram matrices (N, n, k, k) of rows (N, 6, B), frame by frame."""
        own = np.where(self._used, rows[:, :, self._columns], 0.0)
        return np.einsum("frik,fril->fikl", own, own)  # f frames, r rows, i links, k and l their columns

    def motion_matrices(self, rig: Rig, motion: Motion, groups: int = 1) -> np.ndarray:
        """Gram matrices (groups, n, k, k) of a motion's frames, divided into equal groups."""
        own = np.where(self._used, base_regressor(rig, motion, self.structure)[:, :, self._columns], 0.0)
        own = own.reshape(groups, -1, *own.shape[2:])
        # g groups, f rows of all frames, i links, k and l their columns
        return np.einsum("gfik,gfil->gikl", own, own, optimize=True)

    def conditions(self, matrices: np.ndarray) -> np.ndarray:
        """cond(W_bi) (..., n), at most `MAX_CONDITION`."""
        result = np.empty(matrices.shape[:-2])
        for size in np.unique(self._sizes):
            own = self._sizes == size
            values = np.linalg.eigvalsh(matrices[..., own, :size, :size])
            largest = np.maximum(values[..., -1], np.finfo(float).tiny)
            result[..., own] = np.sqrt(largest / np.maximum(values[..., 0], largest / MAX_CONDITION**2))
        return result

    def value(self, matrices: np.ndarray) -> np.ndarray:
        """J_exc (...,) of (12)."""
        return self.conditions(matrices) @ self._weights

    def gradient(self, rig: Rig, motion: Motion, rows: np.ndarray, history: np.ndarray, share: float) -> np.ndarray:
        """Derivative (N, 6, B) of the criterion by a motion's rows (N, 6, B) of W_b, divided by their share of
        samples."""
        total = history + share * self.row_matrices(rows).sum(axis=0)
        result = np.zeros_like(rows)
        for gram, columns, size, weight in zip(total, self._columns, self._sizes, self._weights):
            own = columns[:size]
            values, vectors = np.linalg.eigh(gram[:size, :size])
            largest = float(values[-1])
            if weight == 0.0 or largest <= 0.0:
                continue
            least = max(float(values[0]), largest / MAX_CONDITION**2)
            high, low = vectors[:, -1:], vectors[:, :1]
            change = weight * np.sqrt(largest / least) * (high @ high.T / largest - low @ low.T / least)
            result[:, :, own] += rows[:, :, own] @ change
        return result
