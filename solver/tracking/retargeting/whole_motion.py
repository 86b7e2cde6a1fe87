"""A rig in many frames at once: poses of its links, and what each coordinate turns and moves.

Pinocchio places one configuration in a few microseconds, and a hundred more fetch its Jacobians; arithmetic on all
frames together costs a tenth of that. Coordinates are those of limits: root place and turn, then hinges' angles and
rotation vectors, so that every limit is a bound on a number.

All joints as far from the root are placed together, whatever branch they are on, so that a few frames cost little as
well. What hinges are placed with are frames whose third axis is the hinge: a turn then mixes the other two columns,
whichever way the axis lies in its link.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ...coordinates import joint_places
from ...dynamics.kinematics import product
from ...errors import InvalidValue
from ...inertials import FIRST_MOMENT
from ...joints import Joint
from ...rig import ROOT_NV, Rig
from ...so3 import Exponential, between, cross

TURNING, SLIDING, ROUND = "turning", "sliding", "round"
KINDS = {
    "revolute": TURNING,
    "continuous": TURNING,
    "universal": TURNING,
    "prismatic": SLIDING,
    "spherical": ROUND,
}
"""What is made of the axes of a joint, one frame each."""
UP = np.array([0.0, 0.0, 1.0])
ROOT_FRAME = -1
"""Where the root's frame is looked for until all are in order."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Frames of a `WholeMotion` in N frames of time, which come last.

    Attributes:
        turns: (S, 3, 3, N) axes, world.
        places: (S, 3, N) [m] origins, world.
        axes: (nv, 3, N) what each coordinate turns about, world; zero where it slides.
        origins: (nv, 3, N) [m] a point on that axis.
        slides: (nv, 3, N) what each coordinate moves along, world; zero where it turns. None where only the root does.
    """

    turns: np.ndarray
    places: np.ndarray
    axes: np.ndarray
    origins: np.ndarray
    slides: np.ndarray | None


@dataclass(frozen=True, slots=True)
class _Level:
    """Frames of one kind that are as far from the root.

    Attributes:
        kind: what they do.
        own: where they stand.
        parents: (K,) where those that carry them stand.
        ways: (K, 1, 4, 3) their axes at zero in the carrying ones, a row each; then their places.
        columns: (K,) or (K, 3) their coordinates.
    """

    kind: str
    own: slice
    parents: np.ndarray
    ways: np.ndarray
    columns: np.ndarray


class _Frame(NamedTuple):
    """One of them, before they are in order."""

    level: int
    kind: str
    parent: int
    way: np.ndarray
    columns: np.ndarray


class WholeMotion:
    """The tree of a rig, ready for many frames."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        places = joint_places(rig)
        for joint, _, _ in places[1:]:
            if joint.kind not in KINDS:
                raise InvalidValue(f"joint {joint.name!r} is {joint.kind}: no rule for its coordinates")
        owner = np.concatenate([np.full(moves.stop - moves.start, k) for k, (_, _, moves) in enumerate(places)])
        self.moves = rig.below[owner].T
        """(L, nv) True where a coordinate moves a link."""
        self._moving = [np.flatnonzero(own) for own in self.moves]
        self._slides = any(KINDS[joint.kind] == SLIDING for joint, _, _ in places[1:])
        self._plan(places)

    def _plan(self, places: list[tuple[Joint, slice, slice]]) -> None:
        """Put the frames of all joints into levels."""
        found: list[_Frame] = []
        last = {0: (ROOT_FRAME, 0, np.eye(3))}  # of each link: its last frame, the level of that, its turn
        for link, (joint, _, moves) in enumerate(places[1:], start=1):
            kind, (at, level, turn) = KINDS[joint.kind], last[joint.parent]
            columns = np.arange(moves.start, moves.stop)
            rotation, position = joint.rotation, joint.position
            for k, axis in enumerate(joint.axes if kind != ROUND else UP[None]):
                own = between(UP, axis) if kind != ROUND else np.eye(3)
                way = np.concatenate([(turn.T @ rotation @ own).T, (turn.T @ position)[None]])
                level += 1
                found.append(_Frame(level, kind, at, way, columns if kind == ROUND else columns[k]))
                at, turn, rotation, position = len(found) - 1, own, np.eye(3), np.zeros(3)
            last[link] = at, level, turn
        order = sorted(range(len(found)), key=lambda k: (found[k].level, found[k].kind))
        stands = np.empty(len(found) + 1, int)
        stands[[*order, ROOT_FRAME]] = [*range(1, len(found) + 1), 0]
        self._size, self._levels, first = len(stands), [], 1
        for (_, kind), alike in groupby([found[k] for k in order], key=lambda frame: (frame.level, frame.kind)):
            frames = list(alike)
            span = slice(first, first + len(frames))
            parents = stands[[frame.parent for frame in frames]]
            ways = np.array([frame.way for frame in frames])[:, None]
            self._levels.append(_Level(kind, span, parents, ways, np.array([frame.columns for frame in frames])))
            first = span.stop
        self._of_links = stands[[last[link][0] for link in range(len(places))]]
        self._turns = np.array([last[link][2] for link in range(len(places))])
        """(L, 3, 3) axes of each link's last frame, in the link."""
        self._of_columns = np.zeros(self.rig.nv, int)
        for each in self._levels:
            self._of_columns[each.columns] = np.arange(each.own.start, each.own.stop).reshape(
                -1, *[1] * (each.columns.ndim - 1)
            )

    def placed(self, turn: np.ndarray, y: np.ndarray) -> Placed:
        """Links at coordinates.

        Args:
            turn: (N, 3, 3) axes of the root, world.
            y: (N, nv) [m, rad] root place (3), nothing (3), joint coordinates.
        """
        count = len(y)
        turns, places = np.empty((self._size, 3, 3, count)), np.empty((self._size, 3, count))
        turns[0], places[0] = turn.transpose(1, 2, 0), y[:, :3].T
        columns = np.ascontiguousarray(y.T)
        sines, cosines = np.sin(columns), np.cos(columns)
        rounds = []
        for level in self._levels:
            base = level.ways @ turns[level.parents]
            np.add(places[level.parents], base[:, :, 3], out=places[level.own])
            own = turns[level.own]
            if level.kind == TURNING:
                sine, cosine = sines[level.columns, None], cosines[level.columns, None]
                first, second = base[:, :, 0], base[:, :, 1]
                np.add(cosine * first, sine * second, out=own[:, :, 0])
                np.subtract(cosine * second, sine * first, out=own[:, :, 1])
                own[:, :, 2] = base[:, :, 2]
            elif level.kind == SLIDING:
                own[:] = base[:, :, :3]
                places[level.own] += own[:, :, 2] * columns[level.columns, None]
            else:
                exponential = Exponential(y[:, level.columns])
                after = product(base[:, :, :3].transpose(1, 2, 0, 3), exponential.matrix.transpose(2, 3, 1, 0))
                own[:] = after.transpose(2, 0, 1, 3)
                spun = product(after, exponential.right_jacobian.transpose(2, 3, 1, 0))
                rounds.append((level.columns, spun.transpose(2, 1, 0, 3)))
        axes = turns[self._of_columns, :, 2]
        for moves, spun in rounds:
            axes[moves] = spun
        axes[:ROOT_NV] = np.eye(ROOT_NV, 3, -3)[:, :, None]
        slides = self._sliding(axes) if self._slides else None
        return Placed(turns, places, axes, places[self._of_columns], slides)

    def _sliding(self, axes: np.ndarray) -> np.ndarray:
        """What coordinates move along; they no longer turn."""
        slides = np.zeros_like(axes)
        slides[:3] = np.eye(3)[:, :, None]
        for level in self._levels:
            if level.kind == SLIDING:
                slides[level.columns] = axes[level.columns]
                axes[level.columns] = 0.0
        return slides

    def turns(self, placed: Placed, links: np.ndarray) -> np.ndarray:
        """Axes (N, K, 3, 3) of links (K,), world."""
        own = placed.turns[self._of_links[links]].transpose(3, 0, 1, 2)
        return np.asarray(own @ self._turns[links].swapaxes(1, 2))

    def place(self, placed: Placed, link: int) -> np.ndarray:
        """Origin (3, N) [m] of a link, world."""
        return np.asarray(placed.places[self._of_links[link]])

    def each(self, placed: Placed, links: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Axes (..., 3, 3) and origins (..., 3) [m] of single links (...) in single frames (...), world."""
        own = self._of_links[links]
        turns = placed.turns[own, :, :, frames] @ self._turns[links].swapaxes(-1, -2)
        return turns, placed.places[own, :, frames]

    def along(
        self, placed: Placed, links: np.ndarray, frames: np.ndarray, points: np.ndarray, ways: np.ndarray
    ) -> np.ndarray:
        """(M, nv) by which points (M, 3) [m], world, of single links in single frames move along directions (M, 3)."""
        axes, origins = (values[:, :, frames].transpose(2, 0, 1) for values in (placed.axes, placed.origins))
        result = (axes * np.cross(points[:, None] - origins, ways[:, None])).sum(axis=2)
        if placed.slides is None:
            result[:, :3] = ways
        else:
            result += (placed.slides[:, :, frames].transpose(2, 0, 1) * ways[:, None]).sum(axis=2)
        return np.asarray(result * self.moves[links])

    def jacobian(self, placed: Placed, link: int, point: np.ndarray) -> np.ndarray:
        """(N, 3, nv) of points (3, N) [m], world, that move with a link."""
        moving = self._moving[link]
        lever = point[:, None] - placed.origins[moving].swapaxes(0, 1)
        moved = cross(placed.axes[moving].swapaxes(0, 1), lever)
        if placed.slides is None:
            moved[:, :3] = np.eye(3)[:, :, None]
        else:
            moved += placed.slides[moving].swapaxes(0, 1)
        result = np.zeros((point.shape[1], 3, placed.axes.shape[0]))
        result[:, :, moving] = moved.transpose(2, 0, 1)
        return result

    def centre_of_mass(self, placed: Placed) -> tuple[np.ndarray, np.ndarray]:
        """Of the rig's prior (N, 3) [m], world, and its slopes (N, 3, nv) by the coordinates."""
        masses, total = self.rig.prior.masses, self.rig.prior.total_mass
        first = np.einsum("lij,li->lj", self._turns, self.rig.prior.values[:, FIRST_MOMENT])
        # links l, axes i of the world, axes j of the link's last frame, frames n
        moments = np.einsum("lijn,lj->lin", placed.turns[self._of_links], first)
        moments += masses[:, None, None] * placed.places[self._of_links]
        moved, shares = np.tensordot(self.moves.T.astype(float), moments, 1), self.moves.T @ masses
        lever = moved - shares[:, None, None] * placed.origins
        slopes = cross(placed.axes.swapaxes(0, 1), lever.swapaxes(0, 1))
        if placed.slides is None:
            slopes[:, :3] = (total * np.eye(3))[:, :, None]
        else:
            slopes += (shares[:, None, None] * placed.slides).swapaxes(0, 1)
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
