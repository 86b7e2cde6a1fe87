"""Frequency weights: the fraction of a tracked motion that is used when forces are reconstructed from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import frozen
from ...errors import InvalidValue
from ..blocks import AXES

HALF = 0.5


@dataclass(frozen=True, slots=True)
class FrequencyWeights:
    """Fractions of a motion that explain the measured wrenches of some trials; they are applied to any other trial.

    See `weight_estimation` and `skin_compliance` for how they are estimated.

    Attributes:
        bands: (C,) [Hz] upper ends of the frequency bands, ascending; the last is infinite.
        gains: (L, 6, C) fraction of each link's motion that is used, by wrench axis and band: 1 in the lowest band, and
            never larger in a higher band than in a lower one.
        shares: (L, 3) factors on the displacement of each link's own markers, along the link's axes; None if no trial
            has marker displacements.
    """

    bands: np.ndarray
    gains: np.ndarray
    shares: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bands", frozen("bands", self.bands, (None,), finite=False))
        object.__setattr__(self, "gains", frozen("gains", self.gains, (None, AXES, len(self.bands))))
        if not len(self.bands) or not np.isposinf(self.bands[-1]) or np.any(np.diff(self.bands[:-1]) <= 0.0):
            raise InvalidValue("upper ends of frequency bands must ascend, and the last must be infinite")
        if self.shares is not None:
            object.__setattr__(self, "shares", frozen("shares", self.shares, (len(self.gains), 3)))

    @staticmethod
    def from_cutoffs(cutoffs: np.ndarray, shares: np.ndarray | None = None) -> FrequencyWeights:
        """Weights of ideal low-passes: all of a link's motion up to its cut-offs (L, 6) [Hz], nothing above them.

        An infinite cut-off keeps the whole motion.
        """
        cutoffs = np.asarray(cutoffs, float)
        bands = np.unique(np.append(cutoffs, np.inf))
        return FrequencyWeights(bands, (bands <= cutoffs[:, :, None]).astype(float), shares)

    @property
    def low_pass_weights(self) -> np.ndarray:
        """(L, 6, C) weights of the low-passes at the upper ends of the bands whose sum has these gains; they sum
        to 1."""
        return self.gains - np.concatenate([self.gains[:, :, 1:], np.zeros((*self.gains.shape[:2], 1))], axis=2)

    @property
    def cutoffs(self) -> np.ndarray:
        """(L, 6) [Hz] up to which at least half of each link's motion is used on each axis."""
        return np.asarray(self.bands[np.sum(self.gains >= HALF, axis=2) - 1])


@dataclass(frozen=True, slots=True)
class PairedWeights:
    """Frequency weights of the identified parameters and of the prior, each estimated from its own residuals.

    A comparison in which both use one set favours the parameters that the set was estimated for.

    Attributes:
        identified, prior: None: the motion is used as it was tracked.
    """

    identified: FrequencyWeights | None = None
    prior: FrequencyWeights | None = None


UNWEIGHTED = PairedWeights()
