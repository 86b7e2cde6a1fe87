"""How far a motion is trusted when forces are reconstructed from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import frozen
from ...errors import InvalidValue
from ..blocks import AXES

HALF = 0.5


@dataclass(frozen=True, slots=True)
class FrequencyWeights:
    """What the plates of some trials tell of a motion's errors (`belief`, `giving`); it then holds for any other trial.

    Attributes:
        bands: (C,) [Hz] upper ends of bands of frequency, ascending, the last infinite.
        gains: (L, 6, C) share that is believed of each link's motion in each band on each axis: 1 in the lowest, and
            never more in a higher band than below it.
        shares: (L, 3) of what its own markers do that each link goes with them, along its axes; None where none tell.
    """

    bands: np.ndarray
    gains: np.ndarray
    shares: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bands", frozen("bands", self.bands, (None,), finite=False))
        object.__setattr__(self, "gains", frozen("gains", self.gains, (None, AXES, len(self.bands))))
        if not len(self.bands) or not np.isposinf(self.bands[-1]) or np.any(np.diff(self.bands[:-1]) <= 0.0):
            raise InvalidValue("bands of frequency must ascend, the last without an end")
        if self.shares is not None:
            object.__setattr__(self, "shares", frozen("shares", self.shares, (len(self.gains), 3)))

    @staticmethod
    def from_cutoffs(cutoffs: np.ndarray, shares: np.ndarray | None = None) -> FrequencyWeights:
        """All of each link's motion on each axis up to cut-offs (L, 6) [Hz], infinite for all of it, nothing above."""
        cutoffs = np.asarray(cutoffs, float)
        bands = np.unique(np.append(cutoffs, np.inf))
        return FrequencyWeights(bands, (bands <= cutoffs[:, :, None]).astype(float), shares)

    @property
    def low_pass_weights(self) -> np.ndarray:
        """(L, 6, C) by which low-passes at the ends of the bands add up to what is believed; they sum to 1."""
        return self.gains - np.concatenate([self.gains[:, :, 1:], np.zeros((*self.gains.shape[:2], 1))], axis=2)

    @property
    def cutoffs(self) -> np.ndarray:
        """(L, 6) [Hz] up to which at least half of each link's motion is believed on each axis."""
        return np.asarray(self.bands[np.sum(self.gains >= HALF, axis=2) - 1])


@dataclass(frozen=True, slots=True)
class PairedWeights:
    """Frequency weights of the identified parameters and of the prior, each estimated from its own residuals.

    A comparison in which both share one set favours the body that the set was estimated for.

    Attributes:
        identified, prior: None: the motion is used as it was tracked.
    """

    identified: FrequencyWeights | None = None
    prior: FrequencyWeights | None = None


UNWEIGHTED = PairedWeights()
