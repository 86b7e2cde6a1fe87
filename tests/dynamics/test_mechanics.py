"""Laws of the state that a motion needs, against Pinocchio's own pose by pose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from solver.dynamics.mechanics import Mechanics, contact_joint_forces
from solver.engine.pinocchio_loader import pin
from solver.rig import ROOT_NV, Rig
from solver.rigs import hrp2, human
from tests.random_motion import mixed_rig, random_motion, rig_of

FRAMES = 5


def _every_joint() -> Rig:
    """A chain of a joint of every kind."""
    model, generator = pin.Model(), np.random.default_rng(8)
    kinds = (
        pin.JointModelFreeFlyer(), pin.JointModelUniversal(np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])),
        pin.JointModelSpherical(), pin.JointModelPX(), pin.JointModelPlanar(), pin.JointModelRUBZ(),
        pin.JointModelRevoluteUnaligned(np.array([0.0, -0.6, 0.8])),
    )  # fmt: skip
    for number, kind in enumerate(kinds):
        place = pin.SE3.Identity() if number == 0 else pin.SE3(pin.exp3(generator.standard_normal(3)), np.ones(3))
        model.addJoint(number, kind, place, f"joint {number}")
        model.inertias[number + 1] = pin.Inertia(1.0, 0.1 * np.ones(3), 0.05 * np.eye(3))
    return rig_of(model)


@pytest.mark.parametrize("make", [_every_joint, mixed_rig, hrp2, lambda: human(1.7, 60.0, "male")])
def test_what_joints_bear_is_the_transposed_jacobian_times_the_wrench(make: Callable[[], Rig]) -> None:
    """For every link, by Pinocchio's Jacobian of all joints in world axes about the world origin."""
    rig = make()
    motion, data = random_motion(rig, FRAMES), rig.model.createData()
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a)
    loads = np.random.default_rng(2).standard_normal((FRAMES, 6))
    for link in rig.links:
        columns, found = contact_joint_forces(rig, state, link, loads)
        expected = np.zeros((FRAMES, rig.model.nv))
        for frame, q in enumerate(motion.q):
            pin.computeJointJacobians(rig.model, data, q)
            expected[frame] = pin.getJointJacobian(rig.model, data, rig.joint(link), pin.WORLD).T @ loads[frame]
        bearing = np.zeros((FRAMES, rig.model.nv - ROOT_NV))
        bearing[:, columns] = found
        np.testing.assert_allclose(bearing, expected[:, ROOT_NV:], atol=1e-12)


@pytest.mark.parametrize("make", [mixed_rig, hrp2])
def test_poses_and_centre_of_mass_are_pinocchios(make: Callable[[], Rig]) -> None:
    """Of every link in every frame, also of frames chosen twice and in another order."""
    rig = make()
    motion, data = random_motion(rig, FRAMES), rig.model.createData()
    order = np.array([3, 0, 0, 4])
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a).at_frames(order)
    for row, q in enumerate(motion.q[order]):
        centre = pin.centerOfMass(rig.model, data, q)
        np.testing.assert_allclose(state.com[row], centre, atol=1e-12)
        for link in range(len(rig.links)):
            np.testing.assert_allclose(state.rotation[row, link], data.oMi[link + 1].rotation, atol=1e-12)
            np.testing.assert_allclose(state.position[row, link], data.oMi[link + 1].translation, atol=1e-12)
