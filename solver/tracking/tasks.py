"""The tasks of dynamical inverse kinematics, and their targets: one sample of measurements, or a recording.

A task is constant: which points or links, and their weights. A sample is one instant of measurements for the tasks. The
posture task, which needs no measurement, and the joint limits are options of the tracker (`TrackingOptions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, abbreviate, frozen, frozen_times
from ..base.errors import InvalidValue
from ..skeleton.rig import Rig
from ..values.marker_names import match_names
from ..values.motion import Markers, TimeSeries


@dataclass(frozen=True, slots=True)
class PositionTask:
    """P points on links that follow measured positions.

    Attributes:
        names: P names.
        links: (P,) link indices.
        offsets: (P, 3) [m] link frames.
        weights: (P,) each point's weight; 0 excludes it from the fit, but its error is still reported.
        gains: (P,) factor on the tracker's gain for each point; 1 by default.
    """

    names: tuple[str, ...]
    links: np.ndarray
    offsets: np.ndarray
    weights: np.ndarray
    gains: np.ndarray = field(default_factory=lambda: np.ones(0))

    def __post_init__(self) -> None:
        count = len(self.names)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "links", _indices(self.links, count))
        object.__setattr__(self, "offsets", frozen("target offsets", self.offsets, (count, 3)))
        object.__setattr__(self, "weights", frozen("target weights", self.weights, (count,)))
        object.__setattr__(self, "gains", _gains(self.gains, count))


@dataclass(frozen=True, slots=True)
class OrientationTask:
    """O links that follow measured orientations, as of inertial units.

    Attributes:
        names: O names.
        links: (O,) link indices.
        weights: (O,) [m^2]: a radian of error counts as the square root of this in metres of a point's error.
        gains: (O,) factor on the tracker's gain for each link; 1 by default.
    """

    names: tuple[str, ...]
    links: np.ndarray
    weights: np.ndarray
    gains: np.ndarray = field(default_factory=lambda: np.ones(0))

    def __post_init__(self) -> None:
        count = len(self.names)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "links", _indices(self.links, count))
        object.__setattr__(self, "weights", frozen("orientation weights", self.weights, (count,)))
        object.__setattr__(self, "gains", _gains(self.gains, count))


@dataclass(frozen=True, slots=True)
class Tasks:
    """All tasks of one tracker.

    Attributes:
        positions: points, or None.
        orientations: links, or None.
    """

    positions: PositionTask | None = None
    orientations: OrientationTask | None = None

    def __post_init__(self) -> None:
        if self.positions is None and self.orientations is None:
            raise InvalidValue("tracking needs position or orientation targets; both are missing")

    def require(self, sample: TargetSample) -> None:
        """Raises `InvalidValue` if a sample's shapes are not those of the tasks."""
        points = None if self.positions is None else (len(self.positions.names), 3)
        rotations = None if self.orientations is None else (len(self.orientations.names), 3, 3)
        for what, values, shape in (
            ("positions", sample.positions, points),
            ("rotations", sample.rotations, rotations),
        ):
            found = None if values is None else np.shape(values)
            if found != shape:
                raise InvalidValue(f"the sample's {what} have shape {found}; the tasks need {shape}")


@dataclass(frozen=True, slots=True)
class TargetSample:
    """One instant of measurements. Arrays are used without a copy, at the rate of the recording.

    Attributes:
        positions: (P, 3) [m] world; NaN where not measured. None without position task.
        rotations: (O, 3, 3) link axes in the world; NaN where not measured. None without orientation task.
        velocities: (P, 3) [m/s] world, measured; None: from successive positions.
        angular_velocities: (O, 3) [rad/s] world axes, measured; None: from successive rotations.
        weight_factors: (P,) factor on the weight of each point in this sample, as near a gap; None: 1.
    """

    positions: np.ndarray | None = None
    rotations: np.ndarray | None = None
    velocities: np.ndarray | None = None
    angular_velocities: np.ndarray | None = None
    weight_factors: np.ndarray | None = None


def _gains(values: np.ndarray, count: int) -> np.ndarray:
    result = frozen("target gains", values if len(values) else np.ones(count), (count,))
    if np.any(result <= 0.0) or np.any(result > 1.0):
        raise InvalidValue("target gains are factors on the tracker's gain: above 0, at most 1")
    return result


def _indices(values: object, count: int) -> np.ndarray:
    result = np.array(values, dtype=int)
    if result.shape != (count,):
        raise InvalidValue(f"target links have shape {result.shape}, expected ({count},)")
    result.setflags(write=False)
    return result


@dataclass(frozen=True, slots=True)
class Attachment(ArrayValue):
    """A marker fixed to a link.

    Attributes:
        marker: name.
        link: link that carries it.
        position: (3,) [m], link frame.
        weight: relative to an ordinary marker (1); 0 excludes it from the fit, but its error is still reported.
        anatomical: True on a bony landmark, False for a free (cluster) marker.
    """

    marker: str
    link: str
    position: Annotated[np.ndarray, Array(3)]
    weight: float = 1.0
    anatomical: bool = False

    def require_consistent(self) -> None:
        if not self.weight >= 0.0:
            raise InvalidValue(f"attachment of {self.marker!r}: weight {self.weight:g} is negative")


