"""Targets, pins and results of a drag; needs no dynamics library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue

REACHED = 1e-3
"""[m] Distance at which a target is reached."""


@dataclass(frozen=True, slots=True)
class Target(ArrayValue):
    """Where a point of a link should be.

    Attributes:
        link: name.
        position: (3,) [m] world; NaN along axes that are free.
        point: (3,) [m] in the link's frame.
        rotation: (3, 3) axes of the link in the world, or None if its orientation is free.
    """

    link: str
    position: Annotated[np.ndarray, Array(3, finite=False)]
    point: Annotated[np.ndarray, Array(3)]
    rotation: Annotated[np.ndarray | None, Array(3, 3)] = None


@dataclass(frozen=True, slots=True)
class Pin(ArrayValue):
    """A point (3,) [m] of a link, link frame, that stays where it is."""

    link: str
    point: Annotated[np.ndarray, Array(3)]


@dataclass(frozen=True, slots=True)
class DragResult:
    """A posture on the way to the targets.

    Attributes:
        q: (nq,).
        converged: further calls with the same targets change nothing.
        distance: [m] from the targets, the largest.
        obstacles: what keeps the body from the targets, if it converged short of them.
        slip: [m] largest displacement of a planted corner or pinned point.
        margin: [m] of the centre of mass inside the support polygon, negative outside; NaN without a polygon.
    """

    q: np.ndarray
    converged: bool
    distance: float
    obstacles: tuple[str, ...]
    slip: float
    margin: float

    @property
    def reached(self) -> bool:
        """Whether every target is reached to 1 mm."""
        return self.distance <= REACHED
