"""Cost of displacements: mean square motion of the body's points per unit of each coordinate."""

from __future__ import annotations

import numpy as np

from ..coordinates import to_manifold
from ..dynamics.mechanics import Mechanics
from ..rig import ROOT_NV, Rig

UNIT_SHARE = 0.01
"""Unit of displacements, as a share of the body's size."""
MIN_VISIBILITY = 1e-4
"""Smallest mean square motion per radian, as a share of the size squared, for joints whose links are points."""


def point_motion(rig: Rig, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean square motion (nv,) of the corners of the links' boxes per unit of each flat coordinate, and the size [m].

    The size is the diagonal of the box around these points.
    """
    mechanics, nv = Mechanics(rig), rig.model.nv
    step = 1e-6
    shifted = np.concatenate([y[None], y + step * np.eye(nv)])
    zeros = np.zeros_like(shifted)
    curves = to_manifold(rig, shifted, zeros, zeros)
    state = mechanics.compute_state(curves.q, curves.v, curves.a)
    corners = np.array([[box[list(pick), [0, 1, 2]] for pick in np.ndindex(2, 2, 2)] for box in rig.boxes])  # (L, 8, 3)
    local = np.concatenate([corners, np.zeros((len(rig.links), 1, 3))], axis=1)
    # n shifts, l links, p points, i axes of the world, j axes of the link
    points = state.position[:, :, None] + np.einsum("nlij,lpj->nlpi", state.rotation, local)
    points = points.reshape(len(shifted), -1, 3)
    ways = (points[1:] - points[0]) / step
    return (ways**2).sum(axis=2).mean(axis=1), float(np.linalg.norm(np.ptp(points[0], axis=0)))


def displacement_weights(rig: Rig, y: np.ndarray, columns: np.ndarray, preference: float) -> np.ndarray:
    """Cost (n,) of a squared unit of each coordinate; joints cost ``preference`` times as much as the root."""
    seen, size = point_motion(rig, y)
    weights = np.maximum(seen, MIN_VISIBILITY * size**2) / (UNIT_SHARE * size) ** 2
    weights[ROOT_NV:] *= preference
    return weights[columns]
