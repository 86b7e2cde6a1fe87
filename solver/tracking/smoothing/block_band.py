"""Symmetric block-banded matrices, as the normal equations of a motion."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.linalg.lapack import dpbsv

from ...errors import BackendError


class BlockBand:
    """N x N blocks of n x n numbers that are zero more than ``reach`` blocks from the diagonal.

    Stored as the lower triangle in LAPACK's band order, so that its Cholesky factor costs N n^3 reach^2 operations.
    """

    def __init__(self, count: int, size: int, reach: int) -> None:
        self.count, self.size, self.reach = count, size, reach
        self._width = (reach + 1) * size
        self._values = np.zeros((count * size, self._width))  # a row is a column of the matrix, from the diagonal down

    def add(self, lag: int, blocks: np.ndarray, columns: slice | None = None) -> None:
        """Adds blocks (N - lag, m, m) at ``lag`` blocks below the diagonal, in rows and columns ``columns`` of each n x
        n block.

        On the diagonal only the lower triangle is used.
        """
        start = 0 if columns is None else columns.start
        inner = blocks.shape[1]
        step = self._values.itemsize
        first = start * (self._width - 1) + lag * self.size + start
        view = as_strided(
            self._values.reshape(-1)[first:],
            (self.count - lag, inner, inner),
            (self.size * self._width * step, (self._width - 1) * step, step),
        )
        view += (np.tril(blocks) if lag == 0 else blocks).swapaxes(1, 2)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x (N, n) with A x = right (N, n); destroys the matrix.

        Raises:
            BackendError: it is not positive definite, or contains values that are not finite.
        """
        _, x, failed = dpbsv(self._values.T, right.reshape(-1), lower=1, overwrite_ab=1)
        if failed:
            raise BackendError(
                f"the normal equations are not positive definite at frame {(failed - 1) // self.size} of the block"
            )
        result = np.asarray(x).reshape(right.shape)
        if not np.isfinite(result).all():  # LAPACK does not check for NaN
            raise BackendError("the normal equations hold values that are not finite")
        return result
