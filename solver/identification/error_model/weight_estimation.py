"""Estimation of frequency weights from the residuals between measured and reconstructed wrenches.

The noise of a tracked motion is not white. Skin motion and a skeleton that does not fit exactly cause false
accelerations between 3 and 10 Hz, where the body itself hardly moves. The motion alone cannot separate them from true
accelerations; force plates, whose noise is much smaller, can. The noise differs between regions of the body and between
axes, so a gain is estimated for each region, axis and frequency band. It is estimated on the trials that the parameters
were fitted to and then applied to any trial. Gains never increase with frequency: they are a mixture of low-passes, and
the best mixture is the solution of a convex quadratic program. The measured wrench keeps its whole band, so that the
residual cannot be reduced by removing signal from both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import BackendError
from ...inertials import InertialParameters
from ...qp.bounded import Bounds, solve_bounded
from ...rig import Rig
from ...signals import is_still, rate_of_grid
from ...trial import Trial
from ...wrenches import WRENCH_AXES
from ..blocks import AXES
from ..equations import TrialChunk, group_wrenches, low_pass_at, measured_wrench, split_trial, wrenches_about_base
from .frequency_weights import HALF, FrequencyWeights, has_marker_displacements, skin_compliance_wrenches, solve_shares

CUTOFF_FRACTIONS = (0.2, 0.3, 0.4, 0.6, 1.0)
"""Cut-offs of the candidate low-passes, as fractions of the trial's own cut-off. The unfiltered motion is a candidate
too. With nine cut-offs the wrenches of unused trials of four people are explained equally well (1.00 of the error)."""
ROUNDING = 1e-6
"""Residual, as a fraction of the measured wrench, that is attributed to rounding."""
GAIN_PENALTY = 0.003
"""Cost of the squared distance of a gain from 1, as a fraction of the residual of the unweighted motion. Chosen on runs
of two recordings: 0.001 and 0.01 explain the wrenches of unused trials 1 to 2 % worse."""
MIN_RESIDUAL_FRACTION = 1e-3
"""Residual with frequency weights, as a fraction of the unweighted residual, below which it is attributed to rounding.
"""
TOLERANCE = 1e-9
GAIN_ROUNDING = 1e-4
"""A gain that is this close to 0 or 1 is set to it: the difference is the solver's tolerance."""
TRUNK, ARMS, UPPER_LEGS, LOWER_LEGS = "trunk", "arms", "upper legs", "lower legs"


