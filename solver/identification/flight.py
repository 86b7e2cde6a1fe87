"""Inertial parameters from flight alone, ayusawa: the null space of the contact-free regressor, scaled by the mass.

While nothing touches the body, Y_b phi_b = 0 (7): its base parameters are orthogonal to every row of the regressor, so
motion alone determines them up to one factor, and the known total mass determines the factor. The smallest singular
vector (14), (15) is the total least-squares solution. It is not invariant to scale: entries in kilograms and in kg m^2
are compared directly, so that a unit in which inertias are small numbers makes their errors cheap. Divided by typical
sizes they count equally. If the noise of the motion is known, each direction is compared with what noise alone would
cause.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from ..base.arrays import frozen
from ..base.errors import InvalidValue, checked
from ..skeleton.rig import Rig
from ..values.inertials import PER_LINK
from .base_parameters import BaseParameters
from .regression import Regression
from .weighted_equations import parameter_scale

PLAIN, SCALED, NOISE = "plain", "scaled", "noise"
METRICS = (PLAIN, SCALED, NOISE)
RANK_TOLERANCE = 1e-8
"""Singular value, as a fraction of the largest, that is rounding."""
NOISE_RATIO = 2.0**0.5
"""Ratio to the expected noise of a direction up to which it counts as noise. Derived: there noise and signal are
equally large."""
MIN_GAP = 3.0
"""Least gap between the null space and the other directions that stands out from the errors of the motion."""
MAX_NOISE_RATIO = 1e8
"""Ratio to the noise beyond which a direction counts as free of noise."""


@checked
@dataclass(frozen=True, slots=True, repr=False)
class NullSpace:
    """What flights determined of the base parameters, and what not.

    Attributes:
        base: base parameters of the rig.
        metric: ``"plain"`` singular values of the regressor itself (the paper), ``"scaled"`` of its columns times
            typical sizes, or ``"noise"``: relative to what the noise of the motion alone would cause.
        singular_values: (B,) descending; with ``"noise"`` the value one is noise alone.
        dimension: of the null space; 1 can be scaled by the total mass.
        values: (B,) base parameters along the direction with the smallest singular value; if several are zero, the
            shortest vector with that mass.
        total_mass: [kg] that scaled them.
    """

    base: BaseParameters
    metric: str
    singular_values: np.ndarray
    dimension: int
    values: np.ndarray
    total_mass: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "singular_values", frozen("singular values", self.singular_values, (len(self.base),)))
        object.__setattr__(self, "values", frozen("base parameters", self.values, (len(self.base),)))

    @property
    def gap(self) -> float:
        """Smallest singular value outside the null space over the largest inside."""
        count = len(self.base) - self.dimension
        inside = self.singular_values[count] if count < len(self.base) else 0.0
        return float(self.singular_values[count - 1] / inside) if count and inside > 0.0 else np.inf

    @property
    def is_distinct(self) -> bool:
        """Whether the null space stands out from the errors of the motion."""
        return self.gap >= MIN_GAP

    def __repr__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """Sentence that says what flight alone determined."""
        size = len(self.base)
        if not self.is_distinct:
            unobservable = (
                f"; {self.dimension - 1} directions beyond the scale have no effect at all"
                if self.dimension > 1
                else ""
            )
            return (
                "the null space of the flights does not stand out from the errors of their motion (gap "
                f"{self.gap:.2g}): none of the {size} base parameters follows from flight alone{unobservable}"
            )
        if self.dimension == 1:
            return f"flight alone determined all {size} base parameters, scaled by {self.total_mass:.2f} kg"
        return (
            f"flight alone determined {size - self.dimension} of {size} directions of the base parameters; "
            f"beyond the scale {self.dimension - 1} are undetermined (without motion, without effect, or not larger "
            "than noise), and the total mass does not help"
        )


@checked
def null_space(regression: Regression, rig: Rig, total_mass: float, metric: str = PLAIN) -> NullSpace:
    """Base parameters from the null space of flights' equations, ayusawa (12) to (15).

    Args:
        regression: of frames in which nothing touches the body: `accumulate` of flights.
        rig: whose prior gives the typical sizes.
        total_mass: [kg] gives the scale.
        metric: see `NullSpace`; ``"noise"`` needs trials with noise replicas.

    Raises:
        InvalidValue: no such metric, a mass that is not positive, equations with forces, or unknown noise.

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
        >>> solver.identification.null_space(flying, rig, rig.prior.total_mass).total_mass == rig.prior.total_mass
        True
    """
    if metric not in METRICS:
        raise InvalidValue(f"metric {metric!r} is none of {', '.join(METRICS)}")
    if not total_mass > 0.0:
        raise InvalidValue(f"the total mass must be positive, not {total_mass:g} kg")
    base, size = regression.structure, len(regression.structure)
    triangle = regression.base_triangle
    if np.any(triangle[:, size] != 0.0):
        raise InvalidValue("equations with forces have no null space: give flights alone")
    factor = np.zeros((size, size))
    factor[: min(len(triangle), size)] = triangle[:size, :size]
    scale = typical_sizes(rig, base) if metric != PLAIN else np.ones(size)
    values, directions = _spectrum(factor * scale, _noise_factor(regression, metric, scale))
    masses = _total_mass_row(base) * scale
    carried = np.abs(masses @ directions) > RANK_TOLERANCE
    exact = values <= RANK_TOLERANCE * values[0]
    # with noise no value is zero: use the smallest one whose direction contains the mass
    mass_directions = exact if np.any(exact & carried) else np.arange(size) == np.flatnonzero(carried)[-1]
    basis = np.linalg.qr(directions[:, mass_directions])[0]
    shares = masses @ basis
    mean_direction = basis @ (shares / (shares @ shares)) * total_mass
    unobservable = mass_directions | exact | (values <= (NOISE_RATIO if metric == NOISE else 0.0))
    return NullSpace(base, metric, values, int(unobservable.sum()), mean_direction * scale, total_mass)


def typical_sizes(rig: Rig, base: BaseParameters) -> np.ndarray:
    """Typical size (B,) of each base parameter: the root of the squared sizes of its terms."""
    return np.sqrt((base.regrouping**2) @ parameter_scale(rig, rig.prior).ravel() ** 2)


def _total_mass_row(base: BaseParameters) -> np.ndarray:
    """(B,) row that gives the total mass from base parameters: the root's mass, into which all others are regrouped."""
    row = np.zeros(len(base))
    row[np.flatnonzero(base.independent % PER_LINK == 0)[0]] = 1.0
    if not np.allclose(row @ base.regrouping[:, ::PER_LINK], 1.0):
        raise InvalidValue("the total mass is not a base parameter: the root is not a free flyer")
    return row


