"""Steps between configurations by Pinocchio's rules, joint by joint, frames at once."""

from __future__ import annotations

from math import atan2, cos, sin, sqrt, tan

import numpy as np

from ..base import so3
from ..base.errors import InvalidValue
from .numpy_model import Model

SMALL_ANGLE = 1e-4
"""[rad] Below this the planar joint's exponential is a series."""
SMALL_SQUARE = 1e-6
"""[rad^2] Below this square of an angle functions of it are series."""


def integrate(model: Model, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Configuration (nq,) or (N, nq) reached from ``q`` by a step (nv,) or (N, nv); a single row is repeated."""
    if np.ndim(q) == 1 == np.ndim(step) and model.is_simple:
        return _integrate_row(model, q, step)
    one, (q, step) = np.ndim(q) == 1 == np.ndim(step), _rows((q, model.nq), (step, model.nv))
    result = np.empty((len(q), model.nq))
    for kind, places, moves in model.spans:
        start, by = q[:, places], step[:, moves]
        if kind == "vector":
            result[:, places] = start + by
        elif kind == "continuous":
            cosine, sine = np.cos(by), np.sin(by)
            c, s = start[..., ::2], start[..., 1::2]
            turned = np.stack([c * cosine - s * sine, s * cosine + c * sine], axis=-1)
            result[:, places] = _unit(turned).reshape(start.shape)
        elif kind == "spherical":
            turns = so3.product(
                start.reshape(len(q), places.size // 4, 4), so3.quaternion_exp(by.reshape(len(q), moves.size // 3, 3))
            )
            result[:, places] = _unit(turns).reshape(start.shape)
        elif kind == "free":
            omega = by[:, 3:]
            moved = so3.right_jacobian(-omega) @ by[:, :3, None]
            turn = _unit(so3.product(start[:, 3:], so3.quaternion_exp(omega)))
            turn *= np.where((turn * start[:, 3:]).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
            result[:, places] = np.hstack([start[:, :3] + so3.rotate(start[:, 3:], moved[:, :, 0]), turn])
        else:
            result[:, places] = _integrate_planar(start, by)
    return result[0] if one else result


def difference(model: Model, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Step (nv,) or (N, nv) between configurations (nq,) or (N, nq): the inverse of `integrate`."""
    if np.ndim(start) == 1 == np.ndim(stop) and model.is_simple:
        return _row_difference(model, start, stop)
    one, (start, stop) = np.ndim(start) == 1 == np.ndim(stop), _rows((start, model.nq), (stop, model.nq))
    result = np.empty((len(start), model.nv))
    for kind, places, moves in model.spans:
        a, b = start[:, places], stop[:, places]
        if kind == "vector":
            result[:, moves] = b - a
        elif kind == "continuous":
            (c, s), (d, t) = (a[..., ::2], a[..., 1::2]), (b[..., ::2], b[..., 1::2])
            result[:, moves] = np.arctan2(c * t - s * d, c * d + s * t)
        elif kind == "spherical":
            turns = so3.product(
                so3.conjugate(a.reshape(len(a), places.size // 4, 4)), b.reshape(len(b), places.size // 4, 4)
            )
            result[:, moves] = so3.quaternion_log(turns).reshape(len(a), moves.size)
        elif kind == "free":
            omega = so3.quaternion_log(so3.product(so3.conjugate(a[:, 3:]), b[:, 3:]))
            apart = so3.rotate(so3.conjugate(a[:, 3:]), b[:, :3] - a[:, :3])
            result[:, moves] = np.hstack([(so3.inverse_right_jacobian(-omega) @ apart[:, :, None])[:, :, 0], omega])
        else:
            result[:, moves] = _planar_difference(a, b)
    return result[0] if one else result


def pose_logarithm(rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Twist (6,), linear then angular, that moves a frame to a pose (3, 3), (3,) [m] in one unit of time."""
    omega = so3.log(rotation)
    return np.concatenate([so3.inverse_right_jacobian(-omega) @ position, omega])


def _rows(*sides: tuple[np.ndarray, int]) -> list[np.ndarray]:
    """Rows of both sides; a single row is repeated.

    Args:
        sides: arrays (size,) or (N, size), and the size.

    Raises:
        InvalidValue: an array has another size.
    """
    rows = [np.atleast_2d(np.asarray(array, float)) for array, _ in sides]
    for found, (array, size) in zip(rows, sides):
        if found.shape[1] != size:
            raise InvalidValue(f"an array of shape {np.shape(array)} has the wrong size, expected (..., {size})")
    count = max((len(found) for found, (array, _) in zip(rows, sides) if np.ndim(array) == 2), default=1)
    return [np.broadcast_to(found, (count, found.shape[1])) for found in rows]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _integrate_planar(start: np.ndarray, by: np.ndarray) -> np.ndarray:
    """(N, 4) x, y, cosine and sine after steps (N, 3) in body axes."""
    angle = by[:, 2]
    small = np.abs(angle) < SMALL_ANGLE
    safe = np.where(small, 1.0, angle)
    along = np.where(small, 1.0 - angle**2 / 6.0, np.sin(safe) / safe)
    across = np.where(small, 0.5 * angle, 2.0 * np.sin(0.5 * safe) ** 2 / safe)
    x, y = along * by[:, 0] - across * by[:, 1], across * by[:, 0] + along * by[:, 1]
    c, s = start[:, 2], start[:, 3]
    cosine, sine = np.cos(angle), np.sin(angle)
    turned = _unit(np.column_stack([c * cosine - s * sine, s * cosine + c * sine]))
    return np.column_stack([start[:, 0] + c * x - s * y, start[:, 1] + s * x + c * y, turned])


def _planar_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (c, s), (d, t) = a[:, 2:].T, b[:, 2:].T
    angle = np.arctan2(c * t - s * d, c * d + s * t)
    dx, dy = b[:, 0] - a[:, 0], b[:, 1] - a[:, 1]
    x, y = c * dx + s * dy, c * dy - s * dx
    half = 0.5 * angle
    small = np.abs(angle) < SMALL_ANGLE
    along = np.where(small, 1.0 - half**2 / 3.0, half / np.tan(np.where(small, 1.0, half)))
    return np.column_stack([along * x + half * y, along * y - half * x, angle])


def _integrate_row(model: Model, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """`integrate` of one row with root, balls and joints of one number, in plain numbers, ten times faster."""
    if np.shape(q) != (model.nq,) or np.shape(step) != (model.nv,):
        _rows((q, model.nq), (step, model.nv))
    start, by = np.asarray(q, float).tolist(), np.asarray(step, float).tolist()
    result = np.empty(model.nq)
    vector, moves = model.vector
    result[vector] = np.asarray(q)[vector] + np.asarray(step)[moves]
    for at, move in model.ball_entries:
        result[at : at + 4] = _turn(start[at : at + 4], by[move : move + 3])
    x, y, z, i, j, k, w = start[:7]
    v, omega = by[:3], by[3:6]
    square = omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2
    if square < SMALL_SQUARE:
        first, second = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        angle = sqrt(square)
        first, second = 2.0 * sin(0.5 * angle) ** 2 / square, (angle - sin(angle)) / (square * angle)
    once = _cross(omega, v)
    twice = _cross(omega, once)
    moved = [a + first * b + second * c for a, b, c in zip(v, once, twice)]
    dx, dy, dz = _rotate(i, j, k, w, moved)
    turned = _turn([i, j, k, w], omega)
    if turned[0] * i + turned[1] * j + turned[2] * k + turned[3] * w < 0.0:
        turned = [-part for part in turned]
    result[:7] = [x + dx, y + dy, z + dz, *turned]
    return result


def _row_difference(model: Model, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """`difference` of one row; see `_integrate_row`."""
    if np.shape(start) != (model.nq,) or np.shape(stop) != (model.nq,):
        _rows((start, model.nq), (stop, model.nq))
    a, b = np.asarray(start, float).tolist(), np.asarray(stop, float).tolist()
    result = np.empty(model.nv)
    vector, moves = model.vector
    result[moves] = np.asarray(stop)[vector] - np.asarray(start)[vector]
    for at, move in model.ball_entries:
        result[move : move + 3] = _rotation_vector(a[at : at + 4], b[at : at + 4])
    omega = _rotation_vector(a[3:7], b[3:7])
    apart = _rotate(-a[3], -a[4], -a[5], a[6], [b[0] - a[0], b[1] - a[1], b[2] - a[2]])
    square = omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2
    if square < SMALL_SQUARE:
        second = 1.0 / 12.0 + square / 720.0
    else:
        half = 0.5 * sqrt(square)
        second = (1.0 - half / tan(half)) / square
    once = _cross(omega, apart)
    twice = _cross(omega, once)
    result[:6] = [*(p - 0.5 * q + second * r for p, q, r in zip(apart, once, twice)), *omega]
    return result


def _turn(q: list[float], r: list[float]) -> list[float]:
    """A unit quaternion xyzw after a rotation vector in its own axes."""
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if square < SMALL_SQUARE:
        size, s = 0.5 - square / 48.0, 1.0 - square / 8.0
    else:
        angle = sqrt(square)
        size, s = sin(0.5 * angle) / angle, cos(0.5 * angle)
    x, y, z, w = q
    i, j, k = size * r[0], size * r[1], size * r[2]
    a, b = w * i + s * x + (y * k - z * j), w * j + s * y + (z * i - x * k)
    c, d = w * k + s * z + (x * j - y * i), w * s - (x * i + y * j + z * k)
    scale = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    return [a * scale, b * scale, c * scale, d * scale]


def _rotation_vector(p: list[float], q: list[float]) -> list[float]:
    """The rotation vector, at most half a turn long, from one unit quaternion xyzw to another, in the first's axes."""
    x, y, z, w = -p[0], -p[1], -p[2], p[3]
    i, j, k, s = q
    a, b, c = w * i + s * x + (y * k - z * j), w * j + s * y + (z * i - x * k), w * k + s * z + (x * j - y * i)
    d = w * s - (x * i + y * j + z * k)
    sine = sqrt(a * a + b * b + c * c)
    factor = 2.0 * atan2(sine, abs(d)) / sine if sine > 1e-150 else 2.0
    if d < 0.0:
        factor = -factor
    return [a * factor, b * factor, c * factor]


def _rotate(i: float, j: float, k: float, w: float, v: list[float]) -> list[float]:
    """A vector turned by a unit quaternion."""
    axis = [i, j, k]
    across = [2.0 * part for part in _cross(axis, v)]
    return [a + w * b + c for a, b, c in zip(v, across, _cross(axis, across))]


def _cross(a: list[float], b: list[float]) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
