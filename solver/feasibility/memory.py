"""What was checked before: a dance of which one posture moved is checked anew only where it moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..contacts.schedule import Phase
from ..motion import Motion
from .definition import Near

SAME = {"q": 1e-9, "v": 1e-7, "a": 1e-5}
"""[rad, m and their rates] Frames nearer than this are the same: checks forgive 1e-4 of their own units."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What the checks found in n consecutive frames of one contact phase.

    Attributes:
        margins: of each check of the checker's, in its order: (n, K) values, or those of near items.
        zmp: (n, 2) [m]; com: (n, 3) [m].
        wrench: (n, 6) [N, N m]; loads: (n, P, 6) [N, N m]; torques: (n, nv - 6) [N m].
    """

    margins: tuple[np.ndarray | Near, ...]
    zmp: np.ndarray
    com: np.ndarray
    wrench: np.ndarray
    loads: np.ndarray
    torques: np.ndarray


class Memory:
    """The pieces of the motion checked last by one checker, by their first and last instants.

    Attributes:
        asked, checked: pieces of the last motion, and those of them that had to be checked.
    """

    def __init__(self) -> None:
        self._before: dict[tuple[float, float, int], tuple[Motion, Phase, Piece]] = {}
        self._now: dict[tuple[float, float, int], tuple[Motion, Phase, Piece]] = {}
        self._fresh = 0
        self.asked = self.checked = 0

    def recalled(self, part: Motion, phase: Phase) -> Piece | None:
        """What was found of the same frames under the same contacts; None where they moved or are new."""
        known = self._before.get(_key(part))
        if known is None:
            return None
        before, contacts, piece = known
        unmoved = all(np.abs(getattr(before, name) - getattr(part, name)).max() <= far for name, far in SAME.items())
        return piece if unmoved and _same(contacts, phase) and np.array_equal(before.times, part.times) else None

    def keep(self, part: Motion, phase: Phase, piece: Piece, fresh: bool) -> None:
        """Remember a piece for the next motion; one that was recalled stays with the frames it was found of."""
        self._now[_key(part)] = (part, phase, piece) if fresh else self._before[_key(part)]
        self._fresh += fresh

    def settle(self) -> None:
        """A motion was checked: only its pieces are remembered."""
        self.asked, self.checked = len(self._now), self._fresh
        self._before, self._now, self._fresh = self._now, {}, 0


def _key(part: Motion) -> tuple[float, float, int]:
    return float(part.times[0]), float(part.times[-1]), len(part)


def _same(one: Phase, two: Phase) -> bool:
    if one is two:
        return True
    if one.loaded != two.loaded:
        return False
    return all(
        np.array_equal(a.position, b.position) and np.array_equal(a.rotation, b.rotation)
        for a, b in zip(one.anchors, two.anchors)
    )
