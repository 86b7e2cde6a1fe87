"""Directions distributed evenly over the sphere, and their inertia rows: v'I v >= eps for each of them.

There are 10,242 rows per link; `DirectionRows` returns only those that a point violates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import sparse

from ..base.arrays import frozen
from ..qp import Rows
from ..values.inertials import INERTIA, PER_LINK, symmetric_entries, symmetric_matrix

PAPER_LEVEL = 5
"""Subdivisions of jovic2016: 10,242 directions."""
MULTIPLICITY = np.array([1.0, 2.0, 1.0, 2.0, 2.0, 1.0])
"""How often xx, xy, yy, xz, yz, zz occur in v'I v. Derived: off-diagonal entries occur twice."""
COARSE_LEVEL = 1
"""Subdivisions of the directions with which a solver begins."""
SEPARATION_COSINE = 0.8
"""Cosine between two directions below which both are returned: an inertia may violate rows about up to three axes."""
NEIGHBOURS = 6
"""Number of neighbours of a vertex of the subdivided icosahedron. By definition."""
MIN_EIGENVALUE_FRACTION = 0.1
"""Fraction of eps that the smallest eigenvalue itself, not only the sampled directions, must reach."""


@lru_cache(maxsize=8)
def icosphere(level: int) -> np.ndarray:
    """Unit vectors (10 * 4^level + 2, 3): a regular icosahedron, every face divided in four ``level`` times."""
    golden = (1.0 + 5.0**0.5) / 2.0
    corners = [(a, b * golden, 0.0) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    points = np.array([np.roll(corner, shift) for shift in range(3) for corner in corners])
    near = np.abs(np.linalg.norm(points[:, None] - points[None], axis=2) - 2.0) < 1e-9
    count = len(points)
    faces = np.array(
        [
            (i, j, k)
            for i in range(count)
            for j in range(i + 1, count)
            for k in range(j + 1, count)
            if near[i, j] and near[j, k] and near[i, k]
        ]
    )
    points /= np.linalg.norm(points, axis=1)[:, None]
    for _ in range(level):
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        unique, where = np.unique(edges, axis=0, return_inverse=True)
        middles = points[unique[:, 0]] + points[unique[:, 1]]
        middles /= np.linalg.norm(middles, axis=1)[:, None]
        ab, bc, ca = (where.reshape(-1)).reshape(3, -1) + len(points)
        a, b, c = faces.T
        faces = np.concatenate([np.stack(t, axis=1) for t in [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]])
        points = np.concatenate([points, middles])
    points.setflags(write=False)
    return points


@lru_cache(maxsize=8)
def _half_sphere(level: int) -> tuple[np.ndarray, np.ndarray]:
    """One of each pair of opposite directions (v and -v give the same row), and its coefficients (D, 6)."""
    points = icosphere(level)
    lead = np.take_along_axis(points, np.argmax(np.abs(points) > 1e-9, axis=1)[:, None], axis=1)[:, 0]
    half = np.ascontiguousarray(points[lead > 0.0])
    return half, direction_coefficients(half)


def direction_coefficients(directions: np.ndarray) -> np.ndarray:
    """Coefficients (..., 6) of v'I v in the six inertia parameters, jovic2016 (14)."""
    return symmetric_entries(directions[..., :, None] * directions[..., None, :]) * MULTIPLICITY


class DirectionRows:
    """The rows v'I_i v >= eps_i of every link (jovic2016 (13), (14)), returned where they are violated.

    Args:
        links: names.
        floors: (L,) eps_i [kg m^2].
        level: subdivisions of the icosahedron.
        min_eigenvalue_fraction: fraction of eps_i that the smallest eigenvalue itself must reach. Between two sampled
            directions the inertia of a slender link can become negative, so the row of the eigenvector is added there.
            None: sampled rows only.
    """

    def __init__(
        self,
        links: Sequence[str],
        floors: np.ndarray,
        *,
        level: int = PAPER_LEVEL,
        min_eigenvalue_fraction: float | None = MIN_EIGENVALUE_FRACTION,
    ) -> None:
        self.links = tuple(links)
        self.floors = frozen("floors", floors, (len(self.links),))
        self.level = level
        self.min_eigenvalue_fraction = min_eigenvalue_fraction

    def __len__(self) -> int:
        return len(self.links) * (10 * 4**self.level + 2)

    def all(self) -> Rows:
        """All sampled rows, for comparison with solvers that use them all (opposite directions once)."""
        coefficients = _half_sphere(self.level)[1]
        blocks = [self._rows(link, coefficients, floor) for link, floor in enumerate(self.floors)]
        return Rows.stack(blocks)

    def initial(self) -> Rows:
        """The directions of a coarse icosahedron, a subset of the sampled ones."""
        coefficients = _half_sphere(min(COARSE_LEVEL, self.level))[1]
        return Rows.stack([self._rows(link, coefficients, floor) for link, floor in enumerate(self.floors)])

    def violated(self, x: np.ndarray, tolerance: float) -> Rows:
        """The most violated direction of each link and those around it."""
        directions, coefficients = _half_sphere(self.level)
        six = np.reshape(x, (len(self.links), PER_LINK))[:, INERTIA]
        values = coefficients @ six.T  # (D, L)
        size = np.maximum(np.linalg.norm(six, axis=1), self.floors)
        found = []
        for link in np.flatnonzero(values.min(axis=0) < self.floors - tolerance * size):
            chosen = _most_violated(directions, values[:, link].copy(), self.floors[link])
            found.append(self._rows(int(link), coefficients[chosen], self.floors[link]))
        if self.min_eigenvalue_fraction is not None and not found:
            eigenvalues, vectors = np.linalg.eigh(symmetric_matrix(six))
            for link in np.flatnonzero(eigenvalues[:, 0] < 0.5 * self.min_eigenvalue_fraction * self.floors):
                row = direction_coefficients(vectors[link, :, 0])[None]
                found.append(self._rows(int(link), row, self.min_eigenvalue_fraction * self.floors[link]))
        return Rows.stack(found) if found else Rows.none(len(self.links) * PER_LINK)

    def _rows(self, link: int, coefficients: np.ndarray, floor: float) -> Rows:
        count = len(coefficients)
        columns = np.tile(np.arange(PER_LINK * link + INERTIA.start, PER_LINK * link + INERTIA.stop), count)
        starts = np.arange(count + 1) * coefficients.shape[1]
        matrix = sparse.csr_array((coefficients.ravel(), columns, starts), shape=(count, len(self.links) * PER_LINK))
        name = f"{self.links[link]}: inertia about some axis at its floor"
        return Rows(matrix, np.full(count, floor), np.full(count, np.inf), (name,) * count)


def _most_violated(directions: np.ndarray, values: np.ndarray, floor: float) -> np.ndarray:
    """The most violated directions far from each other, each with its neighbours, which may be active at the optimum
    too."""
    chosen: list[np.ndarray] = []
    while len(chosen) < 3 and (worst := int(np.argmin(values))) >= 0 and values[worst] < floor:
        cosines = np.abs(directions @ directions[worst])
        chosen.append(np.argpartition(-cosines, NEIGHBOURS)[: NEIGHBOURS + 1])
        values[cosines > SEPARATION_COSINE] = np.inf
    return np.concatenate(chosen)
