"""Weighted least squares over a rig's tree, solved by the algorithms of its dynamics.

The cost of point targets w_p |J_p x - u_p|^2 and orientation targets w_l |J_l x - u_l|^2 has the normal matrix J'WJ of
a body whose links carry point masses w_p and moments of inertia w_l 1: the cost is a kinetic energy. The
composite-rigid-body algorithm gives the matrix, and the articulated-body algorithm solves the equations without
building it, in time proportional to the number of links. Weights of the coordinates are rotor inertias.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..pinocchio_loader import pin
from ..rig import Rig
from .kinematics import DOUBLE_BYTES, address_of
from .workspace import Workspace

WEIGHT_SUMS = 10
"""Columns of weights summed by link, link axes: w, w o (3), and w (o'o 1 - oo') as xx xy yy xz yz zz, where the weights
of orientations join the diagonal."""
DIAGONAL_COLUMNS = (4, 6, 9)
"""Columns of xx, yy, zz."""
WRENCH_SIZE = 6


class WeightedTree(Workspace):
    """A workspace that also solves (J'WJ + D) x = J'f + t at a configuration.

    Attributes:
        forces: (L, 6) f: force and moment of each link about its origin, link axes; written by the caller.
    """

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig, movable=True)
        model = self._model
        model.gravity = pin.Motion.Zero()
        for joint in range(model.njoints):
            model.inertias[joint] = pin.Inertia.Zero()
        model.armature = np.zeros(model.nv)
        self._still = np.zeros(model.nv)
        self._half = np.triu(np.ones((model.nv, model.nv)), 1) + 0.5 * np.eye(model.nv)
        self._inertias = _shared_inertias(model)
        self._vector = pin.StdVec_Force()
        for _ in range(model.njoints):
            self._vector.append(pin.Force.Zero())
        shared = _shared_forces(self._vector, model.njoints)
        self._copies = shared is None
        self.forces = np.zeros((len(rig.links), WRENCH_SIZE)) if shared is None else shared

    def set_weights(self, sums: np.ndarray) -> None:
        """Set weights summed by link (L, 10), columns as in `WEIGHT_SUMS`."""
        self.set_inertias(self.to_inertias(sums))

    @staticmethod
    def to_inertias(sums: np.ndarray) -> np.ndarray:
        """Mass, centre of mass, and moments of inertia about it (L, 10) from weights summed by link (L, 10)."""
        mass = sums[:, 0]
        centres = sums[:, 1:4] / np.where(mass > 0.0, mass, 1.0)[:, None]
        x, y, z = centres.T
        own = (
            sums[:, 4:]
            - mass[:, None] * np.array([y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]).T
        )
        return np.hstack([mass[:, None], centres, own])

    def set_inertias(self, rows: np.ndarray) -> None:
        """Set inertias (L, 10), from `to_inertias`."""
        if self._inertias is not None:
            self._inertias[1:] = rows
            return
        for joint, (weight, *centre) in enumerate(rows[:, :4], start=1):
            xx, xy, yy, xz, yz, zz = rows[joint - 1, 4:]
            about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            self._model.inertias[joint] = pin.Inertia(weight, np.array(centre), about)

    def set_regularisation(self, diagonal: np.ndarray) -> None:
        """Set D, the diagonal (nv,)."""
        self._model.armature = diagonal

    def solve(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """x (nv,) for t = ``torques`` (nv,), without building the matrix."""
        self._copy_forces()
        return pin.aba(self._model, self._data, q, self._still, torques, self._vector)

    def hessian(self, q: np.ndarray) -> np.ndarray:
        """J'WJ + D (nv, nv)."""
        half = pin.crba(self._model, self._data, q) * self._half  # only what lies above the diagonal is written
        return half + half.T

    def gradient(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """J'f + t (nv,)."""
        self._copy_forces()
        return torques - pin.rnea(self._model, self._data, q, self._still, self._still, self._vector)

    def local_poses(self, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Transposed axes (P, 3, 3), world axes to link axes, and origins (P, 3) [m] of ``links`` (P,), as placed."""
        poses = self._views.poses[links]
        return poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]  # columns lie one after the other in Pinocchio's memory

    def update_poses(self, q: np.ndarray) -> None:
        """Compute the poses at a configuration (nq,) for `local_poses` alone, which is all that a step needs."""
        pin.forwardKinematics(self._model, self._data, q)
        if not self._views.live:
            self._views.refresh()

    def update_jacobian(self, q: np.ndarray) -> None:
        """Compute `jacobian` at a configuration (nq,)."""
        pin.computeJointJacobians(self._model, self._data, q)
        self.jacobian = self._data.J

    def _copy_forces(self) -> None:
        if self._copies:
            for joint, force in enumerate(self.forces, start=1):
                self._vector[joint] = pin.Force(force)


def _shared_forces(vector: pin.StdVec_Force, joints: int) -> np.ndarray | None:
    """(L, 6) view of forces in Pinocchio's memory, without the universe's; None if the layout is different."""
    starts = [address_of(vector[joint].linear) for joint in range(joints)]
    if any(place != starts[0] + DOUBLE_BYTES * WRENCH_SIZE * k for k, place in enumerate(starts)):
        return None
    if any(address_of(vector[joint].angular) != place + 3 * DOUBLE_BYTES for joint, place in enumerate(starts)):
        return None
    return as_strided(vector[0].linear, (joints, WRENCH_SIZE), (DOUBLE_BYTES * WRENCH_SIZE, DOUBLE_BYTES))[1:]


def _shared_inertias(model: pin.Model) -> np.ndarray | None:
    """(joints, 10) view of inertias: mass, centre, xx xy yy xz yz zz; None if the memory layout is different."""
    starts = [address_of(model.inertias[joint].lever) - DOUBLE_BYTES for joint in range(model.njoints)]
    if any(place != starts[0] + DOUBLE_BYTES * WEIGHT_SUMS * k for k, place in enumerate(starts)):
        return None
    block = (ctypes.c_double * (WEIGHT_SUMS * model.njoints)).from_address(starts[0])
    view = np.frombuffer(block).reshape(model.njoints, WEIGHT_SUMS)
    trial = pin.Inertia(2.0, np.array([0.1, 0.2, 0.3]), np.diag([3.0, 4.0, 5.0]) + 0.5)
    model.inertias[0] = trial
    about = np.asarray(trial.inertia)
    expected = [2.0, 0.1, 0.2, 0.3, *(about[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))]
    agrees = np.array_equal(view[0], expected)
    model.inertias[0] = pin.Inertia.Zero()
    return view if agrees else None
