"""Laws of the built-in robots, and of making any built-in rig again."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownPreset
from solver.cli.bodies import add_body, body_of
from solver.dynamics import integrate
from solver.dynamics.coordinates import joint_coordinates
from solver.feasibility.collisions import CollisionDetector
from solver.options.checks import CheckOptions
from solver.rigs import build_rig, hoap3, hrp2, human
from solver.skeleton.rig import Rig
from tests.pinocchio import data_of, pin

MIRROR = np.diag([1.0, -1.0, 1.0])
RIGS = {
    "human": lambda: human(1.75, 70.0, "male"),
    "human, changed": lambda: human(
        1.65,
        60.0,
        "female",
        variant="23dof",
        tables=["deleva"],
        lengths={"left_foot": 0.25},
        joints={"head": [0, 0, 0.45]},
    ),
    "hoap3": hoap3,
    "hoap3, light": lambda: hoap3("light"),
    "hrp2": hrp2,
    "hrp2, heavy": lambda: hrp2(63.0),
}


@pytest.fixture(params=RIGS)
def rig(request: pytest.FixtureRequest) -> Rig:
    """Every built-in rig."""
    made: Rig = RIGS[request.param]()
    return made


def test_model_carries_the_prior(rig: Rig) -> None:
    """The model's inertias are the prior, all of them physical, and the regressor times the prior is the torque."""
    assert rig.prior.consistency_margin.min() > 0.0
    generator = np.random.default_rng(2)
    q = integrate(rig, rig.neutral, generator.normal(size=rig.nv))
    v, a = generator.normal(size=(2, rig.nv))
    data = data_of(rig)
    torque = pin.rnea(rig.model, data, q, v, a)
    regressor = pin.computeJointTorqueRegressor(rig.model, data, q, v, a)
    np.testing.assert_allclose(regressor @ rig.prior.vector, torque, atol=1e-9 * np.abs(torque).max())


def test_limits_are_finite_and_contain_zero(rig: Rig) -> None:
    """Zero lies within the limits, and every limit is finite."""
    limits = rig.limits
    zero = joint_coordinates(rig, rig.neutral)
    assert (limits.lower <= zero).all()
    assert (zero <= limits.upper).all()
    assert np.isfinite([limits.lower, limits.upper, limits.speed, limits.torque]).all()
    assert (limits.speed > 0).all()
    assert (limits.torque > 0).all()


def test_bones_have_length_and_boxes_hold_the_mass(rig: Rig) -> None:
    """Every link has a tip away from its origin, a centre of mass inside its box, and a shape."""
    assert np.linalg.norm(rig.tips, axis=1).min() > 1e-3
    assert (rig.prior.coms >= rig.boxes[:, 0]).all()
    assert (rig.prior.coms <= rig.boxes[:, 1]).all()
    assert {s.link for s in rig.shapes} == set(rig.links)


def test_two_soles_face_down(rig: Rig) -> None:
    """Both soles lie at the lowest height of the body at zero and their vertices run counter-clockwise from below."""
    data = data_of(rig)
    pin.forwardKinematics(rig.model, data, rig.neutral)
    heights = []
    for polygon in rig.contacts:
        placement = data.oMi[rig.index(polygon.link) + 1]
        points = polygon.vertices @ placement.rotation.T + placement.translation
        assert sum(np.cross(a, b)[2] for a, b in zip(points, np.roll(points, -1, axis=0))) < 0
        heights.append(points[:, 2])
    assert len(heights) == 2
    tops = [data.oMi[rig.index(s.link) + 1].act(s.centre)[2] for s in rig.shapes]
    assert np.max(heights) <= min(tops)


def test_links_do_not_touch_in_the_standing_posture(rig: Rig) -> None:
    """In the rig's standing posture no links overlap but neighbours, and none is allowed to."""
    standing = rig.provenance.get("standing", rig.provenance.get("half_sitting", rig.neutral))
    detector = CollisionDetector(rig, CheckOptions())
    assert not detector.allowances.any()
    assert (detector.minimum_distances(np.array(standing)[None]) >= 0.0).all()


@pytest.mark.parametrize(("payload", "mass"), [("battery_radio", 8.8024), ("middle", 7.9424), ("light", 7.3424)])
def test_hoap3_weighs_what_its_table_sums_to(payload: str, mass: float) -> None:
    """The manufacturer's table sums to 8.80 kg with battery and radio; 22 moving bodies, 21 joints."""
    rig = hoap3(payload)
    assert rig.prior.total_mass == pytest.approx(mass, abs=1e-9)
    assert (len(rig.links), rig.nv - 6) == (22, 21)
    assert (rig.limits.speed == 1.0).all()


def test_hoap3_left_mirrors_right() -> None:
    """Left and right, tabulated separately in Denavit-Hartenberg axes, mirror within 0.2 mm and 1 % in link axes."""
    rig = hoap3()
    for left, right in rig.pairs:
        i, j = rig.index(left), rig.index(right)
        assert rig.masses[i] == rig.masses[j]
        np.testing.assert_allclose(rig.prior.coms[i], MIRROR @ rig.prior.coms[j], atol=2e-4)
        here, there = rig.prior.inertias_at_com[i], MIRROR @ rig.prior.inertias_at_com[j] @ MIRROR
        assert np.abs(here - there).max() < 0.01 * np.abs(here).max()
    assert abs(pin.centerOfMass(rig.model, data_of(rig), rig.neutral)[1]) < 1e-3


