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
from ...signals.pooling import blocks_of, fit_blocks
from ...so3 import to_matrix
from .finding import CERTAIN_STDS, TWO_SIDED_STDS, Action, Finding, compute_interval
from .weighed import ComparedTrial

BODY_STD = np.array([0.015, 0.007])
"""[m] Standard deviations of a prior's centre of mass over the feet, forwards and sideways: five persons' own."""
POSTURE_STD = np.array([0.008, 0.0015])
"""[m] The same from trial to trial of one person: a trunk that leans carries its error forwards."""
MIN_FRAMES = 20
DIRECTION_WORDS = (("forwards", "backwards"), ("to the left", "to the right"))
"""Of the body, by direction and sign."""


@dataclass(frozen=True, slots=True)
class _Displacement:
    """Of one trial, or the mean of several: the misplacement with its covariances, world axes.

    Attributes:
        shift: (2,) [m] by which the plates seem to stand elsewhere.
        covariance: (2, 2) covariance of what differs from trial to trial.
        heading: (2, 2) body's forward and left to world.
        frames: number that count.
    """

    shift: np.ndarray
    covariance: np.ndarray
    heading: np.ndarray
    frames: int


def check_location(items: Sequence[ComparedTrial], overridden: bool) -> list[tuple[Finding, np.ndarray]]:
    """The place of the plates by layout, each with the shift (3,) [m] to apply.

    Args:
        items: trials whose forces are on the motion's clock, their free moments right.
        overridden: nothing is to be applied.
    """
    places = {item.name: place for item in items if (place := _estimate_displacement(item)) is not None}
    layouts: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        if item.name in places:
            layouts.setdefault(item.layout, []).append(item.name)
    means = {tuple(names): _mean_displacement([places[name] for name in names]) for names in layouts.values()}
    if not means:
        return []
    # Most trials were recorded where the files say, or nobody knows where that is.
    usual = max(means, key=lambda names: (len(names), means[names].frames))
    reference = means[usual]
    found, moved = [], np.zeros(2)
    for names in sorted(means, key=lambda names: names != usual):
        place = means[names]
        if names == usual:
            shift, covariance = place.shift, place.covariance + _body_covariance(place.heading)
        else:
            shift = place.shift - reference.shift + moved
            covariance = place.covariance + reference.covariance + _body_covariance(place.heading - reference.heading)
        finding, applied = _build_finding(names, usual, place.heading, shift, covariance, overridden)
        if names == usual:
            moved = applied[:2]
        found.append((finding, applied))
    return found


def _estimate_displacement(item: ComparedTrial) -> _Displacement | None:
    used = item.counted_frames(range(5))
    if used.sum() < MIN_FRAMES:
        return None
    vertical, missing = item.measured[:, 2:3], item.predicted - item.measured
    blocks = blocks_of(item.trial.motion.times, used)
    (y, y_std), (x, x_std) = (fit_blocks(vertical, sign * missing[:, axis], blocks) for sign, axis in ((1, 3), (-1, 4)))
    if not np.isfinite([x_std, y_std]).all():
        return None
    facing = compute_heading(item.trial.motion.q[used])
    own = np.diag([x_std[0] ** 2, y_std[0] ** 2]) + facing @ np.diag(POSTURE_STD**2) @ facing.T
    return _Displacement(np.array([x[0], y[0]]), own, facing, int(used.sum()))


def compute_heading(q: np.ndarray) -> np.ndarray:
    """Forward and left of the root link (2, 2), world, level, mean over configurations (N, nq)."""
    forward = to_matrix(q[:, 3:7])[:, :2, 0].mean(axis=0)
    forward = forward / max(float(np.linalg.norm(forward)), 1e-9)
    return np.column_stack([forward, [-forward[1], forward[0]]])


def _body_covariance(facing: np.ndarray) -> np.ndarray:
    return facing @ np.diag(BODY_STD**2) @ facing.T


def _mean_displacement(places: Sequence[_Displacement]) -> _Displacement:
    """Weighted by what differs from trial to trial."""
    weights = np.linalg.inv([place.covariance for place in places])
    own = np.linalg.inv(weights.sum(axis=0))
    shift = own @ sum(weight @ place.shift for weight, place in zip(weights, places))
    facing = np.mean([place.heading for place in places], axis=0)
    return _Displacement(shift, own, facing, sum(place.frames for place in places))


def _build_finding(
    names: tuple[str, ...],
    usual: tuple[str, ...],
    facing: np.ndarray,
    shift: np.ndarray,
    covariance: np.ndarray,
    overridden: bool,
) -> tuple[Finding, np.ndarray]:
    """By the body's two directions: what is certain is applied."""
    values = facing.T @ shift
    stds = np.sqrt(np.diag(facing.T @ covariance @ facing))
    certain = np.abs(values) > CERTAIN_STDS * stds
    most = int(np.argmax(np.abs(values) / stds))
    said = " and ".join(
        f"{1e3 * abs(value):.1f} ± {1e3 * TWO_SIDED_STDS * std:.1f} mm {words[int(value < 0.0)]}"
        for value, std, words in zip(values, stds, DIRECTION_WORDS)
    )
    against = "" if names == usual else f" against those of {', '.join(usual)}"
    low, high = compute_interval(1e3 * values[most], 1e3 * stds[most])
    evidence, applied = 1e3 * float(values[most]), np.zeros(3)
    if not certain.any():
        text = f"the plates stand where the file says as far as the motion tells: {said} of the body{against}"
        return Finding(PLACE, names, evidence, (low, high), "mm", Action.NOTHING, text), applied
    which = " and ".join(
        words[int(value < 0.0)] for value, words, sure in zip(values, DIRECTION_WORDS, certain) if sure
    )
    text = f"the plates stand elsewhere than the file says: {said} of the body{against}; certain is what is {which}"
    if overridden:
        return Finding(PLACE, names, evidence, (low, high), "mm", Action.OVERRIDDEN, text), applied
    applied[:2] = facing @ np.where(certain, values, 0.0)
    return Finding(PLACE, names, evidence, (low, high), "mm", Action.UNDONE, text), applied
