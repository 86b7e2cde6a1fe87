"""Chains fitted by themselves, alternative trajectories, and bounds as large prices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.skeleton.rig import Rig
from solver.tracking import Tracker, TrackingOptions
from solver.tracking.joint_chains import ChainFit
from solver.tracking.kinematics import Kinematics
from tests.tracking.bodies import STEP, turning


@pytest.mark.parametrize("every", [1, 2])
def test_chains_fit_their_orientations_within_limits(robot: Rig, every: int) -> None:
    """Single hinges are fitted exactly; chains of two are nearer than neutral; no angle leaves its range."""
    links = list(range(0, len(robot.links), every))
    q, targets = turning(robot, links)
    fit, kinematics = ChainFit(robot, targets.orientations.task.links), Kinematics(robot)
    left = []
    for wanted, true in zip(targets.orientations.rotations[::10], q[::10]):
        neutral = robot.neutral
        neutral[3:7] = true[3:7]
        found = fit.fit_pose(neutral, wanted)
        assert (found[7:] >= robot.limits.lower - 1e-12).all()
        assert (found[7:] <= robot.limits.upper + 1e-12).all()
        for configuration in (found, neutral):
            kinematics.update_kinematics(configuration)
            left.append(float((3.0 - (kinematics.rotations[links] * wanted).sum(axis=(1, 2))).sum()))
    after, before = np.array(left).reshape(-1, 2).T
    assert (after < (1e-12 if every == 1 else 0.3 * before)).all()


def test_an_alternative_that_is_not_better_changes_nothing(robot: Rig) -> None:
    """An alternative trajectory that does not win leaves the motion the same to the last digit."""
    q, targets = turning(robot, list(range(len(robot.links))))
    found = []
    for threshold in (np.inf, -1.0):
        options = replace(TrackingOptions.one_pass(), restart_turn=threshold)
        tracker = Tracker(robot, targets.tasks, options)
        tracker.start(targets.sample(0), STEP, q[0])
        found.append([tracker.step(targets.sample(k), STEP) for k in range(1, 40)])
    assert not any(step.restarted for step in found[1])
    np.testing.assert_array_equal([step.q for step in found[0]], [step.q for step in found[1]])
