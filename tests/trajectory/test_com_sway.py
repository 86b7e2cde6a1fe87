"""The sway of a pendulum is as small as its support allows, anticipates, and is at rest at both ends."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse

from solver.contacts.support import SupportPolygon, convex_polygon
from solver.trajectory.com_sway import (
    LIMIT_PENALTY,
    RESERVE_PENALTY,
    SWAY_UNIT,
    SwayingBody,
    WrenchLimits,
    _spline_bases,
    solve_least_sway,
)

GRAVITY, HEIGHT, RATE, UNIT = 9.81, 0.8, 100.0, 0.02


def sole(y: float) -> np.ndarray:
    """Corners (4, 2) [m] of a foot to the left."""
    return np.array([[-0.1, y - 0.04], [0.15, y - 0.04], [0.15, y + 0.04], [-0.1, y + 0.04]])


Polygons = tuple[list[SupportPolygon], list[SupportPolygon]]


def stepping(seconds: float, count: int, factors: np.ndarray | float = 1.0, first: int = 0) -> Polygons:
    """Of each frame: from the first on a foot, both, the other foot, both, each as long; and the same, shrunk."""
    feet = [sole(0.1), np.concatenate([sole(0.1), sole(-0.1)]), sole(-0.1), np.concatenate([sole(0.1), sole(-0.1)])]
    frames = int(seconds * RATE)
    one, other = (
        [convex_polygon(feet[(k + first) % 4] * factors, shrink) for k in range(count)] for shrink in (0.0, 0.4)
    )
    return tuple([each[k // frames] for k in range(frames * count)] for each in (one, other))  # type: ignore[return-value]


def limits(supports: Polygons, zmp: np.ndarray) -> WrenchLimits:
    """Distances of zero-moment points (N, 2) [m], under a body that weighs one, from the edges of both polygons."""
    parts = []
    for kind, polygons in enumerate(supports):
        for frame, (polygon, point) in enumerate(zip(polygons, zmp)):
            for (x, y), offset, margin in zip(polygon.normals, polygon.offsets, polygon.edge_distances(point[None])[0]):
                parts.append((frame, margin / UNIT, np.array([0.0, 0.0, -offset, y, -x, 0.0]) / UNIT, kind))
    frames, margins, slopes, group = (np.array(each) for each in zip(*parts))
    none = np.zeros((len(frames), 4))
    return WrenchLimits(frames, margins, slopes, none, group, np.where(group, RESERVE_PENALTY, LIMIT_PENALTY))


def body(frames: int, height: float = HEIGHT, gravity: float = GRAVITY, push: float = 0.0) -> SwayingBody:
    """A mass that keeps over the middle between the feet; its trunk gives a yaw moment as it accelerates."""
    times = np.arange(frames) / RATE
    value, bend = np.eye(frames), np.gradient(np.gradient(np.eye(frames), times, axis=0), times, axis=0)
    tilt = value - height / gravity * bend
    rows = [{4: -tilt}, {3: tilt}, {}, {5: push * bend}]
    responses = [
        sparse.csr_array(np.stack([own.get(k, 0.0 * value) for k in range(6)], axis=1).reshape(6 * frames, frames))
        for own in rows
    ]
    return SwayingBody(times, np.zeros((frames, 4)), tuple(responses), height, from_rest=True)


def least_sway(supports: Polygons, zmp: np.ndarray | float = 0.0, displacement: np.ndarray | None = None) -> np.ndarray:
    """Sway (N, 2) [m] of a mass with zero-moment points (N, 2) [m]."""
    given = body(len(supports[0]))
    if displacement is not None:
        given = replace(given, displacement=np.column_stack([displacement, np.zeros((len(displacement), 2))]))
    found = solve_least_sway(given, limits(supports, np.zeros((len(given.times), 2)) + zmp), GRAVITY)
    assert found is not None
    assert np.abs(found[:, 2:]).max() < 1e-6
    return found[:, :2]


def moved(sway: np.ndarray) -> np.ndarray:
    """By how much zero-moment points (N, 2) [m] move with a sway, by differences."""
    step = 1.0 / RATE
    return sway - HEIGHT / GRAVITY * np.gradient(np.gradient(sway, step, axis=0), step, axis=0)


@pytest.mark.parametrize("seconds", [0.4, 1.5])
def test_weight_goes_over_the_foot_that_stands(seconds: float) -> None:
    """However quickly weight changes feet, the zero-moment point is within the foot that stands, in every frame."""
    supports = stepping(seconds, 8)
    points = moved(least_sway(supports))
    left = [polygon.margin(point[None])[0] for polygon, point in zip(supports[0], points)]
    assert min(left[3:-3]) > -0.004
    assert supports[0][0].margin(np.zeros((1, 2)))[0] < -0.05


def test_only_what_is_needed_moves() -> None:
    """Over both feet nothing moves; where these lack a yaw moment to the left the trunk turns so as not to need it."""
    given, turned = body(200, push=1e-3), []
    lacks = np.where(np.abs(np.arange(200) - 100) < 5, -0.02, 0.05)
    held = limits(stepping(2.0, 1, first=1), np.zeros((200, 2)))
    for left in (np.full(200, 0.05), lacks):
        margins = np.stack([left, np.full(200, 0.05)])
        yaw = WrenchLimits(
            np.tile(np.arange(200), 2), margins.ravel() / UNIT,
            np.repeat([[0.0] * 5 + [-1.0 / UNIT], [0.0] * 5 + [1.0 / UNIT]], 200, axis=0),
            np.zeros((400, 4)), np.repeat([2, 3], 200), np.full(400, LIMIT_PENALTY),
        )  # fmt: skip
        names = [field.name for field in fields(WrenchLimits)]
        every = WrenchLimits(*(np.concatenate([getattr(held, name), getattr(yaw, name)]) for name in names))
        found = solve_least_sway(given, every, GRAVITY)
        assert found is not None
        assert np.abs(found[:, :2]).max() < 1e-5
        rate = np.gradient(np.gradient(found[:, 3], 1.0 / RATE), 1.0 / RATE)
        assert (margins.T - 1e-3 * rate[:, None] * [1.0, -1.0]).min() > -0.004
        turned.append(np.ptp(found[:, 3]))
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
    away = bump(400)
    np.testing.assert_allclose(least_sway(stepping(4.0, 1, first=1), moved(away), away), -away, atol=2e-4)


def test_a_sway_is_the_same_in_other_units_and_mirrored() -> None:
    """Lengths, and gravity with them, so many times as large give as large a sway; mirrored supports a mirrored one."""
    zmp = np.array([0.01, 0.005])
    plain = least_sway(stepping(0.6, 6), zmp)
    large = limits(stepping(0.6, 6, 3.0), np.zeros((len(plain), 2)) + 3.0 * zmp)
    large = replace(large, margins=large.margins / 3.0, slopes=large.slopes / 3.0)
    found = solve_least_sway(body(len(plain), 3.0 * HEIGHT, 3.0 * GRAVITY), large, 3.0 * GRAVITY)
    assert found is not None
    np.testing.assert_allclose(found[:, :2], 3.0 * plain, atol=3e-5)
    for mirror in (np.array([1.0, -1.0]), np.array([-1.0, 1.0])):
        np.testing.assert_allclose(least_sway(stepping(0.6, 6, mirror), mirror * zmp), mirror * plain, atol=1e-5)


def test_no_other_sway_costs_less() -> None:
    """Among smooth sways that keep as well inside, the mean square of position and acceleration is least."""
    supports = stepping(0.6, 6)
    sway = least_sway(supports)

    def cost(way: np.ndarray) -> float:
        """Mean squares, and what is outside the support and the reduced support, at the weights of the program."""
        unit = SWAY_UNIT * HEIGHT
        bend = np.gradient(np.gradient(way, 1.0 / RATE, axis=0), 1.0 / RATE, axis=0)
        total = ((way**2).sum() + (HEIGHT / GRAVITY) ** 2 * (bend**2).sum()) / (len(way) * unit**2)
        points = moved(way)
        for weight, polygons in zip((LIMIT_PENALTY, RESERVE_PENALTY), supports):
            inside = np.array([polygon.edge_distances(p[None]).min() for polygon, p in zip(polygons, points)])
            total += weight * np.maximum(-inside, 0.0).sum() / (len(way) * UNIT)
        return float(total)

    least = cost(sway)
    assert cost(0.9 * sway) > least < cost(1.1 * sway)
    times = np.arange(len(sway)) / RATE
    for center in np.linspace(0.8, 2.8, 5):
        other = np.exp(-(((times - center) / 0.25) ** 2))[:, None] * [0.0, 0.004]
        assert cost(sway + other) > least < cost(sway - other)
