"""What tracking follows: points and directions fixed to links, and where they should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import frozen, frozen_times
from ..errors import InvalidValue
from ..motion import Markers
from ..rig import Rig


@dataclass(frozen=True, slots=True)
class Attachment:
    """A marker fixed to a link.

    Attributes:
        marker: name.
        link: that carries it.
        position: (3,) [m], link frame.
        weight: relative to an ordinary marker (1); 0 leaves it out of the fit but still reports its error.
        anatomical: True where the place on the body is known (a bony landmark), False for a free (cluster) marker.
    """

    marker: str
    link: str
    position: np.ndarray
    weight: float = 1.0
    anatomical: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", frozen(f"attachment of {self.marker!r}", self.position, (3,)))
        if not self.weight >= 0.0:
            raise InvalidValue(f"attachment of {self.marker!r}: weight {self.weight:g} is negative")


@dataclass(frozen=True, slots=True)
class PositionTargets:
    """P points on links that should be at measured places.

    Attributes:
        names: P names.
        links: (P,) link indices.
        offsets: (P, 3) [m] link frames.
        positions: (N, P, 3) [m] world; NaN where not measured.
        weights: (P,) each point's weight.
        velocities: (N, P, 3) [m/s] world, measured; None: from successive positions.
    """

    names: tuple[str, ...]
    links: np.ndarray
    offsets: np.ndarray
    positions: np.ndarray
    weights: np.ndarray
    velocities: np.ndarray | None = None

    def __post_init__(self) -> None:
        count = len(self.names)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "links", _indices(self.links, count))
        object.__setattr__(self, "offsets", frozen("target offsets", self.offsets, (count, 3)))
        positions = frozen("target positions", self.positions, (None, count, 3), finite=False)
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "weights", frozen("target weights", self.weights, (count,)))
        if self.velocities is not None:
            velocities = frozen("target velocities", self.velocities, (len(positions), count, 3), finite=False)
            object.__setattr__(self, "velocities", velocities)


@dataclass(frozen=True, slots=True)
class OrientationTargets:
    """O links whose orientation is measured, as by inertial units.

    Attributes:
        names: O names.
        links: (O,) link indices.
        rotations: (N, O, 3, 3) link axes in the world; NaN where not measured.
        weights: (O,) [m^2]: a radian of error counts as this squared many metres of a point's error.
        velocities: (N, O, 3) [rad/s] world axes; None: from successive rotations.
    """

    names: tuple[str, ...]
    links: np.ndarray
    rotations: np.ndarray
    weights: np.ndarray
    velocities: np.ndarray | None = None

    def __post_init__(self) -> None:
        count = len(self.names)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "links", _indices(self.links, count))
        rotations = frozen("target rotations", self.rotations, (None, count, 3, 3), finite=False)
        object.__setattr__(self, "rotations", rotations)
        object.__setattr__(self, "weights", frozen("orientation weights", self.weights, (count,)))
        if self.velocities is not None:
            velocities = frozen("angular velocities", self.velocities, (len(rotations), count, 3), finite=False)
            object.__setattr__(self, "velocities", velocities)


@dataclass(frozen=True, slots=True)
class Targets:
    """The pose targets x(t) and velocity targets v(t) of rapetti2020 (2).

    Attributes:
        times: (N,) [s].
        positions: measured points, or None.
        orientations: measured link orientations, or None.
    """

    times: np.ndarray
    positions: PositionTargets | None = None
    orientations: OrientationTargets | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        if self.positions is None and self.orientations is None:
            raise InvalidValue("tracking needs position or orientation targets; both are missing")
        frames = {}
        if self.positions is not None:
            frames["positions"] = len(self.positions.positions)
        if self.orientations is not None:
            frames["orientations"] = len(self.orientations.rotations)
        for name, count in frames.items():
            if count != len(self.times):
                raise InvalidValue(f"{name} hold {count} frames, times {len(self.times)}")

    def __len__(self) -> int:
        return len(self.times)

    @staticmethod
    def of_markers(rig: Rig, attachments: Sequence[Attachment], markers: Markers) -> Targets:
        """Position targets from the recorded markers that are attached to the rig; the others are left out.

        Raises:
            UnknownLink: an attachment names a link that the rig lacks.
            InvalidValue: none of the attached markers was recorded.
        """
        known = {a.marker: a for a in attachments}
        used = [known[name] for name in markers.names if name in known]
        if not used:
            raise InvalidValue(
                f"none of the recorded markers ({', '.join(markers.names[:8])}, ...) is attached to rig {rig.name!r}"
            )
        points = PositionTargets(
            tuple(a.marker for a in used),
            np.array([rig.index(a.link) for a in used]),
            np.array([a.position for a in used]),
            markers.select([a.marker for a in used]).positions,
            np.array([a.weight for a in used]),
        )
        return Targets(markers.times, points)


def _indices(values: object, count: int) -> np.ndarray:
    result = np.array(values, dtype=int)
    if result.shape != (count,):
        raise InvalidValue(f"target links have shape {result.shape}, expected ({count},)")
    result.setflags(write=False)
    return result
