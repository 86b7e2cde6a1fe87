"""Trajectories of a rig, of markers, of joint coordinates and of segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, Times, abbreviate
from ..base.errors import InvalidValue, UnknownMarker
from ..base.file_arrays import iterate_slices, map_slices

POSE = 7
"""Entries of a pose: position and quaternion. By definition."""
UNIT_QUATERNION = 1e-3
"""Largest error of a quaternion's norm that is attributed to rounding in a file."""


class TimeSeries:
    """Values at times (N,) [s]: how many there are, and how many per second."""

    __slots__ = ()
    times: np.ndarray

    def __len__(self) -> int:
        return len(self.times)

    @property
    def rate(self) -> float:
        """Samples per second, over the whole span."""
        return rate_of(self.times)


@dataclass(frozen=True, slots=True, repr=False)
class Motion(TimeSeries, ArrayValue):
    """A trajectory on a rig's configuration manifold.

    Attributes:
        times: (N,) [s], increasing.
        q: (N, nq) configurations, Pinocchio's layout: root position [m] in the world, root quaternion xyzw, joints.
        v: (N, nv) velocities in the tangent space (root: linear and angular in root axes) [m/s, rad/s].
        a: (N, nv) accelerations in the tangent space [m/s^2, rad/s^2].
    """

    times: Annotated[np.ndarray, Times()]
    q: Annotated[np.ndarray, Array("N", "nq")]
    v: Annotated[np.ndarray, Array("N", "nv")]
    a: Annotated[np.ndarray, Array("N", "nv")]

    def __repr__(self) -> str:
        return f"Motion of {self.v.shape[1]} degrees of freedom: {describe_span(self.times)}"

    def part(self, start: int, stop: int) -> Motion:
        """Frames start..stop-1."""
        return self.frames(slice(start, stop))

    def frames(self, chosen: slice | Sequence[int] | np.ndarray) -> Motion:
        """The chosen frames."""
        return Motion(self.times[chosen], self.q[chosen], self.v[chosen], self.a[chosen])


@dataclass(frozen=True, slots=True, repr=False)
class Markers(TimeSeries, ArrayValue):
    """Marker trajectories in the world (z up).

    Attributes:
        times: (N,) [s].
        names: M marker names, unique.
        positions: (N, M, 3) [m]; NaN where a marker was not seen (all three coordinates or none).
    """

    times: Annotated[np.ndarray, Times()]
    names: Annotated[tuple[str, ...], Names("M")]
    positions: Annotated[np.ndarray, Array("N", "M", 3, finite=False)]

    def require_consistent(self) -> None:
        positions = self.positions
        if not all(_is_complete(positions[own]) for own in iterate_slices(len(positions))):
            positions = map_slices(
                len(positions),
                lambda own: np.where(
                    np.isfinite(self.positions[own]).all(axis=2, keepdims=True), self.positions[own], np.nan
                ),
            )
            object.__setattr__(self, "positions", positions)

    def __repr__(self) -> str:
        known = 100.0 * float(self.seen.mean()) if self.seen.size else 0.0
        return (
            f"{len(self.names)} markers: {describe_span(self.times)}, {known:.1f} % of the samples seen\n"
            f"  {abbreviate(self.names)}"
        )

    @property
    def seen(self) -> np.ndarray:
        """(N, M) True where the marker was seen."""
        return np.isfinite(self.positions[:, :, 0])

    def index(self, name: str) -> int:
        """Column of a marker.

        Raises:
            UnknownMarker: no such marker.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise UnknownMarker(name, self.names) from None

    def of(self, name: str) -> np.ndarray:
        """One marker's trajectory (N, 3) [m]."""
        return self.positions[:, self.index(name)]

    def select(self, names: Sequence[str]) -> Markers:
        """Only these markers, in this order."""
        if tuple(names) == self.names:
            return self
        chosen = [self.index(name) for name in names]
        positions = map_slices(len(self), lambda own: self.positions[own][:, chosen])
        return Markers(self.times, tuple(names), positions.reshape(len(self), len(chosen), 3))

    def part(self, start: int, stop: int) -> Markers:
        """Frames start..stop-1."""
        return Markers(self.times[start:stop], self.names, self.positions[start:stop])


def coordinate_numbers(count: int) -> tuple[str, ...]:
    """Names of joint coordinates in the order of their rig: ``"1"``, ``"2"`` ..."""
    return tuple(str(k + 1) for k in range(count))


