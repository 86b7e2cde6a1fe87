"""What a rig is asked to do, and one sample of how it is to be done: the tasks of dynamical inverse kinematics.

A task is fixed: which points or links, how much they weigh. A sample is one instant of measurements for the tasks.
The posture task, which no measurement feeds, and the joint limits are choices of the tracker (`TrackingOptions`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import frozen
from ..errors import InvalidValue


@dataclass(frozen=True, slots=True)
class PositionTask:
    """P points on links, to be brought to measured places.

    Attributes:
        names: P names.
        links: (P,) link indices.
        offsets: (P, 3) [m] link frames.
        weights: (P,) each point's weight; 0 leaves it out of the fit but still reports its error.
        gains: (P,) share of the tracker's gain with which each is followed; all of it by default.
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
    """O links, to be turned to measured orientations, as of inertial units.

    Attributes:
        names: O names.
        links: (O,) link indices.
        weights: (O,) [m^2]: a radian of error counts as this squared many metres of a point's error.
        gains: (O,) share of the tracker's gain with which each is followed; all of it by default.
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
        positions: points to place, or None.
        orientations: links to turn, or None.
    """

    positions: PositionTask | None = None
    orientations: OrientationTask | None = None

    def __post_init__(self) -> None:
        if self.positions is None and self.orientations is None:
            raise InvalidValue("tracking needs position or orientation targets; both are missing")

    def require(self, sample: TargetSample) -> None:
        """Raise `InvalidValue` where a sample's shapes are not those of the tasks."""
        points = None if self.positions is None else (len(self.positions.names), 3)
        turns = None if self.orientations is None else (len(self.orientations.names), 3, 3)
        for what, values, shape in (("positions", sample.positions, points), ("rotations", sample.rotations, turns)):
            found = None if values is None else np.shape(values)
            if found != shape:
                raise InvalidValue(f"the sample's {what} have shape {found}; the tasks ask for {shape}")


@dataclass(frozen=True, slots=True)
class TargetSample:
    """One instant of measurements. Arrays are taken as they are: samples come at the rate of the recording.

    Attributes:
        positions: (P, 3) [m] world; NaN where not measured. None without position task.
        rotations: (O, 3, 3) link axes in the world; NaN where not measured. None without orientation task.
        velocities: (P, 3) [m/s] world, measured; None: from successive positions.
        angular_velocities: (O, 3) [rad/s] world axes, measured; None: from successive rotations.
        weight_factors: (P,) of its weight that each point keeps in this sample, as near a gap; None: all of it.
    """

    positions: np.ndarray | None = None
    rotations: np.ndarray | None = None
    velocities: np.ndarray | None = None
    angular_velocities: np.ndarray | None = None
    weight_factors: np.ndarray | None = None


def _gains(values: np.ndarray, count: int) -> np.ndarray:
    result = frozen("target gains", values if len(values) else np.ones(count), (count,))
    if np.any(result <= 0.0) or np.any(result > 1.0):
        raise InvalidValue("target gains are shares of the tracker's gain: above 0, at most 1")
    return result


def _indices(values: object, count: int) -> np.ndarray:
    result = np.array(values, dtype=int)
    if result.shape != (count,):
        raise InvalidValue(f"target links have shape {result.shape}, expected ({count},)")
    result.setflags(write=False)
    return result
