"""How badly forces fit a motion, frame by frame, so that one belief can be held against another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...rig import GRAVITY
from ...signals.pooled import LEAST_BLOCKS, block_fit, blocks_of
from .finding import INTERVAL

MOST = 0.3
"""Residuals beyond this share of the weight count alike: a missing box or chair, or a hard landing, decides nothing."""
ARM = 0.15
"""[m] by which the weight makes a moment worth as much as itself: most of a foot."""
CERTAIN, CERTAIN_APART = 0.9, 0.75
"""A rival is believed below this share of the misfit; below the second one where it speaks of other frames."""
WORTH = 0.05
"""Root mean square of the weight by which it must be better: less is within any body model's error."""
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Misfit:
    """Squared residuals of the weight, (N,), NaN where forces are missing.

    Attributes:
        square: of force and moment together.
        explains: (N,) the force is explained better than `MOST`.
    """

    square: np.ndarray
    explains: np.ndarray

    @staticmethod
    def of(predicted: np.ndarray, measured: np.ndarray, origin: np.ndarray, mass: float) -> Misfit:
        """Of wrenches (N, 6): predicted about an origin (N, 3) [m], measured about the world's; moments may be NaN."""
        weight = mass * GRAVITY
        force = predicted[:, :3] - measured[:, :3]
        moment = predicted[:, 3:] - (measured[:, 3:] - np.cross(origin, measured[:, :3]))
        one = np.minimum(np.linalg.norm(force, axis=1) / weight, MOST)
        two = np.minimum(np.linalg.norm(moment, axis=1) / (weight * ARM), MOST)
        return Misfit(one**2 + np.nan_to_num(two) ** 2, one < MOST)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One belief against another.

    Attributes:
        share: misfit of the rival over that of the file as it is.
        std: of the share.
        gain: how much likelihood the rival gains over the whole trial, to choose among rivals.
        certain: it is better with 95 %, and by something worth it.
    """

    share: float
    std: float
    gain: float
    certain: bool


NEITHER = Verdict(np.inf, np.inf, -np.inf, False)


def judged(times: np.ndarray, as_it_is: Misfit, rival: Misfit) -> Verdict:
    """A rival against the file as it is, over the frames (times (N,) [s]) that either of them explains."""
    known = np.isfinite(as_it_is.square) & np.isfinite(rival.square) & (as_it_is.explains | rival.explains)
    return _verdict(times, (as_it_is.square, known), (rival.square, known))


def judged_apart(times: np.ndarray, as_it_is: Misfit, rival: Misfit) -> Verdict:
    """As `judged`, of a rival that knows forces in other frames: each by all frames that it knows."""
    known = [np.isfinite(side.square) for side in (as_it_is, rival)]
    found = _verdict(times, (as_it_is.square, known[0]), (rival.square, known[1]))
    return found if found.share < CERTAIN_APART else replace(found, certain=False)


def _verdict(times: np.ndarray, one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray]) -> Verdict:
    """Of two squared misfits (N,), each over its own frames."""
    if min(one[1].sum(), two[1].sum()) < LEAST_BLOCKS:
        return NEITHER
    before, after = (float(side[0][side[1]].mean()) for side in (one, two))
    if not before > 0.0:
        return NEITHER
    share = after / before
    gain = -float(two[1].sum()) * float(np.log(max(share, TINY)))
    if share >= CERTAIN or before - after <= WORTH**2:
        return Verdict(share, np.inf, gain, False)
    if np.array_equal(one[1], two[1]):  # what both find hard is no difference between them
        std = _std(times, two[0] - share * one[0], two[1]) / before
    else:
        std = float(np.hypot(_std(times, *two), share * _std(times, *one))) / before
    return Verdict(share, std, gain, share + INTERVAL * std < 1.0)


def _std(times: np.ndarray, values: np.ndarray, used: np.ndarray) -> float:
    """Standard deviation of the mean of values (N,) over the frames used, by blocks of time."""
    _, std = block_fit(np.ones((len(times), 1)), np.where(used, values, 0.0), blocks_of(times, used))
    return float(std[0])