@dataclass(frozen=True, slots=True, repr=False)
class JointCoordinates(TimeSeries, ArrayValue):
    """Joint coordinates over time by name, as recorded by encoders or another program, independent of a rig.

    A spherical joint has three, its rotation vector from neutral. The root's pose is separate, as encoders do not
    measure it.

    Attributes:
        times: (N,) [s].
        names: C names of links or joints, with ``_x``, ``_y``, ``_z`` where a joint has three; unique. Files without
            names give `coordinate_numbers`: the coordinates in the order of their rig.
        values: (N, C) in `units`; NaN where missing.
        units: C: ``"rad"`` or ``"m"``, or ``"rad or m"`` or ``"deg or m"`` for files that state one unit of all
            rotations: the kind of joint determines which.
        root: (N, 7) [m] position of the root link's origin in the world (z up) and its quaternion xyzw; NaN where
            missing; None if unknown.
    """

    UNITS = ("rad", "m", "rad or m", "deg or m")

    times: Annotated[np.ndarray, Times()]
    names: Annotated[tuple[str, ...], Names("C")]
    values: Annotated[np.ndarray, Array("N", "C", finite=False)]
    units: tuple[str, ...]
    root: Annotated[np.ndarray | None, Array("N", POSE, finite=False)] = None

    def require_consistent(self) -> None:
        object.__setattr__(self, "units", tuple(self.units))
        if len(self.units) != len(self.names) or any(unit not in self.UNITS for unit in self.units):
            raise InvalidValue(f"each of the {len(self.names)} joint coordinates needs a unit: {', '.join(self.UNITS)}")
        if self.root is not None:
            length = np.linalg.norm(self.root[:, 3:], axis=1)
            wrong = np.abs(length - 1.0) > UNIT_QUATERNION
            if wrong.any():
                frame = int(np.argmax(wrong))
                raise InvalidValue(f"the root's quaternion in frame {frame} has length {length[frame]:.4g}, not 1")

    def __repr__(self) -> str:
        root = "no pose of the root" if self.root is None else "with the root's pose"
        return f"{len(self.names)} joint coordinates, {root}: {describe_span(self.times)}\n  {abbreviate(self.names)}"


def checked_parents(parents: Iterable[int], count: int) -> tuple[int, ...]:
    """Indices of the parents of all segments, -1 without one, or nothing if they are unknown.

    Raises:
        InvalidValue: they are not those of ``count`` segments.
    """
    found = tuple(int(parent) for parent in parents)
    if found and (len(found) != count or not all(-1 <= parent < count for parent in found)):
        raise InvalidValue(f"the parents {found} are not those of {count} segments")
    return found


@dataclass(frozen=True, slots=True)
class RestPose(ArrayValue):
    """Segment poses in the rest pose of a recording (often a T-pose).

    Attributes:
        rotations: (B, 3, 3) segment axes in the world, z up.
        heads: (B, 3) [m] start of each segment.
        tips: (B, 3) [m] end of each segment: the mean of its child joints, or its own end; NaN if unknown.
        parents: (B,) index of each segment's parent, -1 without one; empty if unknown.
    """

    rotations: Annotated[np.ndarray, Array("B", 3, 3)]
    heads: Annotated[np.ndarray, Array("B", 3)]
    tips: Annotated[np.ndarray, Array("B", 3, finite=False)]
    parents: tuple[int, ...] = ()

    def require_consistent(self) -> None:
        object.__setattr__(self, "parents", checked_parents(self.parents, len(self.heads)))


@dataclass(frozen=True, slots=True, repr=False)
class SegmentPoses(TimeSeries, ArrayValue):
    """Segment poses of a body from inertial sensors, a skeleton animation or a body model, independent of a rig.

    Attributes:
        times: (N,) [s].
        names: B segments, unique.
        rotations: (N, B, 3, 3) segment axes in the world, z up; NaN where missing.
        positions: (N, B, 3) [m] start of each segment; NaN where missing; None if unknown.
        rest: rest pose; None if unknown.
    """

    times: Annotated[np.ndarray, Times()]
    names: Annotated[tuple[str, ...], Names("B")]
    rotations: Annotated[np.ndarray, Array("N", "B", 3, 3, finite=False)]
    positions: Annotated[np.ndarray | None, Array("N", "B", 3, finite=False)] = None
    rest: RestPose | None = None

    def require_consistent(self) -> None:
        known = np.isfinite(self.rotations).all(axis=(2, 3))
        if not known.any():
            raise InvalidValue("no segment's orientation is known in any frame")
        some = self.rotations[known]
        if np.abs(some @ np.swapaxes(some, -1, -2) - np.eye(3)).max() > UNIT_QUATERNION:
            raise InvalidValue("a segment's orientation is not a rotation matrix")
        if self.rest is not None and len(self.rest.rotations) != len(self.names):
            raise InvalidValue(f"the rest pose has {len(self.rest.rotations)} segments, expected {len(self.names)}")

    def __repr__(self) -> str:
        return f"{len(self.names)} segments: {describe_span(self.times)}\n  {abbreviate(self.names)}"


def _is_complete(positions: np.ndarray) -> bool:
    """Whether every marker (n, M, 3) has all three coordinates or NaN for all."""
    missing = ~np.isfinite(positions).all(axis=2)
    return bool(np.isnan(positions[missing]).all())


def describe_span(times: np.ndarray) -> str:
    """Text with start, stop, rate and number of frames, for a value's ``repr``."""
    if len(times) < 2:
        return f"{len(times)} frame" + "s" * (len(times) != 1)
    return f"{times[0]:.2f} to {times[-1]:.2f} s at {rate_of(times):.4g} Hz, {len(times)} frames"


def rate_of(times: np.ndarray) -> float:
    """Samples per second of time stamps that may be rounded: (N - 1) steps over the whole span.

    Raises:
        InvalidValue: fewer than two samples.
    """
    if len(times) < 2:
        raise InvalidValue("a rate needs at least two samples")
    return float((len(times) - 1) / (times[-1] - times[0]))
