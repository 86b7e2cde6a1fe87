"""A recording's centroidal estimate and its measured sources, as a scene draws them, and their file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ..arrays import frozen, frozen_times
from ..errors import InvalidValue
from ..storage.codec import FileKind

KINEMATIC, WRENCH = "kinematic", "wrench"
"""Sources: motion and inertials alone, or the contact wrench."""
COM, MOMENTUM, MOMENTUM_RATE = "com", "momentum", "momentum_rate"
SOURCES = (
    (KINEMATIC, COM),
    (KINEMATIC, MOMENTUM),
    (KINEMATIC, MOMENTUM_RATE),
    (WRENCH, COM),
    (WRENCH, MOMENTUM_RATE),
)
"""Quantities by source: the wrench measures the centre of mass by the point of its central axis, bailly2019 (6b), and
the momentum rate by (8)."""
UNITS: Mapping[str, str] = MappingProxyType(
    {COM: "m", "acceleration": "m/s^2", MOMENTUM: "kg m^2/s", MOMENTUM_RATE: "N m", "force": "N", "moment": "N m"}
)
MIN_FORCE = 20.0
"""[N] Below this force a wrench's central axis is not drawn, because noise dominates its direction."""


@dataclass(frozen=True, slots=True)
class SceneEstimate:
    """Centre of mass and angular momentum of a recorded body, world axes.

    Attributes:
        method: name of the estimator.
        times: (N,) [s].
        mass: [kg] of the whole body.
        com: (N, 3) [m] estimated.
        acceleration: (N, 3) [m/s^2] of the centre of mass, estimated.
        momentum: (N, 3) [kg m^2/s] angular, about the centre of mass.
        momentum_rate: (N, 3) [N m] estimated.
        required_wrench: (N, 6) [N, N m] contact wrench that the estimate requires: force, then moment about
            the world origin.
        wrench: (N, 6) measured contact wrench; NaN where unknown.
        flights: first frame and one past the last of each flight phase.
        sources: (N, 3) of each available one of `SOURCES`, as ``"kinematic com"``; NaN where it is unknown.
        notes: what to know, a sentence each.
    """

    method: str
    times: np.ndarray
    mass: float
    com: np.ndarray
    acceleration: np.ndarray
    momentum: np.ndarray
    momentum_rate: np.ndarray
    required_wrench: np.ndarray
    wrench: np.ndarray
    flights: tuple[tuple[int, int], ...] = ()
    sources: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        count = len(self.times)
        for name in ("com", "acceleration", "momentum", "momentum_rate"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (count, 3)))
        object.__setattr__(self, "required_wrench", frozen("required_wrench", self.required_wrench, (count, 6)))
        object.__setattr__(self, "wrench", frozen("wrench", self.wrench, (count, 6), finite=False))
        spans = tuple((int(start), int(stop)) for start, stop in self.flights)
        if any(not 0 <= start < stop <= count for start, stop in spans):
            raise InvalidValue(f"flights must lie within the {count} frames: {spans}")
        object.__setattr__(self, "flights", spans)
        known = {f"{who} {what}" for who, what in SOURCES}
        if not set(self.sources) <= known:
            raise InvalidValue(f"sources are {', '.join(sorted(known))}, not {', '.join(set(self.sources) - known)}")
        held = {name: frozen(name, values, (count, 3), finite=False) for name, values in self.sources.items()}
        object.__setattr__(self, "sources", MappingProxyType(held))
        object.__setattr__(self, "notes", tuple(str(note) for note in self.notes))

    def __len__(self) -> int:
        return len(self.times)

    def source(self, who: str, what: str) -> np.ndarray:
        """(N, 3) Values of one of `SOURCES`; NaN where it is unknown."""
        return self.sources.get(f"{who} {what}", np.full((len(self), 3), np.nan))

    @property
    def central_axis(self) -> tuple[np.ndarray, np.ndarray]:
        """Central axis of the contact wrench: its point (N, 3) [m] nearest to the centre of mass, and its direction
        (N, 3); NaN where there is none.
        """
        force, moment = self.wrench[:, :3], self.wrench[:, 3:]
        size = np.linalg.norm(force, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.where(size > MIN_FORCE, force / size, np.nan)
            foot = np.cross(force, moment) / size**2
        return foot + along * np.sum(along * (self.com - foot), axis=1, keepdims=True), along

    @property
    def mean_flight_momentum(self) -> np.ndarray:
        """(N, 3) [kg m^2/s] Mean momentum of each flight, in which it is constant; NaN elsewhere."""
        result = np.full(self.momentum.shape, np.nan)
        for start, stop in self.flights:
            result[start:stop] = self.momentum[start:stop].mean(axis=0)
        return result


ESTIMATE = FileKind(SceneEstimate, "exciting dance centroidal estimate", version=2, remedy="Estimate again")
"""The file of an estimate, an archive."""
