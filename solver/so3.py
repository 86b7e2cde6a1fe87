"""Rotations: vectors, quaternions xyzw and matrices, with closed forms of their rates. NumPy only.

A curve r(t) of rotation vectors is the quaternion curve (sin(|r|/2) r/|r|, cos(|r|/2)); its derivatives are taken in
closed form, so velocities and accelerations on the manifold are exact, without differencing.
"""

from __future__ import annotations

import numpy as np

SMALL_ANGLE = 1e-12

_SMALL = 1e-3
"""[rad^2] below which the power series are used; their first omitted terms are below 1e-15 there."""


def rotation_rates(r: np.ndarray, dr: np.ndarray, ddr: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quaternion xyzw (N, 4), angular velocity and acceleration (N, 3) in body axes of rotation vectors (N, 3)."""
    u = np.einsum("ni,ni->n", r, r)
    du = 2.0 * np.einsum("ni,ni->n", r, dr)
    ddu = 2.0 * (np.einsum("ni,ni->n", dr, dr) + np.einsum("ni,ni->n", r, ddr))
    f, f1, f2, g = _half_sines(u)
    s, ds, dds = np.empty((3, len(r), 4))
    df, ddf = f1 * du, f2 * du**2 + f1 * ddu
    s[:, :3], s[:, 3] = r * f[:, None], g
    ds[:, :3], ds[:, 3] = dr * f[:, None] + r * df[:, None], -0.25 * f * du
    dds[:, :3] = ddr * f[:, None] + 2.0 * dr * df[:, None] + r * ddf[:, None]
    dds[:, 3] = -0.25 * (df * du + f * ddu)
    return s, 2.0 * _imaginary(s, ds), 2.0 * _imaginary(s, dds)


def _half_sines(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """sin(x/2)/x with its first two derivatives by u = x^2, and cos(x/2)."""
    small = u < _SMALL
    safe = np.where(small, 1.0, u)
    x = np.sqrt(safe)
    g = np.cos(0.5 * np.sqrt(u))
    f = np.where(small, 0.5 - u / 48.0 + u**2 / 3840.0 - u**3 / 645120.0, np.sin(0.5 * x) / x)
    f1 = np.where(small, -1.0 / 48.0 + u / 1920.0 - u**2 / 215040.0, (0.5 * g - f) / (2.0 * safe))
    f2 = np.where(small, 1.0 / 1920.0 - u / 107520.0 + u**2 / 11612160.0, -(0.125 * f + 3.0 * f1) / (2.0 * safe))
    return f, f1, f2, g


def _imaginary(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Vector part (N, 3) of conj(p) q, xyzw."""
    return p[:, 3:] * q[:, :3] - q[:, 3:] * p[:, :3] - cross(p[:, :3].T, q[:, :3].T).T


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (N, 3, 3) of unit quaternions xyzw (N, 4)."""
    x, y, z, w = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def right_jacobian(r: np.ndarray) -> np.ndarray:
    """(N, 3, 3) with omega_body = J dr of rotation vectors (N, 3)."""
    columns = [rotation_rates(r, np.broadcast_to(axis, r.shape), np.zeros_like(r))[1] for axis in np.eye(3)]
    return np.stack(columns, axis=2)


def rotation_vectors(quaternions: np.ndarray) -> np.ndarray:
    """Rotation vectors (N, 3) [rad], at most half a turn long, of unit quaternions xyzw (N, 4)."""
    vector, scalar = quaternions[:, :3], quaternions[:, 3]
    sine = np.linalg.norm(vector, axis=1)
    angle = 2.0 * np.arctan2(sine, np.abs(scalar))
    factor = np.where(sine > SMALL_ANGLE, angle / np.maximum(sine, SMALL_ANGLE), 2.0)
    return vector * (factor * np.where(scalar < 0.0, -1.0, 1.0))[:, None]


def cross(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cross product along the first axis (3, ...), several times faster than numpy's on this layout."""
    x, y, z = left
    u, v, w = right
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u])
