"""One trial as the plates are judged by it: what the motion needs by the prior, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import frozen
from ...dynamics import external_wrench, predicted_wrench
from ...rig import Rig
from ...trial import Trial


@dataclass(frozen=True, slots=True)
class Weighed:
    """A trial with forces.

    Attributes:
        trial: N frames.
        predicted: (N, 6) wrench that the motion needs by the prior, world axes, about the root link's origin [N, N m].
        measured: (N, 6) likewise.
    """

    trial: Trial
    predicted: np.ndarray
    measured: np.ndarray

    def __post_init__(self) -> None:
        for name in ("predicted", "measured"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (len(self.trial.motion), 6)))

    @property
    def name(self) -> str:
        """Name of the trial."""
        return self.trial.name

    @property
    def layout(self) -> tuple[str, ...]:
        """Names of the plates: trials that share them were recorded on plates that stand alike."""
        return self.trial.wrenches.frames

    def counted(self, axes: Sequence[int]) -> np.ndarray:
        """(N,) True in frames that count and in which these axes were measured."""
        return self.trial.counted & np.asarray(self.trial.wrenches.measured)[:, list(axes)].all(axis=1)


def weigh(rig: Rig, trial: Trial) -> Weighed:
    """A trial beside what the rig's prior says of it."""
    predicted = predicted_wrench(rig, trial.motion, rig.prior, 0, axes="world")
    return Weighed(trial, predicted, external_wrench(rig, trial.motion, trial.wrenches, 0, axes="world"))
