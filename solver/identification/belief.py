"""Up to which frequency a motion is believed, judged by the plates.

The noise of a tracked motion is not white: skin that swings and a skeleton that does not quite fit put strong false
accelerations between 3 and 10 Hz into it, where the body itself hardly moves. The motion alone cannot tell them from
the truth; the plates, whose noise is smaller by far, can. The cut-offs are learnt axis by axis on the trials that the
parameters were fitted to and then hold for any other: what is measured keeps its band, so that nothing is gained by
hiding it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..inertials import InertialParameters
from ..rig import Rig
from ..trial import Trial
from .blocks import AXES, FORCE_AXES
from .equations import measured_wrench, reconstructed_wrenches, up_to

SHARES = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
"""Cut-offs that are tried, of the trial's own; besides, none at all."""
STILL = 0.02
"""A trial whose force varies by less than this share of its mean shows a standing body, whose motion is noise alone."""
EXACT = 1e-6
"""Share of what was measured below which an error of the reconstruction is rounding."""
EVERYTHING = np.full(AXES, np.inf)


@dataclass(frozen=True, slots=True)
class Doubts:
    """What several bodies leave unexplained of several trials with each of the cut-offs that are tried.

    Attributes:
        tried: of each trial (C,) [Hz] cut-offs, the last infinite; none of a trial that tells nothing.
        errors: of each trial (K, C, 6) mean squares that K bodies leave, over those of the last cut-off.
    """

    tried: tuple[np.ndarray, ...]
    errors: tuple[np.ndarray, ...]

    @staticmethod
    def of(rig: Rig, trials: Sequence[Trial], bodies: Sequence[InertialParameters], base: int | str = 0) -> Doubts:
        """Each trial's motion is gone through once, for all bodies and cut-offs.

        Args:
            rig: that moved.
            trials: to learn from.
            bodies: parameters of the rig's links.
            base: base link, about whose origin the moments are taken.
        """
        found = [_left(rig, trial, bodies, base) for trial in trials]
        return Doubts(tuple(tried for tried, _ in found), tuple(errors for _, errors in found))

    def cutoffs(self, body: int = 0, trials: Sequence[int] | None = None) -> np.ndarray:
        """Cut-offs (6,) [Hz], of low-passes of the wrench that the motion needs, with which it explains best.

        Every trial weighs alike, still ones nothing; infinite where the whole band of the trials' own filter is
        believed.

        Args:
            body: which of the bodies.
            trials: places of the trials to learn from, those that the body was fitted to; all by default.
        """
        chosen = [k for k in (range(len(self.tried)) if trials is None else trials) if len(self.tried[k])]
        if not chosen or any(not np.array_equal(self.tried[k], self.tried[chosen[0]]) for k in chosen):
            return EVERYTHING.copy()  # trials of different bands have no cut-off in common
        # the widest band first: of equals it is taken
        together = np.sum([self.errors[k][body] for k in chosen], axis=0)[::-1]
        best = self.tried[chosen[0]][::-1][np.argmin(np.nan_to_num(together, nan=np.inf), axis=0)]
        return np.where(np.isfinite(together).all(axis=0), best, np.inf)


def _left(
    rig: Rig, trial: Trial, bodies: Sequence[InertialParameters], base: int | str
) -> tuple[np.ndarray, np.ndarray]:
    """Cut-offs that are tried on a trial, and what they leave; see `Doubts`."""
    if trial.preset is None or not trial.counted.any() or is_still(trial):
        return np.zeros(0), np.zeros((len(bodies), 0, AXES))
    tried = np.append(np.array(SHARES) * trial.preset.cutoff, np.inf)
    measured, whole = measured_wrench(rig, trial, base), reconstructed_wrenches(rig, trial, bodies, base)
    squares = [(measured[:, None] - up_to(trial, whole, cutoff))[trial.counted] ** 2 for cutoff in tried]
    errors = np.array([square.mean(axis=0) for square in squares]).swapaxes(0, 1)
    rounding = EXACT**2 * np.mean(measured[trial.counted] ** 2, axis=0) + np.finfo(float).tiny
    return tried, np.maximum(errors, rounding) / np.maximum(errors[:, -1:], rounding)


def is_still(trial: Trial) -> bool:
    """Whether the measured force hardly varies in the frames that count."""
    return hardly_varies(trial.wrenches.total[trial.counted, :FORCE_AXES])


def hardly_varies(forces: np.ndarray) -> bool:
    """Whether forces (N, 3) [N] are those of a standing body; NaN is left out."""
    known = forces[np.isfinite(forces).all(axis=1)]
    if not len(known):
        return True
    return bool(np.linalg.norm(known.std(axis=0)) <= STILL * np.linalg.norm(known.mean(axis=0)))
