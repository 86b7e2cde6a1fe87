"""Laws of solids."""

from __future__ import annotations

import numpy as np
import pytest

from solver.rigs.solids import box_inertia


def test_a_box_is_eight_boxes_of_half_its_sides() -> None:
    """Its inertia is that of its eighths, each moved from its own centre by the parallel axis theorem."""
    mass, sides = 3.0, np.array([0.2, 0.5, 0.9])
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * sides / 4.0
    eighth = box_inertia(mass / 8.0, sides / 2.0)
    moved = [eighth + mass / 8.0 * (c @ c * np.eye(3) - np.outer(c, c)) for c in corners]
    np.testing.assert_allclose(box_inertia(mass, sides), sum(moved), rtol=1e-12, atol=1e-15)


def test_a_thin_rod_turns_by_a_twelfth_about_its_middle() -> None:
    """A box of length l and no width has m l^2 / 12 across and nothing along."""
    found = box_inertia(2.4, [0.0, 0.0, 0.5])
    assert np.diag(found) == pytest.approx([2.4 * 0.25 / 12.0, 2.4 * 0.25 / 12.0, 0.0])
