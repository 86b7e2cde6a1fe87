"""What recorded forces may be instead of what the file says: each rival turns them into what it believes they are.

Level axes that are turned or mirrored in place are judged in `turned`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...wrenches import LEAST_LOAD, Wrenches


@dataclass(frozen=True, slots=True)
class Pushes:
    """Wrenches as plates deliver them.

    Attributes:
        force: (N, K, 3) [N].
        point: (N, K, 3) [m] centre of pressure on the floor; the origin where nothing is carried.
        couple: (N, K) [N m] free moment.
    """

    force: np.ndarray
    point: np.ndarray
    couple: np.ndarray

    @staticmethod
    def of(wrenches: Wrenches) -> Pushes:
        """Of wrenches without missing samples."""
        return Pushes(wrenches.values[:, :, :3], np.nan_to_num(wrenches.centres_of_pressure()), wrenches.free_moments)

    def total(self) -> np.ndarray:
        """Their sum (N, 6), world axes, about the world origin."""
        moment = np.cross(self.point, self.force)
        moment[:, :, 2] += self.couple
        return np.concatenate([self.force, moment], axis=2).sum(axis=1)


def _turned(x: float, y: float) -> Callable[[Pushes], Pushes]:
    """Level components of forces and places times these factors."""
    factors = np.array([x, y, 1.0])
    return lambda p: Pushes(p.force * factors, p.point * factors, x * y * p.couple)


def _lever(p: Pushes) -> Pushes:
    return Pushes(p.force, 0.5 * p.point, p.couple)


def _exchanged(one: int, two: int) -> Callable[[Pushes], Pushes]:
    """Each of two plates stands where the other one's forces are said to act, on average."""

    def exchange(p: Pushes) -> Pushes:
        carries = (p.force[:, :, 2] > LEAST_LOAD)[:, :, None]
        middle = (p.point * carries).sum(axis=0) / np.maximum(carries.sum(axis=0), 1)
        point = p.point.copy()
        point[:, one] += middle[two] - middle[one]
        point[:, two] += middle[one] - middle[two]
        return Pushes(p.force, point, p.couple)

    return exchange


@dataclass(frozen=True, slots=True)
class Rival:
    """Another belief of what was recorded.

    Attributes:
        cause: what would have happened, in words.
        remedy: what somebody can do about it.
        believed: the pushes as they would be.
    """

    cause: str
    remedy: str
    believed: Callable[[Pushes], Pushes]


RIVALS: tuple[Rival, ...] = (
    Rival(
        "the plates are half a turn around the origin from the markers, forces and places alike",
        "export both in the same axes",
        _turned(-1.0, -1.0),
    ),
    Rival("the plates are mirrored against the markers", "export both in the same axes", _turned(1.0, -1.0)),
    Rival(
        "the moments are about the origin, and the lever of the centre of pressure was added once more",
        "export either moments about the origin or centres of pressure with free moments",
        _lever,
    ),
)


def rivals_of(plates: Sequence[str]) -> tuple[Rival, ...]:
    """The rivals for forces of these plates: those of every recording, and two plates whose places are exchanged."""
    pairs = [(one, two) for one in range(len(plates)) for two in range(one + 1, len(plates))]
    return RIVALS + tuple(
        Rival(
            f"the places of {plates[one]} and {plates[two]} are exchanged",
            "give each plate's force its own centre of pressure",
            _exchanged(one, two),
        )
        for one, two in pairs
    )
