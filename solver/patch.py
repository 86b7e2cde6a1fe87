"""Contact patches of a rig."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .arrays import Array, ArrayValue
from .errors import InvalidValue

LEAST_CORNERS = 3


@dataclass(frozen=True, slots=True)
class ContactPolygon(ArrayValue):
    """A flat contact patch on a link, such as a sole.

    Attributes:
        name: of the patch, ``"right_sole"``.
        link: that carries it.
        vertices: (V, 3) [m] in the link frame, counter-clockwise seen from outside the body (from below a sole).
        sole: whether it is the sole of a foot. Other patches (hands, knees) carry load only in contact strips.
    """

    name: str
    link: str
    vertices: Annotated[np.ndarray, Array(None, 3)]
    sole: bool = True

    def require_consistent(self) -> None:
        if len(self.vertices) < LEAST_CORNERS:
            raise InvalidValue(
                f"contact patch {self.name!r} has {len(self.vertices)} corners; it needs {LEAST_CORNERS}"
            )

    @property
    def centroid(self) -> np.ndarray:
        """Mean of the vertices (3,) [m], link frame."""
        return self.vertices.mean(axis=0)

    @property
    def outward(self) -> np.ndarray:
        """Unit normal (3,) away from the body, link frame, by the order of the corners."""
        sides = np.roll(self.vertices, -1, axis=0) - self.vertices
        normal = np.cross(sides, np.roll(sides, -1, axis=0)).sum(axis=0)
        return np.asarray(normal / np.linalg.norm(normal))
