"""Simulated data without noise: what is left over is the method's own error."""

from __future__ import annotations

import numpy as np

from solver.demo.person import simulate_person
from solver.dynamics import predicted_wrench
from solver.identification.comparison import AXES, compare
from solver.identification.identify import IdentifyOptions, identify
from solver.inertials import InertialParameters
from solver.motion import Motion
from solver.rig import Rig
from solver.trial import Trial
from solver.wrenches import Wrenches

from .figure import Figure, at_most

SEED = 5


def exact_trial(rig: Rig, name: str, motion: Motion, truth: InertialParameters) -> Trial:
    """A trial whose wrench is exactly what the motion needs with these inertials."""
    wrench = predicted_wrench(rig, motion, truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    everything = np.ones(len(motion), bool)
    return Trial(name, motion, Wrenches(motion.times, ("plate",), wrench[:, None]), everything)


def noise_free_figures() -> list[Figure]:
    """Identified on one simulated motion, tested on another, and the other way round."""
    person = simulate_person(SEED)
    rig, truth = person.rig, person.truth
    trials = [exact_trial(rig, name, motion, truth) for name, motion in person.motions.items() if name != "static"]
    options = IdentifyOptions(total_mass=truth.total_mass, bootstrap=0, cross_validate=True)
    found = identify(rig, trials, options)
    ratios = np.array([c.ratio for c in found.comparisons if not c.used])
    axes = ", ".join(f"{axis} {value:.1e}" for axis, value in zip(AXES, ratios.mean(axis=0)))
    unlike = compare(rig, trials[0], truth, rig.prior, used=False).prior.rmse
    listed = ", ".join(f"{value:.0f}" for value in unlike)
    return [
        Figure(
            "unseen trial, RMSE identified / prior, no noise, mean over axes", "simulated person, two motions",
            float(ratios.mean()), "", at_most(0.01), at_most(0.001),
            f"{axes}; the prior alone misses by {listed} N and N m",
        )
    ]  # fmt: skip
