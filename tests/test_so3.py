"""Laws of rotations: group, exponential, logarithm and their derivatives, against Pinocchio and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solver.base import so3
from solver.base.errors import InvalidValue
from tests.pinocchio import pin

ANGLES = [0.0, 1e-12, 1e-8, 1e-4, 0.0999, 0.1001, 1.0, 2.0, 2.2, 3.0, np.pi - 1e-4, np.pi - 1e-8]
"""[rad] zero, small, around the series' end and the logarithm's change of formula, nearly half a turn."""
BEYOND = [*ANGLES, np.pi, 4.0, 6.0]


def vectors(angle: float, count: int = 20) -> np.ndarray:
    """Rotation vectors (count, 3) of one length; the first along coordinate axes."""
    axes = np.concatenate([np.eye(3), -np.eye(3), np.random.default_rng(3).standard_normal((count - 6, 3))])
    return angle * axes / np.linalg.norm(axes, axis=1, keepdims=True)


def skewed(x: np.ndarray) -> np.ndarray:
    """The matrix of x x, by Pinocchio."""
    return np.array(pin.skew(x))


@pytest.mark.parametrize("angle", BEYOND)
def test_exponential_is_that_of_pinocchio_and_scipy(angle: float) -> None:
    """Matrices and quaternions of rotation vectors are those of the two other libraries."""
    r = vectors(angle)
    np.testing.assert_allclose(so3.exp(r), [pin.exp3(x) for x in r], atol=1e-12)
    np.testing.assert_allclose(so3.exp(r), Rotation.from_rotvec(r).as_matrix(), atol=1e-12)
    np.testing.assert_allclose(so3.to_matrix(so3.quaternion_exp(r)), so3.exp(r), atol=1e-12)


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithm_undoes_the_exponential(angle: float) -> None:
    """log(exp(r)) = r up to half a turn, by matrices and by quaternions of either sign, as in two other libraries."""
    r = vectors(angle)
    matrices, quaternions = so3.exp(r), so3.quaternion_exp(r)
    for found in (so3.log(matrices), so3.quaternion_log(quaternions), so3.quaternion_log(-quaternions)):
        np.testing.assert_allclose(found, r, atol=1e-12)
    np.testing.assert_allclose(so3.log(matrices), Rotation.from_matrix(matrices).as_rotvec(), atol=1e-12)
    if angle < 3.1:  # beyond, Pinocchio's own digits run out
        np.testing.assert_allclose(so3.log(matrices), [pin.log3(m) for m in matrices], atol=1e-12)


def test_half_a_turn_has_a_logarithm() -> None:
    """At half a turn, where r and -r are one rotation, the logarithm is one of them."""
    r = vectors(np.pi)
    for found in (so3.log(so3.exp(r)), so3.quaternion_log(so3.quaternion_exp(r))):
        np.testing.assert_allclose(so3.exp(found), so3.exp(r), atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.pi, atol=1e-12)


def test_roll_pitch_and_yaw_are_those_of_pinocchio() -> None:
    """URDF's angles give Pinocchio's matrix and are recovered; at a right angle of pitch an equal rotation is."""
    generator = np.random.default_rng(10)
    for angles in [*generator.uniform(-1.5, 1.5, (10, 3)), np.zeros(3)]:
        matrix = so3.from_rpy(angles)
        np.testing.assert_allclose(matrix, pin.rpy.rpyToMatrix(angles), atol=1e-14)
        np.testing.assert_allclose(so3.to_rpy(matrix), angles, atol=1e-13)
    for pitch in (0.5 * np.pi, -0.5 * np.pi):
        matrix = so3.from_rpy(np.array([0.3, pitch, -0.4]))
        np.testing.assert_allclose(so3.from_rpy(so3.to_rpy(matrix)), matrix, atol=1e-12)


@pytest.mark.parametrize("angle", BEYOND)
def test_matrices_and_quaternions_are_one_rotation(angle: float) -> None:
    """A quaternion is recovered from its matrix, up to sign, and matrices are those of Pinocchio."""
    quaternions = so3.quaternion_exp(vectors(angle))
    matrices = so3.to_matrix(quaternions)
    np.testing.assert_allclose(matrices, [pin.Quaternion(x).matrix() for x in quaternions], atol=1e-12)
    back = so3.to_quaternion(matrices)
    assert np.all(back[:, 3] >= 0.0)
    np.testing.assert_allclose(np.abs(np.sum(back * quaternions, axis=1)), 1.0, atol=1e-12)


@pytest.mark.parametrize("angle", BEYOND)
def test_right_jacobian_is_that_of_pinocchio(angle: float) -> None:
    """The right Jacobian equals Pinocchio's derivative of its own exponential."""
    r = vectors(angle)
    np.testing.assert_allclose(so3.right_jacobian(r), [pin.Jexp3(x) for x in r], atol=1e-12)


