"""The virtual people of the validation are what its figures say of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.figures import people
from benchmarks.figures.people import Person, bend_spine, displace_skin, draw_inertials, draw_person, place_inertials
from benchmarks.figures.validation import compare_axes
from solver.demo.laboratory import MarkerPlacement
from solver.demo.motions import standing_posture, still_motion
from solver.dynamics import ground_wrench, link_poses
from solver.rigs import human
from solver.values.motion import Motion


@pytest.fixture(scope="module")
def body() -> Person:
    return draw_person(1, {"swings": 2.0})


def test_a_trunk_of_one_stands_as_the_trunk_of_three(body: Person) -> None:
    """The truth that is compared gives the wrench of the body at rest, bent as it is; two plates read it together."""
    known: Any = body.rig.provenance
    simple = human(**{name: known[name] for name in ("height", "mass", "sex", "lengths", "joints")})
    still = still_motion(simple, standing_posture(simple, (("torso", (0.2, 0.4, 0.3)),)), np.arange(3.0))
    bent = bend_spine(simple, body.rig, still)
    axes = np.tile(np.eye(4), (len(body.rig.links), 1, 1))
    places, turns = (each[0] for each in compare_axes(simple, still, body.rig, bent))
    axes[:, :3, :3], axes[:, :3, 3] = Rotation.from_rotvec(turns).as_matrix(), places
    truth = place_inertials(body.rig.prior, axes, simple.links)
    np.testing.assert_allclose(
        ground_wrench(simple, still, truth), ground_wrench(body.rig, bent, body.rig.prior), atol=1e-9
    )
    plates = body.recordings[0].wrenches
    assert plates is not None
    assert plates.values.shape[1] == 2
    assert np.abs(plates.values.sum(axis=1)[:, 2].mean() / 9.80665 - body.rig.prior.total_mass) < 0.05


def test_a_bent_spine_turns_the_thorax_as_the_torso(body: Person) -> None:
    """Its orientation is that of the trunk of one, and it bends at two places."""
    simple = human(1.7, 65.0, "male")
    rig = human(1.7, 65.0, "male", trunk="three")
    bent = standing_posture(simple, (("torso", (0.2, 0.4, 0.3)),))
    q = bend_spine(simple, rig, still_motion(simple, bent, np.arange(3.0))).q[0]
    turns = [link_poses(each, pose)[0][each.index("head")] for each, pose in ((simple, bent), (rig, q))]
    np.testing.assert_allclose(turns[1], turns[0], atol=1e-9)
    assert (np.abs(q[rig.q_slices[rig.index("abdomen")]]) > 0.05).all()


def test_people_are_drawn_around_their_table() -> None:
    """The mean of many bodies has a table's masses; those of Pavol are in no table of the prior."""
    for source, thigh in (("winter", 0.100), ("pavol", 0.113)):
        rig = human(1.75, 70.0, "male", tables=people.tables_of(source), trunk="three")
        generator = np.random.default_rng(0)
        masses = [draw_inertials(rig, source, generator)["right_thigh"].mass / 70.0 for _ in range(200)]
        assert np.mean(masses) == pytest.approx(thigh, rel=0.03)
        assert np.std(masses) / thigh == pytest.approx(people.MASS_SPREAD["thigh"], rel=0.25)
        assert source not in people.kept_tables(source)


def test_skin_has_the_stated_size_per_radian(body: Person) -> None:
    """Over many draws the mean square displacement of a thigh's marker at one radian of the knee is the stated one."""
    rig = body.rig
    rest, bent = (standing_posture(rig, (("right_shank", (angle,)),)) for angle in (0.0, 1.0))
    motions: dict[str, Motion] = {
        name: still_motion(rig, q, np.arange(3.0)) for name, q in (("static", rest), ("bent", bent))
    }
    markers = [MarkerPlacement(name, "right_thigh", np.array([0.1, 0.0, -0.2])) for name in ("a", "b")]
    draws = [displace_skin(rig, motions, markers, np.random.default_rng(seed)) for seed in range(300)]
    assert all(not draw["static"].any() for draw in draws)
    squares = [np.sum(draw["bent"][0, 0] ** 2) for draw in draws]
    assert np.sqrt(np.mean(squares)) == pytest.approx(people.SKIN["thigh"], rel=0.1)
