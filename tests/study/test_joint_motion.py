"""Named joint coordinates are converted to configurations of their rig, or refused with a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownName
from solver.dynamics import difference, link_motions
from solver.dynamics.coordinates import joint_coordinates
from solver.formats.joint_coordinates import coordinate_names
from solver.input_checks.check_recording import check_recording
from solver.rigs import hoap3, human
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.joint_motion import poses_of
from solver.values.motion import JointCoordinates, Motion
from tests.pinocchio import pin
from tests.random_motion import mixed_rig, random_motion

ROOT = 6


def joint_coordinates_of(rig: Rig, motion: Motion, *, root: bool = True) -> JointCoordinates:
    """A motion as joint coordinates of a file."""
    names, values = coordinate_names(rig)[ROOT:], joint_coordinates(rig, motion.q)
    return JointCoordinates(motion.times, names, values, ("rad or m",) * len(names), motion.q[:, :7] if root else None)


@pytest.mark.parametrize("rig", [mixed_rig(), hoap3(), human(1.7, 60.0, "female")], ids=lambda rig: rig.name)
def test_configurations_survive_the_conversion(rig: Rig) -> None:
    """Joint coordinates of a motion, in any order of the columns, give the motion's configurations back."""
    motion = random_motion(rig, 30, 4)
    joints = joint_coordinates_of(rig, motion)
    order = np.random.default_rng(0).permutation(len(joints.names))
    shuffled = replace(joints, names=tuple(joints.names[k] for k in order), values=joints.values[:, order])
    found = poses_of(rig, shuffled)
    differences = [difference(rig, a, b) for a, b in zip(found.q, motion.q)]
    assert np.abs(differences).max() < 1e-9
    assert found.known.all()


def test_joints_may_be_named_after_joints() -> None:
    """Joint coordinates may be named after a robot's joints or links."""
    rig = hoap3()
    motion = random_motion(rig, 10, 1)
    by_link = joint_coordinates_of(rig, motion)
    by_joint = replace(by_link, names=tuple(joint.name for joint in rig.joints[1:]))
    assert by_joint.names != by_link.names
    np.testing.assert_array_equal(poses_of(rig, by_joint).q, poses_of(rig, by_link).q)


def test_wrong_coordinates_are_named() -> None:
    """Unknown names, missing joints and wrong units are named in the error, with the choices."""
    rig = mixed_rig()
    joints = joint_coordinates_of(rig, random_motion(rig, 5, 1))
    with pytest.raises(InvalidValue, match=r"elbow: not joints.*hinge.*ball_x"):
        poses_of(rig, replace(joints, names=("elbow", *joints.names[1:])))
    with pytest.raises(InvalidValue, match="no column for hinge"):
        poses_of(rig, replace(joints, names=joints.names[-1:], values=joints.values[:, -1:], units=joints.units[-1:]))
    units = tuple("m" if name == "hinge" else "rad or m" for name in joints.names)
    with pytest.raises(InvalidValue, match="hinge is a revolute joint, but its values are in m"):
        poses_of(rig, replace(joints, units=units))
    units = tuple("rad" if name == "slider" else "rad or m" for name in joints.names)
    with pytest.raises(InvalidValue, match="slider is a prismatic joint, but its values are in rad"):
        poses_of(rig, replace(joints, units=units))


def test_joints_without_a_column_are_fixed_with_a_note() -> None:
    """A joint that was not recorded stays at zero, and one note names it; the others are as recorded."""
    rig = mixed_rig()
    joints = joint_coordinates_of(rig, random_motion(rig, 5, 1))
    fewer = replace(joints, names=joints.names[1:], values=joints.values[:, 1:], units=joints.units[1:])
    values = np.array(joints.values)
    values[:, 0] = 0.0
    np.testing.assert_array_equal(poses_of(rig, fewer).q, poses_of(rig, replace(joints, values=values)).q)
    checked = check_recording(Recording("waltz", joints=fewer), rig)
    assert [note for note in checked.warnings if f"fixed at zero: {joints.names[0]}" in note]


def test_degrees_apply_to_revolute_joints_only() -> None:
    """A storage file in degrees contains degrees for revolute joints and metres for prismatic ones."""
    rig = mixed_rig()
    joints = joint_coordinates_of(rig, random_motion(rig, 5, 1))
    slides = np.array([name == "slider" for name in joints.names])
    values = np.where(slides, joints.values, np.degrees(joints.values))
    degrees = replace(joints, values=values, units=("deg or m",) * len(joints.names))
    np.testing.assert_allclose(poses_of(rig, degrees).q, poses_of(rig, joints).q, atol=1e-12)


def test_coordinates_of_an_opensim_model_are_recognised() -> None:
    """Coordinates of an OpenSim model are refused with the reason, not as misspelt names."""
    rig = human(1.7, 60.0, "female")
    names = ("pelvis_tilt", "pelvis_tx", "hip_flexion_r")
    foreign = JointCoordinates(np.arange(3.0), names, np.zeros((3, 3)), ("rad or m",) * 3)
    with pytest.raises(InvalidValue, match=r"hip_flexion_r are angles of another body.*markers"):
        poses_of(rig, foreign)


def test_a_missing_sample_is_a_gap() -> None:
    """A frame with one missing value is interpolated between its neighbours and marked as not known."""
    rig = mixed_rig()
    joints = joint_coordinates_of(rig, random_motion(rig, 9, 1))
    values = joints.values.copy()
    values[4, 2] = np.nan
    found = poses_of(rig, replace(joints, values=values))
    assert found.known.tolist() == [True] * 4 + [False] + [True] * 4
    middle = pin.interpolate(rig.model, found.q[3], found.q[5], 0.5)
    np.testing.assert_allclose(found.q[4], middle, atol=1e-12)


def test_the_standing_sole_must_be_specified() -> None:
    """Encoders do not give the root's pose: without it the error says what is needed."""
    rig = hoap3()
    joints = joint_coordinates_of(rig, random_motion(rig, 5, 1), root=False)
    with pytest.raises(InvalidValue, match=r"root_tx.*standing = right_sole or right_foot"):
        poses_of(rig, joints)
    with pytest.raises(UnknownName, match="right_sole"):
        poses_of(rig, joints, "rigth_sole")


def test_a_standing_sole_lies_on_the_origin() -> None:
    """However the joints move, the standing sole has its middle at the origin and its corners at height zero."""
    rig = hoap3()
    for name in ("left_sole", "left_foot"):
        poses = poses_of(rig, joint_coordinates_of(rig, random_motion(rig, 6, 1), root=False), name)
        still = np.zeros((6, rig.nv))
        links = link_motions(rig, Motion(poses.times, poses.q, still, still))
        zero = replace(
            joint_coordinates_of(rig, random_motion(rig, 6, 1), root=False), values=np.zeros((6, rig.nv - ROOT))
        )
        assert np.all(poses_of(rig, zero, name).q[:, 2] > 0.1)  # upright, not hanging from the floor
        patch = next(contact for contact in rig.contacts if contact.name == "left_sole")
        index = rig.index(patch.link)
        for frame in range(6):
            corners = patch.vertices @ links.rotation[:, :, index, frame].T + links.position[:, index, frame]
            assert np.abs(corners[:, 2]).max() < 1e-9
            assert np.abs(corners.mean(axis=0)).max() < 1e-9
