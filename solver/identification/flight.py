"""Inertial parameters from flight alone, ayusawa: the null space of the contact-free regressor, scaled by the mass.

While nothing touches the body, Y_b phi_b = 0 (7): its base parameters are orthogonal to every row of the regressor, so
motion alone determines them up to one factor, and the known total mass determines the factor. The smallest singular
vector (14), (15) is the total least-squares solution. As in the paper, entries in kilograms and in kg m^2 are compared
directly: in other units of length other directions would be the smallest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from ..base.arrays import frozen
from ..base.errors import InvalidValue, checked
from ..values.inertials import PER_LINK
from .base_parameters import BaseParameters
from .regression import Regression

RANK_TOLERANCE = 1e-8
"""Singular value, as a fraction of the largest, that is rounding."""


@checked
@dataclass(frozen=True, slots=True, repr=False)
class NullSpace:
    """What flights determined of the base parameters, and what not.

    Attributes:
        base: base parameters of the rig.
        singular_values: (B,) of the regressor, descending.
        dimension: of the null space of the motion, without its errors; 1 can be scaled by the total mass.
        values: (B,) base parameters along the direction with the smallest singular value; if several are zero, the
            shortest vector with that mass.
        total_mass: [kg] that scaled them.
    """

    base: BaseParameters
    singular_values: np.ndarray
    dimension: int
    values: np.ndarray
    total_mass: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "singular_values", frozen("singular values", self.singular_values, (len(self.base),)))
        object.__setattr__(self, "values", frozen("base parameters", self.values, (len(self.base),)))

    def __repr__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """Sentence that says what the motion in flight shows, as far as its errors allow."""
        size = len(self.base)
        if self.dimension == 1:
            return f"flight alone shows all {size} base parameters, scaled by {self.total_mass:.2f} kg"
        return (
            f"flight alone shows {size - self.dimension} of {size} directions of the base parameters; "
            f"beyond the scale {self.dimension - 1} are without motion or without effect, and the total mass does not "
            "help"
        )


@checked
def null_space(regression: Regression, total_mass: float) -> NullSpace:
    """Base parameters from the null space of flights' equations, ayusawa (12) to (15).

    Args:
        regression: of frames in which nothing touches the body: `accumulate` of flights.
        total_mass: [kg] gives the scale.

    Raises:
        InvalidValue: a mass that is not positive, or equations with forces.

    Example:
        >>> import numpy as np
        >>> import solver
        >>> rig = solver.hoap3()
        >>> random = np.random.default_rng(0)
        >>> q = np.tile(rig.neutral, (400, 1))
        >>> v, a = random.standard_normal((2, 400, rig.nv))
        >>> motion = solver.Motion(np.arange(400) / 100.0, q, v, a)
        >>> zero = solver.Wrenches(motion.times, ("nothing",), np.zeros((400, 1, 6)))
        >>> trial = solver.Trial("thrown", motion, zero, np.ones(400, bool))
        >>> flying = solver.identification.accumulate_regression(rig, [trial], axes="world")
        >>> solver.identification.null_space(flying, rig.prior.total_mass).total_mass == rig.prior.total_mass
        True
    """
    if not total_mass > 0.0:
        raise InvalidValue(f"the total mass must be positive, not {total_mass:g} kg")
    base, size = regression.structure, len(regression.structure)
    triangle = regression.base_triangle
    if np.any(triangle[:, size] != 0.0):
        raise InvalidValue("equations with forces have no null space: give flights alone")
    factor = np.zeros((size, size))
    factor[: min(len(triangle), size)] = triangle[:size, :size]
    _, values, rows = svd(factor, check_finite=False)
    exact, masses = values <= RANK_TOLERANCE * values[0], _total_mass_row(base)
    carried = np.abs(rows @ masses) > RANK_TOLERANCE
    # with noise no value is zero: use the smallest one whose direction contains the mass
    last = np.flatnonzero(carried)[-1]
    basis = rows[exact] if np.any(exact & carried) else rows[[last]]
    shares = basis @ masses
    found = shares / (shares @ shares) @ basis * total_mass
    return NullSpace(base, np.where(exact, 0.0, values), max(int(exact.sum()), 1), found, total_mass)


def _total_mass_row(base: BaseParameters) -> np.ndarray:
    """(B,) row that gives the total mass from base parameters: the root's mass, into which all others are regrouped."""
    row = np.zeros(len(base))
    row[np.flatnonzero(base.independent % PER_LINK == 0)[0]] = 1.0
    if not np.allclose(row @ base.regrouping[:, ::PER_LINK], 1.0):
        raise InvalidValue("the total mass is not a base parameter: the root is not a free flyer")
    return row
