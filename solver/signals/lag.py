"""Time lag between force plates and motion."""

from __future__ import annotations

from dataclasses import dataclass

from ..values.wrenches import Wrenches


@dataclass(frozen=True, slots=True)
class Lag:
    """Time lag of the plates behind the motion.

    Attributes:
        seconds: positive if a force appears in the plates' record later than in the motion's.
        std: standard deviation [s].
    """

    seconds: float
    std: float


def shift_wrenches(wrenches: Wrenches, lag: float) -> Wrenches:
    """Wrenches synchronised with the motion: time stamps earlier by ``lag`` [s]."""
    return Wrenches(wrenches.times - lag, wrenches.frames, wrenches.values, wrenches.measured)
