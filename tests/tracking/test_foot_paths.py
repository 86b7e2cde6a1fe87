"""Soles of swinging feet stay above the floor, whatever their outline and however suddenly they tilt."""

from __future__ import annotations

import numpy as np
import pytest

from solver.shape import ContactPolygon
from solver.so3 import exp
from solver.tracking.retargeting.foot_paths import FLOOR_TOLERANCE, _bounding_corners, _smooth_heights


def test_a_swing_stays_above_the_floor_and_begins_and_ends_at_rest() -> None:
    """Where a corner of the sole becomes the lowest at once, the spline is raised, and only there."""
    share = np.linspace(0.0, 1.0, 101)
    heights = 0.05 + 0.08 * np.clip(1.0 - np.abs(share - 0.5) / 0.1, 0.0, None)
    free, raised = (_smooth_heights(heights, least, True, True) for least in (np.full(101, -np.inf), heights))
    assert (free - heights).min() < -0.005
    assert (raised - heights).min() > -2.0 * FLOOR_TOLERANCE
    assert (raised - free).min() > -1e-12
    assert raised.max() < heights.max() + 0.05
    assert np.abs(np.diff(raised)[[0, -1]]).max() < 1e-4
    assert raised[[0, -1]] == pytest.approx(heights[[0, -1]], abs=1e-9)
    smooth = 0.05 + 0.03 * np.sin(np.pi * share) ** 4
    same = _smooth_heights(smooth, np.full(101, 0.0), True, True)
    np.testing.assert_array_equal(same, _smooth_heights(smooth, np.full(101, -np.inf), True, True))


def test_corners_of_a_sole_are_in_its_plane_and_around_it() -> None:
    """Every vertex is inside the box of the corners, also if the sole is tilted in its link."""
    outline = np.array([[0.1, 0.0], [0.05, 0.04], [-0.05, 0.03], [-0.06, 0.0], [-0.05, -0.03], [0.05, -0.04]])
    turn = exp(np.array([0.1, -0.2, 0.0]))
    vertices = np.column_stack([outline, np.zeros(6)])[::-1] @ turn.T + [0.02, 0.0, -0.07]
    sole = ContactPolygon("right_sole", "right_foot", vertices)
    corners = _bounding_corners(sole)
    assert (corners - sole.centroid) @ sole.outward == pytest.approx(0.0, abs=1e-12)
    assert (corners.min(axis=0)[:2] <= vertices.min(axis=0)[:2] + 1e-3).all()
    assert (corners.max(axis=0)[:2] >= vertices.max(axis=0)[:2] - 1e-3).all()
    flat = ContactPolygon("right_sole", "right_foot", np.column_stack([outline, np.full(6, -0.07)])[::-1])
    assert _bounding_corners(flat).min(axis=0) == pytest.approx([-0.06, -0.04, -0.07])
    assert _bounding_corners(flat).max(axis=0) == pytest.approx([0.1, 0.04, -0.07])
