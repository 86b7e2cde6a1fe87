"""`CentroidalData` from a trial's motion and wrenches, a rig and any inertials of it.

The covariance of the inertials gives the uncertainty of centre of mass and momentum for a given motion.
"""

from __future__ import annotations

import numpy as np

from ..base.errors import InvalidValue, checked
from ..base.file_arrays import cut_frames
from ..base.so3 import cross, turn_vectors
from ..dynamics import centroidal_momentum, com_trajectory
from ..dynamics.kinematics import LinkMotions, link_motions
from ..signals import GRAVITY
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, INERTIA, MASS, PER_LINK, InertialParameters
from ..values.motion import Motion
from .signal_checks import require_load
from .values import AXES, CentroidalData, InertialModes

MIN_LOAD = 0.2
"""Fraction of the body weight from which the centre of pressure is computed."""
MAX_PRESSURE_DISTANCE = 0.6
"""[m] horizontal distance between centre of mass and centre of pressure that no standing body has for long."""
MAX_MODES = 24
"""Largest number of modes: those with the largest effect on this motion."""
MIN_EFFECT = 0.01
"""Ratio of a mode's effect to the largest one's below which it is omitted."""
SAMPLED_FRAMES = 400
"""Number of frames at which the modes are compared."""
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
"""In Pinocchio's order xx xy yy xz yz zz. By definition."""


@checked
def centroidal_data(
    rig: Rig, trial: Trial, parameters: InertialParameters, root: np.ndarray | None = None
) -> CentroidalData:
    """Signals of one trial.

    Args:
        rig: of the trial.
        trial: motion and wrenches, about the world origin, at the same times.
        parameters: of its links, prior or identified; their sum is the total mass.
        root: (M, L, 10) square root of the parameters' covariance (`Identification.covariance_root`); None: the
            parameters are exact.

    Raises:
        InvalidValue: another rig's parameters, no positive mass, wrenches about another point than the world origin, or
            plates that show no load of a body that does not fall.

    Example:
        >>> import numpy as np
        >>> import solver
        >>> rig, still = solver.hoap3(), np.zeros((3, solver.hoap3().nv))
        >>> motion = solver.Motion(np.arange(3) / 100.0, np.tile(rig.neutral, (3, 1)), still, still)
        >>> weight = np.tile([0.0, 0.0, rig.weight, 0.0, 0.0, 0.0], (3, 1, 1))
        >>> trial = solver.Trial("stands", motion, solver.Wrenches(motion.times, ("floor",), weight), np.ones(3, bool))
        >>> data = solver.centroidal.centroidal_data(rig, trial, rig.prior)
        >>> float(abs(data.force_acceleration).max()) < 1e-9
        True
    """
    try:
        data = _data_of_motion(rig, trial, parameters, root)
    except InvalidValue as error:
        raise InvalidValue(f"trial {trial.name!r}: {error}") from None
    require_world_origin(data, trial.name)
    require_load(data, trial.name)
    return data


def _data_of_motion(rig: Rig, trial: Trial, parameters: InertialParameters, root: np.ndarray | None) -> CentroidalData:
    momentum = centroidal_momentum(rig, trial.motion, parameters)
    measured = np.asarray(trial.wrenches.measured)
    known = trial.counted & measured[:, :AXES].all(axis=1)
    return CentroidalData(
        trial.motion.times,
        parameters.total_mass,
        com_trajectory(rig, trial.motion, parameters),
        momentum.momentum[:, AXES:],
        momentum.rate[:, AXES:],
        momentum.rate[:, :AXES] / parameters.total_mass,
        trial.wrenches.total,
        known,
        bool(measured[known, AXES:].all()),
        None if root is None else inertial_modes(rig, trial.motion, parameters, root),
    )


def require_world_origin(data: CentroidalData, name: str) -> None:
    """Refuse moments about another point than the world origin: their centre of pressure lies beside the body.

    Raises:
        InvalidValue: the median centre of pressure is farther than `MAX_PRESSURE_DISTANCE` from the CoM's projection.
    """
    loaded = data.known & (data.force[:, 2] > MIN_LOAD * data.mass * GRAVITY)
    if not data.has_moment or not loaded.any():
        return
    force, moment = data.force[loaded], data.moment[loaded]
    pressures = np.stack([-moment[:, 1], moment[:, 0]], axis=1) / force[:, 2:]
    offset = np.median(pressures - data.com[loaded, :2], axis=0)
    if np.linalg.norm(offset) > MAX_PRESSURE_DISTANCE:
        raise InvalidValue(
            f"trial {name!r}: the centre of pressure lies {offset[0]:.2f}, {offset[1]:.2f} m (x, y) from the centre of "
            "mass: "
            "the moments are about another point than the world origin, or forces and motion do not share their axes"
        )


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
    com, momentum = _momentum_changes(rig, sampled, parameters, root)
    effect = np.concatenate([com, momentum / parameters.total_mass], axis=1).reshape(-1, len(root))
    _, sizes, directions = np.linalg.svd(effect, full_matrices=False)
    chosen_directions = (
        directions[: min(max_modes, int(np.sum(sizes > MIN_EFFECT * sizes[0])))] if sizes[0] > 0.0 else directions[:0]
    )
    changes = np.tensordot(chosen_directions, root, axes=1)
    parts = [
        _momentum_changes(rig, motion.part(own.start, own.stop), parameters, changes) for own in cut_frames(len(motion))
    ]
    return InertialModes(*(np.concatenate(side) for side in zip(*parts)))


def _momentum_changes(
    rig: Rig, motion: Motion, parameters: InertialParameters, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3, M) [m] and (n, 3, M) [kg m^2/s] changes of centre of mass and momentum due to changes (M, L, 10) of the
    parameters."""
    links = link_motions(rig, motion)
    total, frames = parameters.total_mass, len(motion)
    com, speed = _com_and_velocity(links, parameters)
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
        own = turn_vectors(inertia[:, :, None, None], links.omega)
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


def _com_and_velocity(links: LinkMotions, parameters: InertialParameters) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (3, n) [m] and its velocity (3, n) [m/s]."""
    mass = parameters.masses[:, None]
    first = np.broadcast_to(parameters.values[:, FIRST_MOMENT].T[:, :, None], links.position.shape)
    com = (mass * links.position + links.to_world(first)).sum(axis=1) / parameters.total_mass
    linear = links.to_world(mass * links.velocity + cross(links.omega, first)).sum(axis=1)
    return com, linear / parameters.total_mass
