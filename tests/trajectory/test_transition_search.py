"""The nonlinear program of one transition, and the sequence of linear programs that solves it."""

from __future__ import annotations

import numpy as np
import pytest

from solver import qp
from solver.dance.design.phrases import free_columns
from solver.dance.design.plan import build_transition_planner
from solver.dance.design.published import build_criterion, excited_columns
from solver.dynamics import integrate
from solver.dynamics.coordinates import Curves
from solver.feasibility.checks.joint_limits import ANGLE_SAMPLING_MARGIN
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.expected_deviations import ExpectedDeviations
from solver.options.dances import DEFAULT_VIA_POINTS, DanceOptions
from solver.rigs import hoap3
from solver.skeleton.rig import ROOT_NV
from solver.trajectory.legged_rig import Footing
from solver.trajectory.segment import DanceSegment, SegmentChecker, free_control_count
from solver.trajectory.transition_problem import TransitionAim, TransitionProblem
from solver.trajectory.transition_search import build_subproblem, deviation_step, linearise, search_transition

RIG = hoap3(torque="peak")
SPACING = 0.2
ALL = free_control_count(2.0, SPACING)
"""Control values of the path's coordinates."""
PARENT = build_transition_planner(RIG, DanceOptions(min_duration=2.0, knot_spacing=SPACING, workers=1))
STRUCTURE = base_parameters(RIG)


@pytest.fixture(scope="module")
def path() -> tuple[DanceSegment, Footing]:
    """A bow on both feet."""
    footing = PARENT.legged.get_footing("both")
    home = PARENT.legged.home_posture(footing)
    bowed = home.copy()
    bowed[PARENT.legged.trunk[0]] += 0.3
    bowed, _ = PARENT.legged.balance(bowed[None], footing.polygon.centre[None], footing.solved)
    straight, trouble = PARENT.plan_straight("bow", home, bowed[0], footing)
    assert straight is not None, trouble
    return straight, footing


def problem_of(path: tuple[DanceSegment, Footing], objective: str, via: int) -> TransitionProblem:
    """The transition problem of the bow."""
    straight, footing = path
    if objective == "sigma":
        sigma = ExpectedDeviations(STRUCTURE, RIG.prior)
        columns = np.sort(free_columns(PARENT.legged, "both"))
        aim = TransitionAim(sigma, sigma.prior_matrices, columns, via)
        return TransitionProblem(PARENT.legged, PARENT.coarse_checker, straight, footing, aim)
    grams = build_criterion(PARENT.legged, STRUCTURE, np.array(RIG.masses), "both")
    columns = np.sort(excited_columns(PARENT.legged, "both"))
    aim = TransitionAim(grams, grams.prior_matrices, columns, via)
    return TransitionProblem(PARENT.legged, PARENT.coarse_checker, straight, footing, aim)


@pytest.mark.parametrize(
    ("objective", "via"), [("sigma", ALL), ("sigma", DEFAULT_VIA_POINTS), ("criterion", DEFAULT_VIA_POINTS)]
)
def test_the_gradient_is_the_derivative_of_the_rebalanced_motion(
    path: tuple[DanceSegment, Footing], objective: str, via: int
) -> None:
    """Criterion and limits change along a random direction as their slopes say, rebalancing included."""
    problem = problem_of(path, objective, via)
    straight = problem.start
    generator = np.random.default_rng(1)
    some = 0.02 * problem.scale * generator.standard_normal(straight.offsets.shape)
    here = problem.evaluate_steps(some[None], straight, 6)[1][0]
    slopes = linearise(problem, here)
    direction = problem.scale * generator.standard_normal(some.shape)
    step = 1e-4
    up, down = (problem.evaluate_steps((some + s * step * direction)[None], here, 6)[1][0] for s in (1.0, -1.0))
    expected = float((slopes.gradient * direction).sum())
    assert (up.value - down.value) / (2.0 * step) == pytest.approx(expected, rel=0.05, abs=1e-3 * abs(here.value))
    change = (linearise(problem, down).lower - linearise(problem, up).lower) / (2.0 * step)
    predicted = np.einsum("rkv,vk->r", slopes.limits, direction)
    # the root follows nearly, not quite, as an inverted pendulum would: see `Rebalancer`
    assert np.linalg.norm(change - predicted) < 0.1 * np.linalg.norm(predicted)


