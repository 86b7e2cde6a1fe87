"""Excitation of each link from the start of a dance up to some times along it, updated while it is edited."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..identification.base_parameters import BaseParameters, base_parameters
from ..identification.excitation.excitation import Excitation
from ..skeleton.rig import Rig
from ..values.motion import Motion
from .check import SAME_STATE, same_state

PIECE_COUNT = 20
"""Number of times along a dance at which its excitation up to then is reported."""


@dataclass(frozen=True, slots=True)
class _Piece:
    motion: Motion
    excitation: Excitation


class LiveExcitation:
    """Condition number of each link's part of the base-parameter regressor of the dance so far, bonnet2016 (12).

    A motion is divided into pieces; the triangular factor of each is reused until the piece changes.

    Args:
        rig: that dances.
    """

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self._structure: BaseParameters | None = None
        self._pieces: dict[tuple[int, int], _Piece] = {}
        self._motion: Motion | None = None
        self._pending: list[tuple[int, int]] = []
        self._total: Excitation | None = None

    def set_motion(self, motion: Motion) -> None:
        """Replace the motion."""
        edges = np.linspace(0, len(motion), min(PIECE_COUNT, len(motion)) + 1).astype(int).tolist()
        self._motion, self._total = motion, None
        self._pending = list(pairwise(edges))[::-1]
        self._pieces = {span: piece for span, piece in self._pieces.items() if span in self._pending}

    def stop(self) -> None:
        """Evaluate nothing more until the next motion."""
        self._pending = []

    def evaluate_next(self) -> tuple[float, dict[str, float]] | None:
        """The next time [s] and the excitation of each link up to it, infinite while undetermined; None at the end.

        Links without base parameters of their own are left out.
        """
        if not self._pending or self._motion is None:
            return None
        start, stop = self._pending.pop()
        piece = self._excitation(start, stop, self._motion.part(start, stop))
        self._total = piece if self._total is None else self._total.merge([piece])
        values = zip(self.rig.links, self._total.link_conditions())
        return float(self._motion.times[stop - 1]), {link: float(v) for link, v in values if not np.isnan(v)}

    def _excitation(self, start: int, stop: int, motion: Motion) -> Excitation:
        known = self._pieces.get((start, stop))
        if known is not None and all(
            same_state(name, getattr(known.motion, name), getattr(motion, name)).all() for name in SAME_STATE
        ):
            return known.excitation
        if self._structure is None:
            self._structure = base_parameters(self.rig)
        excitation = Excitation.before_motion(self._structure).with_motion(self.rig, motion)
        self._pieces[start, stop] = _Piece(motion, excitation)
        return excitation
