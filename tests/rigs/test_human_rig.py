"""Laws of the human rig."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownLink, UnknownName
from solver.dynamics import link_poses
from solver.dynamics.coordinates import joint_coordinates
from solver.rigs import human
from solver.rigs.anthropometry import TABLES, Segment, nearest_consistent, segment_inertia
from solver.rigs.human_skeleton import build_skeleton, default_lengths
from solver.values.inertials import steiner
from solver.values.person import LINKS, require_person
from tests.joint_entries import entry
from tests.pinocchio import data_of, pin

MIRROR = np.diag([1.0, -1.0, 1.0])
BODIES = [(1.77, 75.0, "male"), (1.61, 58.0, "female"), (1.95, 120.0, "male"), (1.10, 18.0, "female")]
REFERENCES = [TABLES, *((table,) for table in TABLES)]
"""The mean of all tables, and each alone."""
VARIANTS = ("34dof", "23dof")
BODY = {"torso": 0.48, "pelvis_height": 0.09, "ankle_height": 0.076, "foot": 0.265, "heel": 0.06}
LENGTHS = {"torso": 0.52, "right_thigh": 0.36, "foot": 0.30, "left_upper_arm": 0.33}
JOINTS = {"left_thigh": [0.03, 0.11, -0.12], "left_shank": [0.02, 0.01, -0.41], "head": [-0.04, 0.0, 0.46]}


@pytest.mark.parametrize(("variant", "links", "dofs"), [("34dof", 15, 34), ("23dof", 12, 23)])
def test_counts_are_the_papers(variant: str, links: int, dofs: int) -> None:
    """jovic2016: 15 segments and 34 joint DoF; bonnet2016: 12 and 23; base link first."""
    rig = human(1.75, 65.0, "female", variant=variant)
    assert (len(rig.links), rig.nv - 6) == (links, dofs)
    assert rig.links[0] == "pelvis"
    spherical = [joint for joint in rig.joints if joint.kind == "spherical"]
    assert len(spherical) == (10 if variant == "34dof" else 5)


@pytest.mark.parametrize("tables", REFERENCES)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("height", "mass", "sex"), BODIES)
def test_links_weigh_the_body_and_every_link_is_a_body(
    height: float, mass: float, sex: str, variant: str, tables: tuple[str, ...]
) -> None:
    """The links sum to the given mass and every pseudo-inertia is positive definite, whatever is overridden."""
    for extra in ({}, {"lengths": LENGTHS}, {"joints": JOINTS}):
        rig = human(height, mass, sex, variant=variant, tables=tables, **extra)
        assert rig.prior.total_mass == pytest.approx(mass, rel=1e-12)
        assert pin.computeTotalMass(rig.model) == pytest.approx(mass, rel=1e-12)
        assert rig.prior.consistency_margin.min() > 0.0


@pytest.mark.parametrize("tables", REFERENCES)
def test_left_mirrors_right(tables: tuple[str, ...]) -> None:
    """Left links are the mirror image of right ones in mass, centre of mass, inertia, box, tip and joint limits."""
    rig = human(1.7, 66.0, "female", tables=tables)
    assert len(rig.pairs) == 6
    for left, right in rig.pairs:
        i, j = rig.index(left), rig.index(right)
        assert rig.masses[i] == pytest.approx(rig.masses[j], rel=1e-12)
        np.testing.assert_allclose(rig.prior.coms[i], MIRROR @ rig.prior.coms[j], atol=1e-12)
        np.testing.assert_allclose(rig.prior.inertias[i], MIRROR @ rig.prior.inertias[j] @ MIRROR, atol=1e-12)
        np.testing.assert_allclose(rig.tips[i], MIRROR @ rig.tips[j], atol=1e-12)
        flipped = np.sort(rig.boxes[j] @ MIRROR, axis=0)
        np.testing.assert_allclose(rig.boxes[i], flipped, atol=1e-12)
        first, second = (entry(rig, n) for n in (left, right))
        a, b = (slice(x.idx_v - 6, x.idx_v - 6 + x.nv) for x in (first, second))
        sign = np.array([-1.0, 1.0, -1.0]) if first.nv == 3 else np.ones(1)
        low, high = sign * rig.limits.lower[b], sign * rig.limits.upper[b]
        np.testing.assert_allclose(rig.limits.lower[a], np.minimum(low, high))
        np.testing.assert_allclose(rig.limits.upper[a], np.maximum(low, high))
    here, there = (
        {tuple((flip @ v).round(12)) for v in sole.vertices} for sole, flip in zip(rig.contacts, (MIRROR, np.eye(3)))
    )
    assert here == there


def test_flexion_is_positive_at_knee_and_elbow() -> None:
    """Positive knee angles take the heel backwards, positive elbow angles the hand forwards."""
    rig = human(1.75, 70.0, "male")
    data = data_of(rig)
    for link, end, sign in (("right_shank", "right_foot", -1.0), ("left_forearm", "left_hand", 1.0)):
        q = rig.neutral.copy()
        q[rig.q_slices[rig.index(link)].start] = 1.0
        pin.forwardKinematics(rig.model, data, q)
        moved = data.oMi[rig.index(end) + 1].translation - data.oMi[rig.index(link) + 1].translation
        assert sign * moved[0] > 0.1


def test_neutral_stands_facing_x() -> None:
    """At neutral all link frames are parallel to the world, head up, right side at negative y, toes ahead."""
    rig = human(1.75, 70.0, "male")
    data = data_of(rig)
    pin.forwardKinematics(rig.model, data, rig.neutral)
    for joint in range(1, rig.model.njoints):
        np.testing.assert_allclose(data.oMi[joint].rotation, np.eye(3), atol=1e-12)
    place = {link: data.oMi[rig.index(link) + 1].translation for link in rig.links}
    assert place["head"][2] > place["pelvis"][2] > place["right_foot"][2]
    assert place["right_hand"][1] < 0 < place["left_hand"][1]
    assert rig.tips[rig.index("right_foot")][0] > 0.1
    low = min(place[c.link][2] + c.vertices[:, 2].min() for c in rig.contacts)
    top = place["head"][2] + rig.tips[rig.index("head")][2]
    assert top - low == pytest.approx(1.75, rel=0.02)


def test_standing_posture_stands() -> None:
    """In the standing posture both soles lie at height zero and the joints keep their limits."""
    for variant in VARIANTS:
        rig = human(1.75, 70.0, "male", variant=variant)
        q = np.array(rig.provenance["standing"])
        data = data_of(rig)
        pin.forwardKinematics(rig.model, data, q)
        for polygon in rig.contacts:
            placement = data.oMi[rig.index(polygon.link) + 1]
            np.testing.assert_allclose([placement.act(p)[2] for p in polygon.vertices], 0.0, atol=1e-12)
        assert (rig.limits.lower <= joint_coordinates(rig, q)).all()
        assert (joint_coordinates(rig, q) <= rig.limits.upper).all()


@pytest.mark.parametrize("link", [link for link in LINKS if link not in ("pelvis", "torso")])
def test_joint_override_moves_the_joint_exactly(link: str) -> None:
    """An overridden joint centre is where it was put, and no other joint placement changes."""
    plain = human(1.75, 70.0, "male")
    place = plain.joints[plain.index(link)].position + np.array([0.01, -0.02, -0.03])
    rig = human(1.75, 70.0, "male", joints={link: place.tolist()})
    for other in LINKS[1:]:
        expected = place if other == link else plain.joints[plain.index(other)].position
        np.testing.assert_array_equal(rig.joints[rig.index(other)].position, expected)


def test_length_override_moves_one_side() -> None:
    """A one-sided length moves that side's next joint by exactly that length, and the inertials follow its square."""
    plain = human(1.75, 70.0, "male")
    rig = human(1.75, 70.0, "male", lengths={"right_thigh": 0.5})
    np.testing.assert_allclose(rig.joints[rig.index("right_shank")].position, [0, 0, -0.5])
    left = plain.joints[plain.index("left_shank")].position
    np.testing.assert_array_equal(rig.joints[rig.index("left_shank")].position, left)
    ratio = 0.5 / default_lengths(1.75, "male")["thigh"]
    k = rig.index("right_thigh")
    np.testing.assert_allclose(rig.prior.coms[k], ratio * plain.prior.coms[k])
    np.testing.assert_allclose(rig.prior.inertias[k], ratio**2 * plain.prior.inertias[k])
    assert rig.boxes[k, 0, 2] < -0.5 <= rig.tips[k, 2]


