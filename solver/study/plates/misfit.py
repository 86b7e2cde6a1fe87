"""How badly forces fit a motion, frame by frame, so that one belief can be held against another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...rig import GRAVITY
from ...signals.pooling import LEAST_BLOCKS, blocks_of, fit_blocks
from .finding import TWO_SIDED_STDS

MAX_RESIDUAL = 0.3
"""Residuals beyond this share of the weight count alike: a missing box or chair, or a hard landing, decides nothing."""
MOMENT_ARM = 0.15
"""[m] by which the weight makes a moment worth as much as itself: most of a foot."""
MAX_RATIO, MAX_RATIO_OWN_FRAMES = 0.9, 0.75
"""A rival is believed below this share of the misfit; below the second one where it speaks of other frames."""
MIN_IMPROVEMENT = 0.05
"""Root mean square of the weight by which it must be better: less is within any body model's error."""
SMALLEST_RATIO = 1e-12


@dataclass(frozen=True, slots=True)
class SquaredResidual:
    """Squared residuals of the weight, (N,), NaN where forces are missing.

    Attributes:
        square: of force and moment together.
        is_explained: (N,) the force is explained better than `MOST`.
    """

    square: np.ndarray
    is_explained: np.ndarray

    @staticmethod
    def from_wrenches(predicted: np.ndarray, measured: np.ndarray, origin: np.ndarray, mass: float) -> SquaredResidual:
        """Of wrenches (N, 6): predicted about an origin (N, 3) [m], measured about the world's; moments may be NaN."""
        weight = mass * GRAVITY
        force = predicted[:, :3] - measured[:, :3]
        moment = predicted[:, 3:] - (measured[:, 3:] - np.cross(origin, measured[:, :3]))
        one = np.minimum(np.linalg.norm(force, axis=1) / weight, MAX_RESIDUAL)
        two = np.minimum(np.linalg.norm(moment, axis=1) / (weight * MOMENT_ARM), MAX_RESIDUAL)
        return SquaredResidual(one**2 + np.nan_to_num(two) ** 2, one < MAX_RESIDUAL)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One belief against another.

    Attributes:
        ratio: misfit of the rival over that of the file as it is.
        std: of the share.
        log_likelihood_gain: how much likelihood the rival gains over the whole trial, to choose among rivals.
        is_certain: it is better with 95 %, and by something worth it.
    """

    ratio: float
    std: float
    log_likelihood_gain: float
    is_certain: bool


NOT_EVALUATED = Evaluation(np.inf, np.inf, -np.inf, False)


def evaluate(times: np.ndarray, as_it_is: SquaredResidual, hypothesis: SquaredResidual) -> Evaluation:
    """A rival against the file as it is, over the frames (times (N,) [s]) that either of them explains."""
    known = (
        np.isfinite(as_it_is.square)
        & np.isfinite(hypothesis.square)
        & (as_it_is.is_explained | hypothesis.is_explained)
    )
    return _compare_residuals(times, (as_it_is.square, known), (hypothesis.square, known))


def evaluate_on_own_frames(times: np.ndarray, as_it_is: SquaredResidual, hypothesis: SquaredResidual) -> Evaluation:
    """As `judged`, of a rival that knows forces in other frames: each by all frames that it knows."""
    known = [np.isfinite(side.square) for side in (as_it_is, hypothesis)]
    found = _compare_residuals(times, (as_it_is.square, known[0]), (hypothesis.square, known[1]))
    return found if found.ratio < MAX_RATIO_OWN_FRAMES else replace(found, is_certain=False)


def _compare_residuals(
    times: np.ndarray, one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray]
) -> Evaluation:
    """Of two squared misfits (N,), each over its own frames."""
    if min(one[1].sum(), two[1].sum()) < LEAST_BLOCKS:
        return NOT_EVALUATED
    before, after = (float(side[0][side[1]].mean()) for side in (one, two))
    if not before > 0.0:
        return NOT_EVALUATED
    share = after / before
    gain = -float(two[1].sum()) * float(np.log(max(share, SMALLEST_RATIO)))
    if share >= MAX_RATIO or before - after <= MIN_IMPROVEMENT**2:
        return Evaluation(share, np.inf, gain, False)
    if np.array_equal(one[1], two[1]):  # what both find hard is no difference between them
        std = _std_of_mean(times, two[0] - share * one[0], two[1]) / before
    else:
        std = float(np.hypot(_std_of_mean(times, *two), share * _std_of_mean(times, *one))) / before
    return Evaluation(share, std, gain, share + TWO_SIDED_STDS * std < 1.0)


def _std_of_mean(times: np.ndarray, values: np.ndarray, used: np.ndarray) -> float:
    """Standard deviation of the mean of values (N,) over the frames used, by blocks of time."""
    _, std = fit_blocks(np.ones((len(times), 1)), np.where(used, values, 0.0), blocks_of(times, used))
    return float(std[0])