@pytest.mark.parametrize("angle", BEYOND)
def test_rates_are_derivatives(angle: float) -> None:
    """omega = J dr, and alpha is the derivative of omega along the curve r + t dr + t^2 ddr / 2."""
    generator = np.random.default_rng(1)
    r = vectors(angle)
    dr, ddr = generator.standard_normal((2, *r.shape))
    omega, alpha = so3.Exponential(r).rates(dr, ddr)
    np.testing.assert_allclose(omega, np.einsum("nij,nj->ni", so3.right_jacobian(r), dr), atol=1e-13)

    step = 1e-4
    before, after = (
        so3.Exponential(r + t * dr + 0.5 * t * t * ddr).rates(dr + t * ddr)[0] for t in (-step, step)
    )  # fmt: skip
    np.testing.assert_allclose(alpha, (after - before) / (2.0 * step), atol=1e-6)
    ends = [so3.exp(r + t * dr + 0.5 * t * t * ddr) for t in (-step, step)]
    turned = so3.log(ends[0].swapaxes(1, 2) @ ends[1])
    np.testing.assert_allclose(omega, turned / (2.0 * step), atol=1e-6)


@pytest.mark.parametrize("angle", BEYOND)
def test_inverse_right_jacobian(angle: float) -> None:
    """J^-1 J = 1 up to a full turn, and J^-1 is Pinocchio's derivative of its own logarithm."""
    r = vectors(angle)
    inverse = so3.inverse_right_jacobian(r)
    np.testing.assert_allclose(inverse @ so3.right_jacobian(r), np.tile(np.eye(3), (len(r), 1, 1)), atol=1e-11)
    if angle < 3.1:
        np.testing.assert_allclose(inverse, [pin.Jlog3(m) for m in so3.exp(r)], atol=1e-9)


def test_the_nearest_rotation_has_no_nearer_neighbour() -> None:
    """The rotation nearest to a rotation is itself; near that of any other matrix all rotations are farther away."""
    generator = np.random.default_rng(4)
    turns = Rotation.random(5, random_state=4).as_matrix()
    np.testing.assert_allclose(so3.nearest_rotation(2.5 * turns), turns, atol=1e-14)
    matrices = generator.standard_normal((40, 3, 3))
    found = so3.nearest_rotation(matrices)
    np.testing.assert_allclose(np.linalg.det(found), 1.0, atol=1e-12)
    apart = np.linalg.norm(matrices - found, axis=(1, 2))
    for step in so3.exp(0.01 * generator.standard_normal((20, 3))):
        assert (np.linalg.norm(matrices - found @ step, axis=(1, 2)) > apart).all()
    assert (np.linalg.det(matrices) < 0.0).any()


def test_quaternions_are_a_group() -> None:
    """Products, inverses and rotated vectors are those of the matrices; batches broadcast against one rotation."""
    generator = np.random.default_rng(7)
    r, s, x = generator.standard_normal((3, 6, 3))
    p, q = so3.quaternion_exp(r), so3.quaternion_exp(s)
    np.testing.assert_allclose(so3.to_matrix(so3.product(p, q)), so3.exp(r) @ so3.exp(s), atol=1e-14)
    np.testing.assert_allclose(so3.product(p[0], q), [so3.product(p[0], one) for one in q], atol=1e-15)
    np.testing.assert_allclose(so3.product(p, so3.conjugate(p)), np.tile([0, 0, 0, 1.0], (6, 1)), atol=1e-15)
    np.testing.assert_allclose(so3.rotate(p, x), Rotation.from_quat(p).apply(x), atol=1e-14)
    np.testing.assert_allclose(so3.rotate(p[0], x), x @ so3.exp(r[0]).T, atol=1e-14)


