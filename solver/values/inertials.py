"""Inertial parameters of links: mass, first moment, rotational inertia, and physical consistency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, abbreviate, frozen
from ..base.errors import InvalidValue, UnknownLink, checked

PARAMETERS = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""One link's parameters in Pinocchio's order; h = m c [kg m], I about the link origin [kg m^2]."""
PER_LINK = len(PARAMETERS)
MASS = 0
"""By definition."""
FIRST_MOMENT = slice(1, 4)
"""By definition."""
INERTIA = slice(4, 10)
"""By definition."""
DIAGONAL = (4, 6, 9)
"""Columns of Ixx, Iyy, Izz. By definition."""
ROUNDED_MOMENT = 1e-6
"""A second moment that is more negative than this fraction of the largest one is no rounding error."""
GRAVITY = 9.81
"""[m/s^2] Standard gravity, as in the papers."""
GRAVITY_VECTOR = frozen("gravity", np.array([0.0, 0.0, -GRAVITY]), (3,))
"""Derived from the standard gravity."""
_ROWS, _COLUMNS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)


@dataclass(frozen=True, slots=True)
class LinkInertia(ArrayValue):
    """Mass, centre of mass and inertia of one link, link frame.

    Attributes:
        link: its name.
        mass: [kg].
        com: (3,) centre of mass [m].
        inertia: (3, 3) about the centre of mass [kg m^2].
        inertia_at_origin: (3, 3) about the link origin [kg m^2].
    """

    link: str
    mass: float
    com: Annotated[np.ndarray, Array(3, finite=False)]
    inertia: Annotated[np.ndarray, Array(3, 3, finite=False)]
    inertia_at_origin: Annotated[np.ndarray, Array(3, 3, finite=False)]

    def __repr__(self) -> str:
        com = ", ".join(f"{1e3 * x:.1f}" for x in self.com)
        inertia = ", ".join(f"{1e3 * x:.2f}" for x in np.diag(self.inertia))
        return f"{self.link}: {self.mass:.3f} kg, CoM ({com}) mm, Ixx Iyy Izz at the CoM ({inertia}) g m²"


