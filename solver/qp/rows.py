"""Named linear rows l <= G x <= u, all given at once or generated where they are violated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from ..arrays import frozen
from ..errors import InvalidValue


@dataclass(frozen=True, slots=True)
class Rows:
    """Linear rows l <= G x <= u; l = u makes an equality, an infinite side is absent.

    Attributes:
        matrix: (m, n) G, sparse by rows.
        lower, upper: (m,) l and u.
        names: (m,) name of each row, for reports.
    """

    matrix: sparse.csr_array
    lower: np.ndarray
    upper: np.ndarray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        matrix = sparse.csr_array(self.matrix)
        count = matrix.shape[0]
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "lower", frozen("lower", self.lower, (count,), finite=False))
        object.__setattr__(self, "upper", frozen("upper", self.upper, (count,), finite=False))
        object.__setattr__(self, "names", tuple(self.names))
        if len(self.names) != count:
            raise InvalidValue(f"{len(self.names)} names for {count} rows")
        wrong = ~(self.lower <= self.upper)
        if wrong.any():
            row = int(np.argmax(wrong))
            bounds = f"[{self.lower[row]:g}, {self.upper[row]:g}]"
            raise InvalidValue(f"row {self.names[row]!r} has the empty interval {bounds}")

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def variables(self) -> int:
        """Number n of variables."""
        return int(self.matrix.shape[1])

    @property
    def equality(self) -> np.ndarray:
        """(m,) True where l = u."""
        return self.lower == self.upper

    def slack(self, x: np.ndarray) -> np.ndarray:
        """Signed violation (m,) at x (n,): the w of least size with l <= G x + w <= u."""
        values = self.matrix @ x
        return np.maximum(self.lower - values, 0.0) - np.maximum(values - self.upper, 0.0)

    def select(self, chosen: np.ndarray) -> Rows:
        """Only these rows (mask or indices)."""
        indices = np.arange(len(self))[chosen]
        names = tuple(self.names[i] for i in indices)
        return Rows(self.matrix[indices], self.lower[indices], self.upper[indices], names)

    @staticmethod
    def stack(parts: Sequence[Rows]) -> Rows:
        """All rows of parts with the same variables, one part below the other."""
        return Rows(
            sparse.vstack([p.matrix for p in parts], format="csr"),
            np.concatenate([p.lower for p in parts]),
            np.concatenate([p.upper for p in parts]),
            tuple(name for p in parts for name in p.names),
        )

    @staticmethod
    def none(variables: int) -> Rows:
        """No rows."""
        return Rows(sparse.csr_array((0, variables)), np.zeros(0), np.zeros(0), ())

    @staticmethod
    def equalities(matrix: np.ndarray, values: np.ndarray, name: str) -> Rows:
        """G x = values (m,)."""
        return Rows(matrix, values, values, tuple(f"{name} {i}" for i in range(len(values))))


class RowSource(Protocol):
    """Generates inequality rows where a point violates them, for constraints with too many rows to store."""

    def initial(self) -> Rows:
        """A few rows to start with, which save searches; may be empty."""

    def violated(self, x: np.ndarray, tolerance: float) -> Rows:
        """Rows that x (n,) violates by more than ``tolerance`` times their own scale; empty if x satisfies all of them.

        If any row is violated, at least one is returned, but not necessarily all.
        """
