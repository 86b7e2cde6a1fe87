"""The tracking methods, limits shared by joints, and targets out of reach."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownName
from solver.base.so3 import exp, log
from solver.dynamics import difference, integrate
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.tracking import (
    CoupledLimits,
    OrientationTask,
    PositionTask,
    TargetSample,
    Tasks,
    Tracker,
    TrackingOptions,
)
from solver.tracking.inverse_kinematics import InverseKinematics
from solver.tracking.kinematics import Kinematics
from tests.tracking.bodies import STEP, turning


def test_coupled_limits_hold(robot: Rig) -> None:
    """Two hips that may not flex together beyond a bound stay within it, whatever their targets."""
    links = list(range(len(robot.links)))
    q, targets = turning(robot, links)
    first, second = robot.joints[3].name, robot.joints[9].name
    places = [6 + 3, 6 + 9]
    way = q[:, places].sum(axis=1) - q[0, places].sum()
    sign = 1.0 if way.max() > -way.min() else -1.0
    most = sign * q[0, places].sum() + 0.3 * float((sign * way).max())
    coupled = CoupledLimits((first, second), np.array([[1.0, -1.0], [sign, sign]]), np.array([9.0, most]))
    tracker = Tracker(robot, targets.tasks, TrackingOptions(coupled_limits=coupled))
    tracker.start(targets.sample(0), STEP, q[0])
    steps = [tracker.step(targets.sample(k), STEP) for k in range(1, len(targets))]
    sums = np.array([sign * step.q[places].sum() for step in steps])
    assert sums.max() == pytest.approx(most, abs=1e-3)
    assert all(step.is_feasible for step in steps)
    with pytest.raises(UnknownName, match="hip"):
        Tracker(
            robot, targets.tasks, TrackingOptions(coupled_limits=CoupledLimits(("hip",), np.ones((1, 1)), np.ones(1)))
        )


@pytest.mark.parametrize("seed", range(4))
def test_a_start_outside_the_limits_returns_inside(robot: Rig, seed: int) -> None:
    """Joints up to 0.3 rad beyond their ranges are inside after a few frames, and no frame has no solution."""
    _, targets = turning(robot, list(range(len(robot.links))))
    rng = np.random.default_rng(seed)
    start = robot.neutral
    start[7:] = rng.uniform(robot.limits.lower - 0.3, robot.limits.upper + 0.3)
    tracker = Tracker(robot, targets.tasks, TrackingOptions())
    tracker.start(targets.sample(0), STEP, start)
    steps = [tracker.step(targets.sample(k % 40), STEP) for k in range(1, 60)]
    assert all(step.is_feasible for step in steps)
    assert tracker.solver.limits.violation(steps[-1].q).max() < 1e-3


def test_contradicting_limits_are_reported(robot: Rig) -> None:
    """A coupled limit that no pose within the ranges satisfies makes the frame infeasible, with the amount."""
    _, targets = turning(robot, list(range(len(robot.links))))
    name, upper = robot.joints[3].name, float(robot.limits.upper[2])
    coupled = CoupledLimits((name,), np.array([[-1.0]]), np.array([-(upper + 0.2)]))
    tracker = Tracker(robot, targets.tasks, TrackingOptions(coupled_limits=coupled))
    tracker.start(targets.sample(0), STEP, robot.neutral)
    steps = [tracker.step(targets.sample(k), STEP) for k in range(1, 30)]
    assert not steps[-1].is_feasible
    assert steps[-1].slack > 1e-3


def test_measured_velocities_are_reported_at_the_new_pose(robot: Rig) -> None:
    """With gyroscopes the velocity is the measured one at the new pose, not the step's, which is half a step old."""
    q, targets = turning(robot, list(range(len(robot.links))))
    tracker = Tracker(robot, targets.tasks, TrackingOptions(posture_weight=1e-10))
    tracker.start(targets.sample(0), STEP, q[0])
    steps = [tracker.step(targets.sample(k), STEP) for k in range(1, 39)]
    true = np.gradient(q[:, 7:], STEP, axis=0)[1:39]
    assert np.abs(np.array([step.v[6:] for step in steps]) - true).max() < 1e-3
    late = np.diff(q[:39, 7:], axis=0) / STEP
    assert np.abs(late - true).max() > 2e-3


