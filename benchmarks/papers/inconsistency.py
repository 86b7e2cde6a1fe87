"""How often plain least squares is physically inconsistent, and the constrained methods never: jovic2016's motivation.

Simulated people (see `volunteer`), each moving for 24 s; joint angles with white noise of 3 mrad and the root's place
with 1 mm, plates with 1 N and 1 N m, both sides of the equations filtered at 6 Hz. And every real trial given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from solver.dynamics import integrate, predicted_wrench
from solver.errors import SolverError
from solver.identification.accumulate import accumulate_regression
from solver.identification.estimate import Estimate
from solver.identification.identify import IdentifyOptions, get_method
from solver.identification.regression import fit_axis_weights
from solver.identification_methods import method_names
from solver.inertials import InertialParameters
from solver.rig import Rig
from solver.signals import PRESETS, light_preset, low_pass, settling_time, smooth_motion
from solver.trial import Trial
from solver.wrenches import Wrenches

from .volunteer import RATE, dance, volunteer

ANGLE, PLACE, WRENCH = 0.003, 0.001, 1.0
PRESET = PRESETS["jovic_human"]
ROUNDING = 1e-9
"""[kg] A mass bounded at zero may end this much below it."""


@dataclass
class Tally:
    """Results of one method.

    Attributes:
        runs: how many were tried.
        negative: runs with a negative mass.
        indefinite: runs in which some link's inertia about its joint is not positive definite.
        inconsistent: runs in which some link's pseudo-inertia is not positive semi-definite.
        failed: runs without a result, by message.
    """

    runs: int = 0
    negative: int = 0
    indefinite: int = 0
    inconsistent: int = 0
    failed: Counter[str] = field(default_factory=Counter)

    def add(self, estimate: Estimate) -> None:
        """Judge one result by eigenvalues."""
        self.runs += 1
        self.negative += bool(np.any(estimate.parameters.masses < -ROUNDING))
        self.indefinite += bool(np.any(estimate.parameters.rotational_margin <= 0.0))
        self.inconsistent += estimate.satisfies != "consistent"


def simulated_trial(seed: int) -> tuple[Rig, Trial, InertialParameters]:
    """A person's rig, a noisy trial of one round, and the truth."""
    person = volunteer(seed)
    rig = person.rig
    motion = dance(person, seed, 1)
    generator = np.random.default_rng((seed, 31))
    noise = ANGLE * generator.standard_normal((len(motion), rig.nv))
    noise[:, :3] *= PLACE / ANGLE
    q = integrate(rig, motion.q, noise)
    wrench = predicted_wrench(rig, motion, person.truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    light = light_preset(PRESET, RATE)
    wrench = low_pass(wrench + WRENCH * generator.standard_normal(wrench.shape), RATE, light)
    filtered = smooth_motion(rig, motion.times, q, light)
    edge = int(np.ceil(settling_time(PRESET) * RATE))
    counted = np.ones(len(filtered), bool)
    counted[:edge] = counted[-edge:] = False
    measured = Wrenches(motion.times, ("plates",), wrench[:, None])
    return rig, Trial(f"simulated {seed}", filtered, measured, counted, preset=PRESET), person.truth


def tally(cases: Sequence[tuple[Rig, Sequence[Trial]]]) -> Mapping[str, Tally]:
    """Every method on every case."""
    result = {method: Tally() for method in method_names()}
    for rig, trials in cases:
        regression = accumulate_regression(rig, trials, axes="world")
        for method, counts in result.items():
            try:
                options = IdentifyOptions(method, total_mass=rig.prior.total_mass)
                counts.add(fit_axis_weights(regression, get_method(rig, options), rig)[1])
            except SolverError as error:
                counts.failed[str(error)[:80]] += 1
    return result
