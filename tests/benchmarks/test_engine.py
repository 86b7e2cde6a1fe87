"""The same bodies in MuJoCo: dynamics that agree, feet that stand, and a loop that closes."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.contacts.schedule import Anchor, Phase, Schedule, stance
from solver.dance.design.dance import Dance
from solver.dance.design.footsteps import StepPlanner
from solver.dance.design.plan import build_transition_planner
from solver.dynamics import integrate, predicted_wrench
from solver.options.checks import DANCE_CHECKS
from solver.options.dances import DanceOptions
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.splines import Spline
from solver.values.inertials import MASS, InertialParameters
from solver.values.motion import Motion
from tests.pinocchio import data_of, pin

mujoco = pytest.importorskip("mujoco", reason="MuJoCo, of the benchmarks extra, is not installed")

from benchmarks.engine.bodies import arm_load, change_inertials, find_arm_links  # noqa: E402
from benchmarks.engine.exported import exported_plan  # noqa: E402
from benchmarks.engine.loop import ROBOT, close_loop  # noqa: E402
from benchmarks.engine.measure import measure, stance_intervals  # noqa: E402
from benchmarks.engine.mjcf import layout, mjcf  # noqa: E402
from benchmarks.engine.performance import Performance, Plan, PlayOptions, plan  # noqa: E402
from benchmarks.engine.simulate import play  # noqa: E402

RIGS = {
    "HOAP-3": lambda: hoap3(torque="peak"),
    "HRP-2": hrp2,
    "human": lambda: human(1.75, 65.0, "female"),
    "human with universal joints": lambda: human(1.75, 65.0, "female", variant="23dof"),
}
SECONDS, RATE = 3.0, 250.0


@pytest.fixture(scope="module", params=list(RIGS))
def rig(request: pytest.FixtureRequest) -> Rig:
    return RIGS[request.param]()


@pytest.fixture(scope="module")
def robot() -> Rig:
    return RIGS["HOAP-3"]()


@pytest.fixture(scope="module")
def intended(robot: Rig) -> Plan:
    """HOAP-3 bends its knees, leans and swings its arms, feet planted."""
    return plan(robot, *squat(robot))


@pytest.fixture(scope="module")
def performance(robot: Rig, intended: Plan) -> Performance:
    return play(robot, intended)


def squat(rig: Rig) -> tuple[Motion, Schedule]:
    legged = LeggedRig(rig, shrink=0.4)
    footing = legged.get_footing("both")
    start = legged.home_posture(footing)
    down = start.copy()
    down[2] -= 0.1 * legged.straight_height
    arms = np.setdiff1d(legged.trunk, np.concatenate(list(legged.leg_columns.values())))
    down[arms] = np.clip(down[arms] + 0.5, legged.lower[arms], legged.upper[arms])
    stop, good = legged.balance(down[None], footing.polygon.centre[None], footing.solved)
    assert good[0]
    spline = Spline(SECONDS)
    times = spline.samples(RATE)
    _, curves, reached = legged.solve_motion(
        *spline.basis(times).curves(spline.straight_line(start, stop[0])), footing.solved
    )
    assert reached.all()
    return Motion(times, curves.q, curves.v, curves.a), Schedule.constant(footing.anchors, 0.0, SECONDS)


def test_inverse_dynamics_agree(rig: Rig) -> None:
    """MuJoCo and Pinocchio need the same generalised forces for any state and acceleration of the same rig."""
    model = mujoco.MjModel.from_xml_string(mjcf(rig, contacts=False))
    data, ours, places = mujoco.MjData(model), data_of(rig), layout(rig)
    generator = np.random.default_rng(3)
    for _ in range(20):
        q = integrate(rig, rig.neutral, generator.normal(size=rig.nv))
        v, a = generator.normal(size=(2, rig.nv)) * np.array([[2.0], [8.0]])
        data.qpos[:], data.qvel[:] = places.qpos(q), places.qvel(q, v)
        data.qacc[:] = places.qacc(q, v, a)
        mujoco.mj_inverse(model, data)
        expected = pin.rnea(rig.model, ours, q, v, a)
        np.testing.assert_allclose(places.force(q, data.qfrc_inverse), expected, atol=1e-11 * np.abs(expected).max())


def test_coordinates_survive_a_round_trip(rig: Rig) -> None:
    """A configuration and its velocity come back from MuJoCo's arrays as they went."""
    places, generator = layout(rig), np.random.default_rng(4)
    q = integrate(rig, rig.neutral, generator.normal(size=rig.nv))
    v = generator.normal(size=rig.nv)
    np.testing.assert_array_equal(places.configuration(places.qpos(q)), q)
    np.testing.assert_allclose(places.velocity(q, places.qvel(q, v)), v, atol=1e-14)