def test_smallest_rotation_between_directions() -> None:
    """The rotation maps one direction to the other by the angle between them, half a turn if they are opposite."""
    generator = np.random.default_rng(8)
    for start, stop in generator.standard_normal((10, 2, 3)):
        turn = so3.rotation_between(start, stop)
        np.testing.assert_allclose(turn @ start / np.linalg.norm(start), stop / np.linalg.norm(stop), atol=1e-14)
        cosine = start @ stop / np.linalg.norm(start) / np.linalg.norm(stop)
        assert np.linalg.norm(so3.log(turn)) == pytest.approx(np.arccos(cosine), abs=1e-12)
        turn = so3.rotation_between(start, -3.0 * start)
        np.testing.assert_allclose(turn @ start, -start, atol=1e-12)
        np.testing.assert_allclose(so3.log(turn) @ start, 0.0, atol=1e-7)
        assert np.linalg.det(turn) == pytest.approx(1.0)


def test_signs_and_rotation_vectors_become_continuous() -> None:
    """Quaternions with flipped signs and wrapped rotation vectors become continuous curves of the same rotations."""
    times = np.linspace(0.0, 1.0, 40)
    curve = np.outer(5.5 * times, [0.6, 0.0, 0.8]) + np.array([0.0, 0.1, 0.0])
    quaternions = so3.quaternion_exp(curve)
    flipped = quaternions * np.where(np.arange(40) % 3 == 1, -1.0, 1.0)[:, None]
    np.testing.assert_array_equal(so3.continuous_signs(flipped), quaternions)
    np.testing.assert_allclose(so3.unwrap(so3.quaternion_log(quaternions)), curve, atol=1e-12)
    assert np.linalg.norm(np.diff(so3.quaternion_log(quaternions), axis=0), axis=1).max() > 3.0


def test_no_rotation_after_a_full_turn_is_a_full_turn() -> None:
    """After almost a full turn the identity is unwrapped to the full turn about the same axis."""
    goal = np.array([0.0, 0.0, 6.2])
    np.testing.assert_allclose(so3.nearest_rotation_vector(np.zeros(3), goal), [0.0, 0.0, 2.0 * np.pi])
    np.testing.assert_array_equal(so3.nearest_rotation_vector(np.zeros(3), 0.1 * goal), np.zeros(3))


def test_rates_meet_where_the_series_end() -> None:
    """Series and closed forms agree to rounding on both sides of the angle at which they are switched."""
    generator = np.random.default_rng(4)
    dr, ddr = generator.standard_normal((2, 20, 3))
    edge = np.sqrt(so3.SMALL)
    below, above = (so3.Exponential(vectors(edge * (1.0 + side * 1e-15))) for side in (-2.0, 2.0))
    for one, other in zip(below.rates(dr, ddr), above.rates(dr, ddr)):
        np.testing.assert_allclose(one, other, atol=1e-13)
    np.testing.assert_allclose(below.right_jacobian, above.right_jacobian, atol=1e-15)


def test_missing_rotations_stay_missing() -> None:
    """NaN gives NaN, and changes no other rotation of the batch."""
    vectors = np.random.default_rng(8).standard_normal((6, 3))
    for convert, values in (
        (so3.quaternion_exp, vectors),
        (so3.to_matrix, so3.quaternion_exp(vectors)),
        (so3.to_quaternion, so3.exp(vectors)),
        (so3.log, so3.exp(vectors)),
    ):
        broken = np.array(values)
        broken[::2] = np.nan
        assert np.isnan(convert(broken)[::2]).all()
        assert np.array_equal(convert(broken)[1::2], convert(values)[1::2])


