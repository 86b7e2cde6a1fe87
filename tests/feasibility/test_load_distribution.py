"""Loads of hands and knees on the floor, and their checks, compared with statics by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from solver import qp
from solver.base.errors import InvalidValue
from solver.base.so3 import skew
from solver.contacts.schedule import Anchor, Phase, Schedule, anchors_at
from solver.contacts.support import support_polygon
from solver.dynamics.coordinates import to_manifold
from solver.feasibility import CheckOptions, Checks, check_motion
from solver.feasibility.check_input import PlantedPhase
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.on_all_fours import PATCHES, person, places, posture, still

HANDS, APART = 0.55, 0.46
TIMES = np.linspace(0.0, 1.0, 3)


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A person with patches on hands and knees."""
    return person()


@pytest.fixture(scope="module")
def kneeling(rig: Rig) -> np.ndarray:
    """Flat coordinates (nv,) on hands and knees."""
    return posture(rig, places(rig, HANDS, APART))


def checked(
    rig: Rig, motion: Motion, patches: tuple[str, ...] = PATCHES, options: CheckOptions | None = None
) -> Checks:
    """Planted where the first frame has the patches."""
    schedule = Schedule.constant(anchors_at(rig, motion.q[0], patches), 0.0, 1.0)
    return check_motion(rig, motion, schedule, options)


def load(checks: Checks, name: str) -> float:
    """[N] on a patch in the first frame."""
    return float(checks.foot_wrenches[0, checks.patches.index(name), 2])


def centre(checks: Checks, name: str) -> np.ndarray:
    """(2,) [m] centre of pressure of a patch in the first frame."""
    wrench = checks.foot_wrenches[0, checks.patches.index(name)]
    return np.array([-wrench[4], wrench[3]]) / wrench[2]


def test_hands_bear_what_statics_gives(rig: Rig, kneeling: np.ndarray) -> None:
    """Moments about the knees' centres of pressure: hands carry weight times the centre of mass's share of the way.

    And the whole adds up, every centre of pressure lies in its patch, and the polygon of all four holds the body.
    """
    motion = still(rig, kneeling, TIMES)
    checks = checked(rig, motion)
    assert checks.feasible
    knees, hands = ("right_knee", "left_knee"), ("right_palm", "left_palm")
    lean = checks.com[0, 0]
    at = {name: centre(checks, name) for name in PATCHES}
    behind, ahead = (np.mean([at[name][0] for name in names]) for names in (knees, hands))
    carried = sum(load(checks, name) for name in hands)
    assert carried == pytest.approx(rig.weight * (lean - behind) / (ahead - behind), rel=2e-3)
    assert sum(load(checks, name) for name in PATCHES) == pytest.approx(rig.weight, rel=1e-9)
    assert np.allclose(checks.foot_wrenches.sum(axis=1), checks.wrench, atol=1e-6)
    for anchor in anchors_at(rig, motion.q[0], PATCHES):
        assert support_polygon(rig, (anchor,)).margin(at[anchor.patch][None])[0] > 0.0
    whole = support_polygon(rig, anchors_at(rig, motion.q[0], PATCHES))
    assert whole.margin(checks.com[:1, :2])[0] == pytest.approx(float(checks.get_margin("zmp").values[0, 0]), abs=1e-9)
    # the rule for two feet, taken for four patches, gave hands less than their share and pressed beside the patches
    assert 0.3 < carried / rig.weight < 0.4


def test_with_one_hand_lifted_three_carry(rig: Rig, kneeling: np.ndarray) -> None:
    """The lifted hand carries nothing; the other takes over what both carried, and its knee gives to the far one."""
    motion = still(rig, kneeling, TIMES)
    four, three = checked(rig, motion), checked(rig, motion, tuple(name for name in PATCHES if name != "left_palm"))
    assert load(three, "left_palm") == 0.0
    # about wherever the knees press, the one hand carries what both did
    reach = {anchor.patch: anchor.points(rig)[:, 0] for anchor in anchors_at(rig, motion.q[0], PATCHES)}
    lean, knee, hand = three.com[0, 0], reach["right_knee"], reach["right_palm"]
    least, most = ((lean - k) / (h - k) for k, h in ((knee.max(), hand.max()), (knee.min(), hand.min())))
    assert least < load(three, "right_palm") / rig.weight < most
    assert load(three, "left_knee") > load(four, "left_knee") > load(three, "right_knee")
    forces = np.array([load(three, name) for name in PATCHES if name != "left_palm"])
    at = np.array([centre(three, name) for name in PATCHES if name != "left_palm"])
    assert np.allclose(forces @ at / forces.sum(), three.com[0, :2], atol=1e-6)
    corners = support_polygon(rig, anchors_at(rig, motion.q[0], ("right_palm", "right_knee", "left_knee")))
    assert corners.margin(three.com[:1, :2])[0] > 0.0  # just: the left knee is beside the way from hand to knee
    for name in ("zmp", "unilateral", "friction", "twist"):
        assert three.get_margin(name).smallest.min() > -1e-6


