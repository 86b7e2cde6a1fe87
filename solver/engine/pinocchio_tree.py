"""Poses, Jacobians and tree algorithms of a model at one configuration, by Pinocchio."""

from __future__ import annotations

import numpy as np

from .pinocchio_loader import pin
from .pinocchio_model import TWIST_SIZE, Model, data_of, link_views, shared_forces, shared_inertias


class PosedTree:
    """A model at its last configuration.

    Attributes:
        rotations: (L, 3, 3) link axes to world axes, of the last configuration.
        positions: (L, 3) [m] link origins, world.
        jacobian: (6, nv) of all joints, linear then angular, world axes about the world origin.

    Args:
        model: with L links.
        movable: work on a copy of the model, whose joint centres may be moved.
    """

    def __init__(self, model: Model, *, movable: bool = False) -> None:
        self._model = pin.Model(model) if movable else model
        self._data = data_of(self._model)
        self._views = link_views(self._data, self._model.njoints)
        self.rotations = np.zeros((self._model.njoints - 1, 3, 3))
        self.positions = np.zeros((self._model.njoints - 1, 3))
        self.jacobian = np.zeros((TWIST_SIZE, self._model.nv))

    @property
    def joint_positions(self) -> np.ndarray:
        """(L, 3) [m] current joint centres in the parent links' frames."""
        return np.array([place.translation for place in list(self._model.jointPlacements)[1:]])

    def move_joints(self, positions: np.ndarray) -> None:
        """Set the joint centres (L, 3) [m] in the parent links' frames; the rig itself is unchanged."""
        for joint, centre in enumerate(positions, start=1):
            self._model.jointPlacements[joint] = pin.SE3(self._model.jointPlacements[joint].rotation, centre)

    def update_kinematics(self, q: np.ndarray) -> None:
        """Compute poses and Jacobian at a configuration (nq,)."""
        pin.computeJointJacobians(self._model, self._data, q)
        self.jacobian = self._data.J
        self._read_poses()

    def update_positions(self, q: np.ndarray) -> None:
        """Compute poses at a configuration (nq,)."""
        pin.forwardKinematics(self._model, self._data, q)
        self._read_poses()

    def evaluate_batch(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Axes (N, L, 3, 3), origins (N, L, 3) [m] and Jacobians (N, nv, 6), transposed, at configurations (N, nq)."""
        poses = np.empty((len(q), *self._views.poses.shape))
        jacobians = np.empty((len(q), self._model.nv, TWIST_SIZE))
        for frame, each in enumerate(q):
            pin.computeJointJacobians(self._model, self._data, each)
            self._views.refresh()
            poses[frame], jacobians[frame] = self._views.poses, self._data.J.T
        axes = poses[:, :, :9].reshape(*poses.shape[:2], 3, 3).swapaxes(2, 3)  # Pinocchio stores columns
        return axes, poses[:, :, 9:], jacobians

    def pose_error(self, link: int, rotation: np.ndarray, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Twist (6,) from a link's pose to a target in one unit of time, and its Jacobian (6, nv), both in link axes.

        Args:
            link: index.
            rotation, position: (3, 3), (3,) [m] target pose, world.
        """
        twist = pin.log6(self._data.oMi[link + 1].actInv(pin.SE3(np.array(rotation), np.array(position)))).vector
        return twist, pin.getJointJacobian(self._model, self._data, link + 1, pin.LOCAL)

    def _read_poses(self) -> None:
        self._views.refresh()
        poses = self._views.poses
        np.copyto(self.rotations, poses[:, :9].reshape(-1, 3, 3).swapaxes(1, 2))  # Pinocchio stores columns
        np.copyto(self.positions, poses[:, 9:])


class LoadedTree(PosedTree):
    """A tree without gravity whose links have inertias and forces that the caller chooses.

    Attributes:
        forces: (L, 6) force and moment on each link about its origin, link axes; written by the caller.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model, movable=True)
        self._is_depth_first = model.is_depth_first
        model = self._model
        model.gravity = pin.Motion.Zero()
        for joint in range(model.njoints):
            model.inertias[joint] = pin.Inertia.Zero()
        model.armature = np.zeros(model.nv)
        self._still = np.zeros(model.nv)
        self._half = np.triu(np.ones((model.nv, model.nv)), 1) + 0.5 * np.eye(model.nv)
        self._inertias = shared_inertias(model)
        self._vector = pin.StdVec_Force()
        for _ in range(model.njoints):
            self._vector.append(pin.Force.Zero())
        shared = shared_forces(self._vector, model.njoints)
        self._copies = shared is None
        self.forces = np.zeros((model.njoints - 1, TWIST_SIZE)) if shared is None else shared

    def set_inertias(self, rows: np.ndarray) -> None:
        """Set mass, centre of mass, and moments of inertia about it as xx xy yy xz yz zz (L, 10)."""
        if self._inertias is not None:
            self._inertias[1:] = rows
            return
        for joint, (weight, *centre) in enumerate(rows[:, :4], start=1):
            xx, xy, yy, xz, yz, zz = rows[joint - 1, 4:]
            about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            self._model.inertias[joint] = pin.Inertia(weight, np.array(centre), about)

    def set_rotor_inertias(self, diagonal: np.ndarray) -> None:
        """Set what is added to the diagonal of the mass matrix (nv,)."""
        self._model.armature = diagonal

    def accelerations(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Accelerations (nv,) from rest under torques (nv,) and the forces, without building the mass matrix."""
        self._copy_forces()
        return pin.aba(self._model, self._data, q, self._still, torques, self._vector)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """(nv, nv) mass matrix with rotor inertias."""
        if not self._is_depth_first:
            columns = [pin.rnea(self._model, self._data, q, self._still, each) for each in np.eye(len(self._still))]
            return 0.5 * (np.array(columns) + np.transpose(columns))
        half = pin.crba(self._model, self._data, q) * self._half  # only what lies above the diagonal is written
        return half + half.T

    def generalised_forces(self, q: np.ndarray) -> np.ndarray:
        """(nv,) generalised forces J'f of the forces on the links."""
        self._copy_forces()
        return -pin.rnea(self._model, self._data, q, self._still, self._still, self._vector)

    def local_poses(self, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Transposed axes (P, 3, 3), world axes to link axes, and origins (P, 3) [m] of ``links`` (P,), as placed."""
        poses = self._views.poses[links]
        return poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]  # columns lie one after the other in Pinocchio's memory

    def update_poses(self, q: np.ndarray) -> None:
        """Compute the poses at a configuration (nq,) for `local_poses` alone, which is all that a step needs."""
        pin.forwardKinematics(self._model, self._data, q)
        self._views.refresh()

    def update_jacobian(self, q: np.ndarray) -> None:
        """Compute `jacobian` at a configuration (nq,)."""
        pin.computeJointJacobians(self._model, self._data, q)
        self.jacobian = self._data.J

    def _copy_forces(self) -> None:
        if self._copies:
            for joint, force in enumerate(self.forces, start=1):
                self._vector[joint] = pin.Force(force)