def test_skew_and_its_inverse() -> None:
    """skew(x) y = x x y, and vee reads x back from any matrix's antisymmetric part."""
    x, y = np.random.default_rng(5).standard_normal((2, 4, 5, 3))
    np.testing.assert_allclose(np.einsum("...ij,...j->...i", so3.skew(x), y), np.cross(x, y), atol=1e-15)
    np.testing.assert_array_equal(so3.skew(x[0, 0]), skewed(x[0, 0]))
    symmetric = np.einsum("...i,...j->...ij", y, y)
    np.testing.assert_allclose(so3.vee(so3.skew(x) + symmetric), x, atol=1e-14)
    np.testing.assert_allclose(so3.cross(x.T, y.T).T, np.cross(x, y), atol=1e-15)


@pytest.mark.parametrize(("shape", "angle"), [*(((2,), a) for a in ANGLES), ((), 1.0), ((0,), 1.0), ((2, 3), 2.0)])
def test_batches_are_single_rotations(shape: tuple[int, ...], angle: float) -> None:
    """Arrays of rotations of any shape have the results of each rotation alone, also near zero and half a turn."""
    r, dr, ddr = np.random.default_rng(6).standard_normal((3, *shape, 3))
    r *= angle / np.linalg.norm(r, axis=-1, keepdims=True)
    whole = so3.Exponential(r)
    results = [
        whole.matrix, whole.quaternion, whole.right_jacobian, *whole.rates(dr, ddr), so3.log(whole.matrix),
        so3.to_quaternion(whole.matrix), so3.to_matrix(whole.quaternion), so3.quaternion_log(whole.quaternion),
        so3.skew(r), so3.vee(whole.matrix), so3.inverse_right_jacobian(r), so3.conjugate(whole.quaternion),
        so3.product(whole.quaternion, whole.quaternion), so3.rotate(whole.quaternion, r),
    ]  # fmt: skip
    vector, quaternion, matrix = (3,), (4,), (3, 3)
    tails = [
        matrix, quaternion, matrix, vector, vector, vector, quaternion, matrix, vector, matrix, vector, matrix,
        quaternion, quaternion, vector,
    ]  # fmt: skip
    for found, tail in zip(results, tails, strict=True):
        assert found.shape == (*shape, *tail)
    for place in np.ndindex(shape):
        one = so3.Exponential(r[place])
        np.testing.assert_allclose(whole.matrix[place], one.matrix, atol=1e-15)
        np.testing.assert_allclose(whole.rates(dr, ddr)[1][place], one.rates(dr[place], ddr[place])[1], atol=1e-14)
        np.testing.assert_allclose(so3.log(whole.matrix)[place], so3.log(one.matrix), atol=1e-15)
        np.testing.assert_allclose(so3.to_quaternion(whole.matrix)[place], so3.to_quaternion(one.matrix), atol=1e-15)


@pytest.mark.parametrize(
    ("call", "shape", "said"),
    [
        (so3.exp, (5, 4), r"rotation vectors must have shape \(\.\.\., 3\), not \(5, 4\)"),
        (so3.log, (3,), r"rotation matrices must have shape \(\.\.\., 3, 3\), not \(3,\)"),
        (so3.to_matrix, (2, 3), r"quaternions must have shape \(\.\.\., 4\), not \(2, 3\)"),
        (so3.to_quaternion, (4, 4), r"rotation matrices must have shape"),
        (so3.quaternion_log, (), r"quaternions must have shape"),
        (so3.skew, (3, 2), r"vectors must have shape"),
        (so3.conjugate, (3,), r"quaternions must have shape"),
        (so3.unwrap, (5, 2), r"rotation vectors must have shape"),
    ],
)
def test_other_shapes_are_refused(call: object, shape: tuple[int, ...], said: str) -> None:
    """Arrays of other shapes are errors with name and shape."""
    with pytest.raises(InvalidValue, match=said):
        call(np.zeros(shape))  # type: ignore[operator]
