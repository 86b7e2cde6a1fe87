"""Measurements of a simulated walk with the noise of bailly2019 III.A, and inertials with errors.

The paper's noise is band-limited and white within its bands: 1 N and 1 N m on each foot's wrench below 4 Hz and from 16
to 24 Hz, 0.1 m and 0.1 N m on the kinematic centre of mass and momentum rate from 92 to 100 Hz. Here it is added at the
feet, where the sensors are: about the world origin four metres on it would be another noise.

The paper multiplies masses, centres and inertias by normal numbers around 1 with standard deviation 1, which makes
negative masses. Here the spread is stated, masses stay above a tenth, centres inside their links, and each inertia
that of a body that exists; the total mass is known, as the paper assumes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solver.centroidal.inputs import inertial_modes
from solver.centroidal.values import CentroidalData
from solver.dynamics import centroidal_momentum, com_trajectory
from solver.signals import low_pass
from solver.skeleton.rig import Rig
from solver.values.filter_presets import FilterPreset
from solver.values.inertials import (
    FIRST_MOMENT,
    INERTIA,
    MASS,
    PER_LINK,
    InertialParameters,
    steiner,
    symmetric_entries,
)

from .walk import Walk

SENSOR_BANDS = ((0.0, 4.0), (16.0, 24.0))
MODEL_BAND = (92.0, 100.0)
"""[Hz]"""
FORCE, MOMENT, PLACE, SPIN = 1.0, 1.0, 0.1, 0.1
"""[N], [N m], [m], [N m] standard deviations in each band."""
KINEMATICS = FilterPreset("kinematics", 3, 20.0, "of the noisy kinematic centre of mass before its use")
LEAST = 0.1
"""Least factor on a mass or a second moment."""


def perturb_inertials(rig: Rig, bias: float, seed: int) -> InertialParameters:
    """The inertials with a relative error of standard deviation ``bias``, same total mass."""
    generator = np.random.default_rng(seed)
    truth, count = rig.prior, len(rig.links)
    factors = np.maximum(1.0 + bias * generator.standard_normal(count), LEAST)
    masses = truth.masses * factors
    masses *= truth.total_mass / masses.sum()
    coms = truth.coms * (1.0 + bias * generator.standard_normal((count, 3)))
    coms = np.clip(coms, rig.boxes[:, 0], rig.boxes[:, 1])
    stretch = np.sqrt(np.maximum(1.0 + bias * generator.standard_normal((count, 3)), LEAST))
    inertias = []
    for mass, old, link, turn in zip(masses, truth.masses, truth.links, stretch):
        second = 0.5 * np.trace(truth[link].inertia) * np.eye(3) - truth[link].inertia
        second = mass / old * turn[:, None] * second * turn
        inertias.append(np.trace(second) * np.eye(3) - second)
    return InertialParameters.from_com(rig.links, masses, coms, np.array(inertias))


def covariance_root(parameters: InertialParameters, bias: float) -> np.ndarray:
    """(M, L, 10) square root of the covariance of such errors, to first order around `parameters`."""
    count = len(parameters.links)
    root = np.zeros((7 * count, count, PER_LINK))
    masses, coms = parameters.masses, parameters.coms
    for link in range(count):
        rows = root[7 * link : 7 * link + 7, link]
        rows[0] = bias * parameters.values[link]
        for axis in range(3):
            moved = np.zeros(3)
            moved[axis] = bias * coms[link, axis]
            rows[1 + axis, FIRST_MOMENT] = masses[link] * moved
            rows[1 + axis, INERTIA] = (
                masses[link] * symmetric_entries(steiner(coms[link] + moved) - steiner(coms[link] - moved)) / 2.0
            )
            own = parameters[parameters.links[link]].inertia
            second = 0.5 * np.trace(own) * np.eye(3) - own
            unit = np.zeros((3, 3))
            unit[axis] += 0.5 * bias * second[axis]
            unit[:, axis] += 0.5 * bias * second[:, axis]
            rows[4 + axis, INERTIA] = symmetric_entries(np.trace(unit) * np.eye(3) - unit)
    root[:, :, MASS] += 0.0
    return root


def simulate_measurements(
    rig: Rig, walk: Walk, parameters: InertialParameters, seed: int, root: np.ndarray | None
) -> CentroidalData:
    """Input of the estimators from a walk: noisy wrenches, and kinematics with these inertials."""
    generator = np.random.default_rng(1000 + seed)
    motion, count, rate = walk.motion, len(walk.motion), walk.motion.rate
    wrench = walk.wrench.copy()
    for foot in range(2):
        stands = (walk.load[:, foot] > 0.0)[:, None]
        force, moment = (
            size * sum(_band(generator, count, rate, band) for band in SENSOR_BANDS) for size in (FORCE, MOMENT)
        )
        wrench[:, :3] += stands * force
        wrench[:, 3:] += stands * (moment + np.cross(walk.feet[:, foot], force))
    momentum = centroidal_momentum(rig, motion, parameters)
    com = com_trajectory(rig, motion, parameters)
    noisy = low_pass(com + PLACE * _band(generator, count, rate, MODEL_BAND), rate, KINEMATICS)
    turned = momentum.rate[:, 3:] + SPIN * _band(generator, count, rate, MODEL_BAND)
    acceleration = momentum.rate[:, :3] / parameters.total_mass
    modes = None if root is None else inertial_modes(rig, motion, parameters, root)
    return CentroidalData(
        motion.times, rig.prior.total_mass, noisy, momentum.momentum[:, 3:], turned, acceleration, wrench, modes=modes
    )


def _band(generator: np.random.Generator, count: int, rate: float, band: tuple[float, float]) -> np.ndarray:
    """(N, 3) white noise within a band, of standard deviation one."""
    spectrum = np.fft.rfft(generator.standard_normal((count, 3)), axis=0)
    frequencies = np.fft.rfftfreq(count, 1.0 / rate)
    spectrum[(frequencies < band[0]) | (frequencies > band[1])] = 0.0
    noise = np.fft.irfft(spectrum, count, axis=0)
    return noise / noise.std(axis=0)


def as_exact(data: CentroidalData) -> CentroidalData:
    """The same signals for an estimator that takes the inertials as exact."""
    return replace(data, modes=None)
