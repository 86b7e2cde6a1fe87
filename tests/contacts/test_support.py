"""Laws of the support polygon, on shapes with distances known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.contacts.schedule import stance
from solver.feasibility import convex_polygon, support_polygon
from solver.rigs import hoap3

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, 1.0], [1.0, 0.0]])


def test_distance_to_a_square() -> None:
    """The margin is the distance to the nearest edge inside, and minus the distance to the border outside."""
    polygon = convex_polygon(SQUARE)
    points = np.array([[1.0, 1.0], [0.25, 1.0], [2.0, 1.0], [3.0, 1.0], [5.0, 6.0]])
    np.testing.assert_allclose(polygon.margin(points), [1.0, 0.25, 0.0, -1.0, -5.0], atol=1e-12)
    assert len(polygon.vertices) == 4
    assert polygon.area == pytest.approx(4.0)


def test_edge_distances_are_the_margin_inside() -> None:
    """Inside the polygon the smallest edge distance is the margin; outside it is at least the margin."""
    polygon = convex_polygon(SQUARE)
    points = np.random.default_rng(0).uniform(-1.0, 3.0, (200, 2))
    margin, edges = polygon.margin(points), polygon.edge_distances(points).min(axis=1)
    inside = margin >= 0.0
    assert 20 < inside.sum() < 180
    np.testing.assert_allclose(edges[inside], margin[inside], atol=1e-12)
    assert np.all(edges[~inside] >= margin[~inside] - 1e-12)


def test_shrinking_keeps_centre_and_shape() -> None:
    """A polygon shrunk by 40 % has the same centre and 0.6^2 of the area."""
    whole, shrunk = convex_polygon(SQUARE), convex_polygon(SQUARE, 0.4)
    np.testing.assert_allclose(shrunk.centre, whole.centre, atol=1e-12)
    assert shrunk.area == pytest.approx(0.36 * whole.area)
    assert shrunk.margin(whole.centre[None])[0] == pytest.approx(0.6)


@pytest.mark.parametrize("shrink", [0.0, 0.4, 0.9])
def test_shrunk_polygon_of_two_feet_contains_each_foot(shrink: float) -> None:
    """For every shrink fraction the polygon of two feet contains the shrunk polygon of each foot."""
    rig = hoap3()
    both = support_polygon(rig, stance(rig, "both"), shrink)
    for side in ("right", "left"):
        assert both.margin(support_polygon(rig, stance(rig, side), shrink).vertices).min() > -1e-12


def test_a_polygon_without_area_is_refused() -> None:
    """Points on one line are an error."""
    with pytest.raises(InvalidValue, match="no area"):
        convex_polygon(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
