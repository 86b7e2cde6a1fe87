"""Correction of one trial's wrenches that follows from the plate checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ...arrays import Array, ArrayValue
from ...wrenches import Wrenches

VERTICAL_MOMENT = 5
"""Index of the vertical moment in a wrench."""


@dataclass(frozen=True, slots=True)
class PlateCorrection(ArrayValue):
    """Correction of wrenches before they enter the equations.

    Attributes:
        free_moment: factor of the free moments; None: the vertical moment counts as not measured.
        shift: (3,) [m] displacement of all plates from their location in the file, world.
        shifts: (K, 3) [m] additional displacement of each plate; (0, 3) if there is none.
        gains: (K,) factors of each plate's readings; (0,) if all are right.
        couple: [m] vertical moment that the plates read per newton of load.
    """

    free_moment: float | None = 1.0
    shift: Annotated[np.ndarray, Array(3)] = field(default_factory=lambda: np.zeros(3))
    shifts: Annotated[np.ndarray, Array(None, 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    gains: Annotated[np.ndarray, Array(None)] = field(default_factory=lambda: np.zeros(0))
    couple: float = 0.0

    def apply(self, wrenches: Wrenches) -> Wrenches:
        """The corrected wrenches."""
        if self.free_moment is None:
            wrenches = wrenches.without_axes((VERTICAL_MOMENT,))
        elif self.free_moment != 1.0:
            wrenches = wrenches.with_free_moments(self.free_moment)
        if len(self.gains):
            wrenches = wrenches.scaled(self.gains)
        if len(self.shifts):
            wrenches = wrenches.displaced(self.shifts)
        if self.couple:
            wrenches = wrenches.without_couple(self.couple)
        return wrenches.displaced(self.shift) if np.any(self.shift) else wrenches


NO_CORRECTION = PlateCorrection()
