"""Poses, inverse dynamics and the external wrench that a motion needs, many frames at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidValue
from ..inertials import FIRST_MOMENT
from ..model import data_of
from ..pinocchio_loader import pin
from ..rig import ROOT_NV, Rig
from ..so3 import skew
from .kinematics import POSE, link_views


@dataclass(frozen=True, slots=True)
class State:
    """What a rig does and needs in N frames.

    Attributes:
        rotation: (N, L, 3, 3) link axes to world axes.
        position: (N, L, 3) [m] link origins, world.
        tau: (N, nv) generalised forces that produce the motion without any contact; the first six are the root's.
        jacobian: (N, 6, nv) of all joints, world axes about the world origin, linear then angular.
        wrench: (N, 6) external force [N] and moment [N m] that the motion needs, world axes, about the world origin.
        com: (N, 3) [m] centre of mass by the rig's prior, world.
    """

    rotation: np.ndarray
    position: np.ndarray
    tau: np.ndarray
    jacobian: np.ndarray
    wrench: np.ndarray
    com: np.ndarray

    def __len__(self) -> int:
        return len(self.tau)

    def chosen(self, frames: np.ndarray) -> State:
        """Some of the frames, in any order, any of them more than once."""
        parts = (self.rotation, self.position, self.tau, self.jacobian, self.wrench, self.com)
        return State(*(part[frames] for part in parts))


class Mechanics:
    """Pinocchio's workspace for one rig, reused from call to call."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self._data = data_of(rig.model)
        self._views = link_views(self._data, rig.model.njoints)
        self._mass = rig.prior.total_mass
        if not self._mass > 0.0:
            raise InvalidValue(f"rig {rig.name!r} weighs {self._mass:g} kg: balance needs a positive mass")

    def state(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> State:
        """State of N frames: q (N, nq), v (N, nv), a (N, nv)."""
        model, data, views = self.rig.model, self._data, self._views
        frames = len(q)
        poses = np.empty((frames, len(self.rig.links), POSE))
        tau = np.empty((frames, model.nv))
        jacobian = np.empty((frames, 6, model.nv))
        for frame in range(frames):
            tau[frame] = pin.rnea(model, data, q[frame], v[frame], a[frame])
            jacobian[frame] = pin.computeJointJacobians(model, data, q[frame])
            if not views.live:
                views.refresh()
            poses[frame] = views.poses
        rotation = poses[:, :, :9].reshape(frames, len(self.rig.links), 3, 3).swapaxes(2, 3)  # Pinocchio stores columns
        position = poses[:, :, 9:]
        return State(
            rotation, position, tau, jacobian, self._wrench(tau, rotation, position), self._com(rotation, position)
        )

    def with_rates(self, known: State, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> State:
        """The same of N frames that stand as known ones do, q (N, nq), and move otherwise; a third of the work."""
        model, data = self.rig.model, self._data
        tau = np.empty_like(known.tau)
        for frame in range(len(q)):
            tau[frame] = pin.rnea(model, data, q[frame], v[frame], a[frame])
        wrench = self._wrench(tau, known.rotation, known.position)
        return State(known.rotation, known.position, tau, known.jacobian, wrench, known.com)

    def wrenches(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """External wrench (N, 6) that N frames need, as in `State`; quicker than the whole state."""
        model, data = self.rig.model, self._data
        result = np.empty((len(q), 6))
        for frame in range(len(q)):
            own = pin.rnea(model, data, q[frame], v[frame], a[frame])
            root = data.liMi[1]  # inverse dynamics places joints in their parents only; the root has none
            result[frame] = root.act(pin.Force(own[:ROOT_NV])).vector
        return result

    def centres_of_mass(self, q: np.ndarray) -> np.ndarray:
        """Centre of mass (N, 3) [m] by the rig's prior, world, of N frames."""
        model, data = self.rig.model, self._data
        result = np.empty((len(q), 3))
        for frame in range(len(q)):
            result[frame] = pin.centerOfMass(model, data, q[frame])
        return result

    def _wrench(self, tau: np.ndarray, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
        root = (rotation[:, 0] @ tau[:, :ROOT_NV].reshape(-1, 2, 3).swapaxes(1, 2)).swapaxes(1, 2)
        root[:, 1] += np.cross(position[:, 0], root[:, 0])
        return root.reshape(-1, 6)

    def _com(self, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
        values = self.rig.prior.values
        # frames n, links l, axes i of the world, axes j of the link
        first = np.einsum("nlij,lj->ni", rotation, values[:, FIRST_MOMENT])
        return (first + np.einsum("l,nli->ni", self.rig.prior.masses, position)) / self._mass


def centre_of_mass_slopes(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (N, 3) [m] by the rig's prior, world, of configurations (N, nq), and its Jacobian (N, 3, nv)."""
    model, data = rig.model, data_of(rig.model)
    places, slopes = np.empty((len(q), 3)), np.empty((len(q), 3, model.nv))
    for frame in range(len(q)):
        slopes[frame] = pin.jacobianCenterOfMass(model, data, q[frame])
        places[frame] = data.com[0]
    return places, slopes


def chain(rig: Rig, link: str) -> np.ndarray:
    """(nv,) True for the tangent coordinates that move a link: those of the joints between it and the world."""
    moves = np.zeros(rig.model.nv, bool)
    joint = rig.joint(link)
    while joint > 0:
        entry = rig.model.joints[joint]
        moves[entry.idx_v : entry.idx_v + entry.nv] = True
        joint = rig.model.parents[joint]
    return moves


def wrench_slopes(rig: Rig, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Derivative (N, 6, 3, nv) of what the equations of the root leave over, by errors of q, v and a: root axes.

    What is left over is inverse dynamics by the rig's prior less the measured wrench. That is measured in the world, so
    an error of the root's pose turns and moves it too.
    """
    model, data = rig.model, data_of(rig.model)
    result = np.empty((len(q), ROOT_NV, 3, model.nv))
    wrenches = np.empty((len(q), ROOT_NV))
    for frame in range(len(q)):
        by_q, by_v, by_a = pin.computeRNEADerivatives(model, data, q[frame], v[frame], a[frame])
        result[frame, :, 0], result[frame, :, 1] = by_q[:ROOT_NV], by_v[:ROOT_NV]
        result[frame, :, 2] = by_a[:ROOT_NV]
        wrenches[frame] = data.tau[:ROOT_NV]
    force, moment = skew(wrenches[:, :3]), skew(wrenches[:, 3:])
    result[:, :3, 0, 3:ROOT_NV] -= force
    result[:, 3:, 0, :3] -= force
    result[:, 3:, 0, 3:ROOT_NV] -= moment
    return result
