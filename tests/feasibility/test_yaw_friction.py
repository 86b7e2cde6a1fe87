"""The yaw moment that planted soles hold by friction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from solver.feasibility.contact_forces import half_lengths, yaw_margins_by_side

MU, WEIGHT = 0.6, 300.0
X, Y = 0.11, 0.06
CORNERS = np.array([[X, Y, 0.0], [X, -Y, 0.0], [-X, -Y, 0.0], [-X, Y, 0.0]])
UPRIGHT = np.eye(2)[None]


def held_by_corners(wrench: np.ndarray) -> bool:
    """Whether forces at a sole's corners, each in a friction pyramid inside Coulomb's cone, add up to a wrench."""
    mu = MU / np.sqrt(2.0)
    effect = np.zeros((6, 12))
    for k, corner in enumerate(CORNERS):
        effect[:3, 3 * k : 3 * k + 3] = np.eye(3)
        effect[3:, 3 * k : 3 * k + 3] = np.cross(corner, np.eye(3)).T
    rows = []
    for k in range(4):
        for axis in range(2):
            for sign in (-1.0, 1.0):
                row = np.zeros(12)
                row[3 * k + axis], row[3 * k + 2] = sign, -mu
                rows.append(row)
    bounds = [(0.0, None) if k % 3 == 2 else (None, None) for k in range(12)]
    found = linprog(
        np.zeros(12), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=effect, b_eq=wrench, bounds=bounds
    )
    return bool(found.status == 0)


def test_a_sole_holds_what_forces_at_its_corners_can_add_up_to() -> None:
    """Where centre of pressure and sliding are within bounds, the margin's sign says whether the corners can hold."""
    random = np.random.default_rng(3)
    counts = {True: 0, False: 0}
    for _ in range(200):
        normal = random.uniform(50.0, 600.0)
        mu = MU / np.sqrt(2.0)
        slide = random.uniform(-0.9, 0.9, 2) * mu * normal
        tilt = random.uniform(-0.9, 0.9, 2) * normal * np.array([Y, X])
        yaw = random.uniform(-1.2, 1.2) * mu * (X + Y) * normal
        wrench = np.array([*slide, normal, *tilt, yaw])
        halves = half_lengths(CORNERS, UPRIGHT[0])[None]
        margin = float(yaw_margins_by_side(wrench[None, None], np.zeros((1, 3)), UPRIGHT, halves, MU, WEIGHT).min())
        if abs(margin) > 1e-6:
            counts[margin > 0.0] += 1
            assert held_by_corners(wrench) == (margin > 0.0)
    assert min(counts.values()) > 30


@pytest.mark.parametrize("turn", [0.0, 0.7, -2.0])
def test_the_heading_does_not_matter(turn: float) -> None:
    """Wrench and sole turned together about the vertical keep the margin."""
    c, s = np.cos(turn), np.sin(turn)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    wrench = np.array([30.0, -20.0, 280.0, 4.0, -9.0, 11.0])
    plain = yaw_margins_by_side(wrench[None, None], np.zeros((1, 3)), UPRIGHT, np.array([[X, Y]]), MU, WEIGHT)
    turned = np.concatenate([rotation @ wrench[:3], rotation @ wrench[3:]])
    axes = rotation[:2, :2].T[None]
    halves = half_lengths(CORNERS @ rotation.T, axes[0])[None]
    assert halves[0] == pytest.approx([X, Y])
    assert yaw_margins_by_side(turned[None, None], np.zeros((1, 3)), axes, halves, MU, WEIGHT) == pytest.approx(plain)
