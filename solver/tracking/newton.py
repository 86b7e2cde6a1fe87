"""A Hessian that serves many steps: it learns from each of them how the slope changed, and solves between bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg.lapack import dposv, dpotrf, dpotri

from ..errors import BackendError
from ..qp.pivoting import Box, Held

BENT = 1e-3
"""Share of the curvature that the Hessian expects along a step below which what was seen there is not believed."""


@cache
def _above(size: int) -> np.ndarray:
    """(n, n): True above the diagonal."""
    return np.triu(np.ones((size, size), bool), 1)


@dataclass(slots=True)
class Newton:
    """A positive definite Hessian (nv, nv), its inverse, and which coordinates were stiffened to make it so.

    Where it is not ``whole``, only the inverse learns, and the matrix stays what it was.
    """

    matrix: np.ndarray
    inverse: np.ndarray
    stiff: tuple[int, ...]
    whole: bool = True

    @staticmethod
    def of(matrix: np.ndarray, attempts: int, stiffness: float, *, whole: bool) -> Newton | None:
        """Of a Hessian, of which at most ``attempts`` coordinates are stiffened; None where it stays indefinite.

        Against a limit, or far from its target, a coordinate's cost may bend down: it is held there more stiffly.
        """
        factor, failed = dpotrf(matrix, lower=1, clean=0)
        stiff = []
        for _ in range(attempts):
            if failed <= 0:
                break
            matrix[failed - 1, failed - 1] += stiffness
            stiff.append(failed - 1)
            factor, failed = dpotrf(matrix, lower=1, clean=0)
        if failed:
            return None
        inverse = dpotri(factor, lower=1)[0]
        inverse = np.where(_above(len(inverse)), inverse.T, inverse)
        return Newton(matrix, inverse, tuple(stiff), whole)

    def exact(self, held: np.ndarray | None) -> bool:
        """Whether a step is Newton's own: what was stiffened was held at its bound anyway, where ``held`` is not 0."""
        return not self.stiff or (held is not None and bool(held[list(self.stiff)].all()))

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Agree with the change (nv,) of the slope that a step (nv,) made, by the update of Broyden, Fletcher, Goldfarb
        and Shanno: H <- H + y y' / s'y - H s s'H / s'H s, which stays positive definite where s'y > 0."""
        expected = self.matrix @ step
        seen, priced = float(step @ change), float(step @ expected)
        if not (priced > 0.0 and seen > BENT * priced):
            return
        if self.whole:
            self.matrix += (change / seen)[:, None] * change - (expected / priced)[:, None] * expected
        turned = self.inverse @ change
        half = ((0.5 + 0.5 * float(change @ turned) / seen) * step - turned) / seen
        update = step[:, None] * half
        self.inverse += update
        self.inverse += update.T

    def within(self, gradient: np.ndarray, box: Box) -> Held:
        """Minima of H's program with some variables at their bounds, see `pivoted`, for a ``gradient`` (nv,)."""
        inverse = self.inverse
        free = inverse @ gradient

        def at(held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            forces = np.zeros(len(held))
            places = held.nonzero()[0]
            if not len(places):
                return free, forces
            bounds = np.where(held[places] > 0, box.high[places], box.low[places])
            give = inverse[places]
            _, pulls, failed = dposv(give[:, places], free[places] - bounds, lower=1)
            if failed:
                raise BackendError("tracking: a step's limits could not be held, its Hessian is not positive definite")
            forces[places] = pulls
            x = free - pulls @ give
            x[places] = bounds
            return x, forces

        return at
