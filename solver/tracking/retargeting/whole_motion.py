"""A rig in many frames at once: poses of its links, and what each coordinate turns and moves.

Pinocchio places one configuration in a few microseconds, and a hundred more fetch its Jacobians; arithmetic on all
frames together costs a tenth of that. Coordinates are those of limits: root place and turn, then hinges' angles and
rotation vectors, so that every limit is a bound on a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...coordinates import joint_places
from ...dynamics.hinges import applied, composed, turned
from ...dynamics.kinematics import product
from ...errors import InvalidValue
from ...inertials import FIRST_MOMENT
from ...rig import ROOT_NV, Rig
from ...so3 import Exponential, cross


@dataclass(frozen=True, slots=True)
class Placed:
    """Links in N frames; frames last.

    Attributes:
        turns: (L, 3, 3, N) link axes, world.
        places: (L, 3, N) [m] link origins, world.
        axes: (nv, 3, N) what each coordinate turns about, world; zero where it slides.
        origins: (nv, 3, N) [m] a point on that axis.
        slides: (nv, 3, N) what each coordinate moves along, world; zero where it turns.
    """

    turns: np.ndarray
    places: np.ndarray
    axes: np.ndarray
    slides: np.ndarray
    origins: np.ndarray


class WholeMotion:
    """The tree of a rig, ready for many frames."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.places = joint_places(rig)
        for joint, _, _ in self.places[1:]:
            if joint.kind not in ("revolute", "universal", "spherical", "prismatic", "continuous"):
                raise InvalidValue(f"joint {joint.name!r} is {joint.kind}: no rule for its coordinates")
        owner = np.concatenate([np.full(moves.stop - moves.start, k) for k, (_, _, moves) in enumerate(self.places)])
        self.moves = rig.below[owner].T
        """(L, nv) True where a coordinate moves a link."""

    def placed(self, turn: np.ndarray, y: np.ndarray) -> Placed:
        """Links at coordinates.

        Args:
            turn: (N, 3, 3) axes of the root, world.
            y: (N, nv) [m, rad] root place (3), nothing (3), joint coordinates.
        """
        count, nv = len(y), y.shape[1]
        turns = np.empty((len(self.places), 3, 3, count))
        places = np.empty((len(self.places), 3, count))
        axes, slides, origins = np.zeros((3, nv, 3, count))
        turns[0], places[0] = turn.transpose(1, 2, 0), y[:, :3].T
        for k in range(3):
            slides[k, k] = 1.0
            axes[3 + k, k] = 1.0
        origins[3:6] = places[0]
        columns = np.ascontiguousarray(y.T)
        for link, (joint, _, moves) in enumerate(self.places[1:], start=1):
            base = turns[joint.parent]
            place = places[joint.parent] + applied(base, joint.position)
            own = composed(base, joint.rotation)
            if joint.kind == "prismatic":
                slides[moves.start] = applied(own, joint.axes[0])
                place = place + slides[moves.start] * columns[moves.start]
            elif joint.kind == "spherical":
                exponential = Exponential(y[:, moves])
                own = product(own, exponential.matrix.transpose(1, 2, 0))
                axes[moves] = product(own, exponential.right_jacobian.transpose(1, 2, 0)).swapaxes(0, 1)
            else:
                for column, axis in zip(range(moves.start, moves.stop), joint.axes):
                    axes[column] = applied(own, axis)
                    own = turned(own, axis, columns[column])
            origins[moves] = place
            turns[link], places[link] = own, place
        return Placed(turns, places, axes, slides, origins)

    def jacobian(self, placed: Placed, link: int, point: np.ndarray) -> np.ndarray:
        """(N, 3, nv) of points (3, N) [m], world, that move with a link."""
        moving = np.flatnonzero(self.moves[link])
        result = np.zeros((point.shape[1], 3, placed.axes.shape[0]))
        lever = point[:, None] - placed.origins[moving].swapaxes(0, 1)
        moved = cross(placed.axes[moving].swapaxes(0, 1), lever) + placed.slides[moving].swapaxes(0, 1)
        result[:, :, moving] = moved.transpose(2, 0, 1)
        return result

    def centre_of_mass(self, placed: Placed) -> tuple[np.ndarray, np.ndarray]:
        """Of the rig's prior (N, 3) [m], world, and its slopes (N, 3, nv) by the coordinates."""
        masses, total = self.rig.prior.masses, self.rig.prior.total_mass
        # links l, axes i of the world, axes j of the link, frames n
        moments = np.einsum("lijn,lj->lin", placed.turns, self.rig.prior.values[:, FIRST_MOMENT])
        moments += masses[:, None, None] * placed.places
        moved, shares = np.tensordot(self.moves.T.astype(float), moments, 1), self.moves.T @ masses
        lever = moved - shares[:, None, None] * placed.origins
        slopes = cross(placed.axes.swapaxes(0, 1), lever.swapaxes(0, 1)) + (
            shares[:, None] * placed.slides.swapaxes(0, 1)
        )
        return moments.sum(axis=0).T / total, slopes.transpose(2, 0, 1) / total


def configurations(rig: Rig, quaternions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Configurations (N, nq) of the root's quaternions (N, 4) and coordinates (N, nv), see `WholeMotion.placed`."""
    q = np.empty((len(y), rig.nq))
    for joint, into, moves in joint_places(rig):
        if joint.kind == "free":
            q[:, into] = np.concatenate([y[:, :3], quaternions], axis=1)
        elif joint.kind == "spherical":
            q[:, into] = Exponential(y[:, moves]).quaternion
        elif joint.kind == "continuous":
            q[:, into] = np.concatenate([np.cos(y[:, moves]), np.sin(y[:, moves])], axis=1)
        else:
            q[:, into] = y[:, moves]
    return q


__all__ = ["ROOT_NV", "Placed", "WholeMotion", "configurations"]