@pytest.mark.parametrize("other", [1.0, 0.5])
def test_a_target_with_less_gain_is_followed_more_slowly(robot: Rig, other: float) -> None:
    """Half the gain leaves half of an error where the others leave none; a factor above 1 is refused."""
    _, targets = turning(robot, [0, len(robot.links) - 1], 2)
    task, sample = targets.orientations.task, targets.sample(0)
    still = TargetSample(sample.positions, sample.rotations)
    slow = OrientationTask(task.names, task.links, task.weights, np.array([0.5, other]))
    options = TrackingOptions(iterations=0, posture_weight=1e-9, damping=1e-12, adaptive_damping=0.0, limits=False)
    tracker = Tracker(robot, Tasks(targets.tasks.positions, slow), options)
    start = TrackingOptions(iterations=40, posture_weight=1e-9)
    q = np.array(Tracker(robot, targets.tasks, start).start(still, STEP).q)
    turned = integrate(robot, q, np.concatenate([np.zeros(3), [1e-3, 0.0, 0.0], np.zeros(robot.nv - 6)]))
    tracker.start(still, STEP, turned)
    after = tracker.step(still, STEP).q
    assert difference(robot, q, after)[3] == pytest.approx(0.5e-3, abs=2e-5)
    with pytest.raises(InvalidValue, match="gains"):
        OrientationTask(task.names, task.links, task.weights, np.array([2.0, 1.0]))


def test_squared_angles_are_least_by_angles(robot: Rig) -> None:
    """Of two targets of one link, far apart: the pose between them halves the angle, or shares it by their weights."""
    link = len(robot.links) - 1
    task = OrientationTask(("a", "b"), np.array([link, link]), np.array([3.0, 1.0]))
    root = PositionTask((robot.links[0],), np.zeros(1, int), np.zeros((1, 3)), np.ones(1))
    kinematics = Kinematics(robot)
    kinematics.update_kinematics(robot.neutral)
    here, apart = kinematics.rotations[link].copy(), np.array([0.0, 0.0, 1.6])
    sample = TargetSample(kinematics.positions[:1].copy(), np.array([here, exp(apart) @ here]))
    for angles, share in ((True, 0.25), (False, np.arctan2(np.sin(1.6), 3.0 + np.cos(1.6)) / 1.6)):
        options = TrackingOptions(
            posture_weight=0.0, adaptive_damping=0.0, limits=False, squared_angles=angles, iterations=60
        )
        engine = InverseKinematics(robot, Tasks(root, task), options)
        q, converged = engine.refine(robot.neutral, sample, STEP)
        assert converged
        kinematics.update_kinematics(q)
        np.testing.assert_allclose(log(kinematics.rotations[link] @ here.T), share * apart, atol=1e-5)


@pytest.mark.parametrize("angles", [False, True])
@pytest.mark.parametrize("kind", ["hinges and a point", "spherical"])
def test_the_exact_hessian_of_orientations_is_the_derivative_of_their_gradient(
    robot: Rig, kind: str, angles: bool
) -> None:
    """The second-order matrix of Newton's steps is the derivative of the gradient of sum w (1 - cos angle), or w
    angle^2.
    """
    rig = robot if kind != "spherical" else human(1.7, 60.0, "female")
    links = np.arange(len(rig.links))
    point = (
        None if kind == "spherical" else PositionTask((rig.links[0],), np.zeros(1, int), np.zeros((1, 3)), np.ones(1))
    )
    tasks = Tasks(point, OrientationTask(rig.links, links, np.ones(len(links))))
    options = TrackingOptions(
        posture_weight=0.0, damping=1e-12, adaptive_damping=0.0, limits=False, squared_angles=angles
    )
    engine = InverseKinematics(rig, tasks, options)
    rng = np.random.default_rng(1)
    here = integrate(rig, rig.neutral, 0.3 * rng.normal(size=rig.nv))
    kinematics = Kinematics(rig)
    kinematics.update_kinematics(integrate(rig, here, 0.4 * rng.normal(size=rig.nv)))
    sample = TargetSample(None if point is None else kinematics.positions[:1].copy(), kinematics.rotations.copy())

    def gradient(at: np.ndarray) -> np.ndarray:
        engine.kinematics.update_poses(at)
        engine.rows.set_residuals(sample)
        engine.rows.load_tree()
        return np.array(engine.kinematics.gradient(at, np.zeros(rig.nv)))

    slope = np.empty((rig.nv, rig.nv))
    for column in range(rig.nv):
        step = np.zeros(rig.nv)
        step[column] = 1e-5
        forward, backward = (gradient(integrate(rig, here, sign * step)) for sign in (1.0, -1.0))
        slope[:, column] = -(forward - backward) / 2e-5
    expected = gradient(here)
    engine.kinematics.update_jacobian(here)
    matrix, found = engine.rows.equations()
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # the gradient turns with the axes it is expressed in: its symmetric part is the Hessian on the manifold
    np.testing.assert_allclose(matrix, 0.5 * (slope + slope.T), atol=1e-6)