@dataclass(frozen=True, slots=True)
class ResidualGrams:
    """Gram matrices from which the residual of several bodies in several trials follows for any frequency weights.

    The residual is the measured wrench minus the sum of the regions' wrenches, each filtered by a mixture of
    low-passes. Its mean square is a quadratic form in the weights of the mixture, whose matrix is computed once.

    Attributes:
        links: L, the number of links.
        regions: link indices of each of the R regions.
        cutoffs: of each trial (C,) [Hz] candidate cut-offs, the last infinite; empty for a trial without information.
        grams: of each trial (K, 6, R C + 1 + E, R C + 1 + E), of K bodies: mean products of the regions' wrenches at
            each cut-off (the cut-off varies fastest), of the measured wrench, and of E = 3 L skin-compliance wrenches
            (E = 0 without marker displacements), divided by the residual of the unfiltered motion.
        sample_counts: of each trial, the number of independent samples.
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
        """Compute the matrices of all bodies and cut-offs in one pass over each trial's motion.

        Args:
            rig: of the trials.
            trials: to estimate from.
            bodies: sets of inertial parameters of the rig's links.
            base: base link, about whose origin the moments are taken.
        """
        parts = tuple(body_regions(rig).values())
        found = [_residual_grams(rig, trial, bodies, parts, base) for trial in trials]
        counts = tuple(_independent_samples(trial) for trial in trials)
        return ResidualGrams(
            len(rig.links), parts, tuple(cutoffs for cutoffs, _ in found), tuple(g for _, g in found), counts
        )

    def estimate_gains(self, body: int = 0, trials: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Bands (C,) [Hz] and the gains (L, 6, C) by link, axis and band that minimise the residual, see
        `FrequencyWeights`.

        All trials have the same weight; static ones have none. Without information the gains are 1.

        Args:
            body: index of the body.
            trials: indices of the trials that the body was fitted to; all by default.
        """
        chosen = self._usable_trials(trials)
        if not chosen:
            return np.array([np.inf]), np.ones((self.links, AXES, 1))
        bands, size = self.cutoffs[chosen[0]], self._row_count(chosen[0])
        result = np.ones((self.links, AXES, len(bands)))
        grams = np.sum([self.grams[k][body][:, :size, :size] for k in chosen], axis=0)
        unweighted = self._residual_coefficients(bands, FrequencyWeights(bands, result), 0)
        for axis in np.flatnonzero(np.isfinite(grams).all(axis=(1, 2))):
            if unweighted @ grams[axis] @ unweighted < HALF * len(chosen):
                continue  # the residual is rounding
            found = fit_gains(grams[axis], len(self.regions), GAIN_PENALTY * len(chosen))
            for links, gains in zip(self.regions, found):
                result[links, axis] = gains
        return bands, result

    def estimate_frequency_weights(self, body: int = 0, trials: Sequence[int] | None = None) -> FrequencyWeights:
        """The gains of `estimate_gains` and the marker shares of `estimate_marker_shares` for them."""
        bands, gains = self.estimate_gains(body, trials)
        return FrequencyWeights(bands, gains, self.estimate_marker_shares(FrequencyWeights(bands, gains), body, trials))

    def estimate_marker_shares(
        self, weights: FrequencyWeights, body: int = 0, trials: Sequence[int] | None = None
    ) -> np.ndarray | None:
        """Marker shares (L, 3) that explain best what the gains leave unexplained (skin compliance).

        All trials have the same weight, and together the information of one of them. None without marker displacements.

        Args:
            weights: in the candidate bands, equal within each region, as `estimate_gains` returns them.
            body: index of the body.
            trials: indices of the trials; all by default.
        """
        informative = [k for k in self._usable_trials(trials) if self.grams[k].shape[-1] > self._row_count(k)]
        if not informative:
            return None
        weight = float(np.mean([self.sample_counts[k] for k in informative]))
        normal_matrix = right_side = np.zeros(())
        for k in informative:
            size = self._row_count(k)
            for axis in np.flatnonzero(np.isfinite(self.grams[k][body]).all(axis=(1, 2))):
                gram = self.grams[k][body, axis]
                coefficients = self._residual_coefficients(self.cutoffs[k], weights, axis)
                error = max(float(coefficients @ gram[:size, :size] @ coefficients), MIN_RESIDUAL_FRACTION)
                normal_matrix = normal_matrix + weight / error * gram[size:, size:]
                right_side = right_side + weight / error * gram[size:, :size] @ coefficients
        return solve_shares(normal_matrix, right_side).reshape(self.links, -1) if normal_matrix.ndim else None

    def _usable_trials(self, trials: Sequence[int] | None) -> list[int]:
        """Indices of the trials with information; none if their bands differ."""
        chosen = [k for k in (range(len(self.cutoffs)) if trials is None else trials) if len(self.cutoffs[k])]
        return chosen if all(np.array_equal(self.cutoffs[k], self.cutoffs[chosen[0]]) for k in chosen) else []

    def _row_count(self, trial: int) -> int:
        return len(self.regions) * len(self.cutoffs[trial]) + 1

    def _residual_coefficients(self, cutoffs: np.ndarray, weights: FrequencyWeights, axis: int) -> np.ndarray:
        """(R C + 1,) coefficients by which the rows of a Gram matrix sum to the residual of an axis."""
        result = np.zeros((len(self.regions), len(cutoffs)))
        columns = np.searchsorted(cutoffs, weights.bands)
        for region, links in enumerate(self.regions):
            result[region, columns] = -weights.low_pass_weights[links[0], axis]
        return np.append(result.reshape(-1), 1.0)


def _independent_samples(trial: Trial) -> float:
    """Number of independent samples in the counted frames of each axis: two for each period of the cut-off."""
    if trial.preset is None:
        return float(trial.counted.sum())
    return float(trial.counted.sum()) * min(1.0, 2.0 * trial.preset.cutoff / rate_of_grid(trial.motion.times))


def describe_cutoffs(rig: Rig, weights: FrequencyWeights) -> str:
    """Text that lists, by region, the frequencies above which less than half of the motion is used; empty if all is
    used."""
    texts = []
    for name, links in body_regions(rig).items():
        cutoffs = weights.cutoffs[links[0]]
        limited = [f"{axis} {cutoff:.2g} Hz" for axis, cutoff in zip(WRENCH_AXES, cutoffs) if np.isfinite(cutoff)]
        texts += [f"{name} {', '.join(limited)}"] if limited else []
    return "; ".join(texts)


