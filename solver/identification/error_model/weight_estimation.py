"""How much of a motion is believed at which frequency, judged by the plates.

The noise of a tracked motion is not white: skin that swings and a skeleton that does not quite fit put strong false
accelerations between 3 and 10 Hz into it, where the body itself hardly moves. The motion alone cannot tell them from
the truth; the plates, whose noise is smaller by far, can. The markers of a trunk swing otherwise than those of a shank,
sideways otherwise than up: the gain of each band is learnt by region of the body and by axis, on the trials that the
parameters were fitted to, and then holds for any other. Gains never grow with frequency, so that a mixture of
low-passes makes what is believed, and the likeliest mixture is a convex programme. What is measured keeps its band, so
that nothing is gained by hiding it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...errors import BackendError
from ...inertials import InertialParameters
from ...qp import Problem, Rows, Status, solve
from ...rig import Rig
from ...signals import is_still, rate_of_grid
from ...trial import Trial
from ..blocks import AXES
from ..equations import group_wrenches, low_pass_at, measured_wrench, wrenches_about_base
from ..trial_chunks import TrialChunk, split_trial
from .body_regions import body_regions
from .frequency_weights import HALF, FrequencyWeights
from .skin_compliance import has_marker_displacements, skin_compliance_wrenches, solve_shares

CUTOFF_FRACTIONS = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
"""Cut-offs that are tried, of the trial's own; besides, none at all."""
ROUNDING = 1e-6
"""Share of what was measured below which an error of the reconstruction is rounding."""
GAIN_PENALTY = 0.003
"""What the square of a gain's distance from 1 costs, in shares of what a wholly believed motion leaves unexplained.
Chosen on runs of two recordings, on which .001 and .01 explain unseen wrenches 1 to 2 % worse."""
MIN_RESIDUAL_FRACTION = 1e-3
"""Share of the error of a wholly believed motion below which what gains leave is taken for rounding."""
TOLERANCE = 1e-9
GAIN_ROUNDING = 1e-4
"""A gain this near to 0 or 1 is that, but for the solver's tolerance."""


