"""Rotations about hinges in many frames at once are products with the exponential map."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.so3 import exp
from solver.dynamics.leg_chain import compose, rotate_about_axis, rotate_vector

ANGLES = np.array([-2.0, 0.0, 0.3, 1.5])
AXES = [(0.0, 1.0, 0.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8), (0.48, 0.6, -0.64)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("frames", [1, len(ANGLES)])
def test_a_hinge_rotates_by_the_exponential_of_its_axis(axis: tuple[float, ...], frames: int) -> None:
    """About coordinate axes, axes in a coordinate plane and any others; after one rotation or one for every frame."""
    direction = np.array(axis)
    before = np.stack([exp(0.4 * np.array([k, 1.0, -0.5 * k])) for k in range(frames)], axis=2)
    after = rotate_about_axis(before, direction, ANGLES)
    for k, angle in enumerate(ANGLES):
        np.testing.assert_allclose(after[:, :, k], before[:, :, k % frames] @ exp(angle * direction), atol=1e-12)


@pytest.mark.parametrize("axis", AXES)
def test_rotations_act_on_vectors_and_follow_each_other(axis: tuple[float, ...]) -> None:
    """As matrix products, of vectors along a coordinate axis and others, and of the identity and others."""
    vector = 2.0 * np.array(axis)
    rotations = np.stack([exp(angle * np.array([0.6, 0.0, 0.8])) for angle in ANGLES], axis=2)
    moved = rotate_vector(rotations, vector)
    for fixed in (np.eye(3), exp(vector)):
        both = compose(rotations, fixed)
        for k in range(len(ANGLES)):
            np.testing.assert_allclose(moved[:, k], rotations[:, :, k] @ vector, atol=1e-12)
            np.testing.assert_allclose(both[:, :, k], rotations[:, :, k] @ fixed, atol=1e-12)