def test_a_linear_program_keeps_its_limits(path: tuple[DanceSegment, Footing]) -> None:
    """A step stays within trust, joint ranges and speeds, and within the linear model of legs and torques."""
    problem = problem_of(path, "sigma", ALL)
    start = problem.start
    slopes = linearise(problem, start)
    solution = qp.solve(build_subproblem(problem, start, slopes, 0.2), qp.LINEAR)
    assert solution.status is qp.Status.OPTIMAL
    step = deviation_step(problem, solution)
    assert float((slopes.gradient * step).sum()) < 0.0
    assert (np.abs(step) <= 0.2 * problem.scale + 1e-9).all()
    control = start.control[:, problem.columns] + problem.variable_map @ step
    assert (control >= problem.lower - 1e-7).all()
    assert (control <= problem.upper + 1e-7).all()
    assert (np.abs(problem.basis.velocity @ control) <= problem.speed + 1e-6).all()
    change = np.einsum("rkv,vk->r", slopes.limits, step)
    assert (change <= np.maximum(slopes.upper, 0.0) + 1e-6).all()
    assert (change >= np.minimum(slopes.lower, 0.0) - 1e-6).all()


def test_ranges_of_the_variables_keep_the_sampling_margin(path: tuple[DanceSegment, Footing]) -> None:
    """A range lacks more than the sampling margin of the joint's own, and includes the straight path all the same.

    The root's range lacks nothing, but ends near the path: higher by a share of the leg length, turned by some tenths.
    """
    problem = problem_of(path, "sigma", ALL)
    columns, control = problem.columns, path[0].control[:, problem.columns]
    least, most = control.min(axis=0), control.max(axis=0)
    assert (problem.lower <= least).all()
    assert (problem.upper >= most).all()
    assert (problem.scale > 0.0).all()
    legged, joints = PARENT.legged, columns >= ROOT_NV
    assert (problem.speed > 0.9 * legged.speed[columns])[joints].all()
    for room, inside in (
        (problem.lower - legged.lower[columns], least > problem.lower),
        (legged.upper[columns] - problem.upper, most < problem.upper),
    ):
        assert (joints & inside).sum() > 5
        assert (room[joints & inside] > ANGLE_SAMPLING_MARGIN).all()
        assert (room[joints & inside] < 2.0 * ANGLE_SAMPLING_MARGIN).all()
    turned, raised = (columns >= 3) & ~joints, columns == 2
    assert turned.any()
    for reach in (problem.upper - most, least - problem.lower):
        assert ((reach[turned] > 0.1) & (reach[turned] < 0.6)).all()
        assert ((reach[raised] > 0.0) & (reach[raised] < 0.1 * RIG.leg_length)).all()


@pytest.fixture(scope="module")
def lifting() -> TransitionProblem:
    """On the left foot, the other is lifted higher."""
    footing = PARENT.legged.get_footing("left")
    ends = np.tile(PARENT.legged.home_posture(footing), (2, 1))
    ends[:, PARENT.legged.leg_columns["right"][2:5]] += np.outer([1.0, 1.4], [-0.3, 0.6, -0.3])
    ends, _ = PARENT.legged.balance(ends, np.tile(footing.polygon.centre, (2, 1)), footing.solved)
    straight, trouble = PARENT.plan_straight("lifting", ends[0], ends[1], footing)
    assert straight is not None, trouble
    sigma = ExpectedDeviations(STRUCTURE, RIG.prior)
    columns = np.sort(free_columns(PARENT.legged, "left"))
    return TransitionProblem(PARENT.legged, PARENT.coarse_checker, straight, footing, TransitionAim(sigma,
        sigma.prior_matrices,
                             columns, ALL))  # fmt: skip


def test_heights_of_a_foot_in_the_air_have_derivatives(lifting: TransitionProblem) -> None:
    """Heights of all four corners change as their derivatives predict, and the lowest is the check's margin."""
    curves, anchors = lifting.curves(lifting.start.rates), lifting.straight.anchors
    loads = PARENT.coarse_checker.linearise_loads(curves, anchors)
    checked = {
        margin.name: margin for margin in PARENT.coarse_checker.checks(lifting.basis.times, curves, anchors).margins
    }
    foot = checked["floor"].values[:, checked["floor"].items.index("right_foot")]
    np.testing.assert_allclose(loads.other_margins[:, -4:].min(axis=1), foot, atol=1e-9)
    direction, step = np.random.default_rng(2).standard_normal(RIG.nv), 1e-6
    ahead, behind = (
        PARENT.coarse_checker.linearise_loads(
            Curves(integrate(RIG, curves.q, np.tile(s * step * direction, (len(curves.q), 1))), curves.v, curves.a),
            anchors,
        )
        for s in (1.0, -1.0)
    )
    change = (ahead.other_margins - behind.other_margins)[:, -4:] / (2.0 * step)
    np.testing.assert_allclose(loads.derivatives[0, :, -4:] @ direction, change, atol=1e-6)


