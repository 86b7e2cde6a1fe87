"""Frequency weights: filters between the motion's wrenches and the measured ones, learnt from the measured wrenches.

A tracked motion lags, is smoothed, or vibrates by skin motion, differently in each part of the body. The wrench of each
region of the body therefore passes a filter of its own before the regions are summed, on each axis. The filter is
linear in few coefficients: those of five low-passes, each minus the motion itself, and of six delays, each minus the
motion itself. All of these vanish at 0 Hz, so that gravity is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ...base.arrays import Array, ArrayValue
from ...base.errors import InvalidValue
from ...signals import low_pass, rate_of_grid, true_runs
from ...signals.plate_errors import LikelyErrors
from ...signals.trial import Trial
from ...skeleton.rig import Rig
from ..blocks import AXES

DELAYS = (-0.06, -0.04, -0.02, 0.02, 0.04, 0.06)
"""[s] Delays of the motion; a negative one advances it."""
LIKENESS_WIDTH = 0.3
"""Difference of logarithmic spectra at which a trial's weights count exp(-1/2). Trials of one kind of one person differ
by up to 0.45, squats from walks by 1.1 or more, walks from jumps by 1.5, measured on subject_a and subject_e."""
SMALLER_MOTION = 0.5
"""Factor on differences where the trial at hand moves less than the trial that was learnt from. What was learnt from a
large motion errs by little in a small one: weights of jumps explain squats, but not the reverse, measured on
subject_a."""
HALF_LIKENESS = 0.05
"""Likeness of the most similar trial at which half of a filter is applied: it differs by 2.4 widths. Only the
most similar trial counts: many unlike trials do not make up for a similar one."""


@dataclass(frozen=True, slots=True)
class FrequencyWeights(ArrayValue):
    """Filters that explain the measured wrenches of some trials; they are applied to any other trial.

    The filter of a trial is the mean of those of the T training trials, weighted by the likeness of their spectra to
    its own. A trial that resembles none is not filtered. See `weight_estimation` for how they are learnt.

    Attributes:
        cutoffs: (C,) [Hz] of the low-passes, ascending.
        spectra: (T, 6, C + 1) logarithm of the prior's wrench per mass in each band and axis, of each training trial
            (`weight_estimation.wrench_spectrum`).
        coefficients: (T, R, 6, C + D) of the C low-passes and the D `DELAYS`, for each region of the body and axis.
        improvement: error in unused parts of the training trials, over that without weights.
    """

    cutoffs: Annotated[np.ndarray, Array("C")]
    spectra: Annotated[np.ndarray, Array("T", AXES, None)]
    coefficients: Annotated[np.ndarray, Array("T", None, AXES, None)]
    improvement: float

    def require_consistent(self) -> None:
        count = len(self.cutoffs)
        if np.any(np.diff(self.cutoffs) <= 0.0):
            raise InvalidValue("cut-offs of frequency weights must ascend")
        if self.spectra.shape[2] != count + 1 or self.coefficients.shape[3] != count + len(DELAYS):
            raise InvalidValue("frequency weights need one band more than cut-offs, and coefficients for every delay")

    def coefficients_of(self, spectrum: np.ndarray) -> np.ndarray:
        """Coefficients (R, 6, C + D) of a trial with this spectrum (6, C + 1)."""
        likeness = compute_likeness(spectrum, self.spectra)
        mean = np.tensordot(likeness, self.coefficients, 1) / max(likeness.sum(), np.finfo(float).tiny)
        return mean * likeness.max() ** 2 / (likeness.max() ** 2 + HALF_LIKENESS**2)


@dataclass(frozen=True, slots=True)
class PairedWeights:
    """Frequency weights and errors of plates of the identified parameters and of the prior, each by its own residuals.

    A comparison in which both use one set favours the parameters that the set was estimated for.

    Attributes:
        identified, prior: None: the motion is used as it was tracked.
        identified_plates, prior_plates: most likely errors of the plates by each.
    """

    identified: FrequencyWeights | None = None
    prior: FrequencyWeights | None = None
    identified_plates: tuple[LikelyErrors, ...] = ()
    prior_plates: tuple[LikelyErrors, ...] = ()


UNWEIGHTED = PairedWeights()


def compute_likeness(spectrum: np.ndarray, spectra: np.ndarray) -> np.ndarray:
    """Likeness in [0, 1] of training trials (T, 6, B) to a trial (6, B), by the axis that differs most."""
    difference = spectrum - spectra
    difference[difference < 0.0] *= SMALLER_MOTION
    distance = np.sqrt(np.mean(difference**2, axis=2)).max(axis=1, initial=0.0)
    return np.exp(-0.5 * (distance / LIKENESS_WIDTH) ** 2)


def filter_changes(trial: Trial, values: np.ndarray, cutoffs: np.ndarray) -> np.ndarray:
    """Changes (C + D, N, ...) of a trial's values (N, ...) by each low-pass and each delay.

    Each interval of known values is filtered separately; a delay repeats the value at its end.
    """
    rate = rate_of_grid(trial.motion.times)
    columns = values.reshape(len(values), -1)
    result = np.full((len(cutoffs) + len(DELAYS), *columns.shape), np.nan)
    for change, cutoff in zip(result, cutoffs):
        change[:] = low_pass_at(trial, columns, float(cutoff)) - columns
    for start, stop in true_runs(np.isfinite(columns).all(axis=1)):
        frames = np.arange(start, stop)
        for change, delay in zip(result[len(cutoffs) :], DELAYS):
            change[start:stop] = columns[np.clip(frames - round(delay * rate), start, stop - 1)] - columns[start:stop]
    return result.reshape(-1, *values.shape)


def low_pass_at(trial: Trial, values: np.ndarray, cutoff: float) -> np.ndarray:
    """A trial's values (N, ...) through a low-pass of another cut-off [Hz]; unchanged above half the sample rate."""
    rate = rate_of_grid(trial.motion.times)
    if trial.preset is None or not cutoff < 0.5 * rate:
        return values
    return low_pass(values, rate, replace(trial.preset, cutoff=cutoff), longest_gap=0.0)


def body_regions(rig: Rig) -> Mapping[str, np.ndarray]:
    """Link indices of each region, by name: the root link alone, trunk, arms, upper legs and lower legs.

    Legs are the chains from the root to the links with soles; their first links are the upper legs. Of the other links,
    those with a counterpart on the other side are arms and those without are the trunk. A rig without soles has no
    legs.
    """
    feet = {rig.index(patch.link) for patch in rig.soles}
    paired = {rig.index(link) for pair in rig.pairs for link in pair}
    legs: dict[int, str] = {}
    for foot in feet:
        legs |= {link: "lower legs" if index else "upper legs" for index, link in enumerate(rig.path(foot))}
    found: dict[str, list[int]] = {}
    for index, name in enumerate(rig.links):
        region = name if index == 0 else legs.get(index, "arms" if index in paired else "trunk")
        found.setdefault(region, []).append(index)
    return {name: np.array(indices) for name, indices in found.items()}
