"""Steps between configurations by Pinocchio's rules, joint by joint, frames at once."""

from __future__ import annotations

import numpy as np

from ..base import so3
from ..base.errors import InvalidValue
from .numpy_model import Model

SMALL_ANGLE = 1e-4
"""[rad] Below this the planar joint's exponential is a series."""


def integrate(model: Model, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Configuration (nq,) or (N, nq) reached from ``q`` by a step (nv,) or (N, nv); a single row is repeated."""
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
