"""What was checked before: a dance of which one posture moved is checked anew only where it moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..contacts.schedule import Phase
from ..motion import Motion
from .check_definition import NearMargins

SAME_FRAME = {"q": 1e-9, "v": 1e-7, "a": 1e-5}
"""[rad, m and their rates] Frames nearer than this are the same: checks forgive 1e-4 of their own units."""


@dataclass(frozen=True, slots=True)
class CheckedPiece:
    """What the checks found in n consecutive frames of one contact phase.

    Attributes:
        margins: of each check of the checker's, in its order: (n, K) values, or those of near items.
        zmp: (n, 2) [m]; com: (n, 3) [m].
        wrench: (n, 6) [N, N m]; loads: (n, P, 6) [N, N m]; torques: (n, nv - 6) [N m].
    """

    margins: tuple[np.ndarray | NearMargins, ...]
    zmp: np.ndarray
    com: np.ndarray
    wrench: np.ndarray
    loads: np.ndarray
    torques: np.ndarray


class CheckCache:
    """The pieces of the motion checked last by one checker, by their first and last instants.

    Attributes:
        requested, checked: pieces of the last motion, and those of them that had to be checked.
    """

    def __init__(self) -> None:
        self._previous: dict[tuple[float, float, int], tuple[Motion, Phase, CheckedPiece]] = {}
        self._current: dict[tuple[float, float, int], tuple[Motion, Phase, CheckedPiece]] = {}
        self._new = 0
        self.requested = self.checked = 0

    def find(self, part: Motion, phase: Phase) -> CheckedPiece | None:
        """What was found of the same frames under the same contacts; None where they moved or are new."""
        known = self._previous.get(_key(part))
        if known is None:
            return None
        before, contacts, piece = known
        unmoved = all(
            np.abs(getattr(before, name) - getattr(part, name)).max() <= far for name, far in SAME_FRAME.items()
        )
        return (
            piece if unmoved and _is_same_phase(contacts, phase) and np.array_equal(before.times, part.times) else None
        )

    def store(self, part: Motion, phase: Phase, piece: CheckedPiece, is_new: bool) -> None:
        """Remember a piece for the next motion; one that was recalled stays with the frames it was found of."""
        self._current[_key(part)] = (part, phase, piece) if is_new else self._previous[_key(part)]
        self._new += is_new

    def finish_motion(self) -> None:
        """A motion was checked: only its pieces are remembered."""
        self.requested, self.checked = len(self._current), self._new
        self._previous, self._current, self._new = self._current, {}, 0


def _key(part: Motion) -> tuple[float, float, int]:
    return float(part.times[0]), float(part.times[-1]), len(part)


def _is_same_phase(one: Phase, two: Phase) -> bool:
    if one is two:
        return True
    if one.loaded != two.loaded:
        return False
    return all(
        np.array_equal(a.position, b.position) and np.array_equal(a.rotation, b.rotation)
        for a, b in zip(one.anchors, two.anchors)
    )
