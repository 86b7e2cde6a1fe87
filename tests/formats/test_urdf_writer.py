"""A rig written as URDF is the same body to Pinocchio's own reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.dynamics import integrate, link_poses
from solver.formats.urdf_writer import write_urdf
from solver.rigs import from_urdf, hoap3, human
from solver.skeleton.rig import ROOT_NV, Rig
from solver.study import joints_of, poses_of
from solver.values.inertials import InertialParameters
from tests.pinocchio import data_of, pin

RIGS = (human(1.7, 63.5, "female"), hoap3())


def axis_rotation(axis: int, angle: float) -> np.ndarray:
    """Rotation about a coordinate axis."""
    return pin.AngleAxis(angle, np.eye(3)[axis]).toRotationMatrix()


def same_state(rig: Rig, model: pin.Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q, v of the rig and of the model read back, of one random pose and velocity with spherical joints as x, y, z."""
    rng = np.random.default_rng(seed)
    q, v = np.array(rig.neutral), np.zeros(rig.nv)
    q_read, v_read = pin.neutral(model), np.zeros(model.nv)
    root = pin.SE3(pin.Quaternion(*rng.normal(size=4)).normalized(), rng.normal(size=3))
    q[:7] = q_read[:7] = pin.SE3ToXYZQUAT(root)
    v[:6] = v_read[:6] = rng.normal(size=6)
    for joint in range(2, rig.model.njoints):
        link, (iq, iv) = rig.links[joint - 1], (rig.model.idx_qs[joint], rig.model.idx_vs[joint])
        size = rig.model.joints[joint].nv
        names = [link] if size == 1 else [f"{link}_{axis}" for axis in "xyz"]
        angles, rates = rng.uniform(-1.0, 1.0, (size,)), rng.normal(size=(size,))
        for name, angle, rate in zip(names, angles, rates):
            index = model.getJointId(name)
            start = model.idx_qs[index]
            q_read[start : start + model.nqs[index]] = (
                [angle] if model.nqs[index] == 1 else [np.cos(angle), np.sin(angle)]
            )
            v_read[model.idx_vs[index]] = rate
        if size == 1:
            q[iq], v[iv] = angles[0], rates[0]
        else:
            x, y, z = (axis_rotation(k, angles[k]) for k in range(3))
            q[iq : iq + 4] = pin.Quaternion(x @ y @ z).coeffs()
            v[iv : iv + 3] = (y @ z).T @ [rates[0], 0, 0] + z.T @ [0, rates[1], 0] + [0, 0, rates[2]]
    return q, v, q_read, v_read


@pytest.mark.parametrize("rig", RIGS, ids=["human", "hoap3"])
def test_the_body_read_back_has_the_same_dynamics(tmp_path: Path, rig: Rig) -> None:
    """Mass, centre of mass, momentum and inertia about the base agree in random poses at random speeds."""
    write_urdf(rig, tmp_path / "rig.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "rig.urdf"), pin.JointModelFreeFlyer())
    assert model.nv == rig.nv
    ours, theirs = data_of(rig), model.createData()
    assert pin.computeTotalMass(model) == pytest.approx(rig.prior.total_mass, rel=1e-12)
    for seed in range(3):
        q, v, q_read, v_read = same_state(rig, model, seed)
        np.testing.assert_allclose(
            pin.centerOfMass(model, theirs, q_read), pin.centerOfMass(rig.model, ours, q), atol=1e-12
        )
        a, b = (
            pin.computeCentroidalMomentum(m, d, x, y).vector
            for m, d, x, y in ((rig.model, ours, q, v), (model, theirs, q_read, v_read))
        )
        np.testing.assert_allclose(b, a, atol=1e-10)
        base = [pin.crba(m, d, x)[:ROOT_NV, :ROOT_NV] for m, d, x in ((rig.model, ours, q), (model, theirs, q_read))]
        np.testing.assert_allclose(np.triu(base[1]), np.triu(base[0]), atol=1e-10)
        # At rest in the joints the whole wrench at the base (gravity, spin and acceleration of the root) agrees too.
        accelerations = np.random.default_rng(seed).normal(size=ROOT_NV)
        wrenches = []
        for m, d, x in ((rig.model, ours, q), (model, theirs, q_read)):
            speed, acceleration = np.zeros(m.nv), np.zeros(m.nv)
            speed[:ROOT_NV], acceleration[:ROOT_NV] = v[:ROOT_NV], accelerations
            wrenches.append(pin.rnea(m, d, x, speed, acceleration)[:ROOT_NV])
        np.testing.assert_allclose(wrenches[1], wrenches[0], atol=1e-9)


def test_identified_inertials_are_written_instead_of_the_prior(tmp_path: Path) -> None:
    """The file carries the parameters it was given, and refuses negative masses without leaving a file."""
    rig = RIGS[1]
    found = rig.prior.scaled(3.0)
    write_urdf(rig, tmp_path / "found.urdf", found)
    model = pin.buildModelFromUrdf(str(tmp_path / "found.urdf"), pin.JointModelFreeFlyer())
    assert pin.computeTotalMass(model) == pytest.approx(3.0, rel=1e-12)
    values = found.values.copy()
    values[2, 0] = -0.5
    with pytest.raises(InvalidValue, match=rig.links[2]):
        write_urdf(rig, tmp_path / "negative.urdf", InertialParameters(rig.links, values))
    assert not (tmp_path / "negative.urdf").exists()


def test_joint_limits_survive(tmp_path: Path) -> None:
    """Finite limits of a robot's revolute joints read back as they were."""
    rig = RIGS[1]
    write_urdf(rig, tmp_path / "rig.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "rig.urdf"), pin.JointModelFreeFlyer())
    for joint in range(2, rig.model.njoints):
        coordinate = rig.model.idx_vs[joint] - ROOT_NV
        if np.isfinite(rig.limits.lower[coordinate]):
            read = model.idx_qs[model.getJointId(rig.links[joint - 1])]
            assert model.lowerPositionLimit[read] == pytest.approx(rig.limits.lower[coordinate])
            assert model.upperPositionLimit[read] == pytest.approx(rig.limits.upper[coordinate])


@pytest.mark.parametrize("rig", [*RIGS, human(1.75, 70.0, "male", trunk="three", shoulders="girdle")])
def test_a_written_body_is_read_as_the_same_joints(tmp_path: Path, rig: Rig) -> None:
    """Spherical and universal joints are joints again, with their limits; named coordinates give the same poses."""
    write_urdf(rig, tmp_path / "rig.urdf")
    robot = from_urdf(tmp_path / "rig.urdf")
    moved = integrate(rig, rig.neutral, np.random.default_rng(1).uniform(-0.6, 0.6, (2, rig.nv)))
    read = poses_of(robot, joints_of(rig, np.arange(2.0), moved)).q
    assert len(robot.links) == len(rig.links)
    for link in rig.links:
        own, other = rig.index(link), robot.index(link)
        assert robot.joints[other].kind == rig.joints[own].kind
        np.testing.assert_array_equal(robot.limits_of(link).lower, rig.limits_of(link).lower)
        for a, b in zip(moved, read):
            np.testing.assert_allclose(link_poses(robot, b)[1][other], link_poses(rig, a)[1][own], atol=1e-9)
