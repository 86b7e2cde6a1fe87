"""Laws of steps along the manifold and of a rig at one configuration, against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from solver.dynamics import Workspace, contact_corners, difference, integrate, link_motions, link_poses
from solver.dynamics.wrench import com_acceleration
from solver.rigs import hoap3
from tests.pinocchio import data_of, pin
from tests.random_motion import mixed_rig, random_motion

RIG = mixed_rig()


def test_a_step_and_the_difference_undo_each_other() -> None:
    """The difference of what a step reaches is the step, and both are Pinocchio's."""
    generator = np.random.default_rng(0)
    q, step = (
        integrate(RIG, RIG.neutral, generator.standard_normal(RIG.nv)),
        generator.standard_normal(RIG.nv),
    )
    reached = integrate(RIG, q, step)
    np.testing.assert_allclose(difference(RIG, q, reached), step, atol=1e-12)
    np.testing.assert_array_equal(reached, pin.integrate(RIG.model, q, step))


def test_arrays_are_row_by_row() -> None:
    """N configurations, N steps or both give what each row gives."""
    generator = np.random.default_rng(1)
    steps = generator.standard_normal((4, RIG.nv))
    from_one = integrate(RIG, RIG.neutral, steps)
    np.testing.assert_allclose(from_one, [integrate(RIG, RIG.neutral, step) for step in steps], rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        integrate(RIG, from_one, steps[0]), [integrate(RIG, q, steps[0]) for q in from_one], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(difference(RIG, RIG.neutral, from_one), steps, atol=1e-12)
    np.testing.assert_allclose(difference(RIG, from_one, integrate(RIG, from_one, steps)), steps, atol=1e-12)
    assert integrate(RIG, RIG.neutral, steps[:0]).shape == (0, RIG.nq)


def test_workspace_is_pinocchios() -> None:
    """Poses and Jacobian at a configuration are Pinocchio's, and what was read before stays as it was."""
    q = random_motion(RIG, 2).q
    workspace, data = Workspace(RIG), data_of(RIG)
    for row in q:
        workspace.update_kinematics(row)
        expected = pin.computeJointJacobians(RIG.model, data, row)
        np.testing.assert_array_equal(workspace.jacobian, expected)
        np.testing.assert_array_equal(workspace.rotations, [pose.rotation for pose in list(data.oMi)[1:]])
        np.testing.assert_array_equal(workspace.positions, [pose.translation for pose in list(data.oMi)[1:]])
    rotations, positions = link_poses(RIG, q[1])
    np.testing.assert_array_equal(rotations, workspace.rotations)
    np.testing.assert_array_equal(positions, workspace.positions)


def test_a_link_is_led_to_a_pose() -> None:
    """Steps that realise the twist to a pose bring the link there."""
    generator = np.random.default_rng(2)
    link, q = RIG.index("end"), RIG.neutral
    rotations, positions = link_poses(RIG, integrate(RIG, q, 0.3 * generator.standard_normal(RIG.nv)))
    workspace = Workspace(RIG)
    for _ in range(8):
        workspace.update_kinematics(q)
        twist, jacobian = workspace.pose_error(link, rotations[link], positions[link])
        q = integrate(RIG, q, np.linalg.pinv(jacobian) @ twist)
    workspace.update_positions(q)
    np.testing.assert_allclose(workspace.rotations[link], rotations[link], atol=1e-12)
    np.testing.assert_allclose(workspace.positions[link], positions[link], atol=1e-12)


def test_acceleration_of_the_centre_of_mass_is_pinocchios() -> None:
    """The centre of mass accelerates as Pinocchio says."""
    motion, data = random_motion(RIG, 5), data_of(RIG)
    found = com_acceleration(link_motions(RIG, motion), RIG.prior)
    for row, q, v, a in zip(found, motion.q, motion.v, motion.a):
        pin.centerOfMass(RIG.model, data, q, v, a)
        np.testing.assert_allclose(row, data.acom[0], atol=1e-11)


def test_soles_are_where_their_links_are() -> None:
    """Corners of the contact patches move with their links."""
    rig = hoap3()
    q = rig.neutral
    q[:3] = [0.1, -0.2, 0.5]
    for corners, moved in zip(contact_corners(rig, rig.neutral), contact_corners(rig, q), strict=True):
        np.testing.assert_allclose(moved - corners, np.tile(q[:3], (len(corners), 1)), atol=1e-12)
    assert len(contact_corners(rig, q)) == len(rig.contacts) == 2


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_other_lengths_are_refused(shape: tuple[int, ...]) -> None:
    """A step of another length than the rig's velocity is refused."""
    with pytest.raises(ValueError, match="size"):
        integrate(RIG, RIG.neutral, np.zeros(shape))
