"""Balance and inverse dynamics of standing rigs against hand-made mechanics."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.schedule import Schedule, stance
from solver.contacts.support import convex_polygon
from solver.dynamics import integrate
from solver.feasibility import (
    CheckOptions,
    Mechanics,
    check_motion,
    foot_wrenches,
    load_shares,
    moving_coordinates,
    zero_moment_point,
)
from solver.feasibility.contact_forces import (
    friction_margins_by_side,
)
from solver.options.checks import DISTRIBUTIONS
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from tests.dance.static_motions import (
    accelerated_motion,
    one_foot_schedule,
    random_posture,
    sinusoidal_motion,
    standing_schedule,
    static_motion,
)
from tests.joint_entries import entries
from tests.pinocchio import data_of, pin

RIGS = [hoap3(), hrp2(), human(1.75, 70.0, "male")]
EVERY_RIG = pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
GRAVITY = 9.81


def _jacobian(rig: Rig, q: np.ndarray) -> np.ndarray:
    """(6, nv) of all joints, world axes about the world origin."""
    return np.array(pin.computeJointJacobians(rig.model, data_of(rig), q))


@EVERY_RIG
def test_zmp_of_a_statue_is_its_centre_of_mass(rig: Rig) -> None:
    """A rig that holds still has its zero-moment point under its centre of mass, on a floor of any height."""
    q = random_posture(rig, 1)
    state = Mechanics(rig).compute_state(*(getattr(static_motion(rig, q), name) for name in "qva"))
    weight = rig.prior.total_mass * GRAVITY
    for ground in (0.0, -0.7):
        np.testing.assert_allclose(zero_moment_point(state.wrench, ground, weight), state.com[:, :2], atol=1e-9)
    np.testing.assert_allclose(state.wrench[0, :3], [0.0, 0.0, weight], atol=1e-8 * weight)


@EVERY_RIG
def test_zmp_leans_against_acceleration(rig: Rig) -> None:
    """A rigid body that accelerates by a has its ZMP at c - (z_c - ground) a / g."""
    ground, a = -0.9, np.array([0.7, -0.3, 0.0])
    motion = accelerated_motion(rig, rig.neutral, a)
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a)
    lean = (state.com[0, 2] - ground) * a[:2] / GRAVITY
    zmp = zero_moment_point(state.wrench, ground, rig.prior.total_mass * GRAVITY)
    np.testing.assert_allclose(zmp[0], state.com[0, :2] - lean, atol=1e-9)


def test_margins_of_small_loads_do_not_depend_on_the_place() -> None:
    """A wrench below the least load and its support, moved over the floor: the zero-moment point moves with them."""
    weight, force = 700.0, np.array([2.0, -1.0, 3.0])
    for push in (3.0, 0.0, 200.0):
        force[2] = push
        points = []
        for place in (np.zeros(3), np.array([5.0, -3.0, 0.0])):
            moment = np.cross(place, force) + np.array([0.4, -0.3, 0.1])
            wrench = np.concatenate([force, moment])[None]
            points.append(zero_moment_point(wrench, 0.0, weight, place[:2])[0] - place[:2])
        np.testing.assert_allclose(points[0], points[1], atol=1e-12)


def test_sides_of_friction_make_up_its_margin() -> None:
    """The smallest of the margins by side is mu F_z less the larger horizontal force, for every patch."""
    loads = np.random.default_rng(3).standard_normal((50, 2, 6)) * [40.0, 40.0, 100.0, 10.0, 10.0, 5.0]
    least = friction_margins_by_side(loads, np.array([np.eye(2), np.eye(2)]), 0.5, 700.0).reshape(50, 4, 2).min(axis=1)
    hand = (0.5 * loads[:, :, 2] - np.abs(loads[:, :, :2]).max(axis=2)) / 700.0
    np.testing.assert_allclose(least, hand, atol=1e-12)


@EVERY_RIG
@pytest.mark.parametrize("rule", DISTRIBUTIONS)
def test_foot_wrenches_carry_the_root(rig: Rig, rule: str) -> None:
    """The wrenches under the feet add up to the total, and with them the root's rows of (1) hold."""
    motion = sinusoidal_motion(rig, np.linspace(0.0, 1.0, 7))
    checks = check_motion(rig, motion, standing_schedule(rig), CheckOptions(distribution=rule))
    np.testing.assert_allclose(checks.foot_wrenches.sum(axis=1), checks.wrench, atol=1e-9 * rig.prior.total_mass * 10)
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a)
    jacobian = np.array([_jacobian(rig, q) for q in motion.q])
    pushed = np.einsum("nij,ni->nj", jacobian, checks.foot_wrenches.sum(axis=1))
    np.testing.assert_allclose(pushed[:, :6], state.tau[:, :6], atol=1e-9 * rig.prior.total_mass * GRAVITY)


