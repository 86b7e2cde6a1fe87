"""Residual forces and moments of a result, in the units and against the thresholds of Hicks et al. 2015."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.file_arrays import map_slices
from ..dynamics import com_trajectory
from ..identification.equations import measured_wrench, reconstructed_wrenches
from ..identification.result import Identification
from ..signals.trial import Trial
from ..skeleton.rig import GRAVITY, Rig

FORCE_THRESHOLD = 0.05
"""Accepted residual force, as a fraction of the peak measured force. Hicks et al. 2015."""
MOMENT_THRESHOLD = 0.01
"""Accepted residual moment, as a fraction of the mean height of the centre of mass times the peak measured force.
Hicks et al. 2015."""


@dataclass(frozen=True, slots=True)
class Residual:
    """Residual wrench of one trial's counted frames with one set of parameters; NaN where it was not measured.

    Attributes:
        force, force_peak: root mean square and largest magnitude of the residual force [N].
        moment, moment_peak: the same for the moment about the base link's origin [N m].
    """

    force: float
    force_peak: float
    moment: float
    moment_peak: float


@dataclass(frozen=True, slots=True)
class TrialResidual:
    """Residuals of one trial that was fitted, with the quantities that scale them.

    Attributes:
        trial: its name.
        weight: body weight [N].
        height: body height [m]; NaN if the rig has none.
        com_height: mean height of the centre of mass above the floor [m].
        peak: largest measured force [N].
        identified, prior: residual of the identified and of the prior parameters, each with its own frequency weights.
    """

    trial: str
    weight: float
    height: float
    com_height: float
    peak: float
    identified: Residual
    prior: Residual

    @property
    def force_share(self) -> tuple[float, float]:
        """Root mean square and peak residual force, as fractions of the peak measured force."""
        return self.identified.force / self.peak, self.identified.force_peak / self.peak

    @property
    def moment_share(self) -> tuple[float, float]:
        """RMS and peak residual moment, as fractions of the centre of mass's height times the peak force."""
        lever = self.com_height * self.peak
        return self.identified.moment / lever, self.identified.moment_peak / lever

    @property
    def meets_thresholds(self) -> bool:
        """Whether peaks and root mean squares stay within the thresholds; what was not measured is ignored."""
        within = (
            *(share <= FORCE_THRESHOLD for share in self.force_share if np.isfinite(share)),
            *(share <= MOMENT_THRESHOLD for share in self.moment_share if np.isfinite(share)),
        )
        return bool(within) and all(within)


def compute_residuals(rig: Rig, trials: Sequence[Trial], found: Identification) -> tuple[TrialResidual, ...]:
    """Residuals of an identification on the trials that it was fitted to.

    Args:
        rig: that was identified.
        trials: of the study; those that were not fitted are ignored.
        found: the result.
    """
    return tuple(
        _compute_residual(rig, trial, found) for trial in trials if trial.name in found.trials and trial.counted.any()
    )


def body_height(rig: Rig) -> float:
    """Body height [m]; NaN if the rig has none, as a robot."""
    height = rig.provenance.get("height")
    return float(height) if rig.provenance.get("kind") == "human" and isinstance(height, float | int) else np.nan


def _compute_residual(rig: Rig, trial: Trial, found: Identification) -> TrialResidual:
    measured = measured_wrench(rig, trial, found.base_link)
    height = com_trajectory(rig, trial.motion, found.parameters)[trial.counted, 2]

    weights = found.frequency_weights.identified, found.frequency_weights.prior
    wrenches = reconstructed_wrenches(rig, trial, (found.parameters, found.prior), weights, found.base_link)
    # frames, bodies, force or moment
    sizes = map_slices(
        len(measured),
        lambda own: np.linalg.norm((measured[own, None] - wrenches[own]).reshape(-1, len(weights), 2, 3), axis=3),
    )[trial.counted]
    left = [Residual(*(number for size in body.T for number in _rms_and_peak(size))) for body in sizes.swapaxes(0, 1)]
    return TrialResidual(
        trial.name,
        found.parameters.total_mass * GRAVITY,
        body_height(rig),
        float(height.mean()),
        _rms_and_peak(np.linalg.norm(measured[trial.counted, :3], axis=1))[1],
        *left,
    )


def _rms_and_peak(sizes: np.ndarray) -> tuple[float, float]:
    known = sizes[np.isfinite(sizes)]
    return (float(np.sqrt(np.mean(known**2))), float(known.max())) if len(known) else (np.nan, np.nan)
