"""The experiments of bonnet2016: what they compare is what they say, and another balance is really another balance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.engine.bodies import arm_load, find_arm_links
from benchmarks.engine.rebalance import fix_root, rebalance_dance, segment_zmp, straighten_root
from benchmarks.figures.simulated import exact_trial
from benchmarks.papers.bonnet2016_bodies import ROBOT_MASS, delivered_robot
from benchmarks.papers.bonnet2016_counts import Counted, count, merge_links
from benchmarks.papers.bonnet2016_criterion import criterion_rows, evolutions
from benchmarks.papers.bonnet2016_tables import TRUNK_FIRST, TRUNK_LAST, TRUNK_TRANSITIONS
from benchmarks.papers.bonnet2016_trials import compare_wrenches, identify_body
from benchmarks.papers.bonnet2016_zmp import (
    ENGINE,
    PLANNED,
    Track,
    plan_tracks,
    play_tracks,
    summarise_tracks,
)
from benchmarks.papers.rows import table
from solver.dance.design.dance import Dance, TraceEntry
from solver.dance.design.plan import build_transition_planner
from solver.dynamics import integrate
from solver.options.checks import CheckOptions
from solver.options.dances import DanceOptions
from solver.rigs import hoap3
from solver.signals import smooth_motion
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.segment import DanceSegment, hold_posture
from solver.values.motion import Motion

RATE = 50.0
AXIS_FZ = 2


@pytest.fixture(scope="module")
def robot() -> Rig:
    return hoap3("battery_radio", torque="peak")


@pytest.fixture(scope="module")
def dance(robot: Rig) -> Dance:
    """HOAP-3 stands, lifts its arms forwards, turns and bends its knees, and stands."""
    parent = build_transition_planner(robot, DanceOptions(min_duration=1.5))
    legged = parent.legged
    footing = legged.get_footing("both")
    start = legged.home_posture(footing)
    stop = start.copy()
    stop[2] -= 0.08 * legged.straight_height
    stop[3:ROOT_NV] = 0.1, 0.1, 0.2
    arms = legged.trunk
    stop[arms] = np.clip(start[arms] - 0.6, legged.lower[arms] + 0.05, legged.upper[arms] - 0.05)
    balanced, good = legged.balance(stop[None], footing.polygon.centre[None], footing.solved)
    assert good[0]
    path, trouble = parent.plan_straight("both posture 1", start, balanced[0], footing)
    assert path is not None, trouble
    ends = [
        hold_posture(name, y, 0.5, footing.solved, footing.anchors) for name, y in (("home", start), ("end", path.stop))
    ]
    segments = (ends[0], replace(path, kind="exciting"), ends[1])
    trace = (TraceEntry(1, "both", 10.0, 11.0, "exciting"),)
    return Dance(robot, segments, CheckOptions(shrink=0.4), 0.1, (2,), trace)


@pytest.fixture(scope="module")
def transition(dance: Dance) -> DanceSegment:
    return dance.segments[1]


def test_the_delivered_robot_has_the_mass_of_the_paper(robot: Rig) -> None:
    """7.9 kg of links that can exist, whose centres of mass lie in their boxes; the same seed gives the same robot."""
    truth = delivered_robot(robot)
    assert truth.total_mass == pytest.approx(ROBOT_MASS)
    assert robot.prior.total_mass == pytest.approx(8.8, abs=0.01)
    assert (truth.consistency_margin >= 0.0).all()
    assert ((truth.coms >= robot.boxes[:, 0]) & (truth.coms <= robot.boxes[:, 1])).all()
    np.testing.assert_array_equal(truth.values, delivered_robot(robot).values)
    assert np.abs(truth.values - delivered_robot(robot, seed=1).values).max() > 1e-3


def test_rebalancing_for_the_same_body_changes_nothing(robot: Rig, dance: Dance) -> None:
    """Rebalanced for the body that it was designed for, a dance does not change."""
    again = rebalance_dance(dance, robot, robot)
    for before, after in zip(dance.segments, again.segments):
        np.testing.assert_allclose(after.control, before.control, atol=1e-6)


def test_a_loaded_body_keeps_its_zero_moment_point(robot: Rig, dance: Dance) -> None:
    """With a load the zero-moment point would move by centimetres; rebalanced it stays, and so do limbs and feet."""
    truth, _, _ = arm_load(robot)
    loaded = robot.with_prior(truth)
    other = rebalance_dance(dance, robot, loaded)
    legged = dance.legged_rig(robot)
    for before, after in zip(dance.segments, other.segments):
        own, unprepared = (
            segment_zmp(robot, legged, before, RATE),
            segment_zmp(loaded, dance.legged_rig(loaded), before, RATE),
        )
        found = segment_zmp(loaded, other.legged_rig(loaded), after, RATE)
        assert np.abs(unprepared.points - own.points).max() > 5e-3
        assert np.abs(found.points - own.points).max() < 1e-3
        np.testing.assert_array_equal(after.control[:, legged.trunk], before.control[:, legged.trunk])
        assert after.anchors == before.anchors
    assert other.largest_discontinuity() < 1e-9


def test_without_rebalancing_limbs_move_alike(transition: DanceSegment) -> None:
    """Both unbalanced forms change the root's horizontal place only; one of them still ends where it should."""
    for changed in (straighten_root(transition), fix_root(transition)):
        np.testing.assert_array_equal(changed.control[:, 2:], transition.control[:, 2:])
        np.testing.assert_array_equal(changed.start, transition.start)
    np.testing.assert_array_equal(straighten_root(transition).stop, transition.stop)
    assert np.ptp(fix_root(transition).control[:, :2], axis=0).max() == 0.0


