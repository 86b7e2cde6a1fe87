"""Estimates with standard deviations: fitted over blocks of correlated samples, and pooled over trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BLOCK = 0.5
"""[s] Length of nearly independent blocks: residuals are correlated over some tenths of a second."""
TWO_SIDED_STDS = 1.96
"""Half width of a 95 % interval in standard deviations. Derived: 97.5 % of a normal distribution lie below it."""
LEAST_BLOCKS, MOST_BLOCKS = 4, 40
"""Trials under 2 s have shorter blocks: a rough standard deviation is better than none."""


def blocks_of(times: np.ndarray, used: np.ndarray) -> list[np.ndarray]:
    """Frame indices of consecutive blocks of the used frames (N,) at times (N,) [s]."""
    frames = np.flatnonzero(used)
    rate = (len(times) - 1) / (times[-1] - times[0])
    count = int(np.clip(len(frames) / (BLOCK * rate), LEAST_BLOCKS, MOST_BLOCKS))
    return [block for block in np.array_split(frames, count) if len(block)]


def fit_blocks(table: np.ndarray, target: np.ndarray, blocks: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Least squares (k,) of table (N, k) x = target (N,) over blocks of frames, and its std (k,) by the jackknife.

    The standard deviation is infinite where fewer than three blocks, or too little in them, determine it.
    """
    normal = np.stack([table[block].T @ table[block] for block in blocks])
    right = np.stack([table[block].T @ target[block] for block in blocks])
    whole = np.linalg.lstsq(normal.sum(axis=0), right.sum(axis=0), rcond=None)[0]
    unknown = np.full(len(whole), np.inf)
    if len(blocks) < LEAST_BLOCKS - 1 or np.linalg.matrix_rank(normal.sum(axis=0)) < len(whole):
        return whole, unknown
    try:
        others = np.linalg.solve(normal.sum(axis=0) - normal, (right.sum(axis=0) - right)[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return whole, unknown
    share = (len(blocks) - 1) / len(blocks)
    return whole, np.sqrt(share * np.sum((others - others.mean(axis=0)) ** 2, axis=0))


def pool(values: Sequence[float], stds: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Mean weighted by inverse variance, and its std, increased if the values vary more than theirs explain (Birge)."""
    value, weight = np.asarray(values, float), np.asarray(stds, float) ** -2.0
    mean = float(weight @ value / weight.sum())
    reduced_chi_square = float(weight @ (value - mean) ** 2) / max(len(value) - 1, 1)
    return mean, float(np.sqrt(max(reduced_chi_square, 1.0) / weight.sum()))
