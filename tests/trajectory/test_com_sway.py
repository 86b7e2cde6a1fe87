"""The sway of a pendulum is as small as its support allows, anticipates, and is at rest at both ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.contacts.support import convex_polygon
from solver.trajectory.com_sway import (
    RESERVE_PENALTY,
    SUPPORT_PENALTY,
    SWAY_UNIT,
    Pendulum,
    SupportRegions,
    TrunkTurn,
    _spline_bases,
    solve_least_sway,
)

GRAVITY, HEIGHT, RATE = 9.81, 0.8, 100.0


def sole(y: float) -> np.ndarray:
    """Corners (4, 2) [m] of a foot to the left."""
    return np.array([[-0.1, y - 0.04], [0.15, y - 0.04], [0.15, y + 0.04], [-0.1, y + 0.04]])


def stepping(seconds: float, count: int) -> SupportRegions:
    """A foot, both, the other foot, both, and so on, each as long."""
    feet = [sole(0.1), np.concatenate([sole(0.1), sole(-0.1)]), sole(-0.1), np.concatenate([sole(0.1), sole(-0.1)])]
    frames = int(seconds * RATE)
    phase = np.minimum(np.arange(frames * count) // frames, count - 1)
    polygons = [tuple(convex_polygon(feet[k % 4], shrink) for k in range(count)) for shrink in (0.0, 0.4)]
    return SupportRegions(phase, *polygons)


def pendulum(frames: int, zmp: np.ndarray | float = 0.0) -> Pendulum:
    """A mass that keeps over the middle between the feet."""
    points = np.zeros((frames, 2)) + zmp
    return Pendulum(np.arange(frames) / RATE, points, np.full(frames, HEIGHT / GRAVITY), np.zeros((frames, 2)),
                    np.ones(frames), HEIGHT, from_rest=True)  # fmt: skip


def moved(given: Pendulum, sway: np.ndarray) -> np.ndarray:
    """Zero-moment points (N, 2) [m] of the pendulum that sways, by differences."""
    bend = np.gradient(np.gradient(sway, given.times, axis=0), given.times, axis=0)
    return given.zmp + sway - given.lever[:, None] * bend


@pytest.mark.parametrize("seconds", [0.4, 1.5])
def test_weight_goes_over_the_foot_that_stands(seconds: float) -> None:
    """However quickly weight changes feet, the zero-moment point is within the foot that stands, in every frame."""
    supports = stepping(seconds, 8)
    given = pendulum(len(supports.phase))
    sway = solve_least_sway(given, supports, GRAVITY)
    assert sway is not None
    inside = slice(3, -3)
    points = moved(given, sway)
    left = [supports.polygons[k].margin(p[None])[0] for k, p in zip(supports.phase, points)]  # type: ignore[union-attr]
    assert min(left[inside]) > -0.004
    assert supports.polygons[0].margin(given.zmp[:1])[0] < -0.05  # type: ignore[union-attr]


def test_who_is_quick_sways_less() -> None:
    """The sway is smaller if the pendulum may fall from foot to foot than if it balances on each."""
    widths = []
    for seconds in (0.4, 1.5):
        supports = stepping(seconds, 8)
        sway = solve_least_sway(pendulum(len(supports.phase)), supports, GRAVITY)
        widths.append(np.ptp(sway[100:-100, 1]))
    assert widths[0] < 0.7 * widths[1]


def test_only_what_is_needed_moves() -> None:
    """Over both feet nothing moves; where these lack a yaw moment to the left the trunk turns so as not to need it."""
    supports, turned = stepping(1.0, 2), []
    both = SupportRegions(np.ones_like(supports.phase), supports.polygons, supports.reduced_polygons)
    lacks = np.where(np.abs(np.arange(len(both.phase)) - 100) < 5, -0.02, 0.05)
    for left in (np.full(len(lacks), 0.05), lacks):
        margins = np.stack([left, np.full(len(lacks), 0.05)], axis=1)
        turn = TrunkTurn(np.zeros(len(lacks)), np.tile([0.0, 0.0, 1e-3], (len(lacks), 1)), margins)
        found = solve_least_sway(replace(pendulum(len(lacks)), turn=turn), both, GRAVITY)
        assert found is not None
        assert np.abs(found[:, :2]).max() < 1e-5
        rate = np.gradient(np.gradient(found[:, 2], 1.0 / RATE), 1.0 / RATE)
        assert (margins - 1e-3 * rate[:, None] * [1.0, -1.0]).min() > -0.004
        turned.append(np.ptp(found[:, 2]))
    assert turned[0] < 1e-5 < 0.005 < turned[1] < 0.1


@pytest.mark.parametrize("duration", [0.05, 0.3, 0.62, 2.0])
def test_splines_of_a_sway_are_symmetric_in_time(duration: float) -> None:
    """They add up to one, are at rest at both ends, and reversed in time and order they are the same."""
    times = np.linspace(3.0, 3.0 + duration, 101)
    value, bend = (part.toarray() for part in _spline_bases(times, times, True))
    np.testing.assert_allclose(value.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(bend.sum(axis=1), 0.0, atol=1e-6 / duration**2)
    np.testing.assert_allclose(value[::-1, ::-1], value, atol=1e-9)
    np.testing.assert_allclose(bend[::-1, ::-1], bend, atol=1e-6 / duration**2)
    np.testing.assert_allclose(bend[[0, -1]], 0.0, atol=1e-6 / duration**2)
    assert (np.abs(value).max(axis=0) > 0.1).all()
    step = 1e-3 * duration
    before, here, after = (_spline_bases(times, times[5:-5] + d, True)[0].toarray() for d in (-step, 0.0, step))
    curvature = (before - 2.0 * here + after) / step**2
    np.testing.assert_allclose(curvature, bend[5:-5], atol=0.01 * np.abs(bend).max())


def bump(frames: int) -> np.ndarray:
    """A displacement (N, 2) [m] from rest to rest."""
    return 0.02 * np.sin(np.linspace(0.0, np.pi, frames))[:, None] ** 4 * [1.0, -0.5]


def test_a_needless_displacement_is_taken_back() -> None:
    """The least sway counts the displacement so far: where nothing needs it the pendulum returns."""
    supports = stepping(2.0, 2)
    both = SupportRegions(np.ones_like(supports.phase), supports.polygons, supports.reduced_polygons)
    still = pendulum(len(both.phase))
    away = bump(len(both.phase))
    sway = solve_least_sway(replace(still, displacement=away, zmp=moved(still, away)), both, GRAVITY)
    assert sway is not None
    np.testing.assert_allclose(sway, -away, atol=2e-4)


def test_a_sway_is_the_same_in_other_units_and_mirrored() -> None:
    """Lengths, and gravity with them, so many times as large give as large a sway; mirrored supports a mirrored one."""
    supports = stepping(0.6, 6)
    given = pendulum(len(supports.phase), np.array([0.01, 0.005]))
    plain = solve_least_sway(given, supports, GRAVITY)
    assert plain is not None

    def scaled(factors: np.ndarray) -> SupportRegions:
        return SupportRegions(supports.phase, *(
            tuple(convex_polygon(polygon.vertices * factors) for polygon in polygons if polygon is not None)
            for polygons in (supports.polygons, supports.reduced_polygons)
        ))  # fmt: skip

    large = replace(given, zmp=3.0 * given.zmp, height=3.0 * given.height)
    found = solve_least_sway(large, scaled(np.full(2, 3.0)), 3.0 * GRAVITY)
    assert found is not None
    np.testing.assert_allclose(found, 3.0 * plain, atol=3e-5)
    for mirror in (np.array([1.0, -1.0]), np.array([-1.0, 1.0])):
        found = solve_least_sway(replace(given, zmp=mirror * given.zmp), scaled(mirror), GRAVITY)
        assert found is not None
        np.testing.assert_allclose(found, mirror * plain, atol=1e-5)


def test_no_other_sway_costs_less() -> None:
    """Among smooth sways that keep as well inside, the mean square of position and acceleration is least."""
    supports = stepping(0.6, 6)
    given = pendulum(len(supports.phase))
    sway = solve_least_sway(given, supports, GRAVITY)
    assert sway is not None

    def cost(way: np.ndarray) -> float:
        """Mean squares, and what is outside the support and the reduced support, at the weights of the program."""
        unit = SWAY_UNIT * HEIGHT
        bend = np.gradient(np.gradient(way, given.times, axis=0), given.times, axis=0)
        total = ((way**2).sum() + (HEIGHT / GRAVITY) ** 2 * (bend**2).sum()) / (len(way) * unit**2)
        points = moved(given, way)
        for weight, polygons in ((SUPPORT_PENALTY, supports.polygons), (RESERVE_PENALTY, supports.reduced_polygons)):
            inside = np.array([polygons[k].edge_distances(p[None]).min() for k, p in zip(supports.phase, points)])  # type: ignore[union-attr]
            total += weight * np.maximum(-inside, 0.0).sum() / (len(way) * unit)
        return float(total)

    least = cost(sway)
    for factor in (0.9, 1.1):
        assert cost(factor * sway) > least
    for center in np.linspace(0.8, 2.8, 5):
        other = np.exp(-(((given.times - center) / 0.25) ** 2))[:, None] * [0.0, 0.004]
        assert cost(sway + other) > least < cost(sway - other)