def fit_gains(gram: np.ndarray, region_count: int, penalty: float) -> np.ndarray:
    """Gains (R, C) in [0, 1] with the least residual, never increasing with frequency and 1 in the lowest band.

    The squared distance of each gain from 1 is penalised.

    Args:
        gram: (R C + 1, R C + 1) of one axis, as `ResidualGrams.grams`.
        region_count: R.
        penalty: weight of the squared distance of each gain from 1.
    """
    bands = (len(gram) - 1) // region_count
    free = bands - 1
    # weights of low-passes are differences of gains: weights = lowest + lift @ gains above the lowest band
    lift = np.kron(np.eye(region_count), np.eye(bands, free, -1) - np.eye(bands, free))
    lowest = np.tile(np.eye(bands)[0], region_count)
    normal_matrix, right_side = gram[:-1, :-1], gram[:-1, -1]
    hessian = lift.T @ normal_matrix @ lift + penalty * np.eye(region_count * free)
    gradient = lift.T @ (normal_matrix @ lowest - right_side) - penalty
    differences = np.kron(np.eye(region_count), np.eye(free - 1, free) - np.eye(free - 1, free, 1))
    high = np.concatenate([np.ones(region_count * free), np.full(len(differences), np.inf)])
    solution = solve_bounded(hessian, -gradient, Bounds(np.zeros(len(high)), high, differences), TOLERANCE)
    if solution.slack:
        raise BackendError("DAQP found no minimum; the frequency weights could not be estimated")
    gains = np.minimum.accumulate(solution.x.reshape(region_count, free).clip(0.0, 1.0), axis=1)
    gains[gains > 1.0 - GAIN_ROUNDING], gains[gains < GAIN_ROUNDING] = 1.0, 0.0
    return np.column_stack([np.ones(region_count), gains])


def _residual_grams(
    rig: Rig, trial: Trial, bodies: Sequence[InertialParameters], groups: Sequence[np.ndarray], base: int | str
) -> tuple[np.ndarray, np.ndarray]:
    """Candidate cut-offs of a trial, and its Gram matrices; see `ResidualGrams`."""
    if trial.preset is None or not trial.counted.any() or is_still(rig, trial.motion.q[trial.counted]):
        return np.zeros(0), np.zeros((len(bodies), AXES, 0, 0))
    candidates = np.append(np.array(CUTOFF_FRACTIONS) * trial.preset.cutoff, np.inf)
    pieces = (
        _sum_products(rig, part, bodies, groups, candidates, base)
        for part in split_trial(trial, candidates)
        if trial.counted[part.frames].any()
    )
    products, errors = (sum(found) / trial.counted.sum() for found in zip(*pieces))
    size = len(groups) * len(candidates)
    least = ROUNDING**2 * products[:, :, size, size] + np.finfo(float).tiny
    return candidates, products / np.maximum(errors, least)[:, :, None, None]


def _sum_products(
    rig: Rig,
    chunk: TrialChunk,
    bodies: Sequence[InertialParameters],
    groups: Sequence[np.ndarray],
    cutoffs: np.ndarray,
    base: int | str,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums over a chunk's counted core frames: the products of `ResidualGrams.grams`, and the squares that
    divide them."""
    trial, counted = chunk.trial, np.zeros(len(chunk.trial.motion), bool)
    counted[chunk.core] = trial.counted[chunk.core]
    measured, group_values = (
        measured_wrench(rig, trial, base)[counted],
        group_wrenches(rig, trial, bodies, groups, base),
    )
    size = len(groups) * len(cutoffs) + 1
    added = np.zeros((len(measured), 0, AXES))
    if has_marker_displacements(trial):
        added = wrenches_about_base(rig, trial, skin_compliance_wrenches(rig, trial), base)[counted]
    products = np.empty((len(bodies), AXES, size + added.shape[1], size + added.shape[1]))
    errors = np.empty((len(bodies), AXES))
    rows = np.empty((size, len(measured)))
    for axis in range(AXES):
        shares, rows[-1] = np.ascontiguousarray(added[:, :, axis].T), measured[:, axis]
        share_products = shares @ shares.T
        passed = [low_pass_at(trial, group_values[..., axis], cutoff)[counted] for cutoff in cutoffs]
        for body in range(len(bodies)):
            for place, values in enumerate(passed):
                rows[place : -1 : len(cutoffs)] = values[:, body].T
            errors[body, axis] = np.sum((rows[-1] - rows[len(cutoffs) - 1 : -1 : len(cutoffs)].sum(axis=0)) ** 2)
            across = shares @ rows.T
            products[body, axis] = np.block([[rows @ rows.T, across.T], [across, share_products]])
    return products, errors


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
        legs |= {link: LOWER_LEGS if index else UPPER_LEGS for index, link in enumerate(rig.path(foot))}
    found: dict[str, list[int]] = {}
    for index, name in enumerate(rig.links):
        region = name if index == 0 else legs.get(index, ARMS if index in paired else TRUNK)
        found.setdefault(region, []).append(index)
    return {name: np.array(indices) for name, indices in found.items()}
