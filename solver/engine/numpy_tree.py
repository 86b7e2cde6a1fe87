"""Poses, Jacobians and tree algorithms of a model at one configuration, by NumPy."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from ..base.so3 import cross, skew
from .numpy_configurations import pose_logarithm
from .numpy_frames import FrameDynamics, quaternion_matrices
from .numpy_model import Model

TWIST_SIZE = 6
"""By definition."""


class PosedTree:
    """A model at its last configuration.

    Attributes:
        rotations: (L, 3, 3) link axes to world axes, of the last configuration.
        positions: (L, 3) [m] link origins, world.
        jacobian: (6, nv) of all joints, linear then angular, world axes about the world origin.

    Args:
        model: with L links.
        movable: the joint centres of this tree may be moved.
    """

    def __init__(self, model: Model, *, movable: bool = False) -> None:
        self._model, self._centres = model, np.array(model.positions)
        bodies, links = len(model.parents), len(model.link_bodies)
        self._turn, self._place = np.tile(np.eye(3), (bodies, 1, 1)), np.zeros((bodies, 3))
        self._at = np.full(model.nq, np.nan)
        self._levels = [(level, model.parents[level]) for level in model.levels]
        self.rotations, self.positions = np.zeros((links, 3, 3)), np.zeros((links, 3))
        self.jacobian = np.zeros((TWIST_SIZE, model.nv))

    @property
    def joint_positions(self) -> np.ndarray:
        """(L, 3) [m] current joint centres in the parent links' frames."""
        return self._centres[self._model.joint_bodies]

    def move_joints(self, positions: np.ndarray) -> None:
        """Set the joint centres (L, 3) [m] in the parent links' frames; the rig itself is unchanged."""
        self._centres[self._model.joint_bodies] = positions
        self._at[:] = np.nan

    def update_kinematics(self, q: np.ndarray) -> None:
        """Compute poses and Jacobian at a configuration (nq,)."""
        self._place_bodies(q)
        self.jacobian = self._axes().T
        self._read_poses()

    def update_positions(self, q: np.ndarray) -> None:
        """Compute poses at a configuration (nq,)."""
        self._place_bodies(q)
        self._read_poses()

    def evaluate_batch(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Axes (N, L, 3, 3), origins (N, L, 3) [m] and Jacobians (N, nv, 6), transposed, at configurations (N, nq)."""
        poses, jacobians = FrameDynamics(self._model, self._centres).jacobians(q)
        return poses[:, :, :9].reshape(*poses.shape[:2], 3, 3).swapaxes(2, 3), poses[:, :, 9:], jacobians

    def pose_error(self, link: int, rotation: np.ndarray, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Twist (6,) from a link's pose to a target in one unit of time, and its Jacobian (6, nv), both in link axes.

        Args:
            link: index.
            rotation, position: (3, 3), (3,) [m] target pose, world.
        """
        body = self._model.link_bodies[link]
        turn, place = self._turn[body], self._place[body]
        twist = pose_logarithm(turn.T @ rotation, turn.T @ (position - place))
        moving = self._model.subtrees[self._model.owners, body] > 0.0
        axes = np.where(moving[:, None], self._axes(), 0.0).T
        return twist, np.vstack([turn.T @ (axes[:3] + cross(axes[3:], place[:, None])), turn.T @ axes[3:]])

    def _place_bodies(self, q: np.ndarray) -> None:
        """Set axes (B, 3, 3) and origins (B, 3) of the bodies in the world."""
        if np.array_equal(q, self._at):
            return
        model, turn, place = self._model, self._turn, self._place
        self._at[:] = q
        place[:] = self._centres
        if len(model.hinges):
            angles = q[model.angles]
            cosine, sine = np.cos(angles), np.sin(angles)
            if len(model.cosines):
                cosine = np.concatenate([cosine, q[model.cosines]])
                sine = np.concatenate([sine, q[model.cosines + 1]])
            constant, by_cosine, by_sine = model.hinge_parts
            turn[model.hinges] = constant + cosine[:, None, None] * by_cosine + sine[:, None, None] * by_sine
        if len(model.sliders):
            turn[model.sliders] = model.rotations[model.sliders]
            place[model.sliders] += model.ways * q[model.starts[model.sliders], None]
        turn[model.balls] = quaternion_matrices(q[model.quaternions[:, None] + np.arange(4)].T).transpose(2, 0, 1)
        for body in model.balls[model.is_turned]:
            turn[body] = model.rotations[body] @ turn[body]
        for body in model.free:
            at = model.starts[body]
            place[body] += model.rotations[body] @ q[at : at + 3]
        for level, parents in self._levels:
            carrying = turn[parents]
            place[level] = (carrying @ place[level, :, None])[:, :, 0] + place[parents]
            turn[level] = carrying @ turn[level]

    def _axes(self, origin: np.ndarray | None = None) -> np.ndarray:
        """(nv, 6) axes of the coordinates, world axes, about a point (3,) [m], by default the world origin."""
        model, place = self._model, self._place if origin is None else self._place - origin
        ways = (self._turn[model.owners] @ model.directions[:, :, None])[:, :, 0]
        result = np.empty((model.nv, TWIST_SIZE))
        result[:, :3], result[:, 3:] = cross(place[model.owners].T, ways.T).T, ways
        result[model.slides, :3], result[model.slides, 3:] = ways[model.slides], 0.0
        return result

    def _read_poses(self) -> None:
        np.copyto(self.rotations, self._turn[self._model.link_bodies])
        np.copyto(self.positions, self._place[self._model.link_bodies])


class LoadedTree(PosedTree):
    """A tree without gravity whose links have inertias and forces that the caller chooses.

    Attributes:
        forces: (L, 6) force and moment on each link about its origin, link axes; written by the caller.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model, movable=True)
        self.forces = np.zeros((len(model.link_bodies), TWIST_SIZE))
        self._masses, self._centroids = np.zeros(len(self.forces)), np.zeros((len(self.forces), 3))
        self._about = np.zeros((len(self.forces), 3, 3))
        self._rotors = np.zeros(model.nv)
        self._carried = model.subtrees[:, model.link_bodies][model.owners]
        """(nv, L): 1 where a coordinate moves a link."""
        self._pairs = model.below + 0.5 * (model.owners[:, None] == model.owners)

    def set_inertias(self, rows: np.ndarray) -> None:
        """Set mass, centre of mass, and moments of inertia about it as xx xy yy xz yz zz (L, 10)."""
        self._masses, self._centroids = rows[:, 0].copy(), rows[:, 1:4].copy()
        self._about = rows[:, [4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(-1, 3, 3)

    def set_rotor_inertias(self, diagonal: np.ndarray) -> None:
        """Set what is added to the diagonal of the mass matrix (nv,)."""
        self._rotors = diagonal

    def accelerations(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Accelerations (nv,) from rest under torques (nv,) and the forces.

        Raises:
            LinAlgError: the mass matrix is singular.
        """
        _, result, status = dposv(self.mass_matrix(q), torques + self.generalised_forces(q), overwrite_a=True)
        if status:
            raise np.linalg.LinAlgError("the mass matrix is singular: a coordinate has neither inertia nor rotor")
        return np.asarray(result)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """(nv, nv) mass matrix with rotor inertias."""
        self._place_bodies(q)
        bodies, mass = self._model.link_bodies, self._masses[:, None, None]
        turn = self._turn[bodies]
        origin = self._place[0]  # far from the world's origin its levers would drown the bodies'
        centres = (turn @ self._centroids[:, :, None])[:, :, 0] + (self._place[bodies] - origin)
        around = skew(centres)
        lever = mass * around
        inertias = np.empty((len(bodies), TWIST_SIZE, TWIST_SIZE))
        inertias[:, :3, :3] = mass * np.eye(3)
        inertias[:, 3:, :3], inertias[:, :3, 3:] = lever, -lever
        inertias[:, 3:, 3:] = turn @ self._about @ turn.swapaxes(1, 2) - lever @ around
        composite = (self._carried @ inertias.reshape(len(bodies), -1)).reshape(-1, TWIST_SIZE, TWIST_SIZE)
        axes = self._axes(origin)
        half = (axes @ (composite @ axes[:, :, None])[:, :, 0].T) * self._pairs
        result = half + half.T
        result.flat[:: len(result) + 1] += self._rotors
        return result

    def generalised_forces(self, q: np.ndarray) -> np.ndarray:
        """(nv,) generalised forces J'f of the forces on the links."""
        self._place_bodies(q)
        bodies, origin = self._model.link_bodies, self._place[0]
        turned = (self._turn[bodies] @ self.forces.reshape(-1, 2, 3).swapaxes(1, 2)).swapaxes(1, 2)
        turned[:, 1] += cross((self._place[bodies] - origin).T, turned[:, 0].T).T
        return np.asarray((self._axes(origin) * (self._carried @ turned.reshape(-1, TWIST_SIZE))).sum(axis=1))

    def local_poses(self, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Transposed axes (P, 3, 3), world axes to link axes, and origins (P, 3) [m] of ``links`` (P,), as placed."""
        bodies = self._model.link_bodies[links]
        return self._turn[bodies].swapaxes(1, 2), self._place[bodies]

    def update_poses(self, q: np.ndarray) -> None:
        """Compute the poses at a configuration (nq,) for `local_poses` alone, which is all that a step needs."""
        self._place_bodies(q)

    def update_jacobian(self, q: np.ndarray) -> None:
        """Compute `jacobian` at a configuration (nq,)."""
        self._place_bodies(q)
        self.jacobian = self._axes().T
