"""Linear constraints that keep inertial parameters physical and plausible, jovic2016 (8) to (16)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ..base.errors import InvalidValue, UnknownLink
from ..qp import Rows
from ..skeleton.rig import Rig
from ..values.inertials import DIAGONAL, FIRST_MOMENT, MASS, PARAMETERS, PER_LINK, InertialParameters
from .directions import MIN_EIGENVALUE_FRACTION, DirectionRows

PAPER_FLOOR = 0.01
"""eps of jovic2016 [kg m^2], about the joint centre: larger than a hand's true inertia."""
FLOOR_FRACTION = 0.05
"""Default eps of a link as a fraction of the smallest principal inertia of its prior."""
SYMMETRY = 0.1
"""alpha of jovic2016 (15)."""
MASS_RANGE = 0.35
"""beta of jovic2016 (16) for people and for modified robot links; 0.05 for links that are assumed unchanged."""
AXES = "xyz"


@dataclass(frozen=True, slots=True)
class ConstraintOptions:
    """Constraints on the parameters.

    Attributes:
        total_mass: [kg] sum of the masses, (9); None estimates it from the data.
        boxes: whether each centre of mass stays in the link's box, (11).
        floor: eps of (13) [kg m^2] for all links, or None: `FLOOR_FRACTION` of the link's prior.
        min_eigenvalue_fraction: fraction of eps that the smallest eigenvalue itself must reach; None: sampled
            directions only.
        alpha: of the left/right symmetry (15); None removes it for all links.
        asymmetric: links without symmetry rows, as the belt trials need.
        beta: of the mass bounds (16); None removes them for all links.
        betas: other beta by link.
        reference_masses: other m_ref [kg] by link, as for a link known to carry more.
        fixed_links: links all of whose parameters are those of the reference.
    """

    total_mass: float | None = None
    boxes: bool = True
    floor: float | None = None
    min_eigenvalue_fraction: float | None = MIN_EIGENVALUE_FRACTION
    alpha: float | None = SYMMETRY
    asymmetric: Collection[str] = ()
    beta: float | None = MASS_RANGE
    betas: Mapping[str, float] = field(default_factory=dict)
    reference_masses: Mapping[str, float] = field(default_factory=dict)
    fixed_links: Collection[str] = ()

    def __post_init__(self) -> None:
        if self.total_mass is not None and not self.total_mass > 0.0:
            raise InvalidValue(f"the total mass must be positive, not {self.total_mass:g} kg")
        if self.floor is not None and not self.floor > 0.0:
            raise InvalidValue(f"the inertia floor must be positive, not {self.floor:g} kg m²")
        for name, value in [("alpha", self.alpha), ("beta", self.beta), *(("beta", b) for b in self.betas.values())]:
            if value is not None and not 0.0 <= value < 1.0:
                raise InvalidValue(f"{name} must be in [0, 1), not {value:g}")

    def check(self, links: Sequence[str]) -> None:
        """Check that all named links exist.

        Raises:
            UnknownLink: one does not.
        """
        for name in [*self.asymmetric, *self.betas, *self.reference_masses, *self.fixed_links]:
            if name not in links:
                raise UnknownLink(name, links)


class _RowBuilder:
    """Collects rows given as {column: coefficient}."""

    def __init__(self, links: int) -> None:
        self.width = links * PER_LINK
        self.rows: list[dict[int, float]] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.names: list[str] = []

    def add(self, row: dict[int, float], lower: float, upper: float, name: str) -> None:
        self.rows.append(row)
        self.lower.append(lower)
        self.upper.append(upper)
        self.names.append(name)

    def build(self) -> Rows:
        data = [value for row in self.rows for value in row.values()]
        columns = [column for row in self.rows for column in row]
        starts = np.cumsum([0] + [len(row) for row in self.rows])
        matrix = sparse.csr_array((data, columns, starts), shape=(len(self.rows), self.width), dtype=float)
        return Rows(matrix, np.array(self.lower), np.array(self.upper), tuple(self.names))


def mass_rows(rig: Rig, total_mass: float | None) -> Rows:
    """Masses not negative and, if given, their sum [kg]: (8), (9)."""
    builder = _RowBuilder(len(rig.links))
    for k, link in enumerate(rig.links):
        builder.add({PER_LINK * k + MASS: 1.0}, 0.0, np.inf, f"{link}: mass at zero")
    if total_mass is not None:
        builder.add({PER_LINK * k + MASS: 1.0 for k in range(len(rig.links))}, total_mass, total_mass, "sum of masses")
    return builder.build()


