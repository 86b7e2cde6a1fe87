"""Convex quadratic programs with linear rows, bounds and cones.

Rows l <= G x <= u are named; all are given at once, or generated where they are violated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy import sparse

from ..base.arrays import frozen
from ..base.errors import InvalidValue

PSD = "positive semidefinite"
EXPONENTIAL = "exponential"
SECOND_ORDER = "second order"
SQRT2 = float(np.sqrt(2.0))
"""By definition."""


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


@dataclass(frozen=True, slots=True)
class Cone:
    """The constraint F x + g in K.

    Attributes:
        kind: `PSD`: the upper triangle of a symmetric matrix, column by column, off-diagonals times sqrt 2;
            `EXPONENTIAL`: triples (a, b, c) with b exp(a / b) <= c, b > 0; `SECOND_ORDER`: (t, v), |v| <= t.
        matrix: (m, n) F.
        offset: (m,) g.
        name: of the constraint, for reports.
    """

    kind: str
    matrix: sparse.csr_array
    offset: np.ndarray
    name: str = ""

    KINDS = (PSD, EXPONENTIAL, SECOND_ORDER)

    def __post_init__(self) -> None:
        if self.kind not in Cone.KINDS:
            raise InvalidValue(f"cone {self.name!r}: kind {self.kind!r} is none of {', '.join(Cone.KINDS)}")
        matrix = sparse.csr_array(self.matrix)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "offset", frozen("cone offset", self.offset, (matrix.shape[0],)))
        if self.kind == PSD and triangle_length(self.order) != len(self):
            raise InvalidValue(f"cone {self.name!r}: {len(self)} rows are not the triangle of a symmetric matrix")
        if self.kind == EXPONENTIAL and len(self) % 3:
            raise InvalidValue(f"cone {self.name!r}: {len(self)} rows are not triples")

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def order(self) -> int:
        """Rows of the matrix of a `PSD` cone."""
        return int((np.sqrt(8 * len(self) + 1) - 1) // 2)

    def value(self, x: np.ndarray) -> np.ndarray:
        """F x + g (m,)."""
        return self.matrix @ x + self.offset

    def violation(self, x: np.ndarray) -> float:
        """Violation of the cone at x: minus the smallest eigenvalue, or the excess of the inequality."""
        value = self.value(x)
        if self.kind == PSD:
            return max(0.0, -float(np.linalg.eigvalsh(matrix_of(value))[0]))
        if self.kind == SECOND_ORDER:
            return max(0.0, float(np.linalg.norm(value[1:]) - value[0]))
        a, b, c = value.reshape(-1, 3).T
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            excess = np.where(b > 0.0, b * np.exp(a / b) - c, np.maximum(np.maximum(a, -c), -b))
        return max(0.0, float(excess.max()))


@dataclass(frozen=True, slots=True)
class Problem:
    """Minimise 1/2 x'Px + q'x subject to l <= Gx <= u, lower <= x <= upper and cones.

    Attributes:
        P: (n, n) symmetric positive semi-definite, sparse.
        q: (n,).
        rows: inequalities and equalities (l = u).
        lower, upper: (n,) bounds on x; infinite where free.
        cones: conic constraints.
    """

    P: sparse.csc_array
    q: np.ndarray
    rows: Rows
    lower: np.ndarray
    upper: np.ndarray
    cones: tuple[Cone, ...] = field(default=())

    def __post_init__(self) -> None:
        q = frozen("q", self.q, (None,))
        n = len(q)
        P = sparse.csc_array(self.P)
        if P.shape != (n, n):
            raise InvalidValue(f"P has shape {P.shape} for {n} variables")
        if P.nnz and abs(P - P.T).max() > 1e-9 * abs(P).max():
            raise InvalidValue("P is not symmetric")
        for name, width in [("rows", self.rows.variables)] + [
            (c.name or c.kind, c.matrix.shape[1]) for c in self.cones
        ]:
            if width != n:
                raise InvalidValue(f"{name}: {width} columns for {n} variables")
        object.__setattr__(self, "P", P)
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "lower", frozen("lower", self.lower, (n,), finite=False))
        object.__setattr__(self, "upper", frozen("upper", self.upper, (n,), finite=False))
        object.__setattr__(self, "cones", tuple(self.cones))
        if np.any(self.lower > self.upper):
            raise InvalidValue(f"variable {int(np.argmax(self.lower > self.upper))} has lower > upper bound")

    @staticmethod
    def quadratic(
        P: np.ndarray,
        q: np.ndarray,
        *,
        rows: Rows | None = None,
        lower: np.ndarray | None = None,
        upper: np.ndarray | None = None,
        cones: tuple[Cone, ...] = (),
    ) -> Problem:
        """A problem with optional rows, bounds and cones."""
        n = len(q)
        return Problem(
            P,
            q,
            Rows.none(n) if rows is None else rows,
            np.full(n, -np.inf) if lower is None else lower,
            np.full(n, np.inf) if upper is None else upper,
            cones,
        )

    @staticmethod
    def least_squares(
        A: np.ndarray,
        b: np.ndarray,
        *,
        rows: Rows | None = None,
        lower: np.ndarray | None = None,
        upper: np.ndarray | None = None,
        cones: tuple[Cone, ...] = (),
    ) -> Problem:
        """Minimise 1/2 ||Ax - b||^2; the constant 1/2 b'b is left out of the objective."""
        return Problem.quadratic(A.T @ A, -(A.T @ b), rows=rows, lower=lower, upper=upper, cones=cones)

    @property
    def variables(self) -> int:
        """Number n of variables."""
        return len(self.q)

    def objective(self, x: np.ndarray) -> float:
        """1/2 x'Px + q'x."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x)


def triangle_length(order: int) -> int:
    """Entries of the upper triangle of a symmetric matrix."""
    return order * (order + 1) // 2


def triangle_of(matrix: np.ndarray) -> np.ndarray:
    """Upper triangle (..., d (d + 1) / 2), column by column, off-diagonals times sqrt 2, which keeps inner products."""
    columns, rows = np.tril_indices(matrix.shape[-1])
    return matrix[..., rows, columns] * np.where(rows == columns, 1.0, SQRT2)


def matrix_of(triangle: np.ndarray) -> np.ndarray:
    """The symmetric matrix of a scaled upper triangle."""
    order = int((np.sqrt(8 * len(triangle) + 1) - 1) // 2)
    columns, rows = np.tril_indices(order)
    result = np.zeros((order, order))
    result[rows, columns] = triangle / np.where(rows == columns, 1.0, SQRT2)
    result[columns, rows] = result[rows, columns]
    return result