def test_the_nearer_foot_carries_more() -> None:
    """(2) as meant: half each midway, three quarters on the foot three times as near, all of it at its centre."""
    centres = np.array([[0.0, -1.0], [0.0, 1.0]])
    zmp = np.array([[0.0, 0.0], [0.0, -0.5], [0.0, -1.0]])
    np.testing.assert_allclose(load_shares(zmp, centres), [[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]], atol=1e-12)


def test_no_load_where_another_sole_holds_the_zmp() -> None:
    """By soles, a foot is loaded when the ZMP leaves the other's sole, from nothing on; half each midway."""
    corners = np.array([[0.1, 0.05], [-0.1, 0.05], [-0.1, -0.05], [0.1, -0.05]])
    centres = np.array([[0.0, -0.2], [0.0, 0.2]])
    soles = [convex_polygon(corners + centre) for centre in centres]
    zmp = np.array([[0.05, -0.16], [0.0, -0.149], [0.0, 0.0], [0.0, 0.149], [0.0, 0.3]])
    found = load_shares(zmp, centres, "soles", soles)[:, 1]
    np.testing.assert_allclose(found, [0.0, 0.001 / 0.3, 0.5, 0.299 / 0.3, 0.9], atol=1e-12)


def test_a_zmp_between_the_feet_needs_no_moment_at_their_centres() -> None:
    """With the ZMP on the line between two centres, each foot's pressure lies at its own centre."""
    centres = np.array([[0.1, -0.2, 0.0], [0.3, 0.2, 0.0]])
    zmp = 0.3 * centres[:1] + 0.7 * centres[1:]
    force = np.array([[12.0, -7.0, 600.0]])
    wrench = np.concatenate([force, np.cross(zmp, force)], axis=1)
    loads = foot_wrenches(wrench, load_shares(zmp[:, :2], centres[:, :2]), centres, np.full(2, 0.1))
    np.testing.assert_allclose(loads[0, :, 2], [180.0, 420.0])
    for load, centre in zip(loads[0], centres):
        about_centre = load[3:] - np.cross(centre, load[:3])
        np.testing.assert_allclose(about_centre[:2], 0.0, atol=1e-9)


def test_feet_apart_hold_a_yaw_moment_by_pushing_sideways() -> None:
    """A yaw moment is split as springs do that are turned by one angle, by shares of the load; one foot has it all."""
    centres, sizes = np.array([[0.0, 0.15, 0.0], [0.0, -0.05, 0.0]]), np.array([0.1, 0.1])
    share, yaw = np.array([[0.25, 0.75]]), 20.0
    wrench = np.array([[0.0, 0.0, 400.0, 0.0, 0.0, yaw]])
    loads = foot_wrenches(wrench, share, centres, sizes)[0]
    np.testing.assert_allclose(loads.sum(axis=0)[[0, 1, 2, 5]], [0.0, 0.0, 400.0, yaw], atol=1e-9)
    angle = yaw / (0.25 * (0.15**2 + 0.1**2) + 0.75 * (0.05**2 + 0.1**2))  # stiffness 1: the middle lies at the origin
    np.testing.assert_allclose(loads[:, :2], [[-0.25 * 0.15 * angle, 0.0], [0.75 * 0.05 * angle, 0.0]], atol=1e-9)
    own = loads[:, 5] - np.cross(centres, loads[:, :3])[:, 2]
    np.testing.assert_allclose(own, angle * 0.1**2 * share[0])
    alone = foot_wrenches(wrench, np.ones((1, 1)), centres[:1], sizes[:1])[0, 0]
    np.testing.assert_allclose(alone, [0.0, 0.0, 400.0, 0.0, 0.0, yaw], atol=1e-9)


@EVERY_RIG
def test_the_supporting_leg_holds_what_is_above(rig: Rig) -> None:
    """Standing still on one leg, each joint of it carries the moment of the weight of all links above it."""
    q = random_posture(rig, 3)
    checks = check_motion(rig, static_motion(rig, q), one_foot_schedule(rig, q, "right_sole"))
    state = Mechanics(rig).compute_state(*(getattr(static_motion(rig, q), name) for name in "qva"))
    rotation, position = state.rotation[0], state.position[0]
    masses = rig.masses
    centres = position + np.einsum("lij,lj->li", rotation, rig.prior.values[:, 1:4] / masses[:, None])
    below = [rig.index("right_foot")]
    link = below[0]
    while link > 0:
        above = [k for k in range(len(rig.links)) if k not in below]
        weights = masses[above, None] * [0.0, 0.0, -GRAVITY]
        moment = np.cross(centres[above] - position[link], weights).sum(axis=0)
        joint = entries(rig)[link]
        axes = _jacobian(rig, q)[3:, joint.idx_v : joint.idx_v + joint.nv]
        np.testing.assert_allclose(checks.torques[0, joint.idx_v - 6 :][: joint.nv], axes.T @ moment, atol=1e-6)
        link = rig.parents[link]
        below.append(link)


