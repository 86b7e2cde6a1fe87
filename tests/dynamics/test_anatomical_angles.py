"""Laws of anatomical joint angles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import solver
from solver.base.errors import InvalidValue
from solver.dynamics import integrate, link_motions
from solver.dynamics.anatomical_angles import angle_names, coordinates_of_angles, joint_angles
from solver.formats.joint_coordinates import read_joints_storage
from solver.input_checks.opensim_configurations import opensim_configurations
from solver.rigs.opensim.rig import from_opensim
from solver.values.motion import Motion
from tests.random_motion import mixed_rig, random_motion, waving

RIG = solver.human(1.75, 70.0, "male")
FORWARD, INWARD, UP = np.eye(3)
DOWN = -0.1 * UP


def posture(**vectors: tuple[float, float, float]) -> Motion:
    """One frame; rotation vectors [degrees] of spherical joints, by link."""
    q = RIG.neutral
    for link, vector in vectors.items():
        q[RIG.q_slices[RIG.index(link)]] = Rotation.from_rotvec(np.radians(vector)).as_quat()
    return Motion(np.zeros(1), q[None], np.zeros((1, RIG.nv)), np.zeros((1, RIG.nv)))


def angles(motion: Motion, joint: str) -> np.ndarray:
    """The three angles [degrees] of a joint in the first frame."""
    found = joint_angles(RIG, motion)
    return np.degrees(found.values[0, [name.startswith(joint) and name.endswith("_l") for name in found.names]])


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize(
    ("name", "place", "way"),
    [
        ("hip_flexion", DOWN, FORWARD), ("hip_adduction", DOWN, INWARD), ("hip_rotation", FORWARD, INWARD),
        ("knee_angle", DOWN, -FORWARD), ("knee_adduction", DOWN, INWARD), ("knee_rotation", FORWARD, INWARD),
        ("ankle_angle", FORWARD, UP), ("ankle_inversion", DOWN, INWARD), ("ankle_rotation", FORWARD, INWARD),
        ("shoulder_plane", FORWARD, INWARD), ("shoulder_rotation", FORWARD, INWARD),
        ("elbow_flexion", DOWN, FORWARD), ("elbow_adduction", DOWN, INWARD), ("elbow_pronation", FORWARD, INWARD),
        ("wrist_flexion", DOWN, FORWARD), ("wrist_deviation", DOWN, INWARD), ("wrist_pronation", FORWARD, INWARD),
        ("trunk_flexion", UP, FORWARD), ("neck_flexion", UP, FORWARD),
        ("trunk_bending", UP, INWARD), ("neck_bending", UP, INWARD),
        ("trunk_rotation", FORWARD, INWARD), ("neck_rotation", FORWARD, INWARD),
    ],
)  # fmt: skip
def test_a_positive_angle_is_the_movement_that_anatomy_names(
    name: str, place: np.ndarray, way: np.ndarray, side: str
) -> None:
    """About its axis a point of the segment moves in the same anatomical direction on both sides of the body."""
    found = joint_angles(RIG, posture())
    central = name.startswith(("trunk", "neck"))
    inward = 1.0 if side == "right" else -1.0
    if central:
        inward = -1.0 if "bending" in name else 1.0
    axis = found.axes[0, found.names.index(name if central else f"{name}_{side[0]}")]
    np.testing.assert_allclose(np.cross(axis, place / np.linalg.norm(place)) * [1.0, inward, 1.0], way, atol=1e-12)


def test_an_arm_raised_sideways_or_forward_has_its_plane_and_elevation() -> None:
    """Abduction is in the plane of 0, flexion in that of 90 degrees; turned inwards it is rotated inwards."""
    np.testing.assert_allclose(
        angles(posture(left_upper_arm=(70.0, 0.0, 0.0)), "shoulder"), [0.0, 70.0, 0.0], atol=1e-9
    )
    np.testing.assert_allclose(
        angles(posture(left_upper_arm=(0.0, -60.0, 0.0)), "shoulder"), [90.0, 60.0, -90.0], atol=1e-9
    )


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-6, 0.3, 179.9999])
def test_angles_compose_to_the_rotation_also_near_gimbal_lock(tilt: float) -> None:
    """Plane, elevation and rotation, composed again in their sequence, give the arm's rotation, and are finite."""
    turned = Rotation.from_euler("ZXZ", [20.0, tilt, 50.0], degrees=True)
    motion = posture(left_upper_arm=tuple(np.degrees(turned.as_rotvec())))
    plane, elevation, rotation = angles(motion, "shoulder")
    assert 0.0 <= elevation <= 180.0
    # a left arm in axes forward, left, up: the mirrored right arm
    again = Rotation.from_euler("ZXZ", [-plane, elevation, -rotation], degrees=True)
    np.testing.assert_allclose(again.as_matrix(), turned.as_matrix(), atol=1e-12)