def box_rows(rig: Rig) -> Rows:
    """Every centre of mass in its link's box, as rows in mass and first moment: (11)."""
    builder = _RowBuilder(len(rig.links))
    for k, link in enumerate(rig.links):
        mass, first = PER_LINK * k + MASS, PER_LINK * k + FIRST_MOMENT.start
        for axis in range(3):
            low, high = rig.boxes[k, :, axis]
            name = f"{link}: centre of mass {AXES[axis]} at its"
            builder.add({first + axis: 1.0, mass: -low}, 0.0, np.inf, f"{name} lower side of the box")
            builder.add({first + axis: -1.0, mass: high}, 0.0, np.inf, f"{name} upper side of the box")
    return builder.build()


def symmetry_rows(rig: Rig, alpha: float, dropped: Collection[str] = ()) -> Rows:
    """Mass and diagonal of the inertia similar left and right: (1 - alpha) x_j <= x_i <= (1 + alpha) x_j.

    (15) corrected: the printed equation compares x_i with itself.
    """
    builder = _RowBuilder(len(rig.links))
    for left, right in rig.pairs:
        if left in dropped or right in dropped:
            continue
        i, j = PER_LINK * rig.index(left), PER_LINK * rig.index(right)
        for parameter in (MASS, *DIAGONAL):
            name = f"{left} and {right}: {PARAMETERS[parameter]} as different as allowed"
            builder.add({i + parameter: 1.0, j + parameter: -(1.0 - alpha)}, 0.0, np.inf, name)
            builder.add({i + parameter: -1.0, j + parameter: 1.0 + alpha}, 0.0, np.inf, name)
    return builder.build()


def mass_bound_rows(rig: Rig, reference: InertialParameters, options: ConstraintOptions) -> Rows:
    """(1 - beta) m_ref <= m <= (1 + beta) m_ref: (16)."""
    builder = _RowBuilder(len(rig.links))
    for k, link in enumerate(rig.links):
        beta = options.betas.get(link, options.beta)
        if beta is None:
            continue
        mass = options.reference_masses.get(link, float(reference.masses[k]))
        low, high = (1.0 - beta) * mass, (1.0 + beta) * mass
        builder.add({PER_LINK * k + MASS: 1.0}, low, np.inf, f"{link}: mass at its lower bound")
        builder.add({PER_LINK * k + MASS: 1.0}, -np.inf, high, f"{link}: mass at its upper bound")
    return builder.build()


def fixed_link_rows(rig: Rig, reference: InertialParameters, options: ConstraintOptions) -> Rows:
    """Every parameter of the fixed links, and of links without mass, equal to the reference's."""
    builder = _RowBuilder(len(rig.links))
    for index, (link, own) in enumerate(zip(rig.links, reference.values)):
        if link in options.fixed_links or not own.any():
            for column, (name, value) in enumerate(zip(PARAMETERS, own), start=PER_LINK * index):
                builder.add({column: 1.0}, float(value), float(value), f"{link}: {name} fixed to the prior")
    return builder.build()


def physical_rows(rig: Rig, options: ConstraintOptions) -> Rows:
    """Level 1 of jovic2016 (7) without the inertia directions."""
    options.check(rig.links)
    return Rows.stack([mass_rows(rig, options.total_mass)] + ([box_rows(rig)] if options.boxes else []))


def plausible_rows(rig: Rig, reference: InertialParameters, options: ConstraintOptions) -> Rows:
    """Level 2 of jovic2016 (7): symmetry and mass bounds."""
    options.check(rig.links)
    parts = [mass_bound_rows(rig, reference, options)]
    if options.alpha is not None:
        parts.append(symmetry_rows(rig, options.alpha, options.asymmetric))
    return Rows.stack(parts)


def direction_rows(rig: Rig, reference: InertialParameters, options: ConstraintOptions) -> DirectionRows:
    """Inertia rows of every link: (13), (14)."""
    floors = np.full(len(rig.links), options.floor) if options.floor is not None else default_floors(reference)
    return DirectionRows(rig.links, floors, min_eigenvalue_fraction=options.min_eigenvalue_fraction)


def default_floors(reference: InertialParameters) -> np.ndarray:
    """eps of each link (L,) [kg m^2], a share of the smallest principal inertia of its prior about the joint centre.

    It is zero for a link without mass.
    """
    smallest = reference.rotational_margin
    for link, margin, own in zip(reference.links, smallest, reference.values):
        if margin <= 0.0 and own.any():
            raise InvalidValue(f"the prior inertia of link {link!r} is not positive definite: correct it in its file")
    return FLOOR_FRACTION * smallest
