"""Other estimators of the same signals: each source alone, a published filter for robots, a published fusion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from ..base.so3 import skew
from ..signals import GRAVITY, true_runs
from .gauss_markov import Observations, Process, posterior_mean
from .values import AXES, CentroidalData, CentroidalEstimate

STATES = 9
"""States of the filter: centre of mass, linear and angular momentum. By definition."""


def kinematic(data: CentroidalData) -> CentroidalEstimate:
    """The kinematic signals alone."""
    return CentroidalEstimate(
        "kinematic", data.times, data.mass, data.com, data.acceleration, data.momentum_rate, data.momentum
    )


def force_only(data: CentroidalData) -> CentroidalEstimate:
    """The wrench alone: (2) integrated twice, and (8) about the kinematic centre of mass.

    Position and velocity at the start of each measured interval are those that fit the kinematic centre of mass best;
    where nothing is measured the estimate is the kinematic one.
    """
    com, step = data.com.copy(), 1.0 / data.rate
    force_acceleration = data.force_acceleration
    for start, stop in true_runs(data.known):
        if stop - start < 3:
            continue
        speed = np.zeros((stop - start, AXES))
        speed[1:] = np.cumsum(
            0.5 * step * (force_acceleration[start + 1 : stop] + force_acceleration[start : stop - 1]), axis=0
        )
        displacement = np.zeros_like(speed)
        displacement[1:] = np.cumsum(0.5 * step * (speed[1:] + speed[:-1]), axis=0)
        time = data.times[start:stop] - data.times[start]
        design = np.column_stack([np.ones_like(time), time])
        fit, *_ = np.linalg.lstsq(design, data.com[start:stop] - displacement, rcond=None)
        com[start:stop] = displacement + design @ fit
    rate = data.moment + np.cross(data.force, data.com)
    rate = np.where((data.known & data.has_moment)[:, None], rate, data.momentum_rate)
    return CentroidalEstimate("force", data.times, data.mass, com, force_acceleration, rate, data.momentum)


@dataclass(frozen=True, slots=True)
class FilterNoise:
    """Noise of the extended Kalman filter, assumed white; low-frequency noise therefore counts many times its size.

    Attributes:
        force, moment: [N], [N m] of the measured wrench.
        com: [m] of the kinematic centre of mass.
        linear, angular: [kg m/s], [kg m^2/s] of the kinematic momenta.
        offset: [m] of a constant error of the kinematic centre of mass; 0: there is none.
    """

    force: float = 20.0
    moment: float = 20.0
    com: float = 0.01
    linear: float = 1.0
    angular: float = 1.0
    offset: float = 0.0


def extended_kalman(data: CentroidalData, noise: FilterNoise | None = None) -> CentroidalEstimate:
    """The momentum estimator of Rotella et al. 2015: c, l and k driven by the wrench, corrected by the kinematics.

    c' = l / m, l' = f + m g, k' = tau + f x c, with the kinematic values of all three as measurements. It is causal.
    With an ``offset`` in the noise, a constant error of the kinematic centre of mass is a state too.
    """
    noise = FilterNoise() if noise is None else noise
    step, mass = 1.0 / data.rate, data.mass
    force, moment, known = data.force, data.moment, data.known
    kinematic_states = np.concatenate([data.com, mass * np.gradient(data.com, step, axis=0), data.momentum], axis=1)
    state, measurement_noise = (
        kinematic_states[0].copy(),
        np.diag([noise.com**2] * 3 + [noise.linear**2] * 3 + [noise.angular**2] * 3),
    )
    state = np.append(state, np.zeros(3))
    covariance = block_diag(measurement_noise, noise.offset**2 * np.eye(3))
    measured = np.eye(STATES, STATES + 3)
    measured[:3, STATES:] = np.eye(3)  # the kinematic centre of mass contains its offset
    known_noise = np.diag([0.0] * 3 + [(noise.force * step) ** 2] * 3 + [(noise.moment * step) ** 2] * 3 + [0.0] * 3)
    unknown_noise = np.diag([0.0] * 3 + [(mass * GRAVITY * step) ** 2] * 3 + [(mass * step) ** 2] * 3 + [0.0] * 3)
    impulses = np.concatenate([force - np.array([0.0, 0.0, mass * GRAVITY]), moment], axis=1) * step
    impulses = np.where(
        known[:, None], impulses, np.append(np.diff(kinematic_states[:, 3:], axis=0), np.zeros((1, 6)), axis=0)
    )
    if not data.has_moment:
        impulses[:, 3:] = step * data.momentum_rate
    lever_matrix = step * skew(force) * (known & data.has_moment)[:, None, None]
    transition = np.eye(STATES + 3)
    transition[:3, 3:6] = step / mass * np.eye(3)
    com, angular = np.empty((2, len(data), AXES))
    for sample in range(len(data)):
        if sample:
            transition[6:STATES, :3] = lever_matrix[sample - 1]
            state = transition @ state
            state[3:STATES] += impulses[sample - 1]
            covariance = transition @ covariance @ transition.T + (known_noise if known[sample - 1] else unknown_noise)
        seen = measured @ covariance
        gain = np.linalg.solve(seen @ measured.T + measurement_noise, seen).T
        state = state + gain @ (kinematic_states[sample] - measured @ state)
        covariance = covariance - gain @ seen
        covariance = 0.5 * (covariance + covariance.T)
        com[sample], angular[sample] = state[:3], state[6:STATES]
    rate = np.where((known & data.has_moment)[:, None], moment + np.cross(force, com), data.momentum_rate)
    return CentroidalEstimate("ekf", data.times, mass, com, data.force_acceleration, rate, angular)


@dataclass(frozen=True, slots=True)
class FusionNoise:
    """Noise of the linear fusion, assumed white.

    Attributes:
        com: [m] of the kinematic centre of mass.
        force: [m/s^2] of f / m.
        jerk: [m/s^3 / sqrt(Hz)] how fast the acceleration changes.
    """

    com: float = 0.002
    force: float = 0.02
    jerk: float = 30.0


def linear_fusion(data: CentroidalData, noise: FusionNoise | None = None) -> CentroidalEstimate:
    """Optimal linear fusion of kinematic centre of mass and force: a Kalman smoother with the force as acceleration.

    Where the force is unknown, the kinematics and the continuity of the acceleration determine the estimate. The
    momentum is the kinematic one.
    """
    noise = FusionNoise() if noise is None else noise
    step, count = 1.0 / data.rate, len(data)
    process = Process.from_drift(np.diag(np.ones(2), 1), noise.jerk**2, step, 0)
    com, acceleration = np.empty((count, AXES)), np.empty((count, AXES))
    force_acceleration = data.force / data.mass - np.array([0.0, 0.0, GRAVITY])
    weights = np.stack([np.full(count, noise.com**-2.0), data.known * noise.force**-2.0], axis=1)
    states = np.zeros((count, 2, AXES))
    states[:, 0, 0], states[:, 1, 2] = 1.0, step**-2.0
    for axis in range(AXES):
        values = np.stack([data.com[:, axis] - data.com[0, axis], force_acceleration[:, axis]], axis=1)
        found, _ = posterior_mean(
            [process], Observations(states, np.zeros((count, 2, 0)), values, weights), np.zeros(0)
        )
        com[:, axis], acceleration[:, axis] = found[:, 0] + data.com[0, axis], found[:, 2] * step**-2.0
    return CentroidalEstimate("fusion", data.times, data.mass, com, acceleration, data.momentum_rate, data.momentum)
