"""From simulated sensors back to inertials: errors of the whole loop, with the truth known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.dynamics import integrate, predicted_wrench
from solver.identification.comparison import fit_wrenches
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.signals import PRESETS, light_preset, low_pass, smooth_motion
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import GRAVITY, InertialParameters
from solver.values.wrenches import Wrenches

from .performance import Performance

TRIAL_RATE = 100.0
"""[1/s] at which frames are used: above twice what lightly filtered coordinates still hold."""


@dataclass(frozen=True, slots=True)
class Sensors:
    """Standard deviations of one sample at the simulation's sensor rate.

    Attributes:
        angle: [rad] of joints, and of the root's attitude.
        position: [m] of the root.
        preset: low-pass of motion and plates before identification.
        force: share of the weight, per axis and plate; moments: that times the root's height.
    """

    angle: float
    position: float
    preset: str
    force: float = 1e-3


ROBOT = Sensors(angle=2e-5, position=1e-5, preset="bonnet_hoap3")
"""Encoders behind a gear; a robot knows its root by the foot it stands on."""
PERSON = Sensors(angle=5e-4, position=2e-4, preset="jovic_human")
"""Optical markers after the skeleton was fitted to them."""


@dataclass(frozen=True, slots=True)
class LoopResult:
    """An identification against the truth.

    Attributes:
        parameters: identified.
        prior: the rig's inertials, scaled to the measured mass.
        truth: of the simulated body.
        unused: mean over axes of RMSE identified / prior on the halves not used for fitting.
        used: the same on what was used.
        exact: the same with the true wrench of the true motion in the place of measurement.
    """

    parameters: InertialParameters
    prior: InertialParameters
    truth: InertialParameters
    unused: float
    used: float
    exact: float

    def mass_of(self, which: InertialParameters, links: tuple[str, ...]) -> float:
        """Mass [kg] of several links."""
        return float(sum(which.masses[which.index(link)] for link in links))


def simulate_sensors(rig: Rig, performance: Performance, sensors: Sensors, seed: int) -> Trial:
    """Simulate an experimenter's data: noisy angles, root pose and plates, filtered lightly and thinned out; the
    equations pass the preset.
    """
    generator = np.random.default_rng(seed)
    motion, preset = performance.motion, PRESETS[sensors.preset]
    scale = np.full(rig.nv, sensors.angle)
    scale[:3] = sensors.position
    noise = scale * generator.standard_normal((len(motion), rig.nv))
    q = np.array([integrate(rig, frame, step) for frame, step in zip(motion.q, noise)])
    light = light_preset(preset, TRIAL_RATE)
    smooth = smooth_motion(rig, motion.times, q, light)
    weight = performance.standing[:, 2].sum()
    spread = sensors.force * weight * np.repeat([1.0, motion.q[0, 2]], 3)
    plates = performance.plates.values + spread * generator.standard_normal(performance.plates.values.shape)
    plates = low_pass(plates.reshape(len(motion), -1), motion.rate, light).reshape(plates.shape)
    every = max(1, round(motion.rate / TRIAL_RATE))
    thin = smooth.frames(slice(None, None, every))
    wrenches = Wrenches(thin.times, performance.plates.frames, plates[::every])
    return Trial("dance", thin, wrenches, np.ones(len(thin), bool), preset=preset)


def close_loop(
    rig: Rig, performance: Performance, truth: InertialParameters, sensors: Sensors, seed: int = 0
) -> LoopResult:
    """Identify from simulated sensors and compare with the truth.

    The total mass is taken from the plates while standing still, as an experimenter would; left and right are not
    required to agree, since the change does not.
    """
    trial = simulate_sensors(rig, performance, sensors, seed)
    gravity = GRAVITY
    mass = float(performance.standing[:, 2].sum()) / gravity
    options = IdentifyOptions(total_mass=mass, symmetric=False)
    found = identify_trials(rig, [trial], options)
    true_wrench = _wrench(rig, performance, truth, sensors)
    ratios = [float(np.mean([c.ratio for c in found.comparisons if c.used is used])) for used in (False, True)]
    fits = [
        fit_wrenches(true_wrench, _wrench(rig, performance, p, sensors)).rmse for p in (found.parameters, found.prior)
    ]
    return LoopResult(
        parameters=found.parameters,
        prior=found.prior,
        truth=truth,
        unused=ratios[0],
        used=ratios[1],
        exact=float(np.mean(fits[0] / fits[1])),
    )


def _wrench(rig: Rig, performance: Performance, parameters: InertialParameters, sensors: Sensors) -> np.ndarray:
    """Wrench (N, 6) the simulated motion needs, filtered: world axes, about the root."""
    motion = performance.motion
    return low_pass(predicted_wrench(rig, motion, parameters, axes="world"), motion.rate, PRESETS[sensors.preset])
