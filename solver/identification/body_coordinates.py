"""Normalised coordinates of inertial parameters: pseudo-inertia P = B (1 + X) B', with P_ref = B B'.

X (symmetric, 4 x 4) is zero at the reference; P is positive semi-definite if and only if 1 + X is. Distances in X
depend neither on the location and rotation of the link frame nor on units. Links without mass, such as the axes of a
hip, take no part: their B is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue
from ..qp import matrix_of
from ..values.inertials import PER_LINK, InertialParameters, symmetric_entries

PSEUDO_INERTIA_ORDER = 4
"""By definition."""
BASIS = np.array([matrix_of(unit) for unit in np.eye(PER_LINK)])
"""(10, 4, 4) symmetric basis matrices of the ten coordinates x of X; orthonormal, so |x| is the Frobenius norm of X."""


@dataclass(frozen=True, slots=True)
class BodyCoordinates:
    """phi = phi_ref + blocks x, link by link.

    Attributes:
        reference: with positive definite pseudo-inertias, or zero ones of links without mass.
        roots: (L, 4, 4) B, lower triangular; zero without mass.
        blocks: (L, 10, 10) columns are the parameters of one coordinate.
    """

    reference: InertialParameters
    roots: np.ndarray
    blocks: np.ndarray

    def __post_init__(self) -> None:
        count = len(self.reference.links)
        object.__setattr__(
            self, "roots", frozen("roots", self.roots, (count, PSEUDO_INERTIA_ORDER, PSEUDO_INERTIA_ORDER))
        )
        object.__setattr__(self, "blocks", frozen("blocks", self.blocks, (count, PER_LINK, PER_LINK)))

    @staticmethod
    def from_reference(reference: InertialParameters) -> BodyCoordinates:
        """Coordinates around a reference.

        Raises:
            InvalidValue: a pseudo-inertia of the reference is neither zero nor positive definite.
        """
        if impossible := impossible_links(reference):
            raise InvalidValue(
                f"the prior of link {impossible[0]!r} is not physically consistent (or is a flat body); "
                "correct it before identifying"
            )
        roots = np.zeros((len(reference.links), PSEUDO_INERTIA_ORDER, PSEUDO_INERTIA_ORDER))
        heavy = reference.values.any(axis=1)
        roots[heavy] = np.linalg.cholesky(reference.pseudo_inertias[heavy])
        # links l, coordinates c of a link, rows i and columns m of a change, j and k summed over
        blocks = np.swapaxes(parameters_from_pseudo_inertias(np.einsum("lij,cjk,lmk->lcim", roots, BASIS, roots)), 1, 2)
        return BodyCoordinates(reference, roots, blocks)

    def parameters(self, x: np.ndarray) -> InertialParameters:
        """Parameters at coordinates (10 L,)."""
        # links l, parameters i and coordinates j of a link
        change = np.einsum("lij,lj->li", self.blocks, x.reshape(-1, PER_LINK))
        return InertialParameters(self.reference.links, self.reference.values + change)

    def coordinates(self, parameters: InertialParameters) -> np.ndarray:
        """Coordinates (10 L,) of parameters."""
        change = parameters.values - self.reference.values
        massless = ~self.reference.values.any(axis=1)
        return np.linalg.solve(self.blocks + massless[:, None, None] * np.eye(PER_LINK), change[:, :, None]).ravel()

    @staticmethod
    def matrices(x: np.ndarray) -> np.ndarray:
        """1 + X (L, 4, 4)."""
        # links l, coordinates c of a link, rows i and columns j of a pseudo-inertia
        return np.eye(PSEUDO_INERTIA_ORDER) + np.einsum("lc,cij->lij", x.reshape(-1, PER_LINK), BASIS)

    def transform_columns(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix (m, 10 L) that multiplies phi, in the coordinates instead."""
        parts = matrix.reshape(len(matrix), len(self.blocks), PER_LINK)
        # rows m, links l, parameters i and coordinates j of a link
        return np.einsum("mli,lij->mlj", parts, self.blocks).reshape(matrix.shape)


MIN_EIGENVALUE = 1e-9
"""Smallest eigenvalue of a pseudo-inertia, scaled to unit diagonal, that counts as a solid body."""


def impossible_links(parameters: InertialParameters) -> list[str]:
    """Links that no solid body can have: those whose pseudo-inertia is neither zero nor positive definite."""
    pseudo = parameters.pseudo_inertias
    # A unit diagonal first, so that a flat body is detected whatever the sizes of kilograms and kg m^2.
    diagonal = np.sqrt(np.maximum(np.diagonal(pseudo, axis1=1, axis2=2), np.finfo(float).tiny))
    smallest = np.linalg.eigvalsh(pseudo / (diagonal[:, :, None] * diagonal[:, None, :]))[:, 0]
    wrong = (smallest < MIN_EIGENVALUE) & parameters.values.any(axis=1)
    return [link for link, bad in zip(parameters.links, wrong) if bad]


def parameters_from_pseudo_inertias(pseudo: np.ndarray) -> np.ndarray:
    """Ten parameters (..., 10) of pseudo-inertias (..., 4, 4)."""
    second = pseudo[..., :3, :3]
    inertia = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    return np.concatenate([pseudo[..., 3:, 3], pseudo[..., :3, 3], symmetric_entries(inertia)], axis=-1)