def test_a_body_that_cannot_exist_is_refused(robot: Rig) -> None:
    """Inertials no body has are named with their link, not handed to the simulation."""
    bad = np.array(robot.prior.link("right_foot"))
    bad[4:] *= -1.0
    with pytest.raises(InvalidValue, match="right_foot"):
        mjcf(robot, robot.prior.replaced("right_foot", bad))


def test_a_rig_without_soles_is_refused(robot: Rig) -> None:
    """What has nothing to stand on cannot be played."""
    with pytest.raises(InvalidValue, match="to stand on"):
        mjcf(replace(robot, contacts=()))


def test_a_squat_does_not_fall(robot: Rig, intended: Plan, performance: Performance) -> None:
    """A balanced motion played by PD control neither falls nor slips, and the plates read what was planned."""
    shown = measure(robot, intended, performance)
    assert shown.fell is None
    assert [stand.patch for stand in shown.stances] == ["right_sole", "left_sole"]
    assert shown.slip < 1e-3
    assert shown.total.rmse[2] < 0.02 * shown.span[2] + 1e-3
    assert shown.total.correlation[4] > 0.999


def test_plates_measure_the_weight_of_the_simulated_body(robot: Rig, intended: Plan) -> None:
    """Standing still, the plates read the weight of the simulated body, not of the controller's rig."""
    heavy = InertialParameters(robot.links, 1.2 * robot.prior.values)
    short = replace(intended, motion=intended.motion.part(0, 3))
    standing = play(robot, short, truth=heavy).standing
    assert standing[:, 2].sum() == pytest.approx(1.2 * robot.prior.total_mass * 9.81, rel=1e-4)


def test_plates_obey_newton_and_euler(robot: Rig, performance: Performance) -> None:
    """MuJoCo's contact wrenches are what our dynamics needs for MuJoCo's motion."""
    needed = predicted_wrench(robot, performance.motion, robot.prior, axes="world")
    plates = performance.plates.about(performance.motion.q[:, :3])
    np.testing.assert_allclose(plates, needed, atol=1e-3)


def test_a_motion_off_balance_falls(robot: Rig, intended: Plan) -> None:
    """A plan whose centre of mass leaves the feet falls."""
    motion = intended.motion
    q = np.array(motion.q)
    ankles = [robot.q_slices[robot.index(f"{side}_ankle")].start for side in ("right", "left")]
    q[:, ankles] += 0.5 * np.linspace(0.0, 1.0, len(q))[:, None]
    shown = play(robot, replace(intended, motion=Motion(motion.times, q, motion.v, motion.a)))
    assert shown.fell is not None
    assert shown.motion.times[-1] == pytest.approx(shown.fell)
    assert shown.before_fall(0.5).motion.times[-1] == pytest.approx(shown.fell - 0.5, abs=2.0 / RATE)


