"""Kinematics of one posture in flat coordinates: Jacobians of points and of the centre of mass, and the mass matrix."""

from __future__ import annotations

import numpy as np

from ..coordinates import ball_joints, configurations
from ..dynamics.workspace import Workspace
from ..inertials import FIRST_MOMENT
from ..rig import Rig
from ..so3 import Exponential, cross, skew


class PostureKinematics(Workspace):
    """A workspace whose Jacobians are by the flat coordinates of `coordinates.to_manifold`.

    Attributes:
        y: (nv,) last flat coordinates.
        q: (nq,) their configuration.
        com: (3,) [m] centre of mass by the rig's prior, world.
        com_jacobian: (3, nv).
        twists: (2, 3, nv) by coordinate, linear velocity of the point at the world's origin and angular velocity.
        moves: (L, nv) 1 where a coordinate moves a link.
    """

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig)
        owner = np.repeat(np.arange(len(rig.links)), [joint.nv for joint in rig.joints])
        self.moves = rig.descendants[owner].T.astype(float)
        self._masses, self._moments = rig.prior.masses, np.array(rig.prior.values[:, FIRST_MOMENT])
        self._total = float(self._masses.sum())
        self._carried = self._masses @ self.moves / self._total  # share of the mass that each coordinate moves
        self._balls = ball_joints(rig)
        # Rates of the model by rates of the flat coordinates: a block for each of these joints.
        self._rates = np.eye(rig.nv)
        self._blocks = self._balls.moves[:, :, None], self._balls.moves[:, None, :]
        self.y, self.q, self.com = np.zeros(rig.nv), rig.neutral, np.zeros(3)
        self.com_jacobian = np.zeros((3, rig.nv))
        self.twists = np.zeros((2, 3, rig.nv))

    def update(self, y: np.ndarray) -> None:
        """Compute poses and Jacobians for flat coordinates y (nv,)."""
        self.y = y
        turns = Exponential(self._balls.of(y[None]))
        self.q = configurations(self.rig, y[None], turns)[0]
        self.update_kinematics(self.q)
        self._rates[self._blocks] = turns.right_jacobian[0]
        twists = self.jacobian @ self._rates
        twists[:, :3] = np.eye(6, 3)  # the root's position, world axes
        self.twists = twists.reshape(2, 3, -1)
        moments = (self.rotations @ self._moments[:, :, None])[:, :, 0] + self._masses[:, None] * self.positions
        moments /= self._total
        self.com = moments.sum(axis=0)
        self.com_jacobian = self._carried * self.twists[0] + cross(self.twists[1], moments.T @ self.moves)

    def translate(self, shift: np.ndarray) -> None:
        """Move the whole body by a shift (3,) [m], world."""
        self.y, self.q, self.com = self.y.copy(), self.q.copy(), self.com + shift
        self.y[:3] += shift
        self.q[:3] += shift
        self.positions = self.positions + shift
        self.twists[0] += skew(shift) @ self.twists[1]

    def place(self, link: int, point: np.ndarray) -> np.ndarray:
        """World position (3,) [m] of a point (3,) of a link."""
        return np.asarray(self.rotations[link] @ point + self.positions[link])

    def point_jacobian(self, link: int, point: np.ndarray) -> np.ndarray:
        """(3, nv) of a point (3,) of a link, world axes."""
        return self.placed_point_jacobian(link, self.place(link, point))

    def placed_point_jacobian(self, link: int, place: np.ndarray) -> np.ndarray:
        """(3, nv) of the point of a link that is at a place (3,) [m], world."""
        x, y, z = place.tolist()
        rows = np.array([[1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x], [0.0, 0.0, 1.0, y, -x, 0.0]])
        return np.asarray(rows @ self.twists.reshape(6, -1)) * self.moves[link]

    def link_jacobian(self, link: int) -> np.ndarray:
        """(6, nv) of a link's origin and of its angular velocity, world axes."""
        linear = self.placed_point_jacobian(link, self.positions[link])
        return np.concatenate([linear, self.twists[1] * self.moves[link]])

    def mass_matrix(self) -> np.ndarray:
        """(nv, nv) by the rig's prior."""
        result = np.zeros((self.rig.nv, self.rig.nv))
        prior = self.rig.prior
        about_com = self.rotations @ prior.inertias_at_com @ self.rotations.transpose(0, 2, 1)
        coms = np.nan_to_num(prior.coms)
        for link, mass in enumerate(self._masses):
            linear, angular = self.point_jacobian(link, coms[link]), self.twists[1] * self.moves[link]
            result += mass * linear.T @ linear + angular.T @ about_com[link] @ angular
        return result
