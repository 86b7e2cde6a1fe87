"""The equations of a fixed-base robot, against Pinocchio's model without a free flyer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownName
from solver.base.so3 import from_rpy, to_quaternion
from solver.fixed_base.robot import BASE, DRIVES, FixedBaseRobot
from solver.rigs import hoap3, human
from tests.pinocchio import pin

from .arm import arm, arm_text, swings

WALL = to_quaternion(from_rpy(np.array([0.3, 1.2, -0.4])))


@pytest.mark.parametrize("mount", [np.array([0.0, 0.0, 0.0, 1.0]), WALL])
def test_torques_are_those_of_a_fixed_base(tmp_path: Path, mount: np.ndarray) -> None:
    """The regressor times the truth is the inverse dynamics of a model without a free flyer, for any mount."""
    rig = arm(tmp_path)
    bench = FixedBaseRobot(rig, drives=False, mount=mount)
    times, y, dy, ddy = swings(bench, 0.5, 40.0)
    model = pin.buildModelFromXML(arm_text())
    model.gravity.linear = pin.Quaternion(*mount[[3, 0, 1, 2]]).matrix().T @ np.array([0.0, 0.0, -9.81])
    data = model.createData()
    expected = [pin.rnea(model, data, *state) for state in zip(y, dy, ddy)]
    found = bench.regressor(bench.motion(times, y, dy, ddy)) @ rig.prior.vector
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_base_wrench_is_weight_and_reaction(tmp_path: Path) -> None:
    """At rest the base carries the weight; in motion, the force is also the mass times the acceleration."""
    rig = arm(tmp_path)
    bench = FixedBaseRobot(rig, BASE)
    still = np.zeros((1, len(bench.names)))
    force = (bench.regressor(bench.motion(np.zeros(1), still, still, still)) @ rig.prior.vector)[0]
    np.testing.assert_allclose(force[:3], [0.0, 0.0, 9.81 * rig.prior.total_mass], atol=1e-9)
    only = bench.regressor(bench.motion(np.zeros(1), still, still, still + np.array([0.0, 0.0, 0.0, 2.0])))
    assert (only @ rig.prior.vector)[0, 2] - force[2] == pytest.approx(2.0 * rig.prior["rod"].mass)


def test_drives_are_columns_of_their_own_joint(tmp_path: Path) -> None:
    """Each joint's torque depends on its own rotor, friction and offset only."""
    bench = FixedBaseRobot(arm(tmp_path))
    times, y, dy, ddy = swings(bench, 0.5, 40.0)
    rows = bench.regressor(bench.motion(times, y, dy, ddy))
    count = len(bench.names)
    own = rows[:, :, : bench.drive_columns].reshape(len(times), count, count, len(DRIVES))
    np.testing.assert_allclose(own[:, range(count), range(count), 0], ddy, atol=1e-12)
    np.testing.assert_allclose(own[:, range(count), range(count), 1], dy, atol=1e-12)
    assert np.all(own[:, range(count), range(count), 3] == 1.0)
    assert not own[:, ~np.eye(count, dtype=bool)].any()


@pytest.mark.parametrize(("measured", "drives"), [("torques", True), ("torques", False), ("base", False)])
def test_independent_columns_have_full_rank(tmp_path: Path, measured: str, drives: bool) -> None:
    """The number of independent columns is the rank of other random motion, and they span it."""
    bench = FixedBaseRobot(arm(tmp_path), measured, drives)
    rows = bench.regressor(bench.random_motion(300, seed=7))
    flat = rows.reshape(-1, rows.shape[2])
    assert np.linalg.matrix_rank(flat, tol=1e-8 * np.linalg.norm(flat, 2)) == len(bench.independent_columns)
    kept = flat[:, bench.independent_columns]
    assert np.linalg.matrix_rank(kept, tol=1e-8 * np.linalg.norm(kept, 2)) == len(bench.independent_columns)


def test_locked_joints_do_not_move(tmp_path: Path) -> None:
    """A joint locked by link or joint name neither moves nor counts."""
    rig = arm(tmp_path)
    bench = FixedBaseRobot(rig, locked_links=("reach", "upper"))
    assert bench.names == ("turret", "fore")
    with pytest.raises(UnknownName, match="elbow"):
        FixedBaseRobot(rig, locked_links=("elbow",))
    with pytest.raises(InvalidValue, match="no joint that moves"):
        FixedBaseRobot(rig, locked_links=("turret", "upper", "fore", "rod"))


def test_spherical_joints_are_refused() -> None:
    """A spherical joint cannot be driven; a robot of revolute joints may be fixed at its pelvis."""
    with pytest.raises(InvalidValue, match="one drive"):
        FixedBaseRobot(human(1.75, 70.0, "female"))
    assert len(FixedBaseRobot(hoap3()).names) == 21