@dataclass(frozen=True, slots=True)
class ResidualGrams:
    """What several bodies leave unexplained of several trials, whatever is believed of each region of the body.

    The error is the wrench measured less one share of each region, each through filters of its own: a square of
    what is filtered, so that a Gram matrix tells it for every mixture.

    Attributes:
        links: L, the number of links.
        regions: places of the links of each, R of them.
        cutoffs: of each trial (C,) [Hz] cut-offs, the last infinite; none of a trial that tells nothing.
        grams: of each trial (K, 6, R C + 1 + E, R C + 1 + E) mean products, of K bodies, of what the regions need
            through each cut-off (the cut-off varying fastest), of what was measured, and of what E = 3 L shares of the
            links' own markers add (`giving`; E = 0 where no markers tell), over the error of the last cut-offs.
        sample_counts: of each trial, how many independent numbers its frames are.
    """

    links: int
    regions: tuple[np.ndarray, ...]
    cutoffs: tuple[np.ndarray, ...]
    grams: tuple[np.ndarray, ...]
    sample_counts: tuple[float, ...]

    @staticmethod
    def from_trials(
        rig: Rig, trials: Sequence[Trial], bodies: Sequence[InertialParameters], base: int | str = 0
    ) -> ResidualGrams:
        """Each trial's motion is gone through once, for all bodies and cut-offs.

        Args:
            rig: that moved.
            trials: to learn from.
            bodies: parameters of the rig's links.
            base: base link, about whose origin the moments are taken.
        """
        parts = tuple(body_regions(rig).values())
        found = [_residual_grams(rig, trial, bodies, parts, base) for trial in trials]
        counts = tuple(_independent_samples(trial) for trial in trials)
        return ResidualGrams(
            len(rig.links), parts, tuple(cutoffs for cutoffs, _ in found), tuple(g for _, g in found), counts
        )

    def estimate_gains(self, body: int = 0, trials: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Bands (C,) [Hz], and the gains (L, 6, C) by link, axis and band of what its motion needs, that explain best.

        Every trial weighs alike, still ones nothing; the whole band of the trials' own filter is believed where
        nothing tells. As `Trust` has them.

        Args:
            body: which of the bodies.
            trials: places of the trials to learn from, those that the body was fitted to; all by default.
        """
        chosen = self._usable_trials(trials)
        if not chosen:
            return np.array([np.inf]), np.ones((self.links, AXES, 1))
        bands, size = self.cutoffs[chosen[0]], self._row_count(chosen[0])
        result = np.ones((self.links, AXES, len(bands)))
        grams = np.sum([self.grams[k][body][:, :size, :size] for k in chosen], axis=0)
        whole = self._residual_coefficients(bands, FrequencyWeights(bands, result), 0)
        for axis in np.flatnonzero(np.isfinite(grams).all(axis=(1, 2))):
            if whole @ grams[axis] @ whole < HALF * len(chosen):
                continue  # what is left is rounding
            found = fit_gains(grams[axis], len(self.regions), GAIN_PENALTY * len(chosen))
            for links, gains in zip(self.regions, found):
                result[links, axis] = gains
        return bands, result

    def estimate_frequency_weights(self, body: int = 0, trials: Sequence[int] | None = None) -> FrequencyWeights:
        """`gains`, then the `shares` that go with them."""
        bands, gains = self.estimate_gains(body, trials)
        return FrequencyWeights(bands, gains, self.estimate_marker_shares(FrequencyWeights(bands, gains), body, trials))

    def estimate_marker_shares(
        self, weights: FrequencyWeights, body: int = 0, trials: Sequence[int] | None = None
    ) -> np.ndarray | None:
        """Shares (L, 3) of what a link's own markers do that explain best what such a trust leaves (`giving`).

        Every trial weighs alike, and as all of them do together. None where no markers tell.

        Args:
            weights: in the bands that were tried, alike in each region, as `gains` found it.
            body: which of the bodies.
            trials: places of the trials to learn from; all by default.
        """
        told = [k for k in self._usable_trials(trials) if self.grams[k].shape[-1] > self._row_count(k)]
        if not told:
            return None
        weight = float(np.mean([self.sample_counts[k] for k in told]))
        own = against = np.zeros(())
        for k in told:
            size = self._row_count(k)
            for axis in np.flatnonzero(np.isfinite(self.grams[k][body]).all(axis=(1, 2))):
                gram = self.grams[k][body, axis]
                rest = self._residual_coefficients(self.cutoffs[k], weights, axis)
                error = max(float(rest @ gram[:size, :size] @ rest), MIN_RESIDUAL_FRACTION)
                own = own + weight / error * gram[size:, size:]
                against = against + weight / error * gram[size:, :size] @ rest
        return solve_shares(own, against).reshape(self.links, -1) if own.ndim else None

    def _usable_trials(self, trials: Sequence[int] | None) -> list[int]:
        """Places of those trials that tell something; none if their bands differ, with no cut-off in common."""
        chosen = [k for k in (range(len(self.cutoffs)) if trials is None else trials) if len(self.cutoffs[k])]
        return chosen if all(np.array_equal(self.cutoffs[k], self.cutoffs[chosen[0]]) for k in chosen) else []

    def _row_count(self, trial: int) -> int:
        return len(self.regions) * len(self.cutoffs[trial]) + 1

    def _residual_coefficients(self, cutoffs: np.ndarray, weights: FrequencyWeights, axis: int) -> np.ndarray:
        """(R C + 1,) by which a Gram matrix's parts make the error that a trust leaves on an axis."""
        result = np.zeros((len(self.regions), len(cutoffs)))
        places = np.searchsorted(cutoffs, weights.bands)
        for region, links in enumerate(self.regions):
            result[region, places] = -weights.low_pass_weights[links[0], axis]
        return np.append(result.reshape(-1), 1.0)


def _independent_samples(trial: Trial) -> float:
    """How many independent numbers the frames that count are on each axis: two for each period of the cut-off."""
    if trial.preset is None:
        return float(trial.counted.sum())
    return float(trial.counted.sum()) * min(1.0, 2.0 * trial.preset.cutoff / rate_of_grid(trial.motion.times))


def describe_cutoffs(rig: Rig, weights: FrequencyWeights) -> str:
    """Frequencies up to which half of the motion is believed, in words, region by region; empty where all of it is."""
    names = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
    said = []
    for name, links in body_regions(rig).items():
        cutoffs = weights.cutoffs[links[0]]
        doubted = [f"{axis} {cutoff:.2g} Hz" for axis, cutoff in zip(names, cutoffs) if np.isfinite(cutoff)]
        said += [f"{name} {', '.join(doubted)}"] if doubted else []
    return "; ".join(said)


def fit_gains(gram: np.ndarray, region_count: int, penalty: float) -> np.ndarray:
    """Gains (R, C) in [0, 1], never growing with frequency and 1 in the lowest band, that leave the least error.

    Every gain is drawn towards 1 by ``doubt`` times the square of what it lacks.

    Args:
        gram: (R C + 1, R C + 1) of one axis, as `ResidualGrams.grams`.
        region_count: R regions.
        penalty: see there.
    """
    bands = (len(gram) - 1) // region_count
    free = bands - 1
    # low-passes weigh by differences of gains: weights = lowest + lift @ gains above the lowest band
    lift = np.kron(np.eye(region_count), np.eye(bands, free, -1) - np.eye(bands, free))
    lowest = np.tile(np.eye(bands)[0], region_count)
    own, against = gram[:-1, :-1], gram[:-1, -1]
    hessian = lift.T @ own @ lift + penalty * np.eye(region_count * free)
    gradient = lift.T @ (own @ lowest - against) - penalty
    falling = np.kron(np.eye(region_count), np.eye(free - 1, free) - np.eye(free - 1, free, 1))
    open_ended, names = np.full(len(falling), np.inf), ("no more in a higher band",) * len(falling)
    rows = Rows(sparse.csr_array(falling), np.zeros(len(falling)), open_ended, names)
    none, all_of_it = np.zeros(region_count * free), np.ones(region_count * free)
    problem = Problem.quadratic(0.5 * (hessian + hessian.T), gradient, rows=rows, lower=none, upper=all_of_it)
    solution = solve(problem, "clarabel", tolerance=TOLERANCE)
    if solution.status not in (Status.OPTIMAL, Status.INACCURATE):
        raise BackendError(
            f"{solution.backend}: {solution.message}; nothing tells how far the motion is to be believed"
        )
    gains = np.minimum.accumulate(solution.x.reshape(region_count, free).clip(0.0, 1.0), axis=1)
    gains[gains > 1.0 - GAIN_ROUNDING], gains[gains < GAIN_ROUNDING] = 1.0, 0.0
    return np.column_stack([np.ones(region_count), gains])


def _residual_grams(
    rig: Rig, trial: Trial, bodies: Sequence[InertialParameters], groups: Sequence[np.ndarray], base: int | str
) -> tuple[np.ndarray, np.ndarray]:
    """Cut-offs that are tried on a trial, and their Gram matrices; see `ResidualGrams`."""
    if trial.preset is None or not trial.counted.any() or is_still(rig, trial.motion.q[trial.counted]):
        return np.zeros(0), np.zeros((len(bodies), AXES, 0, 0))
    tried = np.append(np.array(CUTOFF_FRACTIONS) * trial.preset.cutoff, np.inf)
    pieces = (
        _sum_products(rig, part, bodies, groups, tried, base)
        for part in split_trial(trial, tried)
        if trial.counted[part.frames].any()
    )
    products, errors = (sum(found) / trial.counted.sum() for found in zip(*pieces))
    size = len(groups) * len(tried)
    least = ROUNDING**2 * products[:, :, size, size] + np.finfo(float).tiny
    return tried, products / np.maximum(errors, least)[:, :, None, None]


def _sum_products(
    rig: Rig,
    chunk: TrialChunk,
    bodies: Sequence[InertialParameters],
    groups: Sequence[np.ndarray],
    cutoffs: np.ndarray,
    base: int | str,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums over a part's own frames that count: the products of "
    "`ResidualGrams.grams`, and the squares that they are over."""
    trial, counted = chunk.trial, np.zeros(len(chunk.trial.motion), bool)
    counted[chunk.core] = trial.counted[chunk.core]
    measured, whole = measured_wrench(rig, trial, base)[counted], group_wrenches(rig, trial, bodies, groups, base)
    size = len(groups) * len(cutoffs) + 1
    added = np.zeros((len(measured), 0, AXES))
    if has_marker_displacements(trial):
        added = wrenches_about_base(rig, trial, skin_compliance_wrenches(rig, trial), base)[counted]
    products = np.empty((len(bodies), AXES, size + added.shape[1], size + added.shape[1]))
    errors = np.empty((len(bodies), AXES))
    rows = np.empty((size, len(measured)))
    for axis in range(AXES):
        shares, rows[-1] = np.ascontiguousarray(added[:, :, axis].T), measured[:, axis]
        own = shares @ shares.T
        for body in range(len(bodies)):
            for place, cutoff in enumerate(cutoffs):
                rows[place : -1 : len(cutoffs)] = low_pass_at(trial, whole[:, body, :, axis], cutoff)[counted].T
            errors[body, axis] = np.sum((rows[-1] - rows[len(cutoffs) - 1 : -1 : len(cutoffs)].sum(axis=0)) ** 2)
            across = shares @ rows.T
            products[body, axis] = np.block([[rows @ rows.T, across.T], [across, own]])
    return products, errors
