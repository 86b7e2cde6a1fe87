"""The six free-flyer rows of the equations of motion, which no joint torque enters: jovic2016 (3), bonnet2016 (4).

Wrenches are force then moment [N, N m] about the origin of the base link, in the axes of the base link
(``axes="link"``, the papers' choice) or of the world (``axes="world"``). Any link may be the base link: it only
chooses where and in which axes the same wrench is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue, checked
from ..base.so3 import cross, turn_vectors
from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, GRAVITY_VECTOR, PER_LINK, InertialParameters
from ..values.motion import Motion
from ..values.wrenches import Wrenches
from .kinematics import LinkMotions, link_motions, motion_pieces
from .regressor import STATIC_PARAMETERS, Axes, base_index, regressor_pieces


@dataclass(frozen=True, slots=True)
class Momentum:
    """Momentum of the whole body and its rate.

    Attributes:
        momentum: (N, 6) linear [kg m/s], then angular about the centre of mass [kg m^2/s], world axes.
        rate: (N, 6) their time derivatives [N], [N m]; gravity is part of what changes the first.
    """

    momentum: np.ndarray
    rate: np.ndarray


@checked
def wrench_regressor(rig: Rig, motion: Motion, base: int | str = 0, axes: Axes = "link") -> np.ndarray:
    """Regressor Y (N, 6, 10 L) with Y phi = external wrench at the base link, jovic2016 (3).

    Args:
        rig: L links.
        motion: N frames. The whole array is returned at once: use `accumulate` for long recordings.
        base: link, by name or index, about whose origin the moment is taken.
        axes: ``"link"`` for the base link's axes, ``"world"`` for the world's.

    Raises:
        UnknownLink: no such base link.
        InvalidValue: motion of another rig, or unknown axes.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.hoap3()
        >>> still = solver.Motion([0.0, 1.0], [rig.neutral] * 2, np.zeros((2, rig.nv)), np.zeros((2, rig.nv)))
        >>> solver.dynamics.wrench_regressor(rig, still).shape  # frames, wrench, ten parameters of each link
        (2, 6, 220)
    """
    result = np.zeros((len(motion), 6, len(rig.links), PER_LINK))
    for piece in regressor_pieces(rig, motion, base, axes):
        result[piece.frames, :3, :, :STATIC_PARAMETERS] = piece.force.transpose(3, 0, 2, 1)
        result[piece.frames, 3:] = piece.moment.transpose(3, 0, 2, 1)
    return result.reshape(len(motion), 6, -1)


@checked
def predicted_wrench(
    rig: Rig, motion: Motion, parameters: InertialParameters, base: int | str = 0, axes: Axes = "link"
) -> np.ndarray:
    """Required external wrench (N, 6) of a motion, Y phi; the parameters need not be physical.

    Raises:
        InvalidValue: parameters or motion of another rig.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.hoap3()
        >>> still = solver.Motion([0.0, 1.0], [rig.neutral] * 2, np.zeros((2, rig.nv)), np.zeros((2, rig.nv)))
        >>> wrench = solver.dynamics.predicted_wrench(rig, still, rig.prior, axes="world")
        >>> f"{wrench[0, 2]:.0f} N carry {rig.prior.total_mass:.2f} kg"
        '86 N carry 8.80 kg'
    """
    return predicted_wrenches(rig, motion, [parameters], base, axes)[:, 0]


def ground_wrench(rig: Rig, motion: Motion, parameters: InertialParameters) -> np.ndarray:
    """The same as force plates measure it (N, 6) [N, N m]: world axes, about the world origin."""
    wrench = predicted_wrench(rig, motion, parameters, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    return wrench


def predicted_wrenches(
    rig: Rig, motion: Motion, bodies: Sequence[InertialParameters], base: int | str = 0, axes: Axes = "link"
) -> np.ndarray:
    """`predicted_wrench` (N, K, 6) for K sets of parameters, at little more than the cost of one."""
    phi = np.array([_phi_by_parameter(rig, parameters) for parameters in bodies])
    result = np.empty((len(motion), len(bodies), 6))
    for piece in regressor_pieces(rig, motion, base, axes):
        count = len(piece.origin.T)
        force = phi[:, : STATIC_PARAMETERS * len(rig.links)] @ piece.force.reshape(3, -1, count)
        result[piece.frames, :, :3] = force.transpose(2, 1, 0)
        result[piece.frames, :, 3:] = (phi @ piece.moment.reshape(3, -1, count)).transpose(2, 1, 0)
    return result


@checked
def external_wrench(
    rig: Rig, motion: Motion, wrenches: Wrenches, base: int | str = 0, axes: Axes = "link"
) -> np.ndarray:
    """Measured total wrench (N, 6) at the base link, the right-hand side f of Y phi = f; NaN stays NaN.

    Raises:
        InvalidValue: wrenches and motion differ in length.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.hoap3()
        >>> still = solver.Motion([0.0, 1.0], [rig.neutral] * 2, np.zeros((2, rig.nv)), np.zeros((2, rig.nv)))
        >>> feet = np.tile([0.0, 0.0, 43.0, 0.0, 0.0, 0.0], (2, 2, 1))  # [N], [N m] of two plates
        >>> plates = solver.Wrenches(still.times, ("left", "right"), feet)
        >>> float(solver.dynamics.external_wrench(rig, still, plates, axes="world")[0, 2])  # [N]
        86.0
    """
    if len(wrenches) != len(motion):
        raise InvalidValue(f"{len(wrenches)} wrench samples for {len(motion)} frames of motion")
    index = base_index(rig, base)
    motions = link_motions(rig, motion)
    world = wrenches.about(motions.position[:, index].T)
    if axes == "world":
        return world
    # axes r of the world, axes c of the link, frames n, k force or moment
    return np.einsum("rcn,nkr->nkc", motions.rotation[:, :, index], world.reshape(-1, 2, 3)).reshape(-1, 6)


@checked
def com_trajectory(rig: Rig, motion: Motion, parameters: InertialParameters) -> np.ndarray:
    """Centre of mass (N, 3) [m], world.

    Raises:
        InvalidValue: the total mass is not positive.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.hoap3()
        >>> still = solver.Motion([0.0, 1.0], [rig.neutral] * 2, np.zeros((2, rig.nv)), np.zeros((2, rig.nv)))
        >>> bool(abs(solver.dynamics.com_trajectory(rig, still, rig.prior)[0, 1]) < 0.01)  # [m]; it is nearly symmetric
        True
    """
    if not parameters.total_mass > 0.0:
        raise InvalidValue(f"a body of {parameters.total_mass:g} kg has no centre of mass")
    _phi_by_parameter(rig, parameters)
    result = np.empty((len(motion), 3))
    for frames, motions in motion_pieces(rig, motion):
        result[frames] = _centre_of_mass(motions, parameters).T
    return result


def com_acceleration(motions: LinkMotions, parameters: InertialParameters) -> np.ndarray:
    """Acceleration (N, 3) [m/s^2] of the centre of mass, world axes."""
    first = np.broadcast_to(parameters.values[:, FIRST_MOMENT].T[:, :, None], motions.omega.shape)
    around = cross(motions.alpha, first) + cross(motions.omega, cross(motions.omega, first))
    rates = parameters.masses[:, None] * motions.acceleration + around
    return (motions.to_world(rates).sum(axis=1) / parameters.total_mass).T


@checked
def centroidal_momentum(rig: Rig, motion: Motion, parameters: InertialParameters) -> Momentum:
    """Linear momentum, angular momentum about the centre of mass, and their rates; see `Momentum`.

    Example:
        >>> import numpy as np, solver
        >>> rig, speed = solver.hrp2(), np.zeros((2, solver.hrp2().nv))
        >>> speed[:, 0] = 0.5  # [m/s] forwards, in one piece
        >>> glide = solver.Motion([0.0, 1.0], [rig.neutral] * 2, speed, 0.0 * speed)
        >>> f"{solver.dynamics.centroidal_momentum(rig, glide, rig.prior).momentum[0, 0]:.1f} kg m/s"
        '29.0 kg m/s'
    """
    if not parameters.total_mass > 0.0:
        raise InvalidValue(f"a body of {parameters.total_mass:g} kg has no centre of mass")
    momentum, lever = np.empty((len(motion), 6)), np.empty((len(motion), 3))
    for here, motions in motion_pieces(rig, motion):
        com = _centre_of_mass(motions, parameters)
        momentum[here] = _centroidal_momentum(motions, parameters, com)
        lever[here] = (com - motions.position[:, 0]).T
    wrench = predicted_wrench(rig, motion, parameters, axes="world")
    wrench[:, 3:] -= np.cross(lever, wrench[:, :3])
    wrench[:, :3] += parameters.total_mass * GRAVITY_VECTOR
    return Momentum(momentum, wrench)


def _centroidal_momentum(motions: LinkMotions, parameters: InertialParameters, com: np.ndarray) -> np.ndarray:
    """Linear momentum and angular momentum about the centre of mass (3, n), together (n, 6), world axes."""
    mass = parameters.masses[:, None]
    first = parameters.values[:, FIRST_MOMENT].T[:, :, None]
    inertia = np.moveaxis(parameters.inertias, 0, -1)[..., None]
    linear = mass * motions.velocity + cross(motions.omega, np.broadcast_to(first, motions.omega.shape))
    about_origin = turn_vectors(inertia, motions.omega) + cross(first, motions.velocity)
    linear, about_origin = motions.to_world(linear), motions.to_world(about_origin)
    angular = (about_origin + cross(motions.position - com[:, None], linear)).sum(axis=1)
    return np.concatenate([linear.sum(axis=1), angular]).T


def _centre_of_mass(motions: LinkMotions, parameters: InertialParameters) -> np.ndarray:
    first = np.broadcast_to(parameters.values[:, FIRST_MOMENT].T[:, :, None], motions.position.shape)
    moments = parameters.masses[:, None] * motions.position + motions.to_world(first)
    return moments.sum(axis=1) / parameters.total_mass


def _phi_by_parameter(rig: Rig, parameters: InertialParameters) -> np.ndarray:
    """phi (10 L,) with the parameter as the slow index, like the columns of the regressor's pieces."""
    if parameters.links != rig.links:
        raise InvalidValue(f"the inertial parameters name other links than rig {rig.name!r}")
    return parameters.values.T.reshape(-1)