def test_tilted_segment_carries_its_inertia_along() -> None:
    """Turning a segment's line between joint centres turns centre of mass and inertia by the same rotation."""
    straight = Segment("thigh", "right", np.array([0.0, 0.0, -0.4]))
    angle = 0.3
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    a = segment_inertia(("dumas",), "male", straight, BODY)
    b = segment_inertia(("dumas",), "male", Segment("thigh", "right", turn @ straight.end), BODY)
    np.testing.assert_allclose(b.com, turn @ a.com, atol=1e-12)
    np.testing.assert_allclose(b.inertia, turn @ a.inertia @ turn.T, atol=1e-12)


def test_dumas_thigh_by_hand() -> None:
    """Male right thigh of the table at its reference length: 12.3 %, CoM (-0.041, -0.429, 0.033) L in ISB axes."""
    inertia = segment_inertia(("dumas",), "male", Segment("thigh", "right", np.array([0.0, 0.0, -0.432])), BODY)
    np.testing.assert_allclose(inertia.com, 0.432 * np.array([-0.041, -0.033, -0.429]), atol=1e-12)
    square = 0.123 * 0.432**2
    # link x = X, y = -Z, z = Y: Ixy = -I_XZ, Ixz = I_XY, Iyz = -I_ZY
    expected = square * np.array(
        [
            [0.29**2, 0.02**2, 0.07**2],
            [0.02**2, 0.30**2, 0.07**2],
            [0.07**2, 0.07**2, 0.15**2],
        ]
    )
    np.testing.assert_allclose(inertia.inertia, expected, atol=1e-12)