def test_the_smallest_forces_solve_a_quadratic_program(rig: Rig, kneeling: np.ndarray) -> None:
    """A solver that shares nothing finds the same wrenches, whether cones bind or not, and where none binds."""
    motion = still(rig, kneeling, TIMES)
    anchors = anchors_at(rig, motion.q[0], PATCHES)
    planted = PlantedPhase.from_phase(rig, Phase(0.0, 1.0, anchors), CheckOptions(friction=0.6))
    spread = planted.load_distribution
    assert spread is not None
    generator, weight = np.random.default_rng(0), rig.weight
    middle = planted.centres.mean(axis=0)
    bound = solved = 0
    for _ in range(20):
        push = weight * np.array([0.15, 0.15, 0.3]) * generator.uniform(-1, 1, 3) + [0.0, 0.0, weight]
        at = middle + np.append(generator.uniform(-0.6, 0.6, 2) * [0.3, 0.2], 0.0)
        turn = np.array([0.0, 0.0, 0.02 * weight * generator.uniform(-1, 1)])
        total = np.concatenate([push, np.cross(at, push) + turn])
        found = spread.distribute(total[None], weight)[0]
        assert np.allclose(found.sum(axis=0), total, atol=1e-6)
        adding = np.hstack([np.block([[np.eye(3), np.zeros((3, 3))], [skew(c), size * np.eye(3)]])
                            for c, size in zip(spread.centres, spread.sizes)])  # fmt: skip
        own = found.copy()
        own[:, 3:] = (own[:, 3:] - np.cross(spread.centres, own[:, :3])) / spread.sizes[:, None]
        left = spread.cone_rows @ own.ravel()
        program = qp.Problem(
            sparse.csc_array(np.eye(24)), np.zeros(24),
            qp.Rows(sparse.csr_array(np.vstack([adding, spread.cone_rows])),
                    np.concatenate([total, np.zeros(len(spread.cone_rows))]) / weight,
                    np.concatenate([total / weight, np.full(len(spread.cone_rows), np.inf)]),
                    ("row",) * (6 + len(spread.cone_rows))),
            np.full(24, -np.inf), np.full(24, np.inf),
        )  # fmt: skip
        solution = qp.solve(program, "clarabel", tolerance=1e-10)
        if solution.status is not qp.Status.OPTIMAL:
            continue
        solved += 1
        assert left.min() > -1e-6 * weight
        assert np.abs(own.ravel() / weight - solution.x).max() < 1e-5
        bound += bool(left.min() < 1e-6 * weight)
    assert solved > bound > 3


def test_a_centre_of_mass_beyond_the_hands_fails(rig: Rig, kneeling: np.ndarray) -> None:
    """Two knees alone do not carry a body that leans on its hands: the centre of mass is ahead of their polygon."""
    checks = checked(rig, still(rig, kneeling, TIMES), ("right_knee", "left_knee"))
    polygon = support_polygon(rig, anchors_at(rig, still(rig, kneeling, TIMES).q[0], ("right_knee", "left_knee")))
    assert not checks.feasible
    assert float(checks.get_margin("zmp").values[0, 0]) == pytest.approx(
        polygon.margin(checks.com[:1, :2])[0], abs=1e-9
    )
    assert float(checks.get_margin("unilateral").smallest[0]) < 0.0  # an edge of a knee would have to pull


