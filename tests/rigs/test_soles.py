"""Laws of soles: only what is flat at the bottom of a foot carries it."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.so3 import from_rpy
from solver.contacts.support import convex_polygon
from solver.rigs.soles import find_bearing_shapes, find_sole
from solver.values.shape import Shape

UPRIGHT = np.eye(3)


def _area(shapes: list[Shape], rotation: np.ndarray = UPRIGHT) -> float:
    sole = find_sole("foot", rotation, shapes)
    return 0.0 if sole is None else convex_polygon((sole.vertices @ rotation.T)[:, :2]).area


def _ball(x: float, y: float) -> Shape:
    return Shape("foot", "sphere", (0.01,), UPRIGHT, np.array([x, y, 0.0]))


def _chamfered() -> Shape:
    """A sole of 0.2 m by 0.1 m whose rim rises by 3 mm over 2 cm."""
    flat = [[x, y, 0.0] for x in (-0.08, 0.08) for y in (-0.03, 0.03)]
    rim = [[x, y, 0.003] for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    top = [[x, y, 0.04] for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    corners, faces = np.array(flat + rim + top), np.array([[0, 1, 2]])
    return Shape("foot", "mesh", (1.0, 1.0, 1.0), UPRIGHT, np.zeros(3), corners, faces)


def test_a_chamfer_carries_nothing() -> None:
    """Of a sole with a rim that rises only the flat middle is claimed, 96 of 200 cm^2."""
    assert _area([_chamfered()]) == pytest.approx(0.16 * 0.06)


def test_a_leaning_sole_is_found() -> None:
    """A foot that leans while every joint is at zero has the same sole, in its own plane."""
    lean = from_rpy(np.array([0.0, 0.2, 0.0]))
    sole = find_sole("foot", lean, [_chamfered()])
    assert np.ptp(sole.vertices, axis=0) == pytest.approx([0.16, 0.06, 0.0], abs=1e-3)


def test_a_ball_is_no_sole_but_four_balls_are() -> None:
    """A point foot has no sole; four balls carry the rectangle between their lowest points."""
    assert _area([_ball(0.0, 0.0)]) == 0.0
    four = [_ball(x, y) for x in (-0.05, 0.1) for y in (-0.03, 0.03)]
    assert _area(four) == pytest.approx(0.15 * 0.06)
    sole = find_sole("foot", UPRIGHT, four)
    np.testing.assert_allclose(sole.vertices[:, 2], -0.01)


def test_soles_run_counter_clockwise_seen_from_below() -> None:
    """As `ContactPolygon` requires."""
    sole = find_sole("foot", UPRIGHT, [_chamfered()])
    p = sole.vertices
    assert sum(np.cross(a, b)[2] for a, b in zip(p, np.roll(p, -1, axis=0))) < 0


def test_two_capsules_carry_what_lies_between_them() -> None:
    """A foot of two parallel capsules stands on both, however it leans while every joint is at zero."""
    across = from_rpy(np.array([0.0, np.pi / 2.0, 0.0]))
    pair = [Shape("foot", "capsule", (0.025, 0.08), across, np.array([0.05, y, 0.0])) for y in (-0.03, 0.03)]
    for roll, pitch in ((0.0, 0.0), (0.4, 0.0), (-0.35, 0.2)):
        lean = from_rpy(np.array([roll, pitch, 0.0]))
        sole = find_sole("foot", lean, pair)
        np.testing.assert_allclose(sole.vertices[:, 2], -0.025, atol=2e-4)
        assert convex_polygon(sole.vertices[:, :2]).area == pytest.approx(0.16 * 0.06, rel=0.05)


def test_specks_mark_places() -> None:
    """A cube of a millimetre below a foot is left out; three and more on one link are what it stands on."""
    places = [np.array([x, y, -0.003]) for x in (0.0, 0.1) for y in (0.0, 0.05)]
    speck = [Shape("foot", "box", (0.0005,) * 3, UPRIGHT, place) for place in places]
    assert find_bearing_shapes([_chamfered(), *speck[:2]]) == [True, False, False]
    assert find_bearing_shapes([_chamfered(), *speck]) == [True] * 5
    assert find_bearing_shapes(speck[:2]) == [True, True]