HOAP3_CENTRES = {
    "waist_pitch": (0.0, 0.0, 0.0), "right_hip_yaw": (-0.035, -0.039, -0.055), "right_knee": (0.0034, -0.0199, -0.1508),
    "right_ankle_roll": (0.0126, 0.0098, -0.2511), "right_shoulder": (0.0035, -0.111, 0.1298),
    "right_elbow": (0.1095, -0.0782, 0.1298), "left_hip_pitch": (-0.035, 0.039, -0.055),
    "left_knee": (0.0034, 0.0581, -0.1508), "left_ankle_pitch": (0.0126, 0.0878, -0.2511),
    "left_upper_arm": (0.0035, 0.111, 0.1298), "left_elbow_yaw": (0.1095, 0.1438, 0.1298),
}  # fmt: skip
"""[m] Joint centres of the public URDF with its joints turned by 0.3 and -0.3 rad in the order of `HOAP3_ANGLES`."""
HOAP3_ANGLES = ("waist_pitch", *(f"{side}_{joint}" for side in ("right", "left") for joint in (
    "hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll", "shoulder", "upper_arm", "elbow_yaw",
    "elbow")))  # fmt: skip


def test_hoap3_bends_as_the_public_kinematics_bend() -> None:
    """Joint centres of a bent HOAP-3 are those that the public URDF has, to a tenth of a millimetre."""
    rig = hoap3()
    q, data = rig.neutral.copy(), data_of(rig)
    for number, name in enumerate(HOAP3_ANGLES):
        q[rig.q_slices[[joint.name for joint in rig.joints].index(name)].start] = 0.3 * (-1.0) ** number
    pin.forwardKinematics(rig.model, data, q)
    for name, centre in HOAP3_CENTRES.items():
        np.testing.assert_allclose(data.oMi[rig.model.getJointId(name)].translation, centre, atol=6e-5, err_msg=name)


def test_unknown_payload_lists_the_choices() -> None:
    """An unknown payload names the known ones."""
    with pytest.raises(UnknownPreset, match="light"):
        hoap3("heavy")


def test_hrp2_is_the_published_robot_as_far_as_published() -> None:
    """31 links, 30 joints, 58 kg, 1.54 m, the base link is the trunk, and its name admits the approximation."""
    rig = hrp2()
    assert (len(rig.links), rig.nv - 6) == (31, 30)
    assert rig.prior.total_mass == pytest.approx(58.0)
    assert "approximate" in rig.name
    assert rig.provenance["base_link"] in rig.links
    data = data_of(rig)
    pin.forwardKinematics(rig.model, data, rig.neutral)
    head = data.oMi[rig.index("head") + 1].translation[2] + rig.boxes[rig.index("head"), 1, 2]
    sole = data.oMi[rig.index("right_foot") + 1].translation[2] + rig.contacts[0].vertices[0, 2]
    assert head - sole == pytest.approx(1.54)
    shares = rig.masses / 58.0
    leg = sum(s for n, s in zip(rig.links, shares) if n in ("right_thigh", "right_shank", "right_ankle", "right_foot"))
    hip = shares[rig.index("right_hip_yaw")] + shares[rig.index("right_hip_roll")]
    assert leg + hip == pytest.approx(0.17)
    assert sorted(rig.provenance["paper_segments"]) == sorted(rig.links)  # type: ignore[call-overload]


def test_hrp2_half_sitting_is_balanced() -> None:
    """In the half-sitting posture the soles lie flat on the ground and the centre of mass stands over them."""
    rig = hrp2()
    q = np.array(rig.provenance["half_sitting"])
    joints = joint_coordinates(rig, q)
    assert (rig.limits.lower <= joints).all()
    assert (joints <= rig.limits.upper).all()
    data = data_of(rig)
    com = pin.centerOfMass(rig.model, data, q)
    corners = []
    for polygon in rig.contacts:
        placement = data.oMi[rig.index(polygon.link) + 1]
        corners.append(polygon.vertices @ placement.rotation.T + placement.translation)
    points = np.vstack(corners)
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-12)
    assert points[:, 0].min() < com[0] < points[:, 0].max()
    assert abs(com[1]) < 1e-9


def test_build_refuses_what_it_cannot_make() -> None:
    """No kind, an unknown kind and a missing argument are each named."""
    with pytest.raises(InvalidValue, match="kind"):
        build_rig({})
    with pytest.raises(UnknownPreset, match="hrp2"):
        build_rig({"kind": "hrp3"})
    with pytest.raises(InvalidValue, match="mass, sex"):
        build_rig({"kind": "human", "height": 1.7})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hoap3", "--mass", "70"], "hoap3 takes no --mass; it takes --payload, --torque"),
        (["hrp2", "--sex", "male", "--tables", "deleva"], "hrp2 takes no --sex, --tables; it takes --mass"),
        (["human", "--packages", "robots"], "human takes no --packages; it takes --height, --mass, --sex"),
        (["robot.urdf", "--mass", "70"], "robot.urdf takes no --mass; it takes --packages"),
        (["rig.json", "--height", "1.8"], "rig.json takes no --height; it takes --feet, --srdf"),
    ],
)
def test_an_option_that_a_body_does_not_take_is_refused(words: list[str], said: str) -> None:
    """The error names the option and those that this body takes, before any file is opened."""
    parser = argparse.ArgumentParser()
    add_body(parser)
    with pytest.raises(InvalidValue, match=said):
        body_of(parser.parse_args(words))


def test_hoap3_has_its_peak_torques_by_default() -> None:
    """One default, by the function, by name and by the verb; the rated torques are smaller."""
    options = argparse.Namespace(body="hoap3")
    assert hoap3() == hoap3(torque="peak") == build_rig({"kind": "hoap3"}) == body_of(options)
    assert (hoap3(torque="rated").limits.torque < hoap3().limits.torque).all()
