"""Joint moments of a recording, as a scene keys and draws them, and their file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import frozen, frozen_times
from ..errors import InvalidValue
from ..storage.codec import FileKind


@dataclass(frozen=True, slots=True)
class SceneMoments:
    """Joint moments of a recorded body, per kilogram of its mass.

    Attributes:
        times: (N,) [s].
        mass: [kg] of the whole body.
        names: C coordinates.
        lengths: C; True for a length, whose value is a force.
        per_kg: (N, C) [N m/kg] or [N/kg], positive if it increases the coordinate; NaN where unknown.
        half_width: (N, C) half the width of the 95 % interval; NaN if unknown.
        links: K links that a joint with an angle moves.
        vectors: (N, K, 3) [N m/kg] moment on each of them at its joint, world axes; NaN where unknown.
        places: (N, K, 3) [m] origin of each of them, world.
        notes: what to know, a sentence each.
    """

    times: np.ndarray
    mass: float
    names: tuple[str, ...]
    lengths: tuple[bool, ...]
    per_kg: np.ndarray
    half_width: np.ndarray
    links: tuple[str, ...]
    vectors: np.ndarray
    places: np.ndarray
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        for name, kind in (("names", str), ("lengths", bool), ("links", str), ("notes", str)):
            object.__setattr__(self, name, tuple(map(kind, getattr(self, name))))
        frames, count, links = len(self.times), len(self.names), len(self.links)
        if len(self.lengths) != count:
            raise InvalidValue(f"{len(self.lengths)} kinds for {count} coordinates")
        for name, shape in (("per_kg", (frames, count)), ("half_width", (frames, count)),
                            ("vectors", (frames, links, 3)), ("places", (frames, links, 3))):  # fmt: skip
            object.__setattr__(self, name, frozen(name, getattr(self, name), shape, finite=name == "places"))

    def __len__(self) -> int:
        return len(self.times)


MOMENTS = FileKind(SceneMoments, "exciting dance joint moments", version=1, remedy="Compute the moments again")
"""The file of joint moments, an archive."""