@dataclass(frozen=True, slots=True)
class PositionTargets(ArrayValue):
    """A recording of the points of a task.

    Attributes:
        task: which points.
        positions: (N, P, 3) [m] world; NaN where not measured.
        velocities: (N, P, 3) [m/s] world, measured; None: from successive positions.
    """

    task: PositionTask
    positions: Annotated[np.ndarray, Array("N", "K", 3, finite=False)]
    velocities: Annotated[np.ndarray | None, Array("N", "K", 3, finite=False)] = None

    def require_consistent(self) -> None:
        if self.positions.shape[1] != len(self.task.names):
            raise InvalidValue(f"{self.positions.shape[1]} target positions for {len(self.task.names)} names")


@dataclass(frozen=True, slots=True)
class OrientationTargets(ArrayValue):
    """A recording of the orientations of a task.

    Attributes:
        task: which links.
        rotations: (N, O, 3, 3) link axes in the world; NaN where not measured.
        velocities: (N, O, 3) [rad/s] world axes; None: from successive rotations.
    """

    task: OrientationTask
    rotations: Annotated[np.ndarray, Array("N", "K", 3, 3, finite=False)]
    velocities: Annotated[np.ndarray | None, Array("N", "K", 3, finite=False)] = None

    def require_consistent(self) -> None:
        if self.rotations.shape[1] != len(self.task.names):
            raise InvalidValue(f"{self.rotations.shape[1]} target rotations for {len(self.task.names)} names")


@dataclass(frozen=True, slots=True)
class Targets(TimeSeries):
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
        self.tasks  # noqa: B018  # raises an error if there is nothing to track
        frames = {}
        if self.positions is not None:
            frames["positions"] = len(self.positions.positions)
        if self.orientations is not None:
            frames["orientations"] = len(self.orientations.rotations)
        for name, count in frames.items():
            if count != len(self.times):
                raise InvalidValue(f"{name} hold {count} frames, times {len(self.times)}")

    @property
    def tasks(self) -> Tasks:
        """The tasks, without the measurements."""
        points, rotations = self.positions, self.orientations
        return Tasks(None if points is None else points.task, None if rotations is None else rotations.task)

    @property
    def measures_velocities(self) -> bool:
        """Whether any velocities are measured."""
        return any(part is not None and part.velocities is not None for part in (self.positions, self.orientations))

    def sample(self, frame: int, weight_factors: np.ndarray | None = None) -> TargetSample:
        """The measurements of one frame; ``weight_factors`` (P,) as in `TargetSample`."""
        points, rotations = self.positions, self.orientations
        return TargetSample(
            None if points is None else points.positions[frame],
            None if rotations is None else rotations.rotations[frame],
            None if points is None or points.velocities is None else points.velocities[frame],
            None if rotations is None or rotations.velocities is None else rotations.velocities[frame],
            weight_factors,
        )

    @staticmethod
    def from_markers(rig: Rig, attachments: Sequence[Attachment], markers: Markers) -> Targets:
        """Position targets from the recorded markers that are attached to the rig; the others are not used.

        Raises:
            UnknownLink: an attachment names a link that the rig lacks.
            InvalidValue: none of the attached markers was recorded.
        """
        known = {a.marker: a for a in attachments}
        used = [known[name] for name in markers.names if name in known]
        if not used:
            raise InvalidValue(
                f"none of the recorded markers ({abbreviate(markers.names)}) is attached to rig {rig.name!r}, whose "
                f"markers are {abbreviate(list(known))}"
            )
        task = PositionTask(
            tuple(a.marker for a in used),
            np.array([rig.index(a.link) for a in used]),
            np.array([a.position for a in used]),
            np.array([a.weight for a in used]),
        )
        return Targets(markers.times, PositionTargets(task, markers.select(task.names).positions))


def match_attachment_names(markers: Markers, attachments: Sequence[Attachment]) -> Markers:
    """The recording with marker names as in the attachments; capitals and a subject's name are ignored."""
    same = match_names(markers.names, [attachment.marker for attachment in attachments])
    names = tuple(same.get(name, name) for name in markers.names)
    return markers if names == markers.names else replace(markers, names=names)


def fade_weights(times: np.ndarray, positions: np.ndarray, fade_time: float) -> np.ndarray:
    """Factor (N, P) on the weight of each point (N, P, 3): 1 far from gaps, decreasing smoothly to 0 at a missing
    sample.

    The start and the end of the recording are not gaps.
    """
    seen = np.isfinite(positions[:, :, 0])
    factors = seen.astype(float)
    if fade_time > 0.0:
        for point in np.flatnonzero(~seen.all(axis=0) & seen.any(axis=0)):
            missing = times[~seen[:, point]]
            after = np.searchsorted(missing, times)
            left = times - missing[np.maximum(after - 1, 0)]
            right = missing[np.minimum(after, len(missing) - 1)] - times
            distance = np.minimum(np.where(after > 0, left, np.inf), np.where(after < len(missing), right, np.inf))
            reach = np.clip(distance / fade_time, 0.0, 1.0)
            factors[:, point] *= reach**2 * (3.0 - 2.0 * reach)
    return factors