def test_linear_programs_keep_a_free_foot_above_the_floor(lifting: TransitionProblem) -> None:
    """A whole step keeps its height, where without the rows of its corners it would be 12 mm too low."""
    start = lifting.start
    step = deviation_step(
        lifting, qp.solve(build_subproblem(lifting, start, linearise(lifting, start), 0.3), qp.LINEAR)
    )
    trial = lifting.evaluate_steps((start.offsets + step)[None], start)[1][0]
    checks = PARENT.coarse_checker.checks(lifting.basis.times, lifting.curves(trial.rates), lifting.straight.anchors)
    assert next(float(margin.smallest.min()) for margin in checks.margins if margin.name == "floor") >= 0.0


def test_linear_programs_keep_the_sampling_margin_of_torques(lifting: TransitionProblem) -> None:
    """Room for torques ends where the coarse check of them does: a step that uses all of it is accepted."""
    slopes, curves = linearise(lifting, lifting.start), lifting.curves(lifting.start.rates)
    checks = PARENT.coarse_checker.checks(lifting.basis.times, curves, lifting.straight.anchors)
    margin = next(margin for margin in checks.margins if margin.name == "joint torque")
    left = (margin.values - PARENT.coarse_checker.sampling_factor * margin.check.sampling_margin) * RIG.limits.torque
    room = np.minimum(slopes.upper, -slopes.lower)
    assert np.isclose(room[:, None], left.ravel(), atol=1e-9).any(axis=0).all()


@pytest.mark.parametrize("objective", ["sigma", "criterion"])
def test_every_round_is_no_worse_and_feasible(path: tuple[DanceSegment, Footing], objective: str) -> None:
    """Values never rise, what is returned keeps every limit, and a second search finds the same."""
    problem = problem_of(path, objective, DEFAULT_VIA_POINTS)
    found = search_transition(problem, 3)
    assert (np.diff([one.value for one in found.accepted]) <= 0.0).all()
    assert found.point.value < 0.99 * found.accepted[0].value
    assert problem.margins([found.point])[0] >= 0.0
    np.testing.assert_array_equal(search_transition(problem, 3).point.control, found.point.control)


def test_a_path_nearer_to_a_limit_than_the_slack_is_deviated_from(path: tuple[DanceSegment, Footing]) -> None:
    """Where the straight path lacks some of the slack a search still finds better, within the limits themselves."""
    straight, footing = path
    strict = SegmentChecker(
        RIG, PARENT.coarse_checker.options, 2.0
    )  # home's arms are 3.7 mm from the trunk, 2 mm the slack
    sigma = ExpectedDeviations(STRUCTURE, RIG.prior)
    aim = TransitionAim(sigma, sigma.prior_matrices, np.sort(free_columns(PARENT.legged, "both")), ALL)
    problem = TransitionProblem(PARENT.legged, strict, straight, footing, aim)
    curves = problem.curves(problem.start.rates)
    assert strict.worst_margins(curves, straight.anchors).min() < 0.0
    assert problem.margins([problem.start])[0] > 0.0
    found = search_transition(problem, 3)
    assert found.point.value < 0.99 * found.accepted[0].value
    own = problem.curves(found.point.rates)
    assert SegmentChecker(RIG, PARENT.coarse_checker.options).worst_margins(own, straight.anchors).min() >= 0.0
    assert 0.0 < strict.margin_allowances(curves, straight.anchors)["self-collision"] < 0.004


def test_more_via_points_are_never_worse_for_long(path: tuple[DanceSegment, Footing]) -> None:
    """All control values of a segment reach a lower mean deviation than two via points of each joint."""
    few = search_transition(problem_of(path, "sigma", DEFAULT_VIA_POINTS), 4).point.value
    assert search_transition(problem_of(path, "sigma", ALL), 4).point.value < few


def test_splines_of_every_duration_hold_two_via_points() -> None:
    """The number of control values grows with the duration, the more the nearer knots lie, and refines two."""
    wide, near = (
        [free_control_count(duration, spacing) for duration in (0.5, 1.0, 2.5, 3.0, 5.0, 12.0)]
        for spacing in (0.28, 0.2)
    )
    assert (wide, near) == (sorted(wide), sorted(near))
    assert all(few < more for few, more in zip(wide, near))
    assert all((count + 1) % (DEFAULT_VIA_POINTS + 1) == 0 for count in (*wide, *near))
    assert near[-1] * 0.2 == pytest.approx(12.0, abs=3 * 0.2)
