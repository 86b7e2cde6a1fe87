"""What identification found, how sure it is, and who said so: the data or the prior."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import frozen
from ..inertials import InertialParameters
from .base_estimation import BaseEstimate
from .comparison import Comparison, FlightCheck
from .estimate import Estimate


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Spread of the parameters over block-bootstrap samples; the consistent method's also holds the posterior's.

    Attributes:
        samples: number of samples that were solved.
        blocks: number of blocks of consecutive frames that were drawn from.
        std: (L, 10) standard deviations, columns as `inertials.PARAMETERS`.
        lower, upper: (L, 10) ends of the 95 % intervals.
        com_std: (L, 3) [m] standard deviations of the centres of mass.
    """

    samples: int
    blocks: int
    std: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    com_std: np.ndarray

    def __post_init__(self) -> None:
        for name in ("std", "lower", "upper"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (None, 10)))
        object.__setattr__(self, "com_std", frozen("com_std", self.com_std, (None, 3), finite=False))


@dataclass(frozen=True, slots=True)
class Identification:
    """The result of one identification.

    Attributes:
        estimate: parameters, prior, status, trace, names on bounds, kind of consistency.
        determined: (L, 10) share in [0, 1] of each parameter that the data determined; the prior supplied the rest.
        singular_values: of the column-scaled regressor, descending.
        rank: number of them that are not noise of rounding.
        weights: (6,) per axis, one over the residual's standard deviation [1/N, 1/(N m)].
        frames: number of frames used.
        trials: names of the trials used.
        base_link: at whose origin the wrench equation was written.
        base: base parameters.
        uncertainty: bootstrap, or None when it was not asked for.
        comparisons: measured against reconstructed, used trials and unused ones.
        flights: checks in flight.
        notes: what a reader must know.
    """

    estimate: Estimate
    determined: np.ndarray
    singular_values: np.ndarray
    rank: int
    weights: np.ndarray
    frames: int
    trials: tuple[str, ...]
    base_link: str
    base: BaseEstimate | None = None
    uncertainty: Uncertainty | None = None
    comparisons: tuple[Comparison, ...] = ()
    flights: tuple[FlightCheck, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "determined", frozen("determined", self.determined, (None, 10)))
        object.__setattr__(self, "singular_values", frozen("singular values", self.singular_values, (None,)))
        object.__setattr__(self, "weights", frozen("weights", self.weights, (6,)))

    @property
    def parameters(self) -> InertialParameters:
        """The identified parameters."""
        return self.estimate.parameters

    @property
    def prior(self) -> InertialParameters:
        """What was believed before."""
        return self.estimate.prior
