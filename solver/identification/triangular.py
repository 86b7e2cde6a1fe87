"""Triangular factors of least-squares problems that are too long to store: only R of [A b] = Q R is kept.

A factor T (k, n + 1), k <= n + 1, represents rows [A b] with ||A x - b||^2 = ||T [x; -1]||^2 for every x; it is a
triangle if there are at least n + 1 rows. Factors are stacked and factored again when problems are joined. A'A is never
formed, so no digits are lost.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import lapack

from ..base.errors import BackendError

BLOCK_COLUMNS = 32
"""Number of columns that LAPACK's tpqrt processes at once."""


def triangular_factor(rows: np.ndarray) -> np.ndarray:
    """Upper triangular (or trapezoidal) factor (min(m, n), n) of rows (m, n)."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    # a copy in LAPACK's column order that it may overwrite; geqrf needs workspace for a block of reflectors
    factor, _, _, info = lapack.dgeqrf(
        np.array(rows, order="F"), lwork=BLOCK_COLUMNS * 2 * rows.shape[1], overwrite_a=True
    )
    _check_status("dgeqrf", info)
    return np.triu(factor[: min(rows.shape)])


def append_rows(factor: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Factor of ``factor`` (k, n) stacked on ``rows`` (m, n); both may be overwritten if column-major.

    Fewer than n rows in total are stored as they are: factoring them would save no memory.
    """
    columns = rows.shape[1]
    if len(factor) + len(rows) < columns:
        return _stack(factor, rows)
    if len(factor) < columns:
        return triangular_factor(_stack(factor, rows))
    return _update_triangle(factor, rows, 0)


def join_factors(factors: Iterable[np.ndarray], columns: int) -> np.ndarray:
    """Factor of several stacked factors (k, n); n = ``columns``. A factor of n rows is a triangle."""
    total = np.zeros((0, columns))
    for factor in factors:
        own = np.array(factor, order="F")  # LAPACK overwrites it
        if not len(total):
            total = own
        elif len(total) == len(own) == columns:
            total = _update_triangle(total, own, columns)
        elif len(own) == columns:
            total = append_rows(own, total)
        else:
            total = append_rows(total, own)
    return total


def _stack(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Both in LAPACK's column-major order, which avoids transposing copies later."""
    result = np.empty((len(upper) + len(lower), lower.shape[1]), order="F")
    result[: len(upper)] = upper
    result[len(upper) :] = lower
    return result


def _update_triangle(top: np.ndarray, rows: np.ndarray, triangular_rows: int) -> np.ndarray:
    """Triangle ``top`` with more rows; if the last ``triangular_rows`` of these are a triangle too, it costs a
    third."""
    if not len(rows):
        return top
    block = min(BLOCK_COLUMNS, len(top))
    result, _, _, info = lapack.dtpqrt(
        triangular_rows, block, np.asfortranarray(top), rows, overwrite_a=True, overwrite_b=True
    )
    _check_status("dtpqrt", info)
    return result


def scatter_columns(factor: np.ndarray, indices: np.ndarray, columns: int) -> np.ndarray:
    """Rows (k, columns) with the factor's columns at ``indices`` (n,) and zeros elsewhere."""
    result = np.zeros((len(factor), columns), order="F")
    result[:, indices] = factor
    return result


def squared_residual(factor: np.ndarray, solution: np.ndarray) -> float:
    """||A x - b||^2 of x (n,) from the factor (k, n + 1) of [A b]."""
    residual = factor[:, :-1] @ solution - factor[:, -1]
    return float(residual @ residual)


def _check_status(routine: str, info: int) -> None:
    if info != 0:
        raise BackendError(f"LAPACK {routine} rejected argument {-info}")
