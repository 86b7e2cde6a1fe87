"""Laws of rotations: what composes, what undoes what, which component of a quaternion stands where."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from solver.base import so3
from tests.laws.strategies import arrays, quaternions, rotation_vectors


@given(rotation_vectors(np.pi - 1e-3))
def test_logarithm_undoes_exponential(vector: np.ndarray) -> None:
    """Below half a turn a rotation vector comes back, from matrix and quaternion; its negative is the inverse."""
    matrix, quaternion = so3.exp(vector), so3.quaternion_exp(vector)
    np.testing.assert_allclose(so3.log(matrix), vector, atol=1e-9)
    np.testing.assert_allclose(so3.quaternion_log(quaternion), vector, atol=1e-9)
    np.testing.assert_allclose(matrix @ so3.exp(-vector), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(so3.to_matrix(quaternion), matrix, atol=1e-12)
    assert np.linalg.det(matrix) > 0.0


@given(rotation_vectors(np.pi))
def test_the_real_component_is_the_last(vector: np.ndarray) -> None:
    """A quaternion is xyzw: the last component is the cosine of half the angle, the others lie along the axis."""
    quaternion = so3.quaternion_exp(vector)
    angle = np.linalg.norm(vector)
    assert abs(quaternion[3] - np.cos(angle / 2)) < 1e-12
    np.testing.assert_allclose(quaternion[:3] * angle, np.sin(angle / 2) * vector, atol=1e-12)


@given(quaternions(), quaternions(), arrays((3,), 1e3))
def test_products_turn_by_the_right_one_first(left: np.ndarray, right: np.ndarray, vector: np.ndarray) -> None:
    """Quaternions compose as their matrices do, turn vectors as these do, and conjugates turn them back."""
    both = so3.product(left, right)
    np.testing.assert_allclose(so3.to_matrix(both), so3.to_matrix(left) @ so3.to_matrix(right), atol=1e-12)
    np.testing.assert_allclose(so3.rotate(both, vector), so3.rotate(left, so3.rotate(right, vector)), atol=1e-9)
    np.testing.assert_allclose(so3.rotate(left, vector), so3.to_matrix(left) @ vector, atol=1e-9)
    np.testing.assert_allclose(so3.rotate(so3.conjugate(left), so3.rotate(left, vector)), vector, atol=1e-9)


@given(quaternions())
def test_matrices_keep_the_rotation_of_either_sign(quaternion: np.ndarray) -> None:
    """A quaternion and its negative are one matrix, whose quaternion is the one with w >= 0."""
    matrix = so3.to_matrix(quaternion)
    np.testing.assert_allclose(so3.to_matrix(-quaternion), matrix, atol=1e-15)
    back = so3.to_quaternion(matrix)
    assert back[3] >= 0.0
    assert abs(abs(back @ quaternion) - 1.0) < 1e-12
    np.testing.assert_allclose(
        so3.from_rpy(so3.to_rpy(matrix)), matrix, atol=2e-6
    )  # pitch within 1e-6 of a right angle


@given(rotation_vectors(0.9), rotation_vectors(0.9))
def test_rates_are_the_slopes_of_the_rotation(vector: np.ndarray, rate: np.ndarray) -> None:
    """The right Jacobian times a vector's rate is the angular velocity in body axes; its inverse undoes it."""
    step = 1e-6
    ahead, behind = so3.exp(vector + step * rate), so3.exp(vector - step * rate)
    omega = so3.log(behind.T @ ahead) / (2 * step)
    np.testing.assert_allclose(so3.right_jacobian(vector) @ rate, omega, atol=1e-6)
    undone = so3.inverse_right_jacobian(vector) @ so3.right_jacobian(vector)
    np.testing.assert_allclose(undone, np.eye(3), atol=1e-10)


@given(arrays((3,), 10.0), arrays((3,), 10.0))
def test_cross_products_are_skew_matrices(left: np.ndarray, right: np.ndarray) -> None:
    """skew(a) b = a x b = -b x a, and vee undoes skew."""
    np.testing.assert_allclose(so3.skew(left) @ right, np.cross(left, right), atol=1e-12)
    np.testing.assert_allclose(so3.cross(left, right), -so3.cross(right, left), atol=1e-12)
    np.testing.assert_array_equal(so3.vee(so3.skew(left)), left)
