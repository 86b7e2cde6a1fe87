"""Simulated data without noise: what is left over is the method's own error."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from solver.demo.person import Person, simulate_person
from solver.dynamics import predicted_wrench
from solver.identification.comparison import AXES, compare
from solver.identification.identify import IdentifyOptions, identify
from solver.inertials import InertialParameters
from solver.motion import Motion
from solver.rig import Rig
from solver.threads import one_blas_thread
from solver.trial import Trial
from solver.wrenches import Wrenches

from .figure import Figure, at_most

SEED = 5
PARTS = ("first", "second")


@lru_cache(maxsize=1)
def person() -> tuple[Person, tuple[Trial, ...]]:
    """A simulated person whose true inertials are unlike the prior, and its moving trials, without noise."""
    found = simulate_person(SEED)
    moving = {name: motion for name, motion in found.motions.items() if motion.v.any()}
    return found, tuple(exact_trial(found.rig, name, motion, found.truth) for name, motion in moving.items())


def exact_trial(rig: Rig, name: str, motion: Motion, truth: InertialParameters) -> Trial:
    """A trial whose wrench is exactly what the motion needs with these inertials."""
    wrench = predicted_wrench(rig, motion, truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    everything = np.ones(len(motion), bool)
    return Trial(name, motion, Wrenches(motion.times, ("plate",), wrench[:, None]), everything)


def noise_free_figures() -> list[Figure]:
    """Identified on one half of every simulated motion, tested on the other half, and the other way round."""
    with one_blas_thread():
        body, trials = person()
        rig, truth = body.rig, body.truth
        # The true body is not symmetric to 10 %, so symmetry must not be demanded of the result.
        options = IdentifyOptions(total_mass=truth.total_mass, symmetric=False, bootstrap=0, cross_validate=False)
        folds = {part: [half_of(trial, part) for trial in trials] for part in PARTS}
        ratios = []
        for part, others in zip(PARTS, reversed(PARTS)):
            found = identify(rig, folds[part], options)
            ratios += [compare(rig, t, found.parameters, found.prior, used=False).ratio for t in folds[others]]
        unlike = compare(rig, trials[0], truth, rig.prior, used=False).prior.rmse
    mean = np.mean(ratios, axis=0)
    axes = ", ".join(f"{axis} {value:.1e}" for axis, value in zip(AXES, mean))
    listed = ", ".join(f"{value:.0f}" for value in unlike)
    return [
        Figure(
            "unseen halves, RMSE identified / prior, no noise, mean over axes",
            f"simulated person, {len(trials)} motions", float(mean.mean()), "", at_most(0.01), at_most(0.001),
            f"{axes}; the prior alone misses by {listed} N and N m",
        )
    ]  # fmt: skip


def half_of(trial: Trial, part: str) -> Trial:
    """A trial of which only one half counts."""
    first = np.arange(len(trial.counted)) < len(trial.counted) // 2
    return replace(trial, counted=trial.counted & (first if part == PARTS[0] else ~first))
