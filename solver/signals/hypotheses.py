"""Compares explanations of recorded data by how much each reduces the squared residual of the data as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .pooling import LEAST_BLOCKS, TWO_SIDED_STDS, blocks_of, fit_blocks

MAX_RATIO = 0.9
"""Largest ratio of the residuals at which a hypothesis is accepted. Measured on TX40, UR10e and two simulated arms: 7
or 8 of 8 faults of each are found, none in recordings without faults."""
AngleReading = tuple[str, np.ndarray, np.ndarray]
"""An error of recorded joint angles in words, and what undoes it: factors (J,) times the columns in an order (J,)."""


@dataclass(frozen=True, slots=True)
class HypothesisScore:
    """A hypothesis compared with the data as they are.

    Attributes:
        ratio: mean squared residual of the hypothesis over that of the data as they are.
        std: of the ratio.
        log_likelihood_gain: gain in log likelihood over the whole trial, to choose among hypotheses.
        is_certain: whether the hypothesis is better with 95 % confidence, and by more than the smallest improvement.
    """

    ratio: float
    std: float
    log_likelihood_gain: float
    is_certain: bool


NOT_EVALUATED = HypothesisScore(np.inf, np.inf, -np.inf, False)


def compare_residuals(
    times: np.ndarray, one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray], min_improvement: float
) -> HypothesisScore:
    """Compare the squared residuals of the data as they are with those of a hypothesis.

    Args:
        times: (N,) [s].
        one, two: squares (N,) and frames (N,) that count, as they are and of the hypothesis.
        min_improvement: smallest decrease of the mean square that counts.
    """
    if min(one[1].sum(), two[1].sum()) < LEAST_BLOCKS:
        return NOT_EVALUATED
    before, after = (float(side[0][side[1]].mean()) for side in (one, two))
    if not before > 0.0:
        return NOT_EVALUATED
    share = after / before
    gain = -float(two[1].sum()) * float(np.log(max(share, float(np.finfo(float).tiny))))
    if share >= MAX_RATIO or before - after <= min_improvement:
        return HypothesisScore(share, np.inf, gain, False)
    if np.array_equal(one[1], two[1]):  # paired: frames that neither explains do not count as a difference
        std = _std_of_mean(times, two[0] - share * one[0], two[1]) / before
    else:
        std = float(np.hypot(_std_of_mean(times, *two), share * _std_of_mean(times, *one))) / before
    return HypothesisScore(share, std, gain, share + TWO_SIDED_STDS * std < 1.0)


def find_best(candidates: Iterable[tuple[str, HypothesisScore]]) -> tuple[str, HypothesisScore] | None:
    """The cause, in words, that explains the data best, with its evaluation; None if no cause is certain."""
    certain = [candidate for candidate in candidates if candidate[1].is_certain]
    return max(certain, key=lambda candidate: candidate[1].log_likelihood_gain, default=None)


def read_angles(names: Sequence[str], suspects: Sequence[int] | np.ndarray) -> Iterator[AngleReading]:
    """Known errors of recorded joint angles: signs, units and exchanged columns.

    Args:
        names: of the J joints.
        suspects: joints that are tried one by one and in pairs.
    """
    ones, order = np.ones(len(names)), np.arange(len(names))
    yield "all joint angles have the wrong sign", -ones, order
    yield "the joint angles are in degrees, not in radians", np.radians(ones), order
    yield "the joint angles are in radians, but marked as degrees", np.degrees(ones), order
    for k in suspects:
        yield f"the angle of {names[k]} has the wrong sign", np.where(order == k, -1.0, 1.0), order
    for one, other in combinations(suspects, 2):
        yield f"the angles of {names[one]} and {names[other]} are exchanged", ones, exchange(order, one, other)


def exchange(order: np.ndarray, one: int, other: int) -> np.ndarray:
    """An order with two places exchanged."""
    result = np.array(order)
    result[[one, other]] = result[[other, one]]
    return result


def _std_of_mean(times: np.ndarray, values: np.ndarray, used: np.ndarray) -> float:
    """Standard deviation of the mean of values (N,) over the frames used, from blocks of time."""
    _, std = fit_blocks(np.ones((len(times), 1)), np.where(used, values, 0.0), blocks_of(times, used))
    return float(std[0])
