"""Up to which frequency a motion is believed, judged by the plates.

The noise of a tracked motion is not white: skin that swings and a skeleton that does not quite fit put strong false
accelerations between 3 and 10 Hz into it, where the body itself hardly moves. The motion alone cannot tell them from
the truth; the plates, whose noise is smaller by far, can. The cut-offs are learnt axis by axis on the trials that the
parameters were fitted to and then hold for any other: what is measured keeps its band, so that nothing is gained by
hiding it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..inertials import InertialParameters
from ..rig import Rig
from ..trial import Trial
from .blocks import AXES, FORCE_AXES
from .equations import believed_part, measured_wrench, reconstructed_wrench

SHARES = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
"""Cut-offs that are tried, of the trial's own; besides, none at all."""
STILL = 0.02
"""A trial whose force varies by less than this share of its mean shows a standing body, whose motion is noise alone."""
EXACT = 1e-6
"""Share of what was measured below which an error of the reconstruction is rounding."""
EVERYTHING = np.full(AXES, np.inf)


def believed_cutoffs(
    rig: Rig, trials: Sequence[Trial], parameters: InertialParameters, base: int | str = 0
) -> np.ndarray:
    """Cut-offs (6,) [Hz], of low-passes of the wrench that the motion needs, with which it explains best.

    Every trial weighs alike, still ones nothing; infinite where the whole band of the trials' own filter is believed.

    Args:
        rig: that moved.
        trials: to learn from, those that the parameters were fitted to.
        parameters: of the rig's links.
        base: base link, about whose origin the moments are taken.
    """
    found, cutoffs = [], np.array([])
    for trial in trials:
        if trial.preset is None or not trial.counted.any() or is_still(trial):
            continue
        tried = np.append(np.array(SHARES) * trial.preset.cutoff, np.inf)
        if len(cutoffs) and not np.array_equal(tried, cutoffs):
            return EVERYTHING.copy()  # trials of different bands have no cut-off in common
        cutoffs = tried
        measured, whole = measured_wrench(rig, trial, base), reconstructed_wrench(rig, trial, parameters, base)
        errors = np.array(
            [
                np.mean((measured - believed_part(trial, whole, np.full(AXES, cutoff)))[trial.counted] ** 2, axis=0)
                for cutoff in tried
            ]
        )
        rounding = EXACT**2 * np.mean(measured[trial.counted] ** 2, axis=0) + np.finfo(float).tiny
        found.append(np.maximum(errors, rounding) / np.maximum(errors[-1], rounding))
    if not found:
        return EVERYTHING.copy()
    together = np.sum(found, axis=0)[::-1]  # the widest band first: of equals it is taken
    best = cutoffs[::-1][np.argmin(np.nan_to_num(together, nan=np.inf), axis=0)]
    return np.where(np.isfinite(together).all(axis=0), best, np.inf)


def is_still(trial: Trial) -> bool:
    """Whether the measured force hardly varies in the frames that count."""
    return hardly_varies(trial.wrenches.total[trial.counted, :FORCE_AXES])


def hardly_varies(forces: np.ndarray) -> bool:
    """Whether forces (N, 3) [N] are those of a standing body; NaN is left out."""
    known = forces[np.isfinite(forces).all(axis=1)]
    if not len(known):
        return True
    return bool(np.linalg.norm(known.std(axis=0)) <= STILL * np.linalg.norm(known.mean(axis=0)))