@checked
@dataclass(frozen=True, slots=True, repr=False)
class InertialParameters(ArrayValue):
    """Inertial parameters of every link; ``parameters["right_thigh"]`` is one link's.

    Attributes:
        links: names, in the rig's order.
        values: (L, 10), columns as `PARAMETERS`, link frame, SI units. Identified values are kept as found and need
            not be physical; `rotational_margin` and `consistency_margin` show whether they are.

    Example:
        >>> import numpy as np
        >>> from solver import InertialParameters
        >>> body = InertialParameters.from_com(("rod",), [2.0], [[0.0, 0.0, -0.1]], [0.01 * np.eye(3)])
        >>> body["rod"]
        rod: 2.000 kg, CoM (0.0, 0.0, -100.0) mm, Ixx Iyy Izz at the CoM (10.00, 10.00, 10.00) g m²
        >>> print(f"{body['rod'].inertia_at_origin[0, 0]:.2f} kg m^2 about the joint")
        0.03 kg m^2 about the joint
        >>> body["rods"]
        Traceback (most recent call last):
        solver.base.errors.UnknownLink: unknown link 'rods'. Did you mean 'rod'? Known: rod
    """

    links: Annotated[tuple[str, ...], Names("L")]
    values: Annotated[np.ndarray, Array("L", PER_LINK)]

    def __repr__(self) -> str:
        return f"InertialParameters of {len(self.links)} links, {self.total_mass:.2f} kg: {abbreviate(self.links)}"

    def __getitem__(self, link: str) -> LinkInertia:
        """Mass [kg], centre of mass [m] and inertia [kg m^2] of one link.

        Raises:
            UnknownLink: no such link; the message lists the links.
        """
        row = self.index(link)
        return LinkInertia(link, float(self.masses[row]), self.coms[row], self.inertias_at_com[row], self.inertias[row])

    def __iter__(self) -> Iterator[LinkInertia]:
        """The links, in the rig's order."""
        return (self[link] for link in self.links)

    def __len__(self) -> int:
        return len(self.links)

    def __contains__(self, link: object) -> bool:
        """Whether there is a link of that name."""
        return link in self.links

    @staticmethod
    def from_vector(links: Sequence[str], vector: np.ndarray) -> InertialParameters:
        """Parameters from the stacked vector phi (10 L,)."""
        return InertialParameters(tuple(links), np.reshape(vector, (len(links), PER_LINK)))

    @staticmethod
    def from_com(
        links: Sequence[str], masses: np.ndarray, coms: np.ndarray, inertias_at_com: np.ndarray
    ) -> InertialParameters:
        """Parameters from masses (L,), centres of mass (L, 3) and inertias about them (L, 3, 3), link axes."""
        masses, coms, inertias = (np.asarray(x, float) for x in (masses, coms, inertias_at_com))
        about_origin = inertias + masses[:, None, None] * steiner(coms)
        values = np.concatenate([masses[:, None], masses[:, None] * coms, about_origin[:, _ROWS, _COLUMNS]], axis=1)
        return InertialParameters(tuple(links), values)

    @property
    def vector(self) -> np.ndarray:
        """phi (10 L,)."""
        return self.values.reshape(-1)

    @property
    def masses(self) -> np.ndarray:
        """(L,) [kg]."""
        return self.values[:, MASS]

    @property
    def total_mass(self) -> float:
        """Sum of the masses [kg]."""
        return float(self.masses.sum())

    @property
    def coms(self) -> np.ndarray:
        """Centres of mass (L, 3) [m], link frame; NaN where the mass is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.masses[:, None] != 0.0, self.values[:, FIRST_MOMENT] / self.masses[:, None], np.nan)

    @property
    def inertias(self) -> np.ndarray:
        """Rotational inertias about the link origins (L, 3, 3) [kg m^2]."""
        return symmetric_matrix(self.values[:, INERTIA])

    @property
    def inertias_at_com(self) -> np.ndarray:
        """Rotational inertias about the centres of mass (L, 3, 3) [kg m^2]."""
        coms = np.nan_to_num(self.coms)
        return self.inertias - self.masses[:, None, None] * steiner(coms)

    @property
    def pseudo_inertias(self) -> np.ndarray:
        """(L, 4, 4): [[0.5 tr(I) 1 - I, h], [h', m]]; positive semi-definite if and only if physically consistent."""
        inertias = self.inertias
        result = np.zeros((len(self.links), 4, 4))
        half_trace = 0.5 * np.trace(inertias, axis1=1, axis2=2)
        result[:, :3, :3] = half_trace[:, None, None] * np.eye(3) - inertias
        result[:, :3, 3] = result[:, 3, :3] = self.values[:, FIRST_MOMENT]
        result[:, 3, 3] = self.masses
        return result

    @property
    def rotational_margin(self) -> np.ndarray:
        """Smallest eigenvalue of the inertia about the link origin (L,) [kg m^2]; positive: jovic2016 (12) holds."""
        return np.linalg.eigvalsh(self.inertias)[:, 0]

    @property
    def consistency_margin(self) -> np.ndarray:
        """Smallest eigenvalue of the pseudo-inertia (L,), mixed units; not negative: physically consistent."""
        return np.linalg.eigvalsh(self.pseudo_inertias)[:, 0]

    def index(self, link: str) -> int:
        """Row of a link.

        Raises:
            UnknownLink: no such link.
        """
        try:
            return self.links.index(link)
        except ValueError:
            raise UnknownLink(link, self.links) from None

    def link(self, name: str) -> np.ndarray:
        """The ten parameters of one link (10,)."""
        return self.values[self.index(name)]

    def scaled(self, total_mass: float) -> InertialParameters:
        """The same body shape at another total mass [kg]: every parameter times the same factor."""
        if not total_mass > 0.0 or not self.total_mass > 0.0:
            raise InvalidValue(f"cannot scale a mass of {self.total_mass:g} kg to {total_mass:g} kg")
        return InertialParameters(self.links, self.values * (total_mass / self.total_mass))

    def replaced(self, link: str, parameters: np.ndarray) -> InertialParameters:
        """A copy with the ten parameters of one link replaced."""
        values = self.values.copy()
        values[self.index(link)] = parameters
        return InertialParameters(self.links, values)


def symmetric_matrix(six: np.ndarray) -> np.ndarray:
    """Symmetric matrices (..., 3, 3) from (xx, xy, yy, xz, yz, zz) (..., 6)."""
    six = np.asarray(six, float)
    result = np.empty((*six.shape[:-1], 3, 3))
    result[..., _ROWS, _COLUMNS] = six
    result[..., _COLUMNS, _ROWS] = six
    return result


def symmetric_entries(matrices: np.ndarray) -> np.ndarray:
    """(xx, xy, yy, xz, yz, zz) (..., 6) of symmetric matrices (..., 3, 3)."""
    return np.asarray(matrices, float)[..., _ROWS, _COLUMNS]


def steiner(points: np.ndarray) -> np.ndarray:
    """(c'c) 1 - c c' (..., 3, 3): inertia about the origin of a unit mass at c (parallel-axis theorem)."""
    points = np.asarray(points, float)
    # axes i
    squares = np.einsum("...i,...i->...", points, points)
    return squares[..., None, None] * np.eye(3) - points[..., :, None] * points[..., None, :]
