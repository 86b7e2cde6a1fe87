"""One trial as the plates are judged by it: what the motion needs by the prior, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import frozen
from ...identification.equations import measured_wrench, reconstructed_wrench
from ...rig import Rig
from ...signals import filter_wrenches
from ...trial import Trial


@dataclass(frozen=True, slots=True)
class ComparedTrial:
    """A synchronised trial with its measured wrenches and those predicted from its motion with the prior.

    Attributes:
        trial: N frames, wrenches through its low-pass filter.
        predicted: (N, 6) predicted wrench, world axes, about the root link's origin [N, N m]; NaN where nothing was
            recorded.
        measured: (N, 6) measured wrench in the same frame.
    """

    trial: Trial
    predicted: np.ndarray
    measured: np.ndarray

    def __post_init__(self) -> None:
        for name in ("predicted", "measured"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (len(self.trial.motion), 6), finite=False))

    @property
    def name(self) -> str:
        """Name of the trial."""
        return self.trial.name

    @property
    def layout(self) -> tuple[str, ...]:
        """Names of the plates: trials with the same names were recorded with the same arrangement of plates."""
        return self.trial.wrenches.frames

    def counted_frames(self, axes: Sequence[int]) -> np.ndarray:
        """(N,) True in frames that count and in which these axes were measured."""
        return self.trial.counted & np.asarray(self.trial.wrenches.measured)[:, list(axes)].all(axis=1)


def compare_trial(rig: Rig, trial: Trial) -> ComparedTrial:
    """Compute the predicted and the measured wrenches of a trial."""
    predicted, measured = reconstructed_wrench(rig, trial, rig.prior), measured_wrench(rig, trial)
    if trial.preset is not None:
        trial = replace(trial, wrenches=filter_wrenches(trial.wrenches, trial.preset), preset=None)
    return ComparedTrial(trial, predicted, measured)