def test_the_loop_finds_a_load_on_the_arm(robot: Rig, intended: Plan) -> None:
    """Identified from simulated sensors, a loaded arm weighs more and the true wrench is explained."""
    truth, load, link = arm_load(robot)
    found = close_loop(robot, play(robot, intended, truth=truth), truth, ROBOT)
    arm = find_arm_links(robot, link)
    assert found.mass_of(truth, arm) - found.mass_of(robot.prior, arm) == pytest.approx(load)
    assert found.mass_of(found.parameters, arm) > found.mass_of(found.prior, arm) + 0.5 * load
    assert found.exact < 0.3


def test_a_table_alone_gives_back_the_plan(robot: Rig) -> None:
    """The exported table of a dance determines where the root is and which feet stand, and no torque jumps when a foot
    leaves the floor or meets it; played, the dance neither falls nor slips."""
    steps = StepPlanner(build_transition_planner(robot, DanceOptions()))
    ways = [*steps.plan_steps("both", "left"), *steps.plan_steps("left", "both")]
    dance = Dance(robot, tuple(ways), DANCE_CHECKS, 0.1)
    found = exported_plan(dance, RATE)
    np.testing.assert_allclose(found.motion.q, dance.sample(robot, RATE).q, atol=1e-4)
    assert [phase.loaded for phase in found.schedule.phases] == [both := ("right_sole", "left_sole"), both[1:], both]
    assert np.abs(np.diff(found.torques, axis=0)).max() < 0.1 * np.abs(found.torques).max()
    shown = measure(robot, found, play(robot, found))
    assert shown.fell is None
    assert shown.slip < 2e-3


def test_changed_bodies_keep_their_centres_of_mass(robot: Rig) -> None:
    """A change of mass scales a link's whole distribution, so its centre of mass stays."""
    truth = change_inertials(robot)
    np.testing.assert_allclose(truth.coms, robot.prior.coms, atol=1e-15)
    assert np.ptp(truth.values[:, MASS] / robot.prior.masses) > 0.2


def test_a_stance_spans_phases(robot: Rig) -> None:
    """Phases that leave a foot where it is are one standing; lifting it or putting it elsewhere ends it."""
    right, left = stance(robot, "both")
    ahead = Anchor(right.patch, right.rotation, right.position + 0.1 * np.eye(3)[0])
    spans = [(right, left), (right, left), (left,), (ahead, left), (left,)]
    edges = itertools.pairwise(range(len(spans) + 1))
    schedule = Schedule(tuple(Phase(a, b, anchors) for (a, b), anchors in zip(edges, spans)))
    assert stance_intervals(schedule, right.patch) == [(0, 2), (3, 4)]
    assert stance_intervals(schedule, left.patch) == [(0, 5)]


def test_gains_follow_inertia(robot: Rig, intended: Plan) -> None:
    """A standing leg's joints carry the body and are stiffer than an arm's; one in the air carries its foot."""
    from benchmarks.engine.control import stiffnesses

    place = {link: robot.v_slices[robot.index(link)].start - ROOT_NV for link in ("left_forearm", "left_ankle")}
    stiffness = stiffnesses(robot, intended, PlayOptions())
    assert stiffness[0, place["left_ankle"]] > 10.0 * stiffness[0, place["left_forearm"]]
    lifted = np.array(intended.wrenches)
    lifted[1:, robot.patches.index("left_sole")] = 0.0
    aloft = stiffnesses(robot, replace(intended, wrenches=lifted), PlayOptions())
    assert (aloft[0] == stiffness[0]).all()
    assert (aloft[1:, place["left_ankle"]] < 0.2 * stiffness[1:, place["left_ankle"]]).all()


def test_links_without_mass_have_gains(robot: Rig, intended: Plan) -> None:
    """An axis of a compound joint has no centre of mass; its joint moves what is beyond it."""
    from benchmarks.engine.control import stiffnesses

    values = robot.prior.values.copy()
    values[robot.index("left_forearm")] = 0.0
    light = robot.with_prior(InertialParameters(robot.links, values))
    stiffness, before = (stiffnesses(each, intended, PlayOptions()) for each in (light, robot))
    assert np.isfinite(stiffness).all()
    assert (stiffness <= before + 1e-12).all()
