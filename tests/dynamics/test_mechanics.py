"""Laws of the state that a motion needs, against Pinocchio's own pose by pose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from solver.base.so3 import exp as exp_so3
from solver.dynamics.mechanics import Mechanics, contact_joint_forces
from solver.rigs import hrp2, human
from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.inertials import InertialParameters
from tests.pinocchio import data_of, pin
from tests.random_motion import joint, mixed_rig, random_motion, rig_of

FRAMES = 5


def _every_joint() -> Rig:
    """A chain of a joint of every kind."""
    generator = np.random.default_rng(8)
    kinds: tuple[tuple[str, object], ...] = (
        ("free", []), ("universal", [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]]), ("spherical", []),
        ("prismatic", [[1.0, 0.0, 0.0]]), ("continuous", [[0.0, 0.0, 1.0]]),
        ("revolute", [[0.0, -0.6, 0.8]]),
    )  # fmt: skip
    chain = []
    for number, (kind, axes) in enumerate(kinds):
        at = {"position": np.ones(3), "rotation": exp_so3(generator.standard_normal(3))} if number else {}
        chain.append(joint(kind, number - 1, f"joint {number}", axes=axes, **at))
    count = len(chain)
    bodies = np.ones(count), np.full((count, 3), 0.1), np.array([0.05 * np.eye(3)] * count)
    return rig_of(chain, InertialParameters.from_com([own.name for own in chain], *bodies))


@pytest.mark.parametrize("make", [_every_joint, mixed_rig, hrp2, lambda: human(1.7, 60.0, "male")])
def test_what_joints_bear_is_the_transposed_jacobian_times_the_wrench(make: Callable[[], Rig]) -> None:
    """For every link, by Pinocchio's Jacobian of all joints in world axes about the world origin."""
    rig = make()
    motion, data = random_motion(rig, FRAMES), data_of(rig)
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a)
    loads = np.random.default_rng(2).standard_normal((FRAMES, 6))
    for link in rig.links:
        columns, found = contact_joint_forces(rig, state, link, loads)
        expected = np.zeros((FRAMES, rig.nv))
        for frame, q in enumerate(motion.q):
            pin.computeJointJacobians(rig.model, data, q)
            expected[frame] = pin.getJointJacobian(rig.model, data, rig.index(link) + 1, pin.WORLD).T @ loads[frame]
        bearing = np.zeros((FRAMES, rig.nv - ROOT_NV))
        bearing[:, columns] = found
        np.testing.assert_allclose(bearing, expected[:, ROOT_NV:], atol=1e-12)


@pytest.mark.parametrize("make", [mixed_rig, hrp2])
def test_poses_and_centre_of_mass_are_pinocchios(make: Callable[[], Rig]) -> None:
    """Of every link in every frame, also of frames chosen twice and in another order."""
    rig = make()
    motion, data = random_motion(rig, FRAMES), data_of(rig)
    order = np.array([3, 0, 0, 4])
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a).at_frames(order)
    for row, q in enumerate(motion.q[order]):
        centre = pin.centerOfMass(rig.model, data, q)
        np.testing.assert_allclose(state.com[row], centre, atol=1e-12)
        for link in range(len(rig.links)):
            np.testing.assert_allclose(state.rotation[row, link], data.oMi[link + 1].rotation, atol=1e-12)
            np.testing.assert_allclose(state.position[row, link], data.oMi[link + 1].translation, atol=1e-12)
