"""The tasks of dynamical inverse kinematics, and one sample of measurements for them.

A task is constant: which points or links, and their weights. A sample is one instant of measurements for the tasks. The
posture task, which needs no measurement, and the joint limits are options of the tracker (`TrackingOptions`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import frozen
from ..errors import InvalidValue


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
