"""Rotations: vectors, quaternions xyzw and matrices, and closed forms of their derivatives. NumPy only.

Components come last: vectors (..., 3) [rad], unit quaternions (..., 4), matrices (..., 3, 3). A rotation matrix maps
body axes to the observer's. Results are views of memory with the components first, where array arithmetic is fastest,
so that ``np.moveaxis`` back costs nothing. A rotation with NaN gives NaN.
"""

from __future__ import annotations

import numpy as np

from .errors import InvalidValue

SMALL = 1e-2
"""[rad^2] below which power series are used. Derived: their first omitted terms are below 1e-17 there."""
FAR = -0.5
"""Cosine of an angle beyond which a matrix's axis is read from its symmetric part. Measured on simulated rotations,
100,000 of them near half a turn: -0.25 and -0.95 are as accurate, within 2e-15."""
TINY = 1e-12
"""Sine below which an angle is its sine."""
STILL = 1e-9
"""[rad] below which a rotation vector has no direction."""
STRAIGHT = 1e-6
"""[rad] Distance of the pitch from a right angle within which roll and yaw are not unique."""
SECOND = np.array([1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800])
"""Derived: power series of the angle minus its sine, over its cube."""
FIRST_SLOPE = np.array([-1 / 24, 1 / 360, -1 / 13440, 1 / 907200, -1 / 95800320])
"""Derived: the slope of the first series."""
SECOND_SLOPE = np.array([-1 / 120, 1 / 2520, -1 / 120960, 1 / 9979200, -1 / 1245404160])
"""Series in the squared angle u: of c, db/du and dc/du. Derived: the slope of the second series."""
LEAST = 1e-300
"""[rad^2] added to a squared angle before a division; it changes no angle but zero."""
FEW = 4000
"""Entries up to which one call that multiplies matrices is faster than one call for each of their entries."""


