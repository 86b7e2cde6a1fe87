"""Criteria of an exciting motion: how well the rows of its regressor determine the parameters, and their
derivatives."""

from __future__ import annotations

import numpy as np

from ..errors import UnknownPreset

CONDITION, DEVIATIONS = "condition", "deviations"
CRITERIA = (CONDITION, DEVIATIONS)


def compute_criterion(rows: np.ndarray, name: str, power: float = np.inf) -> tuple[float, np.ndarray]:
    """The logarithm of a criterion of rows W (m, K) and its derivative (m, K) by them.

    ``condition`` is cond(W), or with a finite power p the product of the p-norms of W's singular values and of their
    inverses: at least cond(W), at most K^(2/p) times it, and smooth where cond(W) is not. ``deviations`` is the
    geometric mean over the columns of the standard deviations that least squares with unit noise would give.

    Raises:
        UnknownPreset: no such criterion.
    """
    factor, right = _singular_values(rows)
    if name == CONDITION:
        value, high, low = np.log(factor[0] / factor[-1]), np.zeros_like(factor), np.zeros_like(factor)
        high[0] = low[-1] = 1.0
        if np.isfinite(power):
            high, low = (factor / factor[0]) ** power, (factor[-1] / factor) ** power
            value += (np.log(high.sum()) + np.log(low.sum())) / power
        weights = (high / high.sum() - low / low.sum()) / factor**2
        return float(value), rows @ (right.T * weights) @ right
    if name == DEVIATIONS:
        inverse = (right.T / factor**2) @ right
        variances = np.diag(inverse)
        derivative = inverse @ (inverse / variances[:, None])
        return float(0.5 * np.log(variances).mean()), -(rows @ derivative) / len(variances)
    raise UnknownPreset(name, CRITERIA)


def _singular_values(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values, descending, none of them zero, and the right singular vectors (K, K), one per row."""
    values, vectors = np.linalg.eigh(rows.T @ rows)
    least = np.finfo(float).eps * values[-1]
    return np.sqrt(np.maximum(values[::-1], least)), vectors[:, ::-1].T
