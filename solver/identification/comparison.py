"""How well parameters explain measured wrenches, on trials that were used and on trials that were not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import frozen
from ..dynamics import com_trajectory
from ..errors import InvalidValue
from ..inertials import InertialParameters
from ..rig import Rig
from ..trial import Trial
from .equations import base_origins, measured_wrench, reconstructed_wrenches
from .error_model.frequency_weights import UNWEIGHTED, PairedWeights

AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
"""World axes; moments about the base link's origin."""
FORCES = slice(0, 3)
MOMENTS = slice(3, 6)
PLATE_ERROR = 0.002
"""Error of force plates, as a fraction of the body weight and in metres of the centre of pressure: 1.4 N and 1.4 N m
for an adult of 70 kg. Slow motions cause forces no larger than that, and their ratio is then random."""


@dataclass(frozen=True, slots=True)
class WrenchFit:
    """Measured against reconstructed wrench, per axis (6,) as `AXES`; NaN where the axis was not measured.

    Attributes:
        rmse: root mean square error [N, N m].
        correlation: Pearson's coefficient; NaN where either signal is constant.
    """

    rmse: np.ndarray
    correlation: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "rmse", frozen("rmse", self.rmse, (6,), finite=False))
        object.__setattr__(self, "correlation", frozen("correlation", self.correlation, (6,), finite=False))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One trial, explained by the identified parameters and by the prior (tables I and III of jovic2016).

    Attributes:
        trial: its name.
        used: True if the identified parameters were fitted to this trial.
        frames: number of frames compared.
        identified, prior: the two fits, each with its own frequency weights.
        unweighted_prior: the prior's fit without frequency weights.
    """

    trial: str
    used: bool
    frames: int
    identified: WrenchFit
    prior: WrenchFit
    unweighted_prior: WrenchFit

    @property
    def ratio(self) -> np.ndarray:
        """RMSE identified / prior per axis (6,), each with its own frequency weights; below one the identified ones are
        better."""
        return self.identified.rmse / self.prior.rmse

    @property
    def ratio_to_unweighted(self) -> np.ndarray:
        """RMSE identified / prior without frequency weights per axis (6,): gain of parameters and weights together."""
        return self.identified.rmse / self.unweighted_prior.rmse


def fit_wrenches(measured: np.ndarray, reconstructed: np.ndarray) -> WrenchFit:
    """RMSE and Pearson's coefficient per axis of two wrench signals (N, 6), over the frames where both are known."""
    rmse, correlation = np.full(6, np.nan), np.full(6, np.nan)
    for axis in range(6):
        known = np.isfinite(measured[:, axis]) & np.isfinite(reconstructed[:, axis])
        if not known.any():
            continue
        reconstructed_values, measured_values = reconstructed[known, axis], measured[known, axis]
        rmse[axis] = np.sqrt(np.mean((reconstructed_values - measured_values) ** 2))
        if reconstructed_values.std() > 0.0 and measured_values.std() > 0.0:
            correlation[axis] = np.corrcoef(reconstructed_values, measured_values)[0, 1]
    return WrenchFit(rmse, correlation)


def compare(
    rig: Rig,
    trial: Trial,
    identified: InertialParameters,
    prior: InertialParameters,
    *,
    base: int | str = 0,
    weights: PairedWeights = UNWEIGHTED,
) -> Comparison:
    """Compare both parameter sets on one trial's counted frames; the trial is marked as not used.

    Args:
        rig: of the trial.
        trial: to explain.
        identified, prior: the parameter sets.
        base: base link, about whose origin the moments are taken.
        weights: frequency weights of both parameter sets; none by default.

    Raises:
        InvalidValue: the trial has no counted frame.
    """
    counted = trial.counted
    if not counted.any():
        raise InvalidValue(f"trial {trial.name!r} has no frame in which every contact is measured")
    measured = measured_wrench(rig, trial, base)[counted]
    bodies, own = (identified, prior, prior), (weights.identified, weights.prior, None)
    reconstructed = reconstructed_wrenches(rig, trial, bodies, own, base)[counted]
    fits = (fit_wrenches(measured, reconstructed[:, body]) for body in range(len(bodies)))
    return Comparison(trial.name, False, int(counted.sum()), *fits)


@dataclass(frozen=True, slots=True)
class FlightCheck:
    """In flight nothing touches the body: its CoM accelerates with gravity and its angular momentum is constant.

    Attributes:
        trial: its name.
        frames: number of flight frames.
        acceleration: RMS of the CoM acceleration minus gravity [m/s^2]: identified, prior.
        momentum_rate: RMS of the rate of angular momentum about the CoM [N m]: identified, prior.
    """

    trial: str
    frames: int
    acceleration: tuple[float, float]
    momentum_rate: tuple[float, float]


def check_flight(
    rig: Rig,
    trial: Trial,
    flight: np.ndarray,
    identified: InertialParameters,
    prior: InertialParameters,
) -> FlightCheck:
    """Acceleration and momentum errors of two parameter sets in frames (N,) of flight, where both should be zero.

    The wrench that the motion requires splits into m (c'' - g) at the CoM and the rate of angular momentum about it.
    The filter spreads landing and push-off into the flight, in measured and reconstructed wrench alike: the filtered
    measured wrench is therefore subtracted (in the middle of a flight it is zero).
    """
    measured = measured_wrench(rig, trial)
    accelerations, rates = [], []
    both = reconstructed_wrenches(rig, trial, (identified, prior), (None, None))
    for body, parameters in enumerate((identified, prior)):
        missing = (both[:, body] - measured)[flight]
        rate = missing[:, MOMENTS] - np.cross(_com_from_base(rig, trial, flight, parameters), missing[:, FORCES])
        accelerations.append(_rms_norm(missing[:, FORCES]) / parameters.total_mass)
        rates.append(_rms_norm(rate))
    return FlightCheck(trial.name, int(flight.sum()), (accelerations[0], accelerations[1]), (rates[0], rates[1]))


def _com_from_base(rig: Rig, trial: Trial, frames: np.ndarray, parameters: InertialParameters) -> np.ndarray:
    """CoM minus base link's origin (n, 3) [m], world axes, at the chosen frames."""
    return com_trajectory(rig, trial.motion, parameters)[frames] - base_origins(rig, trial)[frames]


def _rms_norm(vectors: np.ndarray) -> float:
    # frames i, axes j
    return float(np.sqrt(np.mean(np.einsum("ij,ij->i", vectors, vectors)))) if len(vectors) else float("nan")


def mean_ratio(comparisons: Sequence[Comparison]) -> np.ndarray:
    """RMSE identified / prior per axis (6,), averaged over trials."""
    return np.nanmean([comparison.ratio for comparison in comparisons], axis=0)


def mean_ratio_beyond(comparison: Comparison, plates: float) -> float:
    """Mean over axes of the ratio of the RMSE to the prior's, with the plates' error [N, N m] added to both."""
    identified, prior = (np.hypot(fit.rmse, plates) for fit in (comparison.identified, comparison.prior))
    return float(np.nanmean(identified / prior))
