"""How badly forces fit a motion, frame by frame, so that one belief can be held against another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...rig import GRAVITY
from ...signals.pooling import LEAST_BLOCKS, blocks_of, fit_blocks
from .finding import TWO_SIDED_STDS

MAX_RESIDUAL = 0.3
"""Residuals are limited to this fraction of the weight, so that an unmeasured support or a hard landing decides
nothing."""
MOMENT_ARM = 0.15
"""[m] Scale of moments relative to forces: most of a foot's length."""
MAX_RATIO, MAX_RATIO_OWN_FRAMES = 0.9, 0.75
"""Largest ratio of the residuals at which a hypothesis is accepted; the second one if it covers other frames."""
MIN_IMPROVEMENT = 0.05
"""Smallest improvement, root mean square relative to the weight: less is within the error of any body model."""
SMALLEST_RATIO = 1e-12


@dataclass(frozen=True, slots=True)
class SquaredResidual:
    """Squared residuals relative to the weight, by frame.

    Attributes:
        square: (N,) of force and moment together; NaN where forces are missing.
        is_explained: (N,) whether the force residual is below `MOST`.
    """

    square: np.ndarray
    is_explained: np.ndarray

    @staticmethod
    def from_wrenches(predicted: np.ndarray, measured: np.ndarray, origin: np.ndarray, mass: float) -> SquaredResidual:
        """From wrenches (N, 6), predicted about an origin (N, 3) [m] and measured about the world's, possibly NaN."""
        weight = mass * GRAVITY
        force = predicted[:, :3] - measured[:, :3]
        moment = predicted[:, 3:] - (measured[:, 3:] - np.cross(origin, measured[:, :3]))
        one = np.minimum(np.linalg.norm(force, axis=1) / weight, MAX_RESIDUAL)
        two = np.minimum(np.linalg.norm(moment, axis=1) / (weight * MOMENT_ARM), MAX_RESIDUAL)
        return SquaredResidual(one**2 + np.nan_to_num(two) ** 2, one < MAX_RESIDUAL)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A hypothesis compared with the file as it is.

    Attributes:
        ratio: mean squared residual of the hypothesis over that of the file as it is.
        std: of the ratio.
        log_likelihood_gain: gain in log likelihood over the whole trial, to choose among hypotheses.
        is_certain: whether the hypothesis is better with 95 % confidence, and by more than the smallest improvement.
    """

    ratio: float
    std: float
    log_likelihood_gain: float
    is_certain: bool


NOT_EVALUATED = Evaluation(np.inf, np.inf, -np.inf, False)


def evaluate(times: np.ndarray, as_it_is: SquaredResidual, hypothesis: SquaredResidual) -> Evaluation:
    """Compare a hypothesis with the file as it is, over the frames (times (N,) [s]) that either of them explains."""
    known = (
        np.isfinite(as_it_is.square)
        & np.isfinite(hypothesis.square)
        & (as_it_is.is_explained | hypothesis.is_explained)
    )
    return _compare_residuals(times, (as_it_is.square, known), (hypothesis.square, known))


def evaluate_on_own_frames(times: np.ndarray, as_it_is: SquaredResidual, hypothesis: SquaredResidual) -> Evaluation:
    """As `judged`, for a hypothesis with forces in other frames: each over all of its own frames."""
    known = [np.isfinite(side.square) for side in (as_it_is, hypothesis)]
    found = _compare_residuals(times, (as_it_is.square, known[0]), (hypothesis.square, known[1]))
    return found if found.ratio < MAX_RATIO_OWN_FRAMES else replace(found, is_certain=False)


def _compare_residuals(
    times: np.ndarray, one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray]
) -> Evaluation:
    """Compare two squared residuals (N,), each over its own frames."""
    if min(one[1].sum(), two[1].sum()) < LEAST_BLOCKS:
        return NOT_EVALUATED
    before, after = (float(side[0][side[1]].mean()) for side in (one, two))
    if not before > 0.0:
        return NOT_EVALUATED
    share = after / before
    gain = -float(two[1].sum()) * float(np.log(max(share, SMALLEST_RATIO)))
    if share >= MAX_RATIO or before - after <= MIN_IMPROVEMENT**2:
        return Evaluation(share, np.inf, gain, False)
    if np.array_equal(one[1], two[1]):  # paired: frames that neither explains do not count as a difference
        std = _std_of_mean(times, two[0] - share * one[0], two[1]) / before
    else:
        std = float(np.hypot(_std_of_mean(times, *two), share * _std_of_mean(times, *one))) / before
    return Evaluation(share, std, gain, share + TWO_SIDED_STDS * std < 1.0)


def _std_of_mean(times: np.ndarray, values: np.ndarray, used: np.ndarray) -> float:
    """Standard deviation of the mean of values (N,) over the frames used, from blocks of time."""
    _, std = fit_blocks(np.ones((len(times), 1)), np.where(used, values, 0.0), blocks_of(times, used))
    return float(std[0])