def _noise_factor(regression: Regression, metric: str, scale: np.ndarray) -> np.ndarray | None:
    """(k, B) factor of the motion's noise in the columns times typical sizes."""
    if metric != NOISE:
        return None
    noise = regression.noise_triangle
    if not noise.any():
        raise InvalidValue("the noise of the motion is unknown: flights are too short or too slow to estimate it")
    return np.asarray(noise[:, : len(scale)] * scale)


def _spectrum(factor: np.ndarray, noise: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Singular values (B,) descending, zero for rounding, and directions as unit columns (B, B)."""
    _, values, rows = svd(factor, check_finite=False)
    seen = values > RANK_TOLERANCE * float(np.max(values, initial=np.finfo(float).tiny))
    values = np.where(seen, values, 0.0)
    if noise is None:
        return values, rows.T
    whitened = rows[seen].T / values[seen]  # coordinates in which the equations have unit covariance
    _, shares, rotation_rows = svd(noise @ whitened, full_matrices=True, check_finite=False)
    ratios = np.full(whitened.shape[1], MAX_NOISE_RATIO)
    ratios[: len(shares)] = np.minimum(1.0 / np.maximum(shares, 1.0 / MAX_NOISE_RATIO), MAX_NOISE_RATIO)
    order = np.argsort(-ratios, kind="stable")
    directions = (whitened @ rotation_rows.T)[:, order]
    directions /= np.linalg.norm(directions, axis=0)
    return np.append(ratios[order], np.zeros(int(np.sum(~seen)))), np.column_stack([directions, rows[~seen].T])
