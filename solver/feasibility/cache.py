"""Cache of check results: after one posture of a dance is moved, only the frames that changed are checked again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..contacts.schedule import Phase
from ..motion import Motion
from .check_definition import NearMargins

SAME_FRAME = {"q": 1e-9, "v": 1e-7, "a": 1e-5}
"""[rad, m and their rates] Frames that differ by less are the same; the tolerance of the checks is 1e-4."""


@dataclass(frozen=True, slots=True)
class CheckedPiece:
    """Results of the checks in n consecutive frames of one contact phase.

    Attributes:
        margins: of each check, in the checker's order: (n, K) values, or those of near items.
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
    """Pieces of the motion that one checker checked last, by their first and last times.

    Attributes:
        requested, checked: number of pieces in the last motion, and of those that were not in the cache.
    """

    def __init__(self) -> None:
        self._previous: dict[tuple[float, float, int], tuple[Motion, Phase, CheckedPiece]] = {}
        self._current: dict[tuple[float, float, int], tuple[Motion, Phase, CheckedPiece]] = {}
        self._new = 0
        self.requested = self.checked = 0

    def find(self, part: Motion, phase: Phase) -> CheckedPiece | None:
        """Results for the same frames with the same contacts; None if the frames changed or are new."""
        known = self._previous.get(_key(part))
        if known is None:
            return None
        before, contacts, piece = known
        unchanged = all(
            np.abs(getattr(before, name) - getattr(part, name)).max() <= tolerance
            for name, tolerance in SAME_FRAME.items()
        )
        same = unchanged and _is_same_phase(contacts, phase) and np.array_equal(before.times, part.times)
        return piece if same else None

    def store(self, part: Motion, phase: Phase, piece: CheckedPiece, is_new: bool) -> None:
        """Store a piece for the next motion. A piece from the cache keeps the frames that it was computed for."""
        self._current[_key(part)] = (part, phase, piece) if is_new else self._previous[_key(part)]
        self._new += is_new

    def finish_motion(self) -> None:
        """Keep only the pieces of the motion that was just checked."""
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