def test_female_thorax_is_projected_and_reported() -> None:
    """Only the female torso of Dumas needs projection, alone; mass and centre of mass stay, the note names it."""
    changed = {
        (sex, tables): [n for n in human(1.7, 65.0, sex, tables=tables).notes if "physically inconsistent" in n]
        for sex, tables in product(("male", "female"), REFERENCES)
    }
    own = changed.pop(("female", ("dumas",)))
    assert set(map(len, changed.values())) == {0}
    assert len(own) == 1
    assert own[0].startswith("torso:")
    torso = segment_inertia(("dumas",), "female", Segment("torso", "", np.array([0, 0, 0.429])), BODY)
    np.testing.assert_allclose(torso.com, 0.429 * np.array([-0.016, 0.006, 1 - 0.436]), atol=1e-12)
    assert torso.mass == 0.304


def test_the_mean_of_tables_by_hand() -> None:
    """Masses have the geometric mean, centres and second moments over mass the arithmetic one. What a table does not
    state, here Winter's radius about the long axis, is left out; alone it has the others' mean.
    """
    thigh = Segment("thigh", "right", np.array([0.0, 0.0, -0.4]))
    mean = segment_inertia(("deleva", "winter"), "male", thigh, BODY)
    np.testing.assert_allclose(mean.mass, np.sqrt(0.1416 * 0.100), rtol=1e-12)
    np.testing.assert_allclose(mean.com, [0.0, 0.0, -0.4 * (0.4095 + 0.433) / 2], atol=1e-12)
    radii = np.array([(0.329**2 + 0.323**2) / 2, (0.329**2 + 0.323**2) / 2, 0.149**2])
    np.testing.assert_allclose(mean.inertia, mean.mass * 0.4**2 * np.diag(radii), atol=1e-12)
    alone = segment_inertia(("winter",), "male", thigh, BODY).inertia[2, 2] / 0.100
    others = [segment_inertia((table,), "male", thigh, BODY) for table in ("dumas", "deleva", "shan")]
    np.testing.assert_allclose(alone, np.mean([each.inertia[2, 2] / each.mass for each in others]), rtol=1e-12)


