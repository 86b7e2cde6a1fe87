"""Laws of balance goals and of the root's path that reaches them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from solver.contacts.support import convex_polygon
from solver.rigs import hoap3
from solver.skeleton.rig import GRAVITY
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.rebalancing import SUPPORT_RESERVE, Rebalancer
from solver.trajectory.segment import free_control_count
from solver.trajectory.splines import REST_CONTROLS, Spline

CORNERS = np.array([[-0.1, -0.15], [0.1, -0.15], [0.1, 0.15], [-0.1, 0.15]])


@cache
def legged() -> LeggedRig:
    return LeggedRig(hoap3(torque="peak"), shrink=0.0)


@cache
def balancer(duration: float) -> Rebalancer:
    return Rebalancer(legged(), Spline(duration, free_control_count(duration, 0.2)), 81)


@pytest.mark.parametrize("duration", [0.6, 1.0, 8.0])
def test_goals_move_with_the_support(duration: float) -> None:
    """Goals are displaced and rotated like the postures and the support, and reversed in time like the postures."""
    first, last, away = np.array([0.05, -0.1]), np.array([-0.04, 0.12]), np.array([2.0, -3.0])
    plain = balancer(duration).plan_goals(first, last, convex_polygon(CORNERS))
    moved = balancer(duration).plan_goals(first + away, last + away, convex_polygon(CORNERS + away))
    turned = balancer(duration).plan_goals(-first, -last, convex_polygon(-CORNERS))
    back = balancer(duration).plan_goals(last, first, convex_polygon(CORNERS))
    np.testing.assert_allclose(moved - away, plain, atol=2e-6)
    np.testing.assert_allclose(-turned, plain, atol=2e-6)
    np.testing.assert_allclose(back[::-1], plain, atol=2e-6)


def test_a_slow_motion_leads_through_the_middle_of_the_support() -> None:
    """Goals begin and end at the postures, between them they are nearer to the centre, and never beyond it."""
    support = convex_polygon(CORNERS + np.array([0.5, 0.0]))
    corner = np.array([0.58, 0.12])
    goals = balancer(8.0).plan_goals(corner, corner, support)
    np.testing.assert_allclose(goals[[0, -1]], np.tile(corner, (2, 1)), atol=1e-12)
    share = (goals - corner) / (support.centre - corner)
    np.testing.assert_allclose(share[:, 0], share[:, 1], atol=1e-9)
    assert share[:, 0].argmax() == 40
    assert 0.2 < share[40, 0] < 0.5
    assert (np.diff(share[:41, 0]) > 0.0).all()
    centred = balancer(8.0).plan_goals(support.centre, support.centre, support)
    np.testing.assert_allclose(centred, np.tile(support.centre, (81, 1)), atol=1e-12)
    side = np.array([0.0, 0.1])
    straight = balancer(8.0).plan_goals(support.centre - side, support.centre + side, support)
    np.testing.assert_allclose(straight[40], support.centre, atol=1e-12)


@pytest.mark.parametrize("duration", [0.9, 1.1])
def test_goals_of_a_fast_motion_are_those_of_a_pendulum(duration: float) -> None:
    """Some path c of the centre of mass, from rest to rest, obeys zmp = c - h/g c''; the reserve is kept."""
    found = balancer(duration)
    first, last = np.array([0.0, -0.1]), np.array([0.03, 0.1])
    goals = found.plan_goals(first, last, convex_polygon(CORNERS))
    assert convex_polygon(CORNERS).margin(goals).min() > SUPPORT_RESERVE - 1e-6
    pendulum = found.basis.position - legged().rig.leg_length / GRAVITY * found.basis.acceleration
    com = np.linalg.lstsq(pendulum, goals, rcond=None)[0]
    np.testing.assert_allclose(pendulum @ com, goals, atol=1e-6)
    np.testing.assert_allclose(com[[0, -1]], [first, last], atol=1e-6)
    np.testing.assert_allclose(goals[[0, -1]], [first, last], atol=1e-9)


def test_a_rebalanced_root_brings_the_zero_moment_point_to_its_goals() -> None:
    """The iterations reduce the error and converge, for every candidate; the path's ends and all else stay.

    Only the solved legs' own splines follow their joints: they are the first guess of later solutions.
    """
    footing = legged().get_footing("both")
    home = legged().home_posture(footing)
    found = balancer(2.0)
    control = np.tile(home, (found.spline.count, 1))
    waving = np.array(control)
    waving[REST_CONTROLS:-REST_CONTROLS, legged().trunk[0]] += 0.3 * np.sin(np.linspace(0.0, np.pi, found.spline.free))
    centre = footing.polygon.centre
    goals = found.plan_goals(centre, centre, footing.polygon) + 0.01 * np.sin(np.pi * found.times / 2.0)[:, None] ** 4
    legs = np.concatenate(list(legged().leg_columns.values()))
    kept = np.setdiff1d(np.arange(2, control.shape[1]), legs)
    errors, ways = [], []
    for iterations in (0, 1, 6, 7):
        both = found.rebalance(np.stack([control, waving]), goals, footing.solved, iterations)
        y, curves, good = found.evaluate(both, footing.solved)
        assert good.all()
        if iterations > 1:
            assert np.abs(found.basis.position @ both - y.reshape(2, -1, y.shape[1]))[..., legs].max() < 0.03
        ways.append(both)
        errors.append(np.abs(legged().compute_zmp(curves).reshape(2, -1, 2) - goals).max(axis=(1, 2)))
        np.testing.assert_array_equal(
            both[:, [0, 1, 2, -3, -2, -1]], np.stack([control, waving])[:, [0, 1, 2, -3, -2, -1]]
        )
        np.testing.assert_array_equal(both[..., kept], np.stack([control, waving])[..., kept])
    assert (errors[0] > 0.009).all()
    assert (errors[1] < 0.4 * errors[0]).all()
    assert (errors[3] < 0.35 * errors[0]).all()
    np.testing.assert_allclose(ways[3], ways[2], atol=1e-5)
