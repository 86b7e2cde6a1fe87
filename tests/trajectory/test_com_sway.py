"""The sway of a pendulum is as small as its support allows, anticipates, and is at rest at both ends."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.support import convex_polygon
from solver.trajectory.com_sway import Pendulum, SupportRegions, solve_least_sway

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
    return Pendulum(np.arange(frames) / RATE, points, np.full(frames, HEIGHT / GRAVITY), np.zeros((frames, 2)), HEIGHT)


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
        assert sway is not None
        widths.append(np.ptp(sway[100:-100, 1]))
    assert widths[0] < 0.7 * widths[1]


def test_nothing_moves_that_stands_inside() -> None:
    """A zero-moment point in the middle of both feet needs no sway."""
    supports = stepping(1.0, 2)
    both = SupportRegions(np.ones_like(supports.phase), supports.polygons, supports.reduced_polygons)
    sway = solve_least_sway(pendulum(len(both.phase)), both, GRAVITY)
    assert sway is not None
    assert np.abs(sway).max() < 1e-5


def test_it_is_at_rest_at_both_ends() -> None:
    """The sway begins and ends without speed and acceleration, and flight needs none."""
    supports = stepping(0.8, 5)
    flown = SupportRegions(supports.phase, (*supports.polygons[:4], None), (*supports.reduced_polygons[:4], None))
    sway = solve_least_sway(pendulum(len(flown.phase)), flown, GRAVITY)
    assert sway is not None
    speed = np.gradient(sway, 1.0 / RATE, axis=0)
    assert np.abs(speed[[0, -1]]).max() < 1e-3
    assert np.abs(speed).max() > 0.1