def test_parts_of_a_trunk_are_stacked() -> None:
    """De Leva's male trunk by hand: three parts stacked from C7T1 down to the height of the hips."""
    low, middle, high = 0.1457, 0.2155, 0.2421
    body = BODY | {"torso": 0.5, "pelvis_height": low + middle + high - 0.5}
    torso = segment_inertia(("deleva",), "male", Segment("torso", "", np.array([0.0, 0.0, 0.5])), body)
    assert torso.mass == pytest.approx(0.1596 + 0.1633)
    heights = np.array([0.5 - 0.5066 * high, 0.5 - high - 0.4502 * middle])
    assert torso.com[2] == pytest.approx(heights @ [0.1596, 0.1633] / torso.mass, abs=1e-4)
    pelvis = segment_inertia(("deleva",), "male", Segment("pelvis", "", np.array([0.0, 0.0, -0.1])), body)
    assert pelvis.com[2] == pytest.approx(0.5 - high - middle - 0.6115 * low, abs=1e-4)
    assert pelvis.inertia[0, 0] == pytest.approx(0.1117 * (0.615 * low) ** 2, rel=1e-3)


def test_projection_is_nearest() -> None:
    """No inertia above the same floor, among many tried, lies nearer in second moments than the projection."""
    generator = np.random.default_rng(0)
    basis = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    second = basis @ np.diag([-0.07, 0.4, 0.67]) @ basis.T
    inertia = np.trace(second) * np.eye(3) - second
    projected, changed = nearest_consistent(inertia)
    assert changed
    moments = 0.5 * np.trace(projected) * np.eye(3) - projected
    distance = np.linalg.norm(moments - second)
    assert np.linalg.eigvalsh(moments)[0] == pytest.approx(0.02 * 1.0, rel=1e-9)
    for _ in range(500):
        factor = np.linalg.cholesky(moments) + 0.05 * generator.normal(size=(3, 3))
        other = factor @ factor.T
        if np.linalg.eigvalsh(other)[0] >= 0.02:
            assert np.linalg.norm(other - second) >= distance - 1e-9
    unchanged, flag = nearest_consistent(projected)
    assert not flag
    assert unchanged is projected


def test_tables_agree_on_the_whole_body() -> None:
    """Every table puts the standing body's centre of mass within 3 % of the stature of each other, 52 to 60 % up."""
    for height, mass, sex in BODIES:
        levels = []
        for table in TABLES:
            rig = human(height, mass, sex, tables=(table,))
            sole = rig.contacts[0]
            data = data_of(rig)
            pin.forwardKinematics(rig.model, data, rig.neutral)
            ground = data.oMi[rig.index(sole.link) + 1].translation[2] + sole.vertices[0, 2]
            levels.append((pin.centerOfMass(rig.model, data, rig.neutral)[2] - ground) / height)
        assert np.ptp(levels) < 0.03
        assert min(levels) > 0.52
        assert max(levels) < 0.60


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("tables", REFERENCES)
def test_boxes_hold_centres_of_mass_and_shapes_the_volume(variant: str, tables: tuple[str, ...]) -> None:
    """Prior centres of mass lie inside their boxes; the shapes displace 0.85 to 1.25 times a body of 1000 kg/m^3."""
    for height, mass, sex in BODIES:
        rig = human(height, mass, sex, variant=variant, tables=tables)
        assert (rig.prior.coms > rig.boxes[:, 0]).all()
        assert (rig.prior.coms < rig.boxes[:, 1]).all()
        assert 0.85 < 1000 * sum(s.volume for s in rig.shapes) / mass < 1.25
        assert {s.link for s in rig.shapes} == set(rig.links)


def test_small_variant_is_the_large_one_frozen() -> None:
    """Both variants are the same body: same total mass, centre of mass and inertia at neutral."""
    bodies = []
    for variant in VARIANTS:
        rig = human(1.75, 65.0, "female", variant=variant)
        data = data_of(rig)
        pin.ccrba(rig.model, data, rig.neutral, np.zeros(rig.nv))
        com = pin.centerOfMass(rig.model, data, rig.neutral)
        bodies.append((com, data.Ig.inertia + 65.0 * steiner(com)))
    np.testing.assert_allclose(bodies[0][0], bodies[1][0], atol=1e-12)
    np.testing.assert_allclose(bodies[0][1], bodies[1][1], atol=1e-10)