def test_rebalancing_keeps_the_point_farther_inside(robot: Rig, dance: Dance, transition: DanceSegment) -> None:
    """Fig. 6: with the root fixed the zero-moment point comes nearer to the border than as designed."""
    ours, still = (plan_tracks(robot, dance, [transition], variant)[0] for variant in ("ours", "still"))
    assert ours.shrunk.min() > 0.0
    assert still.shrunk.min() < ours.shrunk.min() - 5e-3


def test_shares_and_margins_are_those_of_the_frames(transition: DanceSegment) -> None:
    """A quarter of the frames outside is 25 %, and the farthest of them is the excursion; a fall is a fall."""
    shrunk, sole = np.array([-0.002, 0.001, 0.002, 0.003]), np.array([0.001, 0.005, 0.006, 0.007])
    track = Track(transition, np.zeros((4, 2)), shrunk, sole, fell=2.0)
    line = summarise_tracks([track, replace(track, shrunk=sole, fell=None)], "two feet", "ours", PLANNED)
    assert (line.count, line.left, line.fell) == (2, 1, None)
    assert line.outside == pytest.approx(12.5)
    assert line.excursion == pytest.approx(2.0)
    assert (line.beyond, line.margin) == (0.0, pytest.approx(1.0))
    line = summarise_tracks([track, replace(track, fell=None)], "two feet", "ours", ENGINE)
    assert line.fell == 1
    assert line.beyond == pytest.approx(25.0), "one frame of four is within 2 mm of the soles' border"


def test_plates_measure_the_planned_zero_moment_point(robot: Rig, dance: Dance, transition: DanceSegment) -> None:
    """MuJoCo's plates place the zero-moment point of a rebalanced transition where it was planned."""
    pytest.importorskip("mujoco", reason="MuJoCo, of the benchmarks extra, is not installed")
    track = next(play_tracks(robot, dance, [transition], "ours"))
    own = plan_tracks(robot, dance, [transition], "ours")[0]
    assert track.fell is None
    assert track.shrunk.min() == pytest.approx(own.shrunk.min(), abs=2e-3)


def traced(dance: Dance, values: np.ndarray) -> Dance:
    return replace(dance, trace=tuple(TraceEntry(1, "both", float(v), float(v) + 1.0, "exciting") for v in values))


