"""Joint limits of a whole motion: stiff stops while it is solved for, and exact ones at the end."""

from __future__ import annotations

import numpy as np

from ..coordinates import joint_coordinates, joint_slices, rotation_columns
from ..rig import ROOT_NV, Rig
from ..so3 import inverse_right_jacobian, quaternion_exp
from .posture import nearest_rotation_vectors

STOP_STIFFNESS = 1e4
"""Stiffness of a stop over the mean stiffness of the coordinates."""
TOUCH_TOLERANCE = 1e-6
"""[rad, m] from a limit at which it stops."""


class LimitStops:
    """Where joints may not go."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.lower, self.upper = rig.limits.lower, rig.limits.upper
        self.has_limits = bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())
        self.rotation_slices = [slice(c.start - ROOT_NV, c.stop - ROOT_NV) for c in rotation_columns(rig)[1:]]

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        """(N, nv - 6) of configurations (N, nq), every rotation vector on the side that is nearer to the limits."""
        result = joint_coordinates(self.rig, q)
        for own in self.rotation_slices:
            bounds = (np.broadcast_to(bound[own], (len(q), 3)) for bound in (self.lower, self.upper))
            result[:, own] = nearest_rotation_vectors(result[:, own], *bounds)
        return result

    def add(self, q: np.ndarray, hessian: np.ndarray, gradient: np.ndarray) -> int:
        """Add stops to the normal equations (N, nv, nv), (N, nv) of configurations (N, nq) in place; returns how many
        frames touch one.
        """
        places = self.coordinates(q)
        low, high = places <= self.lower + TOUCH_TOLERANCE, places >= self.upper - TOUCH_TOLERANCE
        touched = np.flatnonzero((low | high).any(axis=1))
        if not len(touched):
            return 0
        places, low, high = places[touched], low[touched], high[touched]
        wanted = np.where(low, self.lower, np.where(high, self.upper, places)) - places
        stiffness = (
            STOP_STIFFNESS * np.trace(hessian[touched], axis1=1, axis2=2)[:, None] / hessian.shape[1] * (low | high)
        )
        rows = np.broadcast_to(np.eye(places.shape[1]), (len(touched), places.shape[1], places.shape[1])).copy()
        for own in self.rotation_slices:
            rows[:, own, own] = inverse_right_jacobian(places[:, own])
        pulls = rows.swapaxes(1, 2) * stiffness[:, None, :]
        hessian[touched, ROOT_NV:, ROOT_NV:] += pulls @ rows
        gradient[touched, ROOT_NV:] += (pulls @ wanted[:, :, None])[:, :, 0]
        return len(touched)

    def clamp(self, q: np.ndarray) -> np.ndarray:
        """Configurations (N, nq) with every joint coordinate inside its limits."""
        places = self.coordinates(q)
        inside = np.clip(places, self.lower, self.upper)
        result = q.copy()
        for joint, into, moves in joint_slices(self.rig)[1:]:
            own = slice(moves.start - ROOT_NV, moves.stop - ROOT_NV)
            changed = np.flatnonzero((places[:, own] != inside[:, own]).any(axis=1))
            if joint.kind == "spherical":
                result[changed, into] = quaternion_exp(inside[changed, own])
            elif joint.nq == joint.nv:
                result[changed, into] = inside[changed, own]
        return result
