"""How far a motion is trusted when forces are reconstructed from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import frozen


@dataclass(frozen=True, slots=True)
class Trust:
    """What the plates of some trials tell of a motion's errors (`belief`, `giving`); it then holds for any other trial.

    Attributes:
        cutoffs: (L, 6) [Hz] up to which each link's motion is believed on each axis, infinite without bound.
        shares: (L, 3) of what its own markers do that each link goes with them, along its axes; None where none tell.
    """

    cutoffs: np.ndarray
    shares: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cutoffs", frozen("cut-offs", self.cutoffs, (None, 6), finite=False))
        if self.shares is not None:
            object.__setattr__(self, "shares", frozen("shares", self.shares, (len(self.cutoffs), 3)))
