"""Uncertainty of centre of mass and momentum due to the covariance of the inertials, for a given motion."""

from __future__ import annotations

import numpy as np

from ..dynamics.kinematics import LinkMotions, link_motions, product
from ..inertials import FIRST_MOMENT, INERTIA, MASS, PER_LINK, InertialParameters
from ..motion import Motion
from ..rig import Rig
from ..so3 import cross
from .values import AXES, InertialModes

MAX_MODES = 24
"""Largest number of modes: those with the largest effect on this motion."""
MIN_EFFECT = 0.01
"""Ratio of a mode's effect to the largest one's below which it is omitted."""
SAMPLED_FRAMES = 400
"""Number of frames at which the modes are compared."""
CHUNK = 512
UNIT_INERTIAS = np.array(
    [
        [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 1, 0], [1, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
        [[0, 0, 1], [0, 0, 0], [1, 0, 0]],
        [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 1]],
    ],
    float,
)
"""In Pinocchio's order xx xy yy xz yz zz."""


def inertial_modes(
    rig: Rig, motion: Motion, parameters: InertialParameters, root: np.ndarray, max_modes: int = MAX_MODES
) -> InertialModes:
    """Independent changes of centre of mass and angular momentum that a covariance allows, largest first.

    Args:
        rig: of the motion.
        motion: N frames.
        parameters: mean of the distribution.
        root: (M, L, 10) changes of the parameters whose squares sum to their covariance. Changes of the total mass are
            removed: it is known.
        max_modes: largest number of modes.
    """
    masses = parameters.masses
    root = np.array(root, float)
    root[:, :, MASS] -= root[:, :, MASS].sum(axis=1, keepdims=True) * masses / parameters.total_mass
    step = max(1, len(motion) // SAMPLED_FRAMES)
    sampled = Motion(motion.times[::step], motion.q[::step], motion.v[::step], motion.a[::step])
    com, momentum = _effects(rig, sampled, parameters, root)
    effect = np.concatenate([com, momentum / parameters.total_mass], axis=1).reshape(-1, len(root))
    _, sizes, directions = np.linalg.svd(effect, full_matrices=False)
    chosen_directions = (
        directions[: min(max_modes, int(np.sum(sizes > MIN_EFFECT * sizes[0])))] if sizes[0] > 0.0 else directions[:0]
    )
    changes = np.tensordot(chosen_directions, root, axes=1)
    parts = [
        _effects(rig, motion.part(start, start + CHUNK), parameters, changes) for start in range(0, len(motion), CHUNK)
    ]
    return InertialModes(*(np.concatenate(side) for side in zip(*parts)))


def _effects(
    rig: Rig, motion: Motion, parameters: InertialParameters, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3, M) [m] and (n, 3, M) [kg m^2/s] changes of centre of mass and momentum due to changes (M, L, 10) of the
    parameters."""
    links = link_motions(rig, motion)
    total, frames = parameters.total_mass, len(motion)
    com, speed = _centre(links, parameters)
    positions = links.position - com[:, None]
    velocity = links.to_world(links.velocity)
    # components first, then parameters, links, frames
    com_columns = np.zeros((AXES, PER_LINK, len(rig.links), frames))
    com_columns[:, MASS], com_columns[:, FIRST_MOMENT] = positions, links.rotation
    momentum_columns = np.zeros_like(com_columns)
    momentum_columns[:, MASS] = velocity
    for axis in range(AXES):
        unit = np.zeros((AXES, 1, 1))
        unit[axis] = 1.0
        spun = cross(links.omega, np.broadcast_to(unit, links.omega.shape))
        momentum_columns[:, FIRST_MOMENT][:, axis] = links.to_world(spun)
    angular_columns = np.zeros_like(com_columns)
    for axis in range(AXES):
        angular_columns[:, FIRST_MOMENT][:, axis] = cross(links.rotation[:, axis], velocity)
    for index, inertia in enumerate(UNIT_INERTIAS):
        own = product(np.broadcast_to(inertia[:, :, None, None], (3, 3, 1, 1)), links.omega[:, None])[:, 0]
        angular_columns[:, INERTIA][:, index] = links.to_world(own)
    positions = np.broadcast_to(positions[:, None], com_columns.shape)
    angular_columns += cross(positions, momentum_columns)
    columns = root.reshape(len(root), -1, PER_LINK)
    # axes a, parameters p, links l, frames n, modes m
    com_changes = np.einsum("apln,mlp->nam", com_columns, columns, optimize=True) / total
    momentum_changes = np.einsum("apln,mlp->nam", angular_columns, columns, optimize=True)
    # moving the centre changes the momentum of the whole body about it
    body_momentum = np.broadcast_to(total * speed[:, :, None], (AXES, frames, len(root)))
    momentum_changes -= cross(com_changes.swapaxes(0, 1), body_momentum).swapaxes(0, 1)
    return com_changes, momentum_changes


def _centre(links: LinkMotions, parameters: InertialParameters) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (3, n) [m] and its velocity (3, n) [m/s]."""
    mass = parameters.masses[:, None]
    first = np.broadcast_to(parameters.values[:, FIRST_MOMENT].T[:, :, None], links.position.shape)
    com = (mass * links.position + links.to_world(first)).sum(axis=1) / parameters.total_mass
    linear = links.to_world(mass * links.velocity + cross(links.omega, first)).sum(axis=1)
    return com, linear / parameters.total_mass
