"""A scene's timeline as plain values, and its file: poses, keys with roles, and contact strips.

It needs no dynamics library: a scene writes its poses, and the solver converts them to configurations. SI, world z up,
quaternions xyzw, times from the timeline's zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Times
from ..base.errors import InvalidValue
from ..contacts.rolling import SOLE
from ..contacts.schedule import SAME_TIME
from ..options.checks import CheckOptions
from ..skeleton.rig import Rig
from ..storage.codec import FileKind
from ..values.motion import UNIT_QUATERNION


@dataclass(frozen=True, slots=True)
class SceneKey:
    """A key that the user set.

    Attributes:
        time: [s].
        role: ``"fixed"``, ``"preferred"`` or ``"free"``.
        name: shown to the user.
    """

    time: float
    role: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class SceneStrip:
    """A contact patch is on the floor from start to stop [s] with a part of it, one of `rolling.PARTS`.

    Strips of other parts that follow at once belong to one stance, in which the sole rolls.
    """

    patch: str
    start: float
    stop: float
    part: str = SOLE


def flights_between_strips(strips: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Start and stop [s] of every span between strips without any contact, in the order of time.

    Args:
        strips: (start, stop) [s] of strips of all patches, in any order.
    """
    ordered = sorted(strips)
    latest_stops = np.maximum.accumulate([stop for _, stop in ordered]).tolist()
    return tuple((before, start) for before, (start, _) in zip(latest_stops, ordered[1:]) if start > before + SAME_TIME)


@dataclass(frozen=True, slots=True)
class SceneTimeline(ArrayValue):
    """A motion of a scene.

    Attributes:
        name: of the dance.
        rig: of the scene by value, L links.
        times: (N,) [s].
        root: (N, 3) [m] root link's origin, world.
        rotations: (N, L, 4) rotation of each joint from its neutral pose, in joint axes; the root's in the world: as
            in `SceneMotion`.
        translations: (N, L, 3) [m] the same for sliding joints, zero for others.
        keys: in the order of time; each is at one of ``times``.
        strips: of the contacts, in any order.
        ground: [m] height of the floor.
        checks: that the dance must pass.
    """

    name: str
    rig: Rig
    times: Annotated[np.ndarray, Times()]
    root: Annotated[np.ndarray, Array("N", 3)]
    rotations: Annotated[np.ndarray, Array("N", "L", 4)]
    translations: Annotated[np.ndarray, Array("N", "L", 3)]
    keys: tuple[SceneKey, ...] = ()
    strips: tuple[SceneStrip, ...] = field(default=())
    ground: float = 0.0
    checks: CheckOptions = field(default_factory=CheckOptions)

    def require_consistent(self) -> None:
        for name in ("keys", "strips"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.rotations.shape[1] != len(self.links):
            raise InvalidValue(f"rotations of {self.rotations.shape[1]} links, the rig has {len(self.links)}")
        lengths = np.linalg.norm(self.rotations, axis=2)
        if len(self.times) and np.abs(lengths - 1.0).max() > UNIT_QUATERNION:
            frame, link = np.unravel_index(int(np.argmax(np.abs(lengths - 1.0))), lengths.shape)
            raise InvalidValue(f"frame {frame}: the rotation of {self.links[link]!r} is not a unit quaternion")

    def __len__(self) -> int:
        return len(self.times)

    @property
    def links(self) -> tuple[str, ...]:
        """L names."""
        return self.rig.links


TIMELINE = FileKind(
    SceneTimeline,
    "exciting dance timeline",
    version=2,
    remedy="Write the timeline again from the scene",
    compressed=False,
)
"""The file of a timeline, an uncompressed archive, because the live check writes one at every change."""
