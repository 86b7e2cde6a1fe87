"""Measured wrenches of a trial beside the wrenches that its motion needs by the prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...base.arrays import Array, ArrayValue, Times
from ...signals.hypotheses import HypothesisScore
from ...skeleton.rig import GRAVITY
from ...values.wrenches import Wrenches

LOADED_FRACTION = 0.2
"""Fraction of the weight above which plates carry the body."""


@dataclass(frozen=True, slots=True)
class TimeOffset:
    """A trial's forces moved in time.

    Attributes:
        seconds: by which they are late in the file.
        evaluation: of the moved forces against the file as it is.
        residual: mean square, relative to the weight.
    """

    seconds: float
    evaluation: HypothesisScore
    residual: float


@dataclass(frozen=True, slots=True)
class ForceMotionPair(ArrayValue):
    """Forces and motion of one recording, which should belong together.

    Attributes:
        name: of the trial.
        times: (N,) [s].
        predicted: (N, 6) wrench predicted from the motion with the prior, about the root link's origin, world axes
            [N, N m].
        root_positions: (N, 3) [m] that origin, world.
        wrenches: N samples; NaN where missing.
        lag: [s] roughly, of the recorded forces behind the motion; these have none.
        time_offsets: of the recorded forces (`mismatch.search_time_offsets`).
    """

    name: str
    times: Annotated[np.ndarray, Times()]
    predicted: Annotated[np.ndarray, Array("N", 6)]
    root_positions: Annotated[np.ndarray, Array("N", 3)]
    wrenches: Wrenches
    lag: float = 0.0
    time_offsets: tuple[TimeOffset, ...] = ()

    @property
    def measured(self) -> np.ndarray:
        """Total (N, 6), NaN in components that were not measured."""
        return np.where(np.asarray(self.wrenches.measured), self.wrenches.total, np.nan)


def is_loaded(wrenches: np.ndarray, mass: float) -> np.ndarray:
    """(N,) True where plates with these wrenches (N, 6) carry the body."""
    return np.asarray(np.nan_to_num(wrenches[:, 2]) > LOADED_FRACTION * mass * GRAVITY)


def force_variation(wrenches: np.ndarray, mass: float) -> float:
    """Standard deviation of the force of wrenches (N, 6), relative to the weight, on its most variable axis."""
    force = wrenches[np.isfinite(wrenches[:, :3]).all(axis=1), :3]
    return float(np.std(force, axis=0).max()) / (mass * GRAVITY) if len(force) else 0.0
