"""`CentroidalData` from a trial's motion and wrenches, a rig and any inertials of it."""

from __future__ import annotations

import numpy as np

from ..dynamics import centroidal_momentum, com_trajectory
from ..errors import InvalidValue
from ..inertials import InertialParameters
from ..rig import Rig
from ..signals import GRAVITY
from ..trial import Trial
from .inertial_modes import inertial_modes
from .signal_checks import require_load
from .values import AXES, CentroidalData

MIN_LOAD = 0.2
"""Fraction of the body weight from which the centre of pressure is computed."""
MAX_PRESSURE_DISTANCE = 0.6
"""[m] horizontal distance between centre of mass and centre of pressure that no standing body has for long."""


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
        data = _build_data(rig, trial, parameters, root)
    except InvalidValue as error:
        raise InvalidValue(f"trial {trial.name!r}: {error}") from None
    require_world_origin(data, trial.name)
    require_load(data, trial.name)
    return data


def _build_data(rig: Rig, trial: Trial, parameters: InertialParameters, root: np.ndarray | None) -> CentroidalData:
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
