"""How well parameters explain measured wrenches, on trials that were used and on trials that were not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, list_names
from ..base.errors import InvalidValue
from ..dynamics import com_trajectory
from ..signals import is_still
from ..signals.trial import Trial
from ..skeleton.rig import GRAVITY, Rig
from ..values.inertials import MASS, InertialParameters
from .equations import base_origins, measured_wrench, reconstructed_wrenches
from .error_model.frequency_weights import UNWEIGHTED, PairedWeights
from .estimate import NAME_SEPARATOR, PARAMETER_COLUMNS, PARAMETER_PATTERN, Estimate

FORCES = slice(0, 3)
"""By definition."""
MOMENTS = slice(3, 6)
"""By definition."""
PLATE_ERROR = 0.002
"""Error of force plates, as a fraction of the body weight and in metres of the centre of pressure: 1.4 N and 1.4 N m
for an adult of 70 kg. Slow motions cause forces no larger than that, and their ratio is then random. Chosen on 63
studies of slow motions: without it three were warned of although their masses were as near as the tables' or nearer."""


@dataclass(frozen=True, slots=True)
class WrenchFit(ArrayValue):
    """Measured against reconstructed wrench, per axis (6,) as `WRENCH_AXES`, in the world about the base link's
    origin; NaN where the axis was not measured.

    Attributes:
        rmse: root mean square error [N, N m].
        correlation: Pearson's coefficient; NaN where either signal is constant.
    """

    rmse: Annotated[np.ndarray, Array(6, finite=False)]
    correlation: Annotated[np.ndarray, Array(6, finite=False)]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One trial, explained by the identified parameters and by the prior (tables I and III of jovic2016).

    Attributes:
        trial: its name.
        used: True if the identified parameters were fitted to this trial.
        frames: number of frames compared.
        identified, prior: the two fits, each with its own frequency weights and without its own errors of the plates.
        unweighted_prior: the prior's fit without either.
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
        weights: frequency weights and errors of the plates of both parameter sets; none by default.

    Raises:
        InvalidValue: the trial has no counted frame.
    """
    counted = trial.counted
    if not counted.any():
        raise InvalidValue(f"trial {trial.name!r} has no frame in which every contact is measured")
    measured = (
        np.where(counted[:, None], measured_wrench(rig, trial.without_errors(plates), base), np.nan)
        for plates in (weights.identified_plates, weights.prior_plates, ())
    )
    bodies, own = (identified, prior, prior), (weights.identified, weights.prior, None)
    reconstructed = reconstructed_wrenches(rig, trial, bodies, own, base)
    fits = (fit_wrenches(own, reconstructed[:, body]) for body, own in enumerate(measured))
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
        lever = (com_trajectory(rig, trial.motion, parameters) - base_origins(rig, trial))[flight]
        rate = missing[:, MOMENTS] - np.cross(lever, missing[:, FORCES])
        accelerations.append(_rms_norm(missing[:, FORCES]) / parameters.total_mass)
        rates.append(_rms_norm(rate))
    return FlightCheck(trial.name, int(flight.sum()), (accelerations[0], accelerations[1]), (rates[0], rates[1]))


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


def find_undecided_reason(
    rig: Rig, trials: Sequence[Trial], tested: Iterable[Trial], estimate: Estimate, comparisons: Sequence[Comparison]
) -> str:
    """Why the recordings do not decide the masses, as a clause; empty if they do.

    An identified body must be worth more than the one that is known without a recording. Three findings say that it is
    not, and none of them needs a tuned threshold:

    * No trial moves the body. The wrench of a standing body depends on one point, its centre of mass, which any masses
      can produce.
    * Moving trials that were not used are explained no better than by the prior: the geometric mean of the ratios of
      their errors, each frame counting alike, is at least one. What was fitted are then errors of the trials used.
    * More than half of the masses are decided by bounds. A bound is chosen, not measured; where most masses end on one,
      the data point to values that are not plausible, which are errors of the model.

    Methods of publications return what they find; the default method returns the prior.

    Args:
        rig: of the trials.
        trials: that were used.
        tested: trials, or halves of one, that were left out in turn.
        estimate: from all trials that were used.
        comparisons: of all trials; those used are ignored.
    """
    if not any(moves(rig, trial) for trial in trials):
        return "no trial moves the body, and standing shows nothing but its centre of mass"
    moving = {trial.name for trial in tested if moves(rig, trial)}
    plates = PLATE_ERROR * estimate.parameters.total_mass * GRAVITY
    unseen = [c for c in comparisons if not c.used and c.trial in moving]
    ratios = [mean_ratio_beyond(c, plates) for c in unseen]
    if unseen and np.average(np.log(ratios), weights=[c.frames for c in unseen]) >= 0.0:
        listed = list_names(f"{c.trial} {ratio:.2f}" for c, ratio in zip(unseen, ratios))
        return (
            f"trials that were not used are explained no better than by the prior (ratio of the RMSE: {listed}); the "
            "motion excites too little of the body (also record squats, jumps and arm swings), or the trials are of "
            "several bodies"
        )
    bounded = count_mass_bounds(estimate.at_bounds)
    if 2 * bounded > len(rig.links):
        return f"bounds, not the data, decide {bounded} of {len(rig.links)} masses"
    return ""


def moves(rig: Rig, trial: Trial) -> bool:
    """Whether the body does more than stand quietly in the frames that count."""
    return not is_still(rig, trial.motion.q[trial.counted])


def count_mass_bounds(names: Iterable[str]) -> int:
    """Number of active rows that bound masses; one that compares left with right decides one mass of two."""
    matches = (PARAMETER_PATTERN.match(phrase) for phrase in (name.partition(NAME_SEPARATOR)[2] for name in names))
    return sum(PARAMETER_COLUMNS[match[1]] == (MASS,) for match in matches if match)