def test_angles_compose_to_the_rotations_between_segments() -> None:
    """Flexion, adduction and rotation, in this sequence about axes that turn, bring one segment onto the other."""
    motion = random_motion(RIG, 40, 3)
    found, turns = joint_angles(RIG, motion), link_motions(RIG, motion).rotation.transpose(2, 3, 0, 1)
    for name, near, far, sense in (
        ("hip_flexion_r", "pelvis", "right_thigh", -1),
        ("trunk_flexion", "pelvis", "torso", 1),
    ):
        first = found.names.index(name)
        about = found.values[:, first : first + 3] * [sense, 1, 1]
        relative = turns[RIG.index(near)].swapaxes(1, 2) @ turns[RIG.index(far)]
        np.testing.assert_allclose(Rotation.from_euler("YXZ", about).as_matrix(), relative, atol=1e-12)


def test_rates_about_the_axes_add_to_the_angular_velocity() -> None:
    """Of every joint of a moving person, on both sides and with raised arms."""
    motion = waving(RIG)
    found, links = joint_angles(RIG, motion), link_motions(RIG, motion)
    omega = links.to_world(links.omega).transpose(1, 2, 0)
    rates = np.gradient(found.values, motion.times, axis=0, edge_order=2)[5:-5]
    for first in range(0, len(found.names), 3):
        link = int(found.links[first])
        relative = (omega[link] - omega[RIG.parents[link]])[5:-5]
        own = slice(first, first + 3)
        together = np.einsum("nc,nci->ni", rates[:, own], found.axes[5:-5, own])
        np.testing.assert_allclose(together, relative, atol=2e-3 * np.abs(relative).max(), err_msg=found.names[first])


@pytest.mark.parametrize("variant", ["34dof", "23dof"])
def test_angles_and_coordinates_determine_each_other(variant: str) -> None:
    """Of any posture the coordinates of its joint angles are its own."""
    rig = solver.human(1.75, 70.0, "male", variant=variant)
    flat = np.random.default_rng(3).uniform(-0.8, 0.8, (50, rig.nv)) * (np.arange(rig.nv) > 5)
    rest = np.zeros(flat.shape)
    found = joint_angles(rig, Motion(0.01 * np.arange(50), integrate(rig, rig.neutral, flat), rest, rest))
    np.testing.assert_allclose(coordinates_of_angles(rig, found.values), flat, atol=1e-12)


def test_angles_that_a_body_cannot_have_are_refused() -> None:
    """Nothing is guessed of joints in a row, and of an axis that a hinge lacks: the file to give instead is named."""
    girdle = solver.human(1.75, 70.0, "male", shoulders="girdle")
    with pytest.raises(InvalidValue, match=r"between torso and right_upper_arm; give .*joints\.mot"):
        coordinates_of_angles(girdle, np.zeros((1, len(angle_names(girdle)))))
    values = np.where(np.array(angle_names(RIG)) == "knee_adduction_l", 0.1, 0.0)[None]
    with pytest.raises(InvalidValue, match=r"turn left_shank about axes .*rig\.json"):
        coordinates_of_angles(RIG, values)


def test_only_people_have_anatomical_angles() -> None:
    """A robot is refused by its name."""
    rig = mixed_rig()
    with pytest.raises(solver.InvalidValue, match=f"'{rig.name}' is no person"):
        joint_angles(rig, random_motion(rig, 2, 1))


def test_angles_are_those_of_opensim(shared_data: Path) -> None:
    """Hips, knees and trunk of gait2392 in a walk, as OpenSim's inverse kinematics wrote them; its knees extend."""
    models = shared_data.parent / "models" / "opensim"
    rig = from_opensim(models / "gait2392_subject01.osim", meshes="none")
    known = read_joints_storage(models / "gait2392_walk1_ik.mot")
    q, _ = opensim_configurations(rig, known)
    found = joint_angles(rig, Motion(known.times, q, *np.zeros((2, len(q), rig.nv))))
    same = [f"hip_{name}_{side}" for name in ("flexion", "adduction", "rotation") for side in "rl"]
    for theirs, ours, sign in (
        *((name, name, 1) for name in same),
        *((f"knee_angle_{side}", f"knee_angle_{side}", -1) for side in "rl"),
        ("lumbar_extension", "trunk_flexion", -1), ("lumbar_bending", "trunk_bending", 1),
        ("lumbar_rotation", "trunk_rotation", 1),
    ):  # fmt: skip
        expected = np.radians(known.values[:, known.names.index(theirs)]) * sign
        np.testing.assert_allclose(found.values[:, found.names.index(ours)], expected, atol=1e-9, err_msg=ours)
