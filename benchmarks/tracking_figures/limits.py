"""Random starts up to 0.3 rad outside the joints' ranges: return into the ranges, and quality of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.tracking import CoupledLimits, Targets, Tracker, TrackingOptions

from ..figures.figure import Figure, at_least, at_most, missing
from ..models import HOW, HUMANS, model_file
from .bodies import SHOULDER, SHOULDER_BOUND, Body, human, icub
from .motions import motion, targets

OUTSIDE = 0.3
"""[rad]"""
SEEDS, QUICK_SEEDS = 20, 2
BACK, JUDGED = 50, 150
"""Frames after which a start must be back inside, and its fit as good as a good start's."""
GOOD = 1.1


@dataclass(frozen=True, slots=True)
class RecoveredMotion:
    """What became of one start.

    Attributes:
        outside: [rad] farthest outside the limits after `BACK` frames.
        infeasible: frames whose limits contradicted each other or were violated.
        mnte: after `JUDGED` frames.
    """

    outside: float
    infeasible: int
    mnte: float


def limit_figures(data: Path, quick: bool) -> list[Figure]:
    """48 degrees of freedom, and iCub with the limits that its shoulders' joints share."""
    figures = []
    person = None if model_file(HUMANS[48]) is None else human(48)
    for body, coupled in ((person, None), (icub(), tendons())):
        seen = motion(data, "run")
        if body is None or seen is None:
            figures += missing(_rows("a body", None, 0.0), f"needs the recordings and the models: {HOW}")
            continue
        given = targets(body, seen)
        options = TrackingOptions(coupled_limits=coupled)
        good = follow_from(body, given, options, None).mnte
        seeds = range(QUICK_SEEDS if quick else SEEDS)
        found = [follow_from(body, given, options, random_start(body, given, seed)) for seed in seeds]
        figures += _rows(body.name, found, good)
    return figures


def tendons() -> CoupledLimits:
    """What the tendons of iCub's shoulders ask, left and right."""
    joints = tuple(f"{side}_shoulder_{axis}" for side in "lr" for axis in ("pitch", "roll", "yaw"))
    shares = np.kron(np.eye(2), SHOULDER)
    return CoupledLimits(joints, shares, np.tile(SHOULDER_BOUND, 2))


def random_start(body: Body, given: Targets, seed: int) -> np.ndarray:
    """(nq,) joints at random in their ranges and up to `OUTSIDE` beyond, the root at its target."""
    rng = np.random.default_rng(seed)
    q = body.rig.neutral
    low, high = body.rig.limits.lower - OUTSIDE, body.rig.limits.upper + OUTSIDE
    q[len(q) - len(low) :] = rng.uniform(low, high)
    assert given.positions is not None
    q[:3] = given.positions.positions[0, 0]
    return q


def follow_from(body: Body, given: Targets, options: TrackingOptions, start: np.ndarray | None) -> RecoveredMotion:
    """Follow a motion from a start, or from the tracker's own without one."""
    tracker = Tracker(body.rig, given.tasks, options)
    step = tracker.start(given.sample(0), 0.01, start)
    outside, infeasible = 0.0, int(not step.is_feasible)
    for frame in range(1, JUDGED + 1):
        step = tracker.step(given.sample(frame), 0.01)
        infeasible += not step.is_feasible
        if frame == BACK:
            limits = tracker.solver.limits
            outside = max(
                float(limits.violation(step.q).max()), float(limits.coupled_violation(step.q).max(initial=0.0))
            )
    return RecoveredMotion(outside, infeasible, 0.5 * step.orientation_error**2)


def _rows(name: str, found: list[RecoveredMotion] | None, good: float) -> list[Figure]:
    data = "simulated, on a real run"
    outside = infeasible = share = None
    note = ""
    if found is not None:
        outside = max(start.outside for start in found)
        infeasible = float(sum(start.infeasible for start in found))
        share = 100.0 * float(np.mean([start.mnte <= GOOD * good for start in found]))
        worst = max(start.mnte for start in found)
        note = f"{len(found)} seeds; MNTE of a good start {good:.3f}, of the worst {worst:.3f}"
    return [
        Figure(f"{name}: outside its limits after {BACK} frames", data, outside, "rad", at_most(1e-3), None),
        Figure(f"{name}: frames with violated limits", data, infeasible, "", at_most(0), None),
        Figure(
            f"{name}: starts as good as a good one after {JUDGED} frames", data, share, "%", at_least(90.0),
            at_least(100.0), note,
        ),
    ]  # fmt: skip
