"""The parabola of a flight: free fall between two stances, its apex and distances from it."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.scene.flight_arc import FlightArc
from solver.skeleton.rig import GRAVITY

TAKE_OFF, LANDING = np.array([0.1, 0.0, 0.9]), np.array([0.5, -0.1, 0.8])


@pytest.fixture
def arc() -> FlightArc:
    return FlightArc(1.0, 1.4, TAKE_OFF, LANDING)


def test_it_falls_freely_from_stance_to_stance(arc: FlightArc) -> None:
    """Both ends are met, and the second difference is g downwards at every instant."""
    times = np.linspace(1.0, 1.4, 41)
    places = arc.at(times)
    np.testing.assert_allclose(places[[0, -1]], [TAKE_OFF, LANDING], atol=1e-12)
    bends = np.diff(places, 2, axis=0) / 0.01**2
    np.testing.assert_allclose(bends, np.tile([0.0, 0.0, -GRAVITY], (39, 1)), atol=1e-8)
    np.testing.assert_allclose((places[1] - places[0]) / 0.01, arc.velocity, atol=0.006 * GRAVITY)


def test_nothing_is_higher_than_the_apex(arc: FlightArc) -> None:
    """Its height above take-off is v^2 / 2 g, and no point of the parabola is above it."""
    assert arc.apex[2] >= arc.at(np.linspace(1.0, 1.4, 4001))[:, 2].max()
    assert arc.rise == pytest.approx(arc.velocity[2] ** 2 / (2.0 * GRAVITY))
    assert FlightArc(0.0, 0.3, TAKE_OFF, TAKE_OFF).rise == pytest.approx(GRAVITY * 0.3**2 / 8.0)


def test_the_apex_of_a_drop_is_its_start() -> None:
    """Without upward speed the apex is the take-off; thrown up onto a box, it is the landing."""
    down = FlightArc(0.0, 0.2, TAKE_OFF, TAKE_OFF - np.array([0.0, 0.0, 0.5]))
    np.testing.assert_allclose(down.apex, TAKE_OFF)
    up = FlightArc(0.0, 0.2, TAKE_OFF, TAKE_OFF + np.array([0.0, 0.0, 0.5]))
    np.testing.assert_allclose(up.apex, up.landing)


def test_distances_from_the_parabola(arc: FlightArc) -> None:
    """A body that moves in a straight line misses the parabola most in the middle, by g T^2 / 8."""
    times = np.array([1.0, 1.2, 1.4])
    carried = TAKE_OFF + (LANDING - TAKE_OFF) * ((times - 1.0) / 0.4)[:, None]
    np.testing.assert_allclose(arc.distances(times, carried), [0.0, GRAVITY * 0.4**2 / 8.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("stop", [1.0, 0.5, np.nan])
def test_a_flight_has_a_duration(stop: float) -> None:
    """A flight that ends at or before its start is refused."""
    with pytest.raises(InvalidValue, match="must end after it starts"):
        FlightArc(1.0, stop, TAKE_OFF, LANDING)
