"""The estimators' signals from motion, wrenches and inertials."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.centroidal.inputs import centroidal_data, inertial_modes
from solver.dynamics import centroidal_momentum, com_trajectory, predicted_wrench
from solver.rigs import hrp2
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import MASS, InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.random_motion import random_motion


def body() -> tuple[Rig, Motion]:
    """A robot that moves at random."""
    rig = hrp2()
    return rig, random_motion(rig, frames=12, seed=3)


def trial_of(rig: Rig, motion: Motion, origin: np.ndarray) -> Trial:
    """The wrenches that the motion requires, about a point (3,)."""
    wrench = predicted_wrench(rig, motion, rig.prior, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3] - origin, wrench[:, :3])
    return Trial("moves", motion, Wrenches(motion.times, ("all",), wrench[:, None]), np.ones(len(motion), bool))


def test_true_inertials_agree_with_the_wrench() -> None:
    """Kinematic signals of the true inertials satisfy (1) and (2) with the wrench about the world origin."""
    rig, motion = body()
    data = centroidal_data(rig, trial_of(rig, motion, np.zeros(3)), rig.prior)
    np.testing.assert_allclose(data.acceleration, data.force_acceleration, atol=1e-9)
    rate = data.moment + np.cross(data.force, data.com)
    np.testing.assert_allclose(data.momentum_rate, rate, atol=1e-8)


def test_modes_have_the_covariance_of_the_inertials() -> None:
    """The sum of the modes' squares is the variance due to the covariance, by finite differences of the inertials."""
    rig, motion = body()
    generator = np.random.default_rng(0)
    root = 1e-6 * generator.standard_normal((2, len(rig.links), 10))
    root[:, :, MASS] -= root[:, :, MASS].sum(axis=1, keepdims=True) * rig.prior.masses / rig.prior.total_mass
    modes = inertial_modes(rig, motion, rig.prior, root)
    assert len(modes) == 2
    com, angular = [], []
    for change in root:
        pair = [InertialParameters(rig.links, rig.prior.values + sign * change) for sign in (0.5, -0.5)]
        ends = [(com_trajectory(rig, motion, p), centroidal_momentum(rig, motion, p).momentum[:, 3:]) for p in pair]
        com.append(ends[0][0] - ends[1][0])
        angular.append(ends[0][1] - ends[1][1])
    for found, wanted in ((modes.com, com), (modes.momentum, angular)):
        variance = (np.array(wanted) ** 2).sum(axis=0)
        np.testing.assert_allclose((found**2).sum(axis=2), variance, rtol=1e-4, atol=1e-6 * variance.max())


def test_moments_about_another_point_are_refused() -> None:
    """Moments about a point metres away put the centre of pressure beside the body: refused."""
    rig, _ = body()
    q = np.stack([np.array(rig.provenance["half_sitting"])] * 3)
    still = Motion(np.arange(3) / 100.0, q, np.zeros((3, rig.nv)), np.zeros((3, rig.nv)))
    centroidal_data(rig, trial_of(rig, still, np.zeros(3)), rig.prior)
    with pytest.raises(InvalidValue, match="another point than the world origin"):
        centroidal_data(rig, trial_of(rig, still, np.array([2.0, 0.0, 0.0])), rig.prior)
