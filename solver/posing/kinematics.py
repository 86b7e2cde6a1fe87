"""Kinematics of one posture in flat coordinates: Jacobians, the mass matrix, and the knees of a rig."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..base.so3 import Exponential, cross, skew
from ..dynamics import link_poses
from ..dynamics.coordinates import ball_joints, configurations
from ..dynamics.workspace import Workspace
from ..skeleton.rig import ROOT_NV, Rig
from ..values.inertials import FIRST_MOMENT

LARGEST_SIDEWAYS = 0.5
"""Largest component of a thigh or shank along the hinge's axis, as a fraction of its length."""


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


@dataclass(frozen=True, slots=True)
class Knee:
    """A hinge between thigh and shank.

    Attributes:
        coordinate: its index in the flat coordinates.
        straight: [rad] value at which the leg is longest.
        bends: 1 if the knee bends towards larger values, else -1.
        foot: index of the link that carries the sole below it.
    """

    coordinate: int
    straight: float
    bends: int
    foot: int


@lru_cache(maxsize=16)
def find_knees(rig: Rig) -> tuple[Knee, ...]:
    """The knee above each sole: the hinge that changes the leg's length most; none for a leg without one."""
    return tuple(knee for foot in dict.fromkeys(rig.index(sole.link) for sole in rig.soles)
                 if (knee := _find_knee(rig, foot)) is not None)  # fmt: skip


def _find_knee(rig: Rig, foot: int) -> Knee | None:
    rotations, positions = link_poses(rig, rig.neutral)
    starts = np.cumsum([0, *(joint.nv for joint in rig.joints)])
    chain = [foot]
    while rig.parents[chain[-1]] >= 0:
        chain.append(int(rig.parents[chain[-1]]))
    best: tuple[float, Knee] | None = None
    for below, own, above in zip(chain, chain[1:], chain[2:]):
        joint = rig.joints[own]
        if joint.kind != "revolute" or own == 0:
            continue
        axis = rotations[own] @ joint.axes[0]
        up, down = positions[above] - positions[own], positions[below] - positions[own]
        if above == 0:
            continue
        shortest = min(float(np.linalg.norm(up)), float(np.linalg.norm(down)))
        if shortest < 1e-3 or max(abs(axis @ up), abs(axis @ down)) > LARGEST_SIDEWAYS * shortest:
            continue
        up, down = -(up - axis * (axis @ up)), down - axis * (axis @ down)
        angle = float(np.arctan2(axis @ np.cross(down, up), down @ up))
        coordinate = int(starts[own])
        low, high = (float(limit[coordinate - ROOT_NV]) for limit in (rig.limits.lower, rig.limits.upper))
        bends = 1 if high - angle > angle - low else -1
        if best is None or shortest > best[0]:
            best = shortest, Knee(coordinate, angle, bends, foot)
    return None if best is None else best[1]
