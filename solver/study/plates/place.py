"""Where the plates stand in the plane, by the level moments that they leave unexplained.

Plates that stand elsewhere by d make the moment of every force wrong by d x F. So does a body whose centre of mass is
not where the prior has it, by as much and in its own directions: only what that cannot explain is the plates'. Trials
on other plates show the same body, so that the difference between two layouts is known much better than either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...plate_options import PLACE
from ...signals.pooled import block_fit, blocks_of
from ...so3 import to_matrix
from .finding import INTERVAL, SIGMAS, Done, Finding, interval_of
from .weighed import Weighed

BODY = np.array([0.015, 0.007])
"""[m] Standard deviations of a prior's centre of mass over the feet, forwards and sideways: five persons' own."""
POSTURE = np.array([0.008, 0.0015])
"""[m] The same from trial to trial of one person: a trunk that leans carries its error forwards."""
LEAST_FRAMES = 20
WORDS = (("forwards", "backwards"), ("to the left", "to the right"))
"""Of the body, by direction and sign."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Of one trial, or the mean of several: the misplacement with its covariances, world axes.

    Attributes:
        shift: (2,) [m] by which the plates seem to stand elsewhere.
        own: (2, 2) covariance of what differs from trial to trial.
        facing: (2, 2) body's forward and left to world.
        frames: number that count.
    """

    shift: np.ndarray
    own: np.ndarray
    facing: np.ndarray
    frames: int


def place_findings(items: Sequence[Weighed], overruled: bool) -> list[tuple[Finding, np.ndarray]]:
    """The place of the plates by layout, each with the shift (3,) [m] to apply.

    Args:
        items: trials whose forces are on the motion's clock, their free moments right.
        overruled: nothing is to be applied.
    """
    places = {item.name: place for item in items if (place := _place(item)) is not None}
    layouts: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        if item.name in places:
            layouts.setdefault(item.layout, []).append(item.name)
    means = {tuple(names): _mean([places[name] for name in names]) for names in layouts.values()}
    if not means:
        return []
    # Most trials were recorded where the files say, or nobody knows where that is.
    usual = max(means, key=lambda names: (len(names), means[names].frames))
    reference = means[usual]
    found, moved = [], np.zeros(2)
    for names in sorted(means, key=lambda names: names != usual):
        place = means[names]
        if names == usual:
            shift, covariance = place.shift, place.own + _body(place.facing)
        else:
            shift = place.shift - reference.shift + moved
            covariance = place.own + reference.own + _body(place.facing - reference.facing)
        finding, applied = _judged(names, usual, place.facing, shift, covariance, overruled)
        if names == usual:
            moved = applied[:2]
        found.append((finding, applied))
    return found


def _place(item: Weighed) -> _Place | None:
    used = item.counted(range(5))
    if used.sum() < LEAST_FRAMES:
        return None
    vertical, missing = item.measured[:, 2:3], item.predicted - item.measured
    blocks = blocks_of(item.trial.motion.times, used)
    (y, y_std), (x, x_std) = (block_fit(vertical, sign * missing[:, axis], blocks) for sign, axis in ((1, 3), (-1, 4)))
    if not np.isfinite([x_std, y_std]).all():
        return None
    facing = facing_of(item.trial.motion.q[used])
    own = np.diag([x_std[0] ** 2, y_std[0] ** 2]) + facing @ np.diag(POSTURE**2) @ facing.T
    return _Place(np.array([x[0], y[0]]), own, facing, int(used.sum()))


def facing_of(q: np.ndarray) -> np.ndarray:
    """Forward and left of the root link (2, 2), world, level, mean over configurations (N, nq)."""
    forward = to_matrix(q[:, 3:7])[:, :2, 0].mean(axis=0)
    forward = forward / max(float(np.linalg.norm(forward)), 1e-9)
    return np.column_stack([forward, [-forward[1], forward[0]]])


def _body(facing: np.ndarray) -> np.ndarray:
    return facing @ np.diag(BODY**2) @ facing.T


def _mean(places: Sequence[_Place]) -> _Place:
    """Weighted by what differs from trial to trial."""
    weights = np.linalg.inv([place.own for place in places])
    own = np.linalg.inv(weights.sum(axis=0))
    shift = own @ sum(weight @ place.shift for weight, place in zip(weights, places))
    facing = np.mean([place.facing for place in places], axis=0)
    return _Place(shift, own, facing, sum(place.frames for place in places))


def _judged(
    names: tuple[str, ...],
    usual: tuple[str, ...],
    facing: np.ndarray,
    shift: np.ndarray,
    covariance: np.ndarray,
    overruled: bool,
) -> tuple[Finding, np.ndarray]:
    """By the body's two directions: what is certain is applied."""
    values = facing.T @ shift
    stds = np.sqrt(np.diag(facing.T @ covariance @ facing))
    certain = np.abs(values) > SIGMAS * stds
    most = int(np.argmax(np.abs(values) / stds))
    said = " and ".join(
        f"{1e3 * abs(value):.1f} ± {1e3 * INTERVAL * std:.1f} mm {words[int(value < 0.0)]}"
        for value, std, words in zip(values, stds, WORDS)
    )
    against = "" if names == usual else f" against those of {', '.join(usual)}"
    low, high = interval_of(1e3 * values[most], 1e3 * stds[most])
    evidence, applied = 1e3 * float(values[most]), np.zeros(3)
    if not certain.any():
        text = f"the plates stand where the file says as far as the motion tells: {said} of the body{against}"
        return Finding(PLACE, names, evidence, (low, high), "mm", Done.NOTHING, text), applied
    which = " and ".join(words[int(value < 0.0)] for value, words, sure in zip(values, WORDS, certain) if sure)
    text = f"the plates stand elsewhere than the file says: {said} of the body{against}; certain is what is {which}"
    if overruled:
        return Finding(PLACE, names, evidence, (low, high), "mm", Done.OVERRULED, text), applied
    applied[:2] = facing @ np.where(certain, values, 0.0)
    return Finding(PLACE, names, evidence, (low, high), "mm", Done.UNDONE, text), applied
