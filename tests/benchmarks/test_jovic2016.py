"""The paper's experiments: what they simulate must be possible, and what they print must be the paper's."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.belt import BELT, belt
from benchmarks.papers.exciting import Excitation, exciting, pressure_margin
from benchmarks.papers.exciting import Phase as LoadPhase
from benchmarks.papers.hrp2_experiment import ADDED_KG, CHANGES, change_robot, foot_shares
from benchmarks.papers.jovic2016_tables import TABLE_2, TABLE_4
from benchmarks.papers.volunteer import CROUCH, FEET, LEGS, STYLE, Noise, record, volunteer
from solver.contacts.schedule import Anchor, Phase, Schedule
from solver.demo.motions import standing_posture
from solver.dynamics import link_motions
from solver.values.motion import Motion


@pytest.fixture(scope="module")
def motion() -> Motion:
    plan = Excitation(STYLE, FEET, LEGS, (LoadPhase(1.5), LoadPhase(3.0, "left_foot"), LoadPhase(1.5)))
    person = volunteer(1)
    return exciting(person.rig, standing_posture(person.rig, CROUCH), plan, 50.0, 1)


def soles(motion: Motion) -> list[np.ndarray]:
    """Corners of both soles over time (N V, 3) [m], world."""
    rig = volunteer(1).rig
    poses = link_motions(rig, motion)
    result = []
    for contact in rig.contacts:
        index = rig.index(contact.link)
        corners = np.einsum("rcn,vc->nvr", poses.rotation[:, :, index], contact.vertices)
        result.append((corners + poses.position[:, index].T[:, None]).reshape(-1, 3))
    return result


def test_the_motion_is_feasible(motion: Motion) -> None:
    """The centre of pressure of the true body stays over the feet."""
    person = volunteer(1)
    assert pressure_margin(person.rig, motion, person.truth, FEET) < 0.0


def test_feet_are_planted_or_lifted(motion: Motion) -> None:
    """The standing foot does not move; the lifted one is lifted and comes back to its place."""
    rig = volunteer(1).rig
    places = link_motions(rig, motion).position
    right, left = (places[:, rig.index(foot)].T for foot in FEET)
    assert np.ptp(right, axis=0).max() < 2e-3
    assert left[:, 2].max() - left[0, 2] > 0.05
    lowest = min(float(points[:, 2].min()) for points in soles(motion))
    assert lowest > -2e-3, "a foot goes through the floor"
    assert left[-1] == pytest.approx(left[0], abs=2e-3)


def test_a_foot_in_the_air_loads_no_plate(motion: Motion) -> None:
    """While a foot is lifted its plate reads noise; both plates together carry the body's weight on average."""
    person = volunteer(1)
    recording = record(person, "trial", motion, person.truth, Noise(), 1)
    lifted = (motion.times > 2.5) & (motion.times < 3.5)
    assert np.abs(recording.wrenches.values[lifted, 1, 2]).max() < 8.0
    weight = person.truth.total_mass * 9.81
    assert recording.wrenches.total[:, 2].mean() == pytest.approx(weight, rel=0.01)


@pytest.mark.parametrize("place", ["pelvis", "right_hand", "left_foot"])
def test_the_belt_is_a_body_of_two_kilograms(place: str) -> None:
    """The belt is a real body in its link's box, and so is the link that carries it."""
    person = volunteer(1)
    load = belt(person.rig, place)
    assert load.total_mass == BELT
    assert load.consistency_margin[0] >= -1e-12
    low, high = person.rig.boxes[person.rig.index(place)]
    assert np.all((load.coms[0] > low) & (load.coms[0] < high))
    truth = person.truth.replaced(place, person.truth.link(place) + load.values[0])
    assert truth.consistency_margin.min() > 0.0


def test_the_changed_robot_is_five_kilograms_heavier() -> None:
    """The true robot is physical, weighs 5 kg more, and only links the paper names changed by more than 2 %."""
    robot = change_robot(3)
    assert robot.truth.total_mass == pytest.approx(robot.rig.prior.total_mass + ADDED_KG)
    assert robot.truth.consistency_margin.min() > 0.0
    ratio = robot.truth.masses / robot.rig.prior.masses
    for link, value in zip(robot.rig.links, ratio):
        assert link in CHANGES or abs(value - 1.0) <= 0.02 + 1e-9


def test_tables_name_every_segment() -> None:
    """Table II has 31 segments and Table IV fifteen, whose bare masses sum to the subject's 70 kg within rounding."""
    assert len(TABLE_2) == len(change_robot(0).rig.links) == 31
    assert set(TABLE_4) == set(volunteer(1).rig.links)
    assert sum(row[0] for row in TABLE_4.values()) == pytest.approx(70.0, abs=1.5)


def test_the_planted_feet_share_the_load() -> None:
    """Both feet carry half each, a single one carries all, and nothing is left over."""
    rig = change_robot(0).rig
    soles = {patch.link: Anchor(patch.name, np.eye(3), np.zeros(3)) for patch in rig.contacts if patch.link in FEET}
    right, left = (soles[foot] for foot in FEET)
    schedule = Schedule((Phase(0.0, 1.0, (right, left)), Phase(1.0, 2.0, (left,))))
    shares = foot_shares(rig, schedule, np.array([0.5, 1.5]))
    assert shares.tolist() == [[0.5, 0.5], [0.0, 1.0]]
