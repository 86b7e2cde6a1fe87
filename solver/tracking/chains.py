"""The chains of joints between two orientations, and their angles when each is fitted by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates import joint_places
from ..rig import ROOT_NV, Rig
from ..so3 import skew
from .tasks import OrientationTask

SWEEPS = 2
"""Rounds over the joints of a chain: what is found is a start for steps of the whole body."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The joints between a link with an orientation and the nearest one above it.

    Attributes:
        upper, lower: places of the two among the orientations.
        links: that the joints move, from above; the last is the lower one.
    """

    upper: int
    lower: int
    links: tuple[int, ...]


def chains(rig: Rig, turns: OrientationTask) -> list[Chain]:
    """Every link with an orientation that hangs below another one."""
    owner = {int(link): place for place, link in enumerate(turns.links)}
    found = []
    for link, lower in owner.items():
        between = []
        above = link
        while above > 0 and (above == link or above not in owner):
            between.append(above)
            above = rig.joints[above].parent
        if between and above in owner:
            found.append(Chain(owner[above], lower, tuple(reversed(between))))
    return found


class ChainFit:
    """Chains of hinges, turned as their relative orientations ask, each by itself and all of them at once."""

    def __init__(self, rig: Rig, turns: OrientationTask) -> None:
        joints, places = rig.joints, joint_places(rig)
        found = [c for c in chains(rig, turns) if all(joints[k].hinge and joints[k].nq == 1 for k in c.links)]
        self._upper = np.array([chain.upper for chain in found], int)
        self._lower = np.array([chain.lower for chain in found], int)
        shape = (len(found), max((len(chain.links) for chain in found), default=0))
        self._rest, self._axes = np.tile(np.eye(3), (*shape, 1, 1)), np.zeros((*shape, 3))
        self._low, self._high, self._into = np.zeros(shape), np.zeros(shape), np.full(shape, -1)
        for row, chain in enumerate(found):
            for column, link in enumerate(chain.links):
                _, into, free = places[link]
                self._rest[row, column], self._axes[row, column] = joints[link].rotation, joints[link].axes[0]
                self._low[row, column] = rig.limits.lower[free.start - ROOT_NV]
                self._high[row, column] = rig.limits.upper[free.start - ROOT_NV]
                self._into[row, column] = into.start
        bounded = np.isfinite(self._low) & np.isfinite(self._high)
        self._middle = np.zeros(shape)
        self._middle[bounded] = 0.5 * (self._low[bounded] + self._high[bounded])
        spins = skew(self._axes.reshape(-1, 3)).reshape(*shape, 3, 3)
        self._sines, self._cosines = self._rest @ spins, self._rest @ spins @ spins

    def __len__(self) -> int:
        return len(self._upper)

    def posed(self, q: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """A configuration (nq,) like another, the chains turned to measured orientations (O, 3, 3) within their limits.

        One joint after the other is turned best: what is left of a relative orientation is a sine of each angle alone.
        """
        result = np.array(q)
        wanted = rotations[self._upper].swapaxes(1, 2) @ rotations[self._lower]
        seen = np.isfinite(wanted).all(axis=(1, 2))
        wanted = np.where(seen[:, None, None], wanted, np.eye(3)).swapaxes(1, 2)
        count = self._into.shape[1]
        angles = np.clip(0.0, self._low, self._high)
        turns = [self._turned(column, angles[:, column]) for column in range(count)]
        for _ in range(SWEEPS):
            after = [np.eye(3)]
            for turn in reversed(turns[1:]):
                after.append(turn @ after[-1])
            before = np.eye(3)
            for column in range(count):
                left = after[count - 1 - column] @ wanted @ before @ self._rest[:, column]
                angles[:, column] = self._best(column, left)
                turns[column] = self._turned(column, angles[:, column])
                before = before @ turns[column]
        chosen = seen[:, None] & (self._into >= 0)
        result[self._into[chosen]] = angles[chosen]
        return result

    def _turned(self, column: int, angles: np.ndarray) -> np.ndarray:
        """Rodrigues' formula (C, 3, 3) for the joints at one place of all chains, at angles (C,)."""
        half = np.sin(0.5 * angles)[:, None, None]
        return (
            self._rest[:, column]
            + np.sin(angles)[:, None, None] * self._sines[:, column]
            + 2.0 * half * half * self._cosines[:, column]
        )

    def _best(self, column: int, left: np.ndarray) -> np.ndarray:
        """Angles (C,) within their limits that make the traces of ``left`` (C, 3, 3) times the turns largest."""
        axes, middle = self._axes[:, column], self._middle[:, column]
        along = (axes * (left @ axes[:, :, None])[:, :, 0]).sum(axis=1)
        cosine = left[:, 0, 0] + left[:, 1, 1] + left[:, 2, 2] - along
        skew = np.stack([left[:, 1, 2] - left[:, 2, 1], left[:, 2, 0] - left[:, 0, 2], left[:, 0, 1] - left[:, 1, 0]])
        best = np.arctan2((axes.T * skew).sum(axis=0), cosine) - middle
        best = middle + best - 2.0 * np.pi * np.round(best / (2.0 * np.pi))
        return np.clip(best, self._low[:, column], self._high[:, column])
