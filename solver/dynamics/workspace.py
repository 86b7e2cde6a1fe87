"""Link poses and Jacobians of a rig at single configurations."""

from __future__ import annotations

import numpy as np

from ..model import data_of
from ..pinocchio_loader import pin
from ..rig import Rig
from .kinematics import link_views


class Workspace:
    """Poses and Jacobians of a rig's links at the last configuration.

    Attributes:
        rotations: (L, 3, 3) link axes to world axes, of the last configuration.
        positions: (L, 3) [m] link origins, world.
        jacobian: (6, nv) of all joints, linear then angular, world axes about the world origin.

    Args:
        rig: with L links.
        movable: the joint centres of this workspace's copy may be moved.
    """

    def __init__(self, rig: Rig, *, movable: bool = False) -> None:
        self.rig, self._model = rig, pin.Model(rig.model) if movable else rig.model
        self._data = data_of(self._model)
        self._views = link_views(self._data, self._model.njoints)
        self.rotations = np.zeros((len(rig.links), 3, 3))
        self.positions = np.zeros((len(rig.links), 3))
        self.jacobian = np.zeros((6, self._model.nv))

    @property
    def joint_positions(self) -> np.ndarray:
        """(L, 3) [m] current joint centres in the parent links' frames."""
        return np.array([place.translation for place in list(self._model.jointPlacements)[1:]])

    def move_joints(self, positions: np.ndarray) -> None:
        """Set the joint centres (L, 3) [m] in the parent links' frames; the rig itself is unchanged."""
        for joint, centre in enumerate(positions, start=1):
            rotation = self._model.jointPlacements[joint].rotation
            self._model.jointPlacements[joint] = pin.SE3(rotation, centre)

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
        jacobians = np.empty((len(q), self._model.nv, self.jacobian.shape[0]))
        for frame, each in enumerate(q):
            pin.computeJointJacobians(self._model, self._data, each)
            if not self._views.live:
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
        here = self._data.oMi[link + 1]
        twist = pin.log6(here.actInv(pin.SE3(np.array(rotation), np.array(position)))).vector
        return twist, pin.getJointJacobian(self._model, self._data, link + 1, pin.LOCAL)

    def _read_poses(self) -> None:
        if not self._views.live:
            self._views.refresh()
        poses = self._views.poses
        np.copyto(self.rotations, poses[:, :9].reshape(-1, 3, 3).swapaxes(1, 2))  # Pinocchio stores columns
        np.copyto(self.positions, poses[:, 9:])


def link_poses(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes (L, 3, 3) and origins (L, 3) [m] of the links in the world at one configuration (nq,)."""
    workspace = Workspace(rig)
    workspace.update_positions(np.asarray(q, float))
    return workspace.rotations, workspace.positions


def contact_corners(rig: Rig, q: np.ndarray) -> list[np.ndarray]:
    """Corners (V, 3) [m] of each sole in the world at one configuration (nq,)."""
    turns, places = link_poses(rig, q)
    owners = ((patch.vertices, rig.index(patch.link)) for patch in rig.soles)
    return [vertices @ turns[link].T + places[link] for vertices, link in owners]
