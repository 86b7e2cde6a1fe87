"""Poses, inverse dynamics, joint torques and the required external wrench of batches of frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import cross, dot, matrix_product, skew
from ..engine import POSE_SIZE, FrameDynamics
from ..skeleton.rig import ROOT_NV, Rig
from ..values.inertials import FIRST_MOMENT, InertialParameters
from ..values.joints import Joint
from ..values.motion import Motion


@dataclass(frozen=True, slots=True)
class DynamicState:
    """Poses and inverse dynamics of a rig in N frames; poses are stored with the frames last.

    Attributes:
        rotation: (N, L, 3, 3) link axes to world axes.
        position: (N, L, 3) [m] link origins, world.
        tau: (N, nv) generalised forces that produce the motion without any contact; the first six are the root's.
        wrench: (N, 6) required external force [N] and moment [N m], world axes, about the world origin.
        com: (N, 3) [m] centre of mass by the rig's prior, world.
    """

    rotation: np.ndarray
    position: np.ndarray
    tau: np.ndarray
    wrench: np.ndarray
    com: np.ndarray

    def __len__(self) -> int:
        return len(self.tau)

    def at_frames(self, frames: np.ndarray) -> DynamicState:
        """Selected frames, in any order; they may be repeated."""
        rotation = self.rotation.transpose(1, 2, 3, 0)[..., frames].transpose(3, 0, 1, 2)
        position = self.position.transpose(1, 2, 0)[..., frames].transpose(2, 0, 1)
        return DynamicState(rotation, position, self.tau[frames], self.wrench[frames], self.com[frames])


class Mechanics:
    """Dynamics of one rig, with the engine's working memory reused by all calls."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self._dynamics = FrameDynamics(rig.model)
        if not rig.prior.total_mass > 0.0:
            raise InvalidValue(f"rig {rig.name!r} weighs {rig.prior.total_mass:g} kg: balance needs a positive mass")
        self._com_matrix = _com_matrix(rig.prior)

    def compute_state(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> DynamicState:
        """State of N frames: q (N, nq), v (N, nv), a (N, nv)."""
        poses, tau = self._dynamics.inverse_dynamics(q, v, a)
        rotation, position, com = self._read_poses(poses)
        return DynamicState(rotation, position, tau, _root_wrench(tau, rotation, position), com)

    def compute_poses(self, q: np.ndarray) -> DynamicState:
        """State of N static postures q (N, nq): poses and centres of mass only; forces and wrench are NaN."""
        rotation, position, com = self._read_poses(self._dynamics.poses(q))
        return DynamicState(
            rotation, position, np.full((len(q), self.rig.nv), np.nan), np.full((len(q), ROOT_NV), np.nan), com
        )

    def _read_poses(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rotations, positions and centres of mass, as in `DynamicState`, of the engine's poses (N, L, 12)."""
        frames, links = poses.shape[:2]
        columns = np.ascontiguousarray(poses.transpose(2, 1, 0))
        rotation = columns[:9].reshape(3, 3, links, frames).transpose(3, 2, 1, 0)
        return rotation, columns[9:].transpose(2, 1, 0), poses.reshape(frames, links * POSE_SIZE) @ self._com_matrix

    def compute_wrenches(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Required external wrench (N, 6) of N frames, as in `DynamicState`; faster than the whole state."""
        return self._dynamics.root_wrenches(q, v, a)

    def compute_coms(self, q: np.ndarray) -> np.ndarray:
        """Centre of mass (N, 3) [m] by the rig's prior, world, of N frames."""
        return self._dynamics.centres_of_mass(q)


def _root_wrench(tau: np.ndarray, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """(N, 6) generalised force of the root as a wrench, world axes, about the world origin."""
    root = matrix_product(rotation[:, 0].transpose(1, 2, 0), tau[:, :ROOT_NV].T.reshape(2, 3, -1).swapaxes(0, 1))
    root[:, 1] += cross(position[:, 0].T, root[:, 0])
    return root.swapaxes(0, 1).reshape(ROOT_NV, -1).T


def _com_matrix(prior: InertialParameters) -> np.ndarray:
    """(12 L, 3) map from the engine's poses to the centre of mass."""
    shares = np.concatenate([prior.values[:, FIRST_MOMENT], prior.masses[:, None]], axis=1) / prior.total_mass
    return np.asarray((shares[:, :, None, None] * np.eye(3)).reshape(-1, 3))


def com_and_jacobian(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (N, 3) [m] by the rig's prior, world, of configurations (N, nq), and its Jacobian (N, 3, nv)."""
    return FrameDynamics(rig.model).centre_of_mass_jacobians(q)


def contact_joint_forces(rig: Rig, state: DynamicState, link: str, load: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Generalised forces of the joints due to a wrench on a link: joint coordinates (K,), and forces (N, K).

    That is J' w with the link's Jacobian J. Coordinates are counted from the first after the root's. Forces are in
    [N m] for revolute and in [N] for prismatic coordinates.

    Args:
        rig: with the joints.
        state: N frames.
        link: on which the wrench acts.
        load: (N, 6) [N, N m] world axes, about the world origin.
    """
    starts = np.cumsum([0, *(joint.nv for joint in rig.joints)]) - ROOT_NV
    force, moment = load.T[:3], load.T[3:]
    columns: list[int] = []
    forces: list[np.ndarray] = []
    for own in rig.path(rig.index(link)):
        joint, turn = rig.joints[own], state.rotation[:, own].transpose(1, 2, 0)
        parent = state.rotation[:, max(joint.parent, 0)].transpose(1, 2, 0)
        about = moment - cross(state.position[:, own].T, force)
        slides, turns = _joint_axes(joint, turn, parent)
        columns += range(starts[own], starts[own] + joint.nv)
        forces += [dot(axis, force) for axis in slides] + [dot(axis, about) for axis in turns]
    return np.array(columns, int), np.array(forces).reshape(len(columns), len(load)).T


def _joint_axes(joint: Joint, turn: np.ndarray, parent: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """World axes (3, N) of a joint's prismatic and of its revolute coordinates, in the order of its coordinates."""
    own = list(turn.swapaxes(0, 1))
    if joint.kind == "free":
        return own, own
    if joint.kind == "spherical":
        return [], own
    axes = [matrix_product(turn, axis[:, None, None])[:, 0] for axis in joint.axes]
    if joint.kind == "universal":
        axes[0] = matrix_product(parent, (joint.rotation @ joint.axes[0])[:, None, None])[:, 0]
    return (axes, []) if joint.kind == "prismatic" else ([], axes)


def moving_coordinates(rig: Rig, link: str) -> np.ndarray:
    """(nv,) True for tangent coordinates that move a link: those of the joints between it and the world."""
    owners = np.repeat(np.arange(len(rig.links)), [joint.nv for joint in rig.joints])
    return np.isin(owners, [0, *rig.path(rig.index(link))])


@lru_cache(maxsize=64)
def carried_axes(rig: Rig, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Tangent coordinates (n,) that move a link, and an (n, n) matrix, 1 at (k, j) if j moves the axis of k."""
    above = np.flatnonzero(moving_coordinates(rig, link))
    owner = np.repeat(np.arange(len(rig.links)), [joint.nv for joint in rig.joints])[above]
    moves = rig.descendants[np.ix_(owner, owner)].T.astype(float)
    universal = np.array([rig.joints[k].kind == "universal" for k in owner], bool)
    moves[np.triu(universal[:, None] & (owner[:, None] == owner))] = 0.0  # its second axis is carried by its first
    return above, moves


def inverse_dynamics_derivatives(
    rig: Rig, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generalised forces (N, nv) of N frames without contact, their derivatives, and the joints' axes (N, 6, nv).

    Derivatives (3, N, nv, nv) are by tangent coordinates (columns), velocities and accelerations. Axes are linear, then
    angular, world axes, about the world origin.
    """
    return FrameDynamics(rig.model).inverse_dynamics_derivatives(q, v, a)


def root_residual_derivatives(rig: Rig, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Derivatives (N, 6, 3, nv) of the residual of the root's equations of motion by errors of q, v and a, root axes.

    The residual is inverse dynamics with the rig's prior minus the measured wrench. The wrench is measured in world
    axes, so that an error of the root's pose also rotates and moves it.
    """
    wrenches, result = FrameDynamics(rig.model).root_force_derivatives(q, v, a)
    force, moment = skew(wrenches[:, :3]), skew(wrenches[:, 3:])
    result[:, :3, 0, 3:ROOT_NV] -= force
    result[:, 3:, 0, :3] -= force
    result[:, 3:, 0, 3:ROOT_NV] -= moment
    return result


def torque_regressor(rig: Rig, motion: Motion) -> np.ndarray:
    """Regressor (N, nv - 6, 10 L) of the generalised forces of the joints, without contacts.

    Rows are in the order of `Limits`, [N m] for revolute and [N] for prismatic coordinates.
    """
    return FrameDynamics(rig.model).joint_force_regressor(motion.q, motion.v, motion.a)


def torques_and_derivatives(rig: Rig, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Generalised forces (N, nv - 6) of the joints without contacts, and their derivatives (3, N, nv - 6, nv - 6).

    Derivatives are by the joints' coordinates, velocities and accelerations.
    """
    forces, derivatives, _ = inverse_dynamics_derivatives(rig, motion.q, motion.v, motion.a)
    return forces[:, ROOT_NV:], derivatives[:, :, ROOT_NV:, ROOT_NV:]
