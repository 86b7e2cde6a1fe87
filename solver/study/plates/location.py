"""Checks the location of the plates in the plane, by the residual level moments.

If the plates are displaced by d, the moment of every force F is wrong by d x F. A wrong centre of mass of the prior has
the same effect, but along the body's own directions: only what it cannot explain is attributed to the plates. Trials on
other plates show the same body, so that the difference between two layouts is known much better than either. A planar
model cannot move sideways, so that its moments say nothing of the plates' location there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...formats.wrench_checks import MAX_DISTANCE
from ...options.plates import POSITION
from ...signals.pooling import TWO_SIDED_STDS, blocks_of, fit_blocks
from ...so3 import to_matrix
from .finding import CERTAIN_STDS, Action, Finding, compute_interval
from .trial_wrenches import ComparedTrial

BODY_STD = np.array([0.015, 0.007])
"""[m] Standard deviations of a prior's centre of mass above the feet, forwards and sideways: from five people."""
POSTURE_STD = np.array([0.008, 0.0015])
"""[m] The same between trials of one person: leaning the trunk moves its error forwards."""
MIN_FRAMES = 20
PLANAR_RANGE = 1e-6
"""[m] Largest sideways range of the root of a planar model. Chosen on a walk of Gait10dof (0 m) and on a person's quiet
standing (subject_a, 1.3 mm)."""
DIRECTION_WORDS = (("forwards", "backwards"), ("to the left", "to the right"))
"""Words for the body's directions, by direction and sign."""


@dataclass(frozen=True, slots=True)
class _Displacement:
    """Apparent displacement of the plates in one trial, or its mean over several; world axes.

    Attributes:
        shift: (2,) [m] displacement.
        covariance: (2, 2) covariance between trials [m^2].
        heading: (2, 2) rotation from the body's forward and left to the world.
        frames: number of frames that count.
    """

    shift: np.ndarray
    covariance: np.ndarray
    heading: np.ndarray
    frames: int


def check_location(items: Sequence[ComparedTrial], overridden: bool) -> list[tuple[Finding, np.ndarray]]:
    """Check the location of the plates by layout; each finding with the displacement (3,) [m] to apply.

    Args:
        items: trials whose forces are synchronised with the motion, with correct free moments.
        overridden: True: correct nothing.
    """
    places = {item.name: place for item in items if (place := _estimate_displacement(item)) is not None}
    layouts: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        if item.name in places:
            layouts.setdefault(item.layout, []).append(item.name)
    means = {tuple(names): _mean_displacement([places[name] for name in names]) for names in layouts.values()}
    if not means:
        return []
    # The layout with most trials is the reference: most files are right about the location.
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
    posture = np.array([POSTURE_STD[0], MAX_DISTANCE if is_planar(item) else POSTURE_STD[1]])
    own = np.diag([x_std[0] ** 2, y_std[0] ** 2]) + facing @ np.diag(posture**2) @ facing.T
    return _Displacement(np.array([x[0], y[0]]), own, facing, int(used.sum()))


def compute_heading(q: np.ndarray) -> np.ndarray:
    """Level forward and left directions (2, 2) of the root link, world, mean over configurations (N, nq)."""
    forward = to_matrix(q[:, 3:7])[:, :2, 0].mean(axis=0)
    forward = forward / max(float(np.linalg.norm(forward)), 1e-9)
    return np.column_stack([forward, [-forward[1], forward[0]]])


def is_planar(item: ComparedTrial) -> bool:
    """Whether the root of a moving body does not move sideways at all, as that of a planar model."""
    q = item.trial.motion.q
    return bool(np.ptp(q[:, :2] @ compute_heading(q)[:, 1]) < PLANAR_RANGE < np.ptp(q[:, :3], axis=0).max())


def _body_covariance(facing: np.ndarray) -> np.ndarray:
    return facing @ np.diag(BODY_STD**2) @ facing.T


def _mean_displacement(places: Sequence[_Displacement]) -> _Displacement:
    """The mean displacement, weighted by the inverse covariances."""
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
    """The finding by the body's two directions, and the displacement to apply: its certain components."""
    values = facing.T @ shift
    stds = np.sqrt(np.diag(facing.T @ covariance @ facing))
    certain = np.abs(values) > CERTAIN_STDS * stds
    most = int(np.argmax(np.abs(values) / stds))
    quantities = " and ".join(
        f"{1e3 * abs(value):.1f} ± {1e3 * TWO_SIDED_STDS * std:.1f} mm {words[int(value < 0.0)]}"
        for value, std, words in zip(values, stds, DIRECTION_WORDS)
        if std < 0.5 * MAX_DISTANCE
    )
    against = "" if names == usual else f" against those of {', '.join(usual)}"
    low, high = compute_interval(1e3 * values[most], 1e3 * stds[most])
    evidence, applied = 1e3 * float(values[most]), np.zeros(3)
    if not certain.any():
        text = f"the motion confirms the location of the plates in the file: {quantities} of the body{against}"
        return Finding(POSITION, names, evidence, (low, high), "mm", Action.NOTHING, text), applied
    which = " and ".join(
        words[int(value < 0.0)] for value, words, sure in zip(values, DIRECTION_WORDS, certain) if sure
    )
    text = f"the plates are not at their location in the file, but {quantities} of the body{against}; certain: {which}"
    if overridden:
        return Finding(POSITION, names, evidence, (low, high), "mm", Action.OVERRIDDEN, text), applied
    applied[:2] = facing @ np.where(certain, values, 0.0)
    return Finding(POSITION, names, evidence, (low, high), "mm", Action.UNDONE, text), applied