@EVERY_RIG
def test_torques_of_a_statue_off_the_legs_are_gravity(rig: Rig) -> None:
    """Joints that no foot hangs on carry the generalised gravity of their links, whatever the feet do."""
    q = random_posture(rig, 4)
    motion = static_motion(rig, q)
    torques = check_motion(rig, motion, one_foot_schedule(rig, q, "left_sole")).torques[0]
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a)
    free = ~(moving_coordinates(rig, "right_foot") | moving_coordinates(rig, "left_foot"))[6:]
    assert free.sum() >= 8
    step = 1e-6
    for column in map(int, np.flatnonzero(free)):
        change = _height_of_mass(rig, q, column, step) - _height_of_mass(rig, q, column, -step)
        assert torques[column] == pytest.approx(GRAVITY * change / (2.0 * step), abs=1e-5)
    assert state.tau.shape == (1, rig.nv)


def _height_of_mass(rig: Rig, q: np.ndarray, column: int, step: float) -> float:
    """Mass times height of the centre of mass after a small turn of one joint [kg m]."""
    tangent = np.zeros(rig.nv)
    tangent[6 + column] = step
    moved = static_motion(rig, integrate(rig, q, tangent))
    return rig.prior.total_mass * float(Mechanics(rig).compute_state(moved.q, moved.v, moved.a).com[0, 2])


@EVERY_RIG
def test_friction_gives_way_at_its_coefficient(rig: Rig) -> None:
    """A rigid body slides when its horizontal acceleration exceeds mu g: the slope whose tangent is mu, (19)."""
    for mu in (0.5, 0.3):
        options = CheckOptions(friction=mu)
        for share, sign in ((0.99, 1.0), (1.01, -1.0)):
            motion = accelerated_motion(rig, rig.neutral, np.array([share * mu * GRAVITY, 0.0, 0.0]))
            friction = check_motion(rig, motion, standing_schedule(rig), options).get_margin("friction")
            expected = mu * (1.0 - share)
            assert friction.values.sum() == pytest.approx(expected, abs=1e-9)
            assert np.sign(friction.smallest[0]) == sign


@EVERY_RIG
def test_twice_the_mass_twice_the_forces(rig: Rig) -> None:
    """Doubling every mass doubles wrenches and torques and leaves balance and friction margins as they are."""
    heavy = rig.with_prior(InertialParameters(rig.links, 2.0 * rig.prior.values))
    motion = sinusoidal_motion(rig, np.linspace(0.0, 1.0, 5))
    light, double = (check_motion(each, motion, standing_schedule(rig)) for each in (rig, heavy))
    np.testing.assert_allclose(double.foot_wrenches, 2.0 * light.foot_wrenches, atol=1e-8)
    np.testing.assert_allclose(double.torques, 2.0 * light.torques, atol=1e-8)
    for name in ("zmp", "friction", "unilateral", "joint angle", "self-collision"):
        np.testing.assert_allclose(double.get_margin(name).values, light.get_margin(name).values, atol=1e-9)


def test_falling_needs_no_ground() -> None:
    """In an airborne phase a falling rig keeps every check without torques; a hovering one fails that of the flight."""
    rig = RIGS[0]
    airborne = Schedule.constant((), 0.0, 1.0, ground=-5.0)
    falling = check_motion(rig, accelerated_motion(rig, rig.neutral, np.array([0.0, 0.0, -GRAVITY])), airborne)
    assert falling.feasible
    np.testing.assert_allclose(falling.torques, 0.0, atol=1e-9)
    hovering = check_motion(rig, static_motion(rig, rig.neutral), airborne)
    assert [failure.check.name for failure in hovering.first_failures] == ["flight"]


def test_one_foot_holds_only_above_itself() -> None:
    """A rig upright on both feet is in balance; the same posture on one foot is not, by the distance to that sole."""
    rig = RIGS[0]
    both = check_motion(rig, static_motion(rig, rig.neutral), standing_schedule(rig))
    assert both.get_margin("zmp").smallest[0] > 0.0
    schedule = one_foot_schedule(rig, rig.neutral, "left_sole")
    one = check_motion(rig, static_motion(rig, rig.neutral), schedule)
    inner_edge = schedule.phases[0].anchors[0].points(rig)[:, 1].min()
    assert one.get_margin("zmp").smallest[0] == pytest.approx(one.com[0, 1] - inner_edge, abs=1e-9)
    assert len(stance(rig, "left")) == 1