def test_the_criterion_is_printed_with_the_papers(dance: Dance) -> None:
    """Fig. 5: the paper's start and end are printed with the same transitions; an end above both demands is missed."""
    falling = traced(dance, np.geomspace(1000.0, 5.0, TRUNK_TRANSITIONS + 2))
    rows = criterion_rows(evolutions(falling, falling), 60)
    paper = {row.paper: row for row in rows if row.paper is not None}
    assert "after 1 transitions" in paper[TRUNK_FIRST].what
    assert f"after {TRUNK_TRANSITIONS} transitions" in paper[TRUNK_LAST].what
    assert paper[TRUNK_LAST].met
    assert [row.ours for row in rows[-2:]] == [0.0, pytest.approx(5.0)]
    rising = traced(dance, np.linspace(100.0, 200.0, TRUNK_TRANSITIONS))
    stuck = criterion_rows(evolutions(rising, falling), 60)
    assert [row.met for row in stuck if row.paper == TRUNK_LAST] == [False]
    assert stuck[-2].ours == TRUNK_TRANSITIONS - 1
    assert "MUST MISSED" in table("Fig. 5", stuck)


def test_a_missing_mass_is_a_missing_force(robot: Rig, dance: Dance) -> None:
    """The truth explains a wrench without noise; CAD misses the weight of what the robot does not have."""
    truth = delivered_robot(robot)
    trial = exact_trial(robot, "dance", dance.sample(robot, RATE), truth)
    assert compare_wrenches(robot, trial, truth).rmse.max() < 1e-9
    short = (robot.prior.total_mass - truth.total_mass) * 9.81
    assert compare_wrenches(robot, trial, robot.prior).rmse[AXIS_FZ] == pytest.approx(short, rel=0.05)


def waving(rig: Rig) -> Motion:
    """Every coordinate on its own sum of two sinusoids: not a feasible dance, but it excites everything."""
    generator = np.random.default_rng(5)
    times = np.arange(0.0, 16.0, 1.0 / RATE)
    pitch, phase = generator.uniform(0.2, 1.0, (2, rig.nv)), generator.uniform(0.0, 6.0, (2, rig.nv))
    angles = 0.25 * np.sin(2.0 * np.pi * pitch * times[:, None, None] + phase).sum(axis=1)
    q = np.array([integrate(rig, rig.neutral, row) for row in angles])
    return smooth_motion(rig, times, q, None)


def test_a_load_unknown_to_the_identification_is_found(robot: Rig) -> None:
    """Without noise the base parameters are the truth's, and the arm gains most of the load by both methods.

    Not all of it: an arm's mass is no base parameter, part of it could as well be the trunk's, and there the prior
    decides.
    """
    truth, load, link = arm_load(robot)
    found = identify_body(robot, exact_trial(robot, "waving", waving(robot), truth), truth.total_mass)
    arm = [robot.index(name) for name in find_arm_links(robot, link)]
    for parameters in (found.paper, found.ours):
        assert 0.6 * load < float((parameters.masses - robot.prior.masses)[arm].sum()) < 1.2 * load
    assert found.structure == len(found.base.base)
    np.testing.assert_allclose(found.base.values, found.base.base.project(truth), rtol=1e-6, atol=1e-9)
    assert found.base.well_known(corrected=False).all()


def test_merged_links_leave_twelve_bodies(robot: Rig) -> None:
    """The masses stay, and 12 bodies have by (5) 10 + 7 base parameters, two for each arm and three for each leg."""
    phi, bodies = merge_links(robot)
    assert phi[:, 0].sum() == pytest.approx(robot.prior.total_mass)
    assert len(bodies) == 12
    assert not np.delete(phi, bodies, axis=0).any()
    rng = np.random.default_rng(0)
    q = integrate(robot, robot.neutral, 0.5 * rng.standard_normal((60, robot.nv)))
    v, a = rng.standard_normal((2, 60, robot.nv))
    found = count(robot, Motion(np.arange(60.0), q, v, a), merged=True)
    assert len(found.values) == 10 + 7 + 2 * (9 + 9) + 2 * (9 + 7 + 9)


def test_eliminated_parameters_make_others_known() -> None:
    """Two parameters that only act together are both unknown; without one of them the other is known."""
    factor = np.array([[100.0, 100.0, 0.0], [0.0, 1e-3, 0.0], [0.0, 0.0, 100.0]])
    found = Counted(factor, np.array([1.0, 0.5, 1.0]), np.arange(3))
    assert (found.known(), found.known_after_elimination()) == (1, 2)
    assert found.known(np.array([True, False, True])) == 2
