"""Motion of a foot relative to the root, which a leg's joints have to follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.so3 import Exponential, cross

Rates = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Values (N, n) with first and second derivative."""


@dataclass(frozen=True, slots=True)
class RelativeMotion:
    """Motion of a rigid body relative to a reference body, in the axes of the latter; frames first.

    Attributes:
        rotation: (N, 3, 3) body axes to reference axes.
        position: (N, 3) [m].
        velocity: (N, 6) linear of the origin, then angular.
        acceleration: (N, 6) second derivative of the position, then derivative of the angular velocity.
    """

    rotation: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def motion_relative_to_root(roots: Rates, feet: Rates) -> RelativeMotion:
    """Motion of a foot relative to the root, both given as position and rotation vector (N, 6) with derivatives."""
    (root, dr, ddr), (foot, df, ddf) = roots, feet
    own, foots = Exponential(root[:, 3:]), Exponential(foot[:, 3:])
    omega, alpha = own.rates(dr[:, 3:], ddr[:, 3:])
    foot_omega, foot_alpha = foots.rates(df[:, 3:], ddf[:, 3:])
    back = own.matrix.swapaxes(1, 2)
    rotation = back @ foots.matrix

    def local(vectors: np.ndarray) -> np.ndarray:
        return np.einsum("nij,nj->ni", back, vectors)  # n frames, i axes of the root, j axes of the world

    def crossed(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return cross(left.T, right.T).T

    position = local(foot[:, :3] - root[:, :3])
    drift = local(df[:, :3] - dr[:, :3])
    velocity = drift - crossed(omega, position)
    acceleration = (
        local(ddf[:, :3] - ddr[:, :3]) - crossed(omega, drift) - crossed(alpha, position) - crossed(omega, velocity)
    )
    spin = np.einsum("nij,nj->ni", rotation, foot_omega)  # n frames, i axes of the root, j axes of the foot
    spin_rate = np.einsum("nij,nj->ni", rotation, foot_alpha) - crossed(omega, spin) - alpha
    return RelativeMotion(
        rotation,
        position,
        np.concatenate([velocity, spin - omega], axis=1),
        np.concatenate([acceleration, spin_rate], axis=1),
    )