def test_a_push_beyond_friction_fails(rig: Rig, kneeling: np.ndarray) -> None:
    """Pulled back with 0.3 of gravity all four hold at a friction of 0.5 and slide at 0.2, by what the whole lacks."""
    rows = np.tile(kneeling, (3, 1))
    ahead = np.zeros_like(rows)
    ahead[:, 0] = 0.3 * 9.80665
    motion = to_manifold(rig, rows, np.zeros_like(rows), ahead).motion(TIMES)
    slides = checked(rig, motion, options=CheckOptions(friction=0.2)).get_margin("friction").values[0, 2:]
    holds = checked(rig, motion, options=CheckOptions(friction=0.5)).get_margin("friction").values[0, 2:]
    assert holds.min() > -1e-6
    assert 0.2 - 0.3 - 1e-6 < slides.sum() < -0.08  # hands point inwards: along their own axes less is missing


def test_a_planted_hand_that_slips_and_one_through_the_floor_fail(rig: Rig, kneeling: np.ndarray) -> None:
    """A planted palm that slips by 3 cm fails by 3 cm, and so does a free hand 3 cm below the floor."""
    wanted = places(rig, HANDS, APART)
    slipped = posture(rig, wanted | {"right_palm": wanted["right_palm"] + [0.0, -0.03, 0.0]}, kneeling)
    rows = np.array([kneeling, slipped])
    motion = to_manifold(rig, rows, np.zeros_like(rows), np.zeros_like(rows)).motion(np.array([0.0, 1.0]))
    slip = checked(rig, motion).get_margin("slip").values
    column = rig.patches.index("right_palm")
    assert slip[0, column] == pytest.approx(0.0, abs=1e-9)
    assert slip[1, column] == pytest.approx(-0.03, abs=1e-6)
    under = posture(rig, wanted | {"right_palm": wanted["right_palm"] - [0.0, 0.0, 0.03]}, kneeling)
    others = tuple(name for name in PATCHES if name != "right_palm")
    floor = checked(rig, still(rig, under, TIMES), others).get_margin("floor")
    hand = floor.items.index("right_hand")
    assert floor.values[0, hand] == pytest.approx(-0.03, abs=1e-3)
    over = posture(rig, wanted | {"right_palm": wanted["right_palm"] + [0.0, 0.0, 0.03]}, kneeling)
    assert checked(rig, still(rig, over, TIMES), others).get_margin("floor").values[0, hand] == pytest.approx(
        0.03, abs=1e-3
    )


def test_hands_on_something_raised_are_refused(rig: Rig, kneeling: np.ndarray) -> None:
    """One polygon on one floor holds the zero-moment point; a hand on a table has none, and the message says which."""
    motion = still(rig, kneeling, TIMES)
    anchors = list(anchors_at(rig, motion.q[0], PATCHES))
    anchors[0] = replace(anchors[0], position=anchors[0].position + np.array([0.0, 0.0, 0.4]))
    with pytest.raises(InvalidValue, match=r"'right_palm' is planted \+0.400 m off the floor"):
        check_motion(rig, motion, Schedule.constant(tuple(anchors), 0.0, 1.0))


def test_two_soles_share_as_before(rig: Rig) -> None:
    """Patches elsewhere do not change what feet carry."""
    bare = replace(rig, contacts=rig.soles)
    q = np.array(rig.provenance["standing"])
    motion = Motion(TIMES, np.tile(q, (3, 1)), np.zeros((3, rig.nv)), np.zeros((3, rig.nv)))
    soles = tuple(sole.name for sole in rig.soles)
    one, other = checked(rig, motion, soles), checked(bare, motion, soles)
    assert np.array_equal(one.foot_wrenches[:, :2], other.foot_wrenches)
    assert np.array_equal(one.get_margin("joint torque").values, other.get_margin("joint torque").values)


def test_a_palm_is_planted_on_its_own_side() -> None:
    """However a hand is turned, its anchor has the palm down."""
    from solver.contacts.schedule import flat_on_ground

    rig = person()
    for turn in (np.eye(3), np.diag([-1.0, -1.0, 1.0]), np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])):
        anchor = flat_on_ground(rig, Anchor("right_palm", turn, np.zeros(3)), 0.1)
        assert np.allclose(anchor.rotation @ rig.patch("right_palm").outward, [0, 0, -1], atol=1e-12)
        assert np.allclose(anchor.points(rig)[:, 2], 0.1)
