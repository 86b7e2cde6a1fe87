"""From curves of coordinates to motions: rotation vectors, their quaternions and exact body velocities.

A dance is planned in flat coordinates: root position [m, world], root rotation vector [rad, world], then the joint
coordinates of `Limits` (angle of a hinge, rotation vector of a spherical joint). A curve r(t) of rotation vectors is
the quaternion curve (sin(|r|/2) r/|r|, cos(|r|/2)); its derivatives are taken in closed form, so velocity and
acceleration on the manifold are exact, without differencing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics.kinematics import cross
from ..errors import InvalidValue
from ..pinocchio_loader import pin
from ..rig import Rig

_SMALL = 1e-3
"""[rad^2] below which the power series are used; their first omitted terms are below 1e-15 there."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Frames of a motion on the manifold: q (N, nq), v (N, nv), a (N, nv), as in `Motion`."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


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


def to_manifold(rig: Rig, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray) -> Curves:
    """Motion of flat coordinates (N, nv) with their time derivatives.

    Raises:
        InvalidValue: a joint type without rule.
    """
    model = rig.model
    q, v, a = np.zeros((len(y), model.nq)), np.zeros((len(y), model.nv)), np.zeros((len(y), model.nv))
    quaternion, omega, alpha = rotation_rates(y[:, 3:6], dy[:, 3:6], ddy[:, 3:6])
    turn = matrices(quaternion)
    q[:, :3], q[:, 3:7] = y[:, :3], quaternion
    v[:, :3] = np.einsum("nij,ni->nj", turn, dy[:, :3])
    a[:, :3] = np.einsum("nij,ni->nj", turn, ddy[:, :3]) - cross(omega.T, v[:, :3].T).T
    v[:, 3:6], a[:, 3:6] = omega, alpha
    for name, joint in zip(list(model.names)[2:], list(model.joints)[2:]):
        at, span = joint.idx_q, slice(joint.idx_v, joint.idx_v + joint.nv)
        if joint.nq == joint.nv:
            q[:, at : at + joint.nq], v[:, span], a[:, span] = y[:, span], dy[:, span], ddy[:, span]
        elif joint.shortname() == "JointModelSpherical":
            q[:, at : at + 4], v[:, span], a[:, span] = rotation_rates(y[:, span], dy[:, span], ddy[:, span])
        else:
            raise InvalidValue(f"joint {name!r} of type {joint.shortname()} cannot dance: no rule for its coordinates")
    return Curves(q, v, a)


def to_flat(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Flat coordinates (nv,) of one configuration (nq,)."""
    q = np.asarray(q, float)
    y = pin.difference(rig.model, rig.neutral, q)
    y[:3] = q[:3]
    y[3:6] = pin.log3(pin.Quaternion(np.array(q[3:7])).matrix())
    return y
