"""How well the rows of a motion determine what a bench can tell, and how that changes with the rows."""

from __future__ import annotations

import numpy as np

from ..errors import UnknownPreset

CONDITION, DEVIATIONS = "condition", "deviations"
CRITERIA = (CONDITION, DEVIATIONS)
SMOOTH = "smooth condition"
"""Root of tr(W'W) tr((W'W)^-1): at least the condition number, at most the number of columns times it, and smooth."""


def criterion(rows: np.ndarray, name: str) -> tuple[float, np.ndarray]:
    """The logarithm of a criterion of rows W (m, K) and its derivative (m, K) by them.

    ``condition`` is cond(W); ``deviations`` the geometric mean over the columns of the standard deviations that
    least squares with unit noise would leave.

    Raises:
        UnknownPreset: no such criterion.
    """
    factor, right = _spectrum(rows)
    if name == CONDITION:
        weights = np.zeros_like(factor)
        weights[0], weights[-1] = 1.0 / factor[0] ** 2, -1.0 / factor[-1] ** 2
        return float(np.log(factor[0] / factor[-1])), rows @ (right.T * weights) @ right
    if name == SMOOTH:
        squares = factor**2
        inverse = np.sum(1.0 / squares)
        value = 0.5 * np.log(squares.sum()) + 0.5 * np.log(inverse)
        return float(value), rows @ (right.T * (1.0 / squares.sum() - 1.0 / (squares**2 * inverse))) @ right
    if name == DEVIATIONS:
        inverse = (right.T / factor**2) @ right
        variances = np.diag(inverse)
        slope = inverse @ (inverse / variances[:, None])
        return float(0.5 * np.log(variances).mean()), -(rows @ slope) / len(variances)
    raise UnknownPreset(name, CRITERIA)


def _spectrum(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values, descending, none of them zero, and the right singular vectors (K, K), one a row."""
    values, vectors = np.linalg.eigh(rows.T @ rows)
    least = np.finfo(float).eps * values[-1]
    return np.sqrt(np.maximum(values[::-1], least)), vectors[:, ::-1].T
