"""Steps between configurations by Pinocchio's rules, joint by joint, frames at once."""

from __future__ import annotations

import numpy as np

from ..base import so3
from ..base.errors import InvalidValue
from .numpy_model import Model


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
        else:  # free
            omega = by[:, 3:]
            moved = so3.right_jacobian(-omega) @ by[:, :3, None]
            turn = _unit(so3.product(start[:, 3:], so3.quaternion_exp(omega)))
            turn *= np.where((turn * start[:, 3:]).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
            result[:, places] = np.hstack([start[:, :3] + so3.rotate(start[:, 3:], moved[:, :, 0]), turn])
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
        else:  # free
            omega = so3.quaternion_log(so3.product(so3.conjugate(a[:, 3:]), b[:, 3:]))
            apart = so3.rotate(so3.conjugate(a[:, 3:]), b[:, :3] - a[:, :3])
            result[:, moves] = np.hstack([(so3.inverse_right_jacobian(-omega) @ apart[:, :, None])[:, :, 0], omega])
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