class Exponential:
    """Rotation vectors with the terms of their exponential and its derivatives, computed once.

    With K = skew(r), u = |r|^2, a = sin|r| / |r|, b = (1 - cos|r|) / u and c = (1 - a) / u, the rotation is
    R = 1 + a K + b K^2 and its right Jacobian, omega = J dr in body axes, J = 1 - b K + c K^2.

    Args:
        vectors: (..., 3) [rad].

    Raises:
        InvalidValue: no vectors of three.
    """

    __slots__ = ("a", "b", "c", "cosine", "half_cosine", "half_sine", "r", "small", "u")

    def __init__(self, vectors: np.ndarray) -> None:
        self.r = r = _components(vectors, "rotation vectors", 3)
        self.u = u = np.asarray(dot(r, r))
        angle = np.sqrt(u + LEAST)
        half = 0.5 * angle
        self.half_sine = np.asarray(np.sin(half) / angle)  # sin(|r| / 2) / |r|
        self.half_cosine = np.asarray(np.cos(half))
        self.a = 2.0 * self.half_sine * self.half_cosine
        self.b = 2.0 * self.half_sine * self.half_sine
        self.cosine = 1.0 - self.b * u
        small = u < SMALL
        self.small = small if small.any() else None
        self.c = np.asarray((1.0 - self.a) / (u + LEAST))
        if self.small is not None:
            self.c[self.small] = _series(SECOND, u[self.small])

    @property
    def quaternion(self) -> np.ndarray:
        """(..., 4) xyzw."""
        return _last(np.concatenate([self.r * self.half_sine, self.half_cosine[None]]))

    @property
    def matrix(self) -> np.ndarray:
        """(..., 3, 3) body axes to the observer's."""
        return self._composed(self.cosine, self.a, self.b)

    @property
    def right_jacobian(self) -> np.ndarray:
        """(..., 3, 3) with omega = J dr, body axes."""
        return self._composed(self.a, -self.b, self.c)

    def rates(self, dr: np.ndarray, ddr: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Angular velocity omega = J dr and acceleration alpha = J ddr + J' dr (..., 3), body axes.

        With p = r . dr: omega = a dr - b r x dr + c p r, since K^2 = r r' - u; b' = 2 p db/du, c' = 2 p dc/du and
        J' dr = -b' r x dr + c' (p r - u dr) + c (|dr|^2 r - p dr).

        Args:
            dr, ddr: (..., 3) derivatives of the rotation vectors; ``ddr`` is zero when left out.
        """
        r, a, b, c = self.r, self.a, self.b, self.c
        dr = _components(dr, "rates of rotation vectors", 3)
        p, square = dot(r, dr), dot(dr, dr)
        around = cross(r, dr)
        omega = a * dr - b * around + (c * p) * r
        db, dc = self._slopes()
        first, second = 2.0 * p * db, 2.0 * p * dc
        along = c * square + second * p
        alpha = -(second * self.u + c * p) * dr - first * around
        if ddr is not None:
            ddr = _components(ddr, "rates of rotation vectors", 3)
            along = along + c * dot(r, ddr)
            alpha += a * ddr - b * cross(r, ddr)
        alpha += along * r
        return _last(omega), _last(alpha)

    def _slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """db/du and dc/du."""
        twice = 2.0 * (self.u + LEAST)
        db, dc = np.asarray((self.a - 2.0 * self.b) / twice), np.asarray((self.b - 3.0 * self.c) / twice)
        if self.small is not None:
            near = self.u[self.small]
            db[self.small], dc[self.small] = _series(FIRST_SLOPE, near), _series(SECOND_SLOPE, near)
        return db, dc

    def _composed(self, one: np.ndarray, odd: np.ndarray, even: np.ndarray) -> np.ndarray:
        """one 1 + odd K + even r r' (..., 3, 3)."""
        r = self.r
        result = r[:, None] * (even * r)
        x, y, z = odd * r
        for axis in range(3):
            result[axis, axis] += one
        result[0, 1] -= z
        result[1, 0] += z
        result[0, 2] += y
        result[2, 0] -= y
        result[1, 2] -= x
        result[2, 1] += x
        return _last(result, 2)


def exp(vectors: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3) [rad]."""
    return Exponential(vectors).matrix


def log(matrices: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) [rad], at most half a turn long, of rotation matrices (..., 3, 3)."""
    matrices = _shaped(matrices, "rotation matrices", (3, 3))
    axial = vee(matrices)
    sine = np.linalg.norm(axial, axis=-1)
    cosine = 0.5 * (np.trace(matrices, axis1=-2, axis2=-1) - 1.0)
    angle = np.arctan2(sine, cosine)
    vectors = axial * np.where(sine > TINY, angle / np.where(sine > TINY, sine, 1.0), 1.0)[..., None]
    far = cosine < FAR
    if far.any():
        vectors[far] = quaternion_log(to_quaternion(matrices[far]))
    return vectors


def quaternion_exp(vectors: np.ndarray) -> np.ndarray:
    """Unit quaternions xyzw (..., 4) of rotation vectors (..., 3) [rad]."""
    return Exponential(vectors).quaternion


def quaternion_log(quaternions: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) [rad], at most half a turn long, of unit quaternions xyzw (..., 4)."""
    q = _components(quaternions, "quaternions", 4)
    vector, scalar = q[:3], q[3]
    sine = np.sqrt(dot(vector, vector))
    angle = 2.0 * np.arctan2(sine, np.abs(scalar))
    factor = np.where(sine > TINY, angle / np.maximum(sine, TINY), 2.0)
    return _last(vector * (factor * np.where(scalar < 0.0, -1.0, 1.0)))


def to_matrix(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions xyzw (..., 4)."""
    x, y, z, w = q = _components(quaternions, "quaternions", 4)
    result = np.empty((3, 3, *q.shape[1:]))
    result[0, 0], result[0, 1], result[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    result[1, 0], result[1, 1], result[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    result[2, 0], result[2, 1], result[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)
    return _last(result, 2)


def to_quaternion(matrices: np.ndarray) -> np.ndarray:
    """Unit quaternions xyzw (..., 4) of rotation matrices (..., 3, 3), w >= 0, by the largest square of each."""
    matrices = _shaped(matrices, "rotation matrices", (3, 3))
    r = np.moveaxis(matrices.reshape(-1, 3, 3), 0, -1)
    xx, yy, zz = r[0, 0], r[1, 1], r[2, 2]
    x, y, z = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    products = np.array([
        [1 + xx - yy - zz, xy, xz, x],
        [xy, 1 - xx + yy - zz, yz, y],
        [xz, yz, 1 - xx - yy + zz, z],
        [x, y, z, 1 + xx + yy + zz],
    ])  # fmt: skip
    best = np.argmax(np.diagonal(products), axis=1)
    rows = products[best, :, np.arange(len(best))]
    rows *= (np.where(rows[:, 3] < 0.0, -1.0, 1.0) / np.linalg.norm(rows, axis=1))[:, None]
    return rows.reshape(*matrices.shape[:-2], 4)


def nearest_rotation(matrices: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) nearest to matrices (..., 3, 3), by the sum of squares of their entries; never mirrored."""
    left, _, right = np.linalg.svd(_shaped(matrices, "matrices", (3, 3)))
    left[..., 2] *= np.sign(np.linalg.det(left @ right))[..., None]
    return np.asarray(left @ right)


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Products (..., 4) of quaternions xyzw: the right rotation first, then the left. Batches broadcast."""
    x, y, z, w = _components(left, "quaternions", 4)
    i, j, k, s = _components(right, "quaternions", 4)
    terms = [
        w * i + s * x + (y * k - z * j),
        w * j + s * y + (z * i - x * k),
        w * k + s * z + (x * j - y * i),
        w * s - (x * i + y * j + z * k),
    ]
    return _last(np.array(terms))


def conjugate(quaternions: np.ndarray) -> np.ndarray:
    """The inverse rotations of unit quaternions xyzw (..., 4)."""
    return _shaped(quaternions, "quaternions", (4,)) * np.array([-1.0, -1.0, -1.0, 1.0])


def rotate(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) turned by unit quaternions xyzw (..., 4). Batches broadcast."""
    quaternions = _shaped(quaternions, "quaternions", (4,))
    vector, scalar = quaternions[..., :3], quaternions[..., 3:]
    across = 2.0 * np.cross(vector, _shaped(vectors, "vectors", (3,)))
    return vectors + scalar * across + np.cross(vector, across)


def rotation_between(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The smallest rotation (3, 3) that turns one direction (3,) into another, of any lengths but zero.

    Opposite directions leave the axis open; one is taken that is nearly square to ``start``'s smallest component.
    """
    a = _shaped(start, "directions", (3,)) / np.linalg.norm(start)
    b = _shaped(stop, "directions", (3,)) / np.linalg.norm(stop)
    cosine = float(a @ b)
    if cosine < -1.0 + TINY:
        across = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        across /= np.linalg.norm(across)
        return 2.0 * np.outer(across, across) - np.eye(3)
    around = skew(np.cross(a, b))
    return np.eye(3) + around + around @ around / (1.0 + cosine)


def from_rpy(angles: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of URDF's roll, pitch and yaw (3,) [rad] about the fixed axes x, y and z."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(_shaped(angles, "roll, pitch and yaw", (3,))), np.cos(angles)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


def to_rpy(matrix: np.ndarray) -> np.ndarray:
    """URDF's roll, pitch and yaw (3,) [rad] of a rotation matrix (3, 3); no roll where the pitch is a right angle."""
    r = _shaped(matrix, "rotation matrices", (3, 3))
    pitch = np.arctan2(-r[2, 0], np.hypot(r[2, 1], r[2, 2]))
    if abs(abs(pitch) - 0.5 * np.pi) < STRAIGHT:
        return np.array([0.0, pitch, -np.arctan2(r[0, 1], r[1, 1])])
    return np.array([np.arctan2(r[2, 1], r[2, 2]), pitch, np.arctan2(r[1, 0], r[0, 0])])


def continuous_signs(quaternions: np.ndarray) -> np.ndarray:
    """The same rotations (N, ..., 4) with signs chosen so that neighbours in time lie on the same side."""
    quaternions = _shaped(quaternions, "quaternions", (4,))
    # neighbours in time n, components i
    dots = np.einsum("n...i,n...i->n...", quaternions[1:], quaternions[:-1])
    flips = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    result = quaternions.copy()
    result[1:] *= flips[..., None]
    return result


def nearest_rotation_vector(vector: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The rotation vector (3,) [rad] of the same rotation, up to full turns, that lies nearest to another (3,)."""
    angle = float(np.linalg.norm(vector))
    if angle < STILL:  # no rotation: full turns about any axis are the same, the goal's is the nearest
        far = float(np.linalg.norm(goal))
        turns = round(far / (2.0 * np.pi))
        return vector if not turns else goal / far * 2.0 * np.pi * turns
    axis = vector / angle
    return vector + axis * 2.0 * np.pi * round(float(axis @ goal - angle) / (2.0 * np.pi))


def unwrap(vectors: np.ndarray) -> np.ndarray:
    """Rotation vectors (N, 3) [rad] of the same rotations, each the one nearest to its predecessor."""
    result = np.array(_shaped(vectors, "rotation vectors", (3,)))
    steps = np.linalg.norm(np.diff(result, axis=0), axis=1)
    jumps = np.flatnonzero(steps >= np.pi)  # before the first of these every vector is the nearest already
    for frame in range(jumps[0] + 1 if len(jumps) else len(result), len(result)):
        result[frame] = nearest_rotation_vector(result[frame], result[frame - 1])
    return result


def right_jacobian(vectors: np.ndarray) -> np.ndarray:
    """(..., 3, 3) with omega = J dr, body axes, of rotation vectors (..., 3) [rad]."""
    return Exponential(vectors).right_jacobian


def inverse_right_jacobian(vectors: np.ndarray) -> np.ndarray:
    """(..., 3, 3) with dr = J^-1 omega, body axes, of rotation vectors (..., 3) shorter than a full turn."""
    vectors = _shaped(vectors, "rotation vectors", (3,))
    angles = np.linalg.norm(vectors, axis=-1)
    half = 0.5 * np.maximum(angles, 1e-3)
    factors = (1.0 - half / np.tan(half)) / (4.0 * half**2)
    around = skew(vectors)
    return np.eye(3) + 0.5 * around + factors[..., None, None] * (around @ around)


def skew(vectors: np.ndarray) -> np.ndarray:
    """(..., 3, 3) matrices of vectors (..., 3) with skew(x) y = x x y."""
    vectors = _shaped(vectors, "vectors", (3,))
    x, y, z = np.moveaxis(vectors, -1, 0)
    result = np.zeros((*vectors.shape, 3))
    result[..., 0, 1], result[..., 0, 2], result[..., 1, 2] = -z, y, -x
    result[..., 1, 0], result[..., 2, 0], result[..., 2, 1] = z, -y, x
    return result


def vee(matrices: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) of the antisymmetric parts of matrices (..., 3, 3): the inverse of `skew`."""
    result = np.empty((3, *matrices.shape[:-2]))
    np.subtract(matrices[..., 2, 1], matrices[..., 1, 2], out=result[0, ...])
    np.subtract(matrices[..., 0, 2], matrices[..., 2, 0], out=result[1, ...])
    np.subtract(matrices[..., 1, 0], matrices[..., 0, 1], out=result[2, ...])
    result *= 0.5
    return _last(result)


def cross(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cross product along the first axis (3, ...), several times faster than numpy's on this layout."""
    x, y, z = left
    u, v, w = right
    first = y * w
    result = np.empty((3, *first.shape))
    np.subtract(first, z * v, out=result[0, ...])
    np.subtract(z * u, x * w, out=result[1, ...])
    np.subtract(x * v, y * u, out=result[2, ...])
    return result


def dot(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Products of vectors (3, ...) along the first axis."""
    x, y, z = left
    u, v, w = right
    return x * u + y * v + z * w


def matrix_product(left: np.ndarray, right: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Matrix products (3, n, ...) of left (3, 3, ...) and right (3, n, ...), entry by entry over the trailing axes."""
    if right.size < FEW:
        return np.einsum("ij...,j...->i...", left, right, out=out)
    if out is None:
        out = np.empty((3, *np.broadcast_shapes(left.shape[2:], right.shape[1:])))
    term = np.empty_like(out[0])
    for row in range(3):
        np.multiply(left[row, 0], right[0], out=out[row])
        out[row] += np.multiply(left[row, 1], right[1], out=term)
        out[row] += np.multiply(left[row, 2], right[2], out=term)
    return out


def turn_vectors(turn: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (3, ...) turned by matrices (3, 3, ...)."""
    return matrix_product(turn, vectors[:, None])[:, 0]


def _series(coefficients: np.ndarray, u: np.ndarray) -> np.ndarray:
    result = np.full_like(u, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result = result * u + coefficient
    return result


def _shaped(array: np.ndarray, what: str, tail: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(array, float)
    if array.shape[-len(tail) :] != tail:
        raise InvalidValue(f"{what} must have shape (..., {', '.join(map(str, tail))}), not {array.shape}")
    return array


def _components(array: np.ndarray, what: str, count: int) -> np.ndarray:
    """(count, ...) from (..., count)."""
    array = _shaped(array, what, (count,))
    return array.transpose(-1, *range(array.ndim - 1))


def _last(array: np.ndarray, count: int = 1) -> np.ndarray:
    """The first ``count`` axes moved to the end."""
    return array.transpose(*range(count, array.ndim), *range(count))
