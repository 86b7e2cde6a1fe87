"""Joint limits: as bounds on a step, and as stiff stops and a clamp for a whole motion."""

from __future__ import annotations

import numpy as np

from ..base.so3 import inverse_right_jacobian, quaternion_exp, right_jacobian
from ..dynamics import difference
from ..dynamics.coordinates import joint_coordinates, joint_slices, rotation_columns
from ..qp.bounded import Bounds
from ..skeleton.rig import ROOT_NV, Rig
from .options import CoupledLimits

DEFAULT_SPEED = 40.0
"""[rad/s] Speed limit of joints for which the rig has none."""
MAX_ROTATION_STRETCH = 1.6
"""Upper bound on the ratio of a rotation vector's change to the angular step, up to `LARGE_ROTATION_SQUARED`. Derived:
pi / 2, rounded up."""
TINY = 1e-12
LARGE_ROTATION_SQUARED = 9.0
"""[rad^2] Square of a rotation above which the other rotation vector of an orientation may be the nearer one. Derived:
just below pi^2."""
STOP_STIFFNESS = 1e4
"""Stiffness of a stop over the mean stiffness of the coordinates."""
TOUCH_TOLERANCE = 1e-6
"""[rad, m] Distance from a limit at which its stop acts."""


class JointLimits:
    """Joint limits as bounds on a step, by rapetti2020 (12)-(13).

    The gain k of (12) is at most 1 / (speed limit x step), the steepest with which a step never violates the limit. A
    configuration beyond a limit returns as fast as it would be stopped on the other side, so that there is always a
    step within the bounds of a range.
    """

    def __init__(
        self, rig: Rig, limit_speed: float, coupled_limits: CoupledLimits | None = None, gain: float = np.inf
    ) -> None:
        """Takes a rig's limits.

        Args:
            rig: whose limits.
            limit_speed: [rad/s] of joints for which the rig has none.
            coupled_limits: limits shared by several joints.
            gain: k of (12) [1/rad, 1/m], of coupled limits in the unit of their bounds; infinite: the steepest one.
        """
        self._rig, self._neutral, self._gain = rig, rig.neutral, gain
        self.lower, self.upper = rig.limits.lower, rig.limits.upper
        self._speed = np.where(np.isfinite(rig.limits.speed), rig.limits.speed, limit_speed)
        moving = list(zip(rig.joints, rig.v_slices))[1:]
        first = [own.start - ROOT_NV for joint, own in moving if joint.nq == 4 and joint.nv == 3]
        self._spherical = np.add.outer(np.array(first, int), np.arange(3))
        self._is_plain = all(joint.nq == 1 for joint, _ in moving)
        """Every coordinate is an entry of q."""
        self._first = rig.joints[0].nq
        self._coupled_rows = np.zeros((0, len(self.lower))) if coupled_limits is None else coupled_limits.matrix(rig)
        self._coupled_bounds = np.zeros(0) if coupled_limits is None else coupled_limits.bounds
        self._coupled_reach = np.abs(self._coupled_rows) @ self._speed
        self._padded = np.hstack([np.zeros((len(self._coupled_rows), ROOT_NV)), self._coupled_rows])
        self.has_limits = bool(
            np.isfinite(self.lower).any() or np.isfinite(self.upper).any() or len(self._coupled_bounds)
        )

    def step_bounds(self, q: np.ndarray, step: float, linearised_at: np.ndarray) -> tuple[Bounds, np.ndarray | None]:
        """Bounds on the change of the joint coordinates from ``linearised_at`` (nq,) on, ``step`` [s] after ``q``
        (nq,).

        Returns:
            The bounds of (nv,), free for the root, and of coupled limits, and how the angular steps of spherical joints
            follow from the changes of their rotation vectors: (S, 3, 3) SO(3)'s right Jacobians, None without spherical
            joints. Of the two rotation vectors of one orientation (t and t - 2 pi along the same axis) the one nearer
            to the limits counts, so that a joint allowed to turn by nearly half a turn does not jump out of its limits
            beyond it.
        """
        here = self._coordinates(q)
        there = here if linearised_at is q else self._coordinates(linearised_at)
        reach = self._speed * step
        bounds = np.empty((2, ROOT_NV + len(here)))
        bounds[:, :ROOT_NV] = np.inf
        joints = bounds[:, ROOT_NV:]
        np.subtract(here, self.lower, out=joints[0])
        np.subtract(self.upper, here, out=joints[1])
        joints *= np.minimum(self._gain, 1.0 / reach)
        np.tanh(joints, out=joints)
        joints *= reach
        displacement = None
        if linearised_at is not q:
            displacement = there - here
            joints[0] += displacement
            joints[1] -= displacement
        low, high = bounds
        if len(self._coupled_bounds):
            reach = self._coupled_reach * step
            room = self._coupled_bounds - self._coupled_rows @ here
            most = np.tanh(room * np.minimum(self._gain, 1.0 / reach)) * reach
            most -= 0.0 if displacement is None else self._coupled_rows @ displacement
            low, high = np.append(low, np.full(len(most), np.inf)), np.append(high, most)
        turning = right_jacobian(there[self._spherical]) if len(self._spherical) else None
        return Bounds(-low, high, self._padded), turning

    def is_clear(self, q: np.ndarray, change: np.ndarray, step: float) -> bool:
        """Whether a step (nv,) from ``q`` (nq,) certainly stays within its bounds, by tanh x >= x / (1 + x) in (12)."""
        size = np.abs(change[ROOT_NV:])
        here = q[self._first :] if self._is_plain else difference(self._rig, self._neutral, q)[ROOT_NV:]
        if len(self._spherical):
            if (here[self._spherical] ** 2).sum(axis=1).max() > LARGE_ROTATION_SQUARED:
                return False
            size[self._spherical] = MAX_ROTATION_STRETCH * np.sqrt((size[self._spherical] ** 2).sum(axis=1))[:, None]
        reach = self._speed * step
        margin = size / np.maximum(reach - size, TINY) / np.minimum(self._gain, 1.0 / reach)
        inside = (size < reach) & (here - margin >= self.lower) & (here + margin <= self.upper)
        if not inside.all():
            return False
        if not len(self._coupled_bounds):
            return True
        size, reach = np.abs(self._coupled_rows) @ size, self._coupled_reach * step
        margin = size / np.maximum(reach - size, TINY) / np.minimum(self._gain, 1.0 / reach)
        return bool((self._coupled_rows @ here + margin <= self._coupled_bounds).all())

    def to_coordinates(self, turning: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Changes of the coordinates (nv,) for angular steps (nv,): the inverse of `to_angular_steps`."""
        return self.to_angular_steps(np.linalg.inv(turning), change)

    def to_angular_steps(self, turning: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """Angular steps (nv,) for changes of the coordinates (nv,); of a matrix (nv, n) column by column."""
        result = np.array(vector)
        indices = ROOT_NV + self._spherical
        result[indices] = (
            turning @ vector[indices] if vector.ndim == 2 else (turning @ vector[indices][:, :, None])[:, :, 0]
        )
        return result

    def transpose_to_coordinates(self, turning: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        """Transpose of `to_angular_steps`: gradients by angular steps (nv,) or (nv, n) as gradients by the
        coordinates.
        """
        return self.to_angular_steps(turning.swapaxes(1, 2), matrix)

    def violation(self, q: np.ndarray) -> np.ndarray:
        """(nv - 6,) [rad, m] by which joint coordinates of a configuration (nq,) leave their ranges, 0 inside."""
        coordinates = self._coordinates(q)
        return np.maximum(0.0, np.maximum(self.lower - coordinates, coordinates - self.upper))

    def coupled_violation(self, q: np.ndarray) -> np.ndarray:
        """(m,) by which the coupled limits are violated, 0 inside."""
        return np.maximum(0.0, self._coupled_rows @ self._coordinates(q) - self._coupled_bounds)

    def _coordinates(self, q: np.ndarray) -> np.ndarray:
        if self._is_plain:
            return q[self._first :]
        coordinates = difference(self._rig, self._neutral, q)[ROOT_NV:]
        places = self._spherical
        if len(places):
            coordinates[places] = nearest_rotation_vectors(coordinates[places], self.lower[places], self.upper[places])
        return np.asarray(coordinates)


def nearest_rotation_vectors(vectors: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The rotation vectors (S, 3) [rad] of the same orientations that are nearer to the boxes lower..upper (S, 3)."""
    angles = np.linalg.norm(vectors, axis=1, keepdims=True)
    others = vectors * (1.0 - 2.0 * np.pi / np.maximum(angles, 1.0))
    outside = [np.maximum(lower - v, 0.0) + np.maximum(v - upper, 0.0) for v in (vectors, others)]
    nearer = (outside[1] ** 2).sum(axis=1) < (outside[0] ** 2).sum(axis=1)
    return np.where((nearer & (angles[:, 0] > 1.0))[:, None], others, vectors)


class LimitStops:
    """Joint limits of a whole motion: stiff stops in its equations, and a clamp for its result."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.lower, self.upper = rig.limits.lower, rig.limits.upper
        self.has_limits = bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())
        self.rotation_slices = [slice(c.start - ROOT_NV, c.stop - ROOT_NV) for c in rotation_columns(rig)[1:]]

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        """(N, nv - 6) of configurations (N, nq), each rotation vector on the side that is nearer to the limits."""
        result = joint_coordinates(self.rig, q)
        for own in self.rotation_slices:
            bounds = (np.broadcast_to(bound[own], (len(q), 3)) for bound in (self.lower, self.upper))
            result[:, own] = nearest_rotation_vectors(result[:, own], *bounds)
        return result

    def add(self, q: np.ndarray, hessian: np.ndarray, gradient: np.ndarray) -> None:
        """Adds stops to the normal equations (N, nv, nv), (N, nv) of configurations (N, nq) in place."""
        coordinates = self.coordinates(q)
        low, high = coordinates <= self.lower + TOUCH_TOLERANCE, coordinates >= self.upper - TOUCH_TOLERANCE
        at_limit = np.flatnonzero((low | high).any(axis=1))
        if not len(at_limit):
            return
        coordinates, low, high = coordinates[at_limit], low[at_limit], high[at_limit]
        corrections = np.where(low, self.lower, np.where(high, self.upper, coordinates)) - coordinates
        stiffness = (
            STOP_STIFFNESS * np.trace(hessian[at_limit], axis1=1, axis2=2)[:, None] / hessian.shape[1] * (low | high)
        )
        rows = np.broadcast_to(
            np.eye(coordinates.shape[1]), (len(at_limit), coordinates.shape[1], coordinates.shape[1])
        ).copy()
        for own in self.rotation_slices:
            rows[:, own, own] = inverse_right_jacobian(coordinates[:, own])
        pulls = rows.swapaxes(1, 2) * stiffness[:, None, :]
        hessian[at_limit, ROOT_NV:, ROOT_NV:] += pulls @ rows
        gradient[at_limit, ROOT_NV:] += (pulls @ corrections[:, :, None])[:, :, 0]

    def clamp(self, q: np.ndarray) -> np.ndarray:
        """Configurations (N, nq) with every joint coordinate inside its limits."""
        coordinates = self.coordinates(q)
        inside = np.clip(coordinates, self.lower, self.upper)
        result = q.copy()
        for joint, into, moves in joint_slices(self.rig)[1:]:
            own = slice(moves.start - ROOT_NV, moves.stop - ROOT_NV)
            changed = np.flatnonzero((coordinates[:, own] != inside[:, own]).any(axis=1))
            if joint.kind == "spherical":
                result[changed, into] = quaternion_exp(inside[changed, own])
            elif joint.nq == joint.nv:
                result[changed, into] = inside[changed, own]
        return result