def test_skeleton_parents_come_first() -> None:
    """Every link follows its parent, and each branch is contiguous (depth first), as Pinocchio's subtrees need."""
    rig = human(1.75, 65.0, "female")
    for link, below in enumerate(rig.descendants):
        assert rig.parents[link] < link
        np.testing.assert_array_equal(np.flatnonzero(below), np.arange(link, link + below.sum()))
    assert build_skeleton(1.75, "female", {}, {}).parent("left_hand") == "left_forearm"


@pytest.mark.parametrize("tables", [TABLES, ("dumas",)])
@pytest.mark.parametrize("sex", ["male", "female"])
def test_a_trunk_of_three_weighs_what_one_does(sex: str, tables: tuple[str, ...]) -> None:
    """At neutral an abdomen and a thorax have the torso's mass and centre of mass, each is a body that can exist, and
    head, arms and legs are where they were.
    """
    one, three = (human(1.75, 65.0, sex, tables=tables, trunk=trunk) for trunk in ("one", "three"))
    assert three.links == (one.links[0], "abdomen", *one.links[1:])
    assert three.nv == one.nv + 2
    places = [dict(zip(rig.links, link_poses(rig, rig.neutral)[1])) for rig in (one, three)]
    for link in one.links[2:]:
        np.testing.assert_allclose(places[1][link], places[0][link], atol=1e-12)
    coms = [
        sum(rig.prior[link].mass * (rig.prior[link].com + places[k][link]) for link in rig.links) / 65.0
        for k, rig in enumerate((one, three))
    ]
    np.testing.assert_allclose(coms[1], coms[0], atol=1e-12)
    assert three.prior.consistency_margin.min() > 0.0


@pytest.mark.parametrize(("sex", "thorax", "abdomen"), [("male", 30.4, 2.9), ("female", 26.3, 4.1)])
def test_an_abdomen_weighs_what_the_table_says(sex: str, thorax: float, abdomen: float) -> None:
    """Dumas and Wojtusch 2018: an abdomen is a small part of the torso, whose first third it takes."""
    rig = human(1.75, 65.0, sex, trunk="three")
    found = rig.prior["abdomen"].mass / (rig.prior["abdomen"].mass + rig.prior["torso"].mass)
    assert found == pytest.approx(abdomen / (thorax + abdomen), rel=1e-12)
    low, high = (rig.joints[rig.index(link)].position[2] for link in ("torso", "head"))
    assert 0.29 < low / (low + high) < 0.33


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"height": 177.0}, InvalidValue, "height"),
        ({"height": float("nan")}, InvalidValue, "height"),
        ({"mass": -3.0}, InvalidValue, "mass"),
        ({"sex": "other"}, InvalidValue, "male, female"),
        ({"variant": "48dof"}, InvalidValue, "34dof"),
        ({"tables": ["zatsiorsky"]}, InvalidValue, "deleva"),
        ({"tables": []}, InvalidValue, "not none"),
        ({"trunk": "two"}, InvalidValue, "one, three"),
        ({"lengths": {"thy": 0.4}}, UnknownName, "thigh"),
        ({"lengths": {"thigh": -0.4}}, InvalidValue, "thigh"),
        ({"lengths": {"right_torso": 0.4}}, UnknownName, "torso"),
        ({"joints": {"left_knee": [0, 0, 0]}}, UnknownLink, "right_thigh"),
        ({"joints": {"left_shank": [0, 0]}}, InvalidValue, "three"),
        ({"joints": {"left_shank": [0, 0, 0]}}, InvalidValue, "left_thigh"),
    ],
)
def test_bad_arguments_name_the_culprit(arguments: dict, error: type[Exception], words: str) -> None:
    """What no person has is refused with the argument's name or the choices."""
    with pytest.raises(error, match=words):
        human(**{"height": 1.75, "mass": 70.0, "sex": "male", **arguments})


def test_a_build_that_nobody_has_is_named() -> None:
    """Height and mass that do not belong together are noted; if both are stated about a subject, they are refused."""
    for mass in (12.0, 400.0):
        assert any("check height and mass" in note for note in human(1.7, mass, "male").notes)
        with pytest.raises(InvalidValue, match="23 to 289 kg"):
            require_person(1.7, mass)
        require_person(None, mass)
    assert not any("check height" in note for note in human(1.7, 65.0, "male").notes)
