"""Signals of a body as a whole, and the estimate from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Times, frozen, frozen_mask, frozen_times
from ..base.errors import InvalidValue
from ..storage.codec import FileKind
from ..values.inertials import GRAVITY
from ..values.motion import TimeSeries, describe_span
from ..values.wrenches import DRAWN_FORCE

AXES = 3
"""By definition."""
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
    {COM: "m", "acceleration": "m/s2", MOMENTUM: "kg m2/s", MOMENTUM_RATE: "N m", "force": "N", "moment": "N m"}
)
MAX_STEP_DEVIATION = 0.01
"""Largest relative deviation of a time step from the mean one that counts as rounding of the time stamps."""


@dataclass(frozen=True, slots=True)
class InertialModes(ArrayValue):
    """Changes of the kinematic signals with the inertials: one mode is one standard deviation.

    The columns of a square root of the inertials' covariance, seen through the motion. With K = 0 the inertials are
    exact.

    Attributes:
        com: (N, 3, K) [m] change of the centre of mass.
        momentum: (N, 3, K) [kg m^2/s] change of the angular momentum about it.
    """

    com: Annotated[np.ndarray, Array("N", 3, "K")]
    momentum: Annotated[np.ndarray, Array("N", 3, "K")]

    def __len__(self) -> int:
        return self.com.shape[2]


@dataclass(frozen=True, slots=True, repr=False)
class CentroidalData(TimeSeries):
    """Kinematic and kinetic signals of one body at the same, uniform times; world axes.

    Attributes:
        times: (N,) [s], uniform.
        mass: [kg] of the whole body.
        com: (N, 3) [m] centre of mass by the kinematics.
        momentum: (N, 3) [kg m^2/s] angular momentum about the centre of mass by the kinematics.
        momentum_rate: (N, 3) [N m] its rate by the kinematics.
        acceleration: (N, 3) [m/s^2] of the kinematic centre of mass.
        wrench: (N, 6) [N, N m] total contact wrench: force, then moment about the world origin; NaN where nothing was
            measured.
        measured: (N,) True where every contact is measured; by default wherever the force is finite.
        has_moment: False for plates that measure forces alone: then no source uses the central axis.
        modes: uncertainty of the inertials; None: they are exact.
    """

    times: np.ndarray
    mass: float
    com: np.ndarray
    momentum: np.ndarray
    momentum_rate: np.ndarray
    acceleration: np.ndarray
    wrench: np.ndarray
    measured: np.ndarray | None = None
    has_moment: bool = True
    modes: InertialModes | None = None

    def __post_init__(self) -> None:
        times = frozen_times(self.times)
        object.__setattr__(self, "times", times)
        count = len(times)
        if count < 2:
            raise InvalidValue("an estimate over time needs at least two samples")
        steps = np.diff(times)
        if np.abs(steps - steps.mean()).max() > MAX_STEP_DEVIATION * steps.mean():
            place = int(np.argmax(np.abs(steps - steps.mean())))
            raise InvalidValue(
                f"the time steps are not uniform: {steps[place]:.4g} s after {times[place]:.4g} s, {steps.mean():.4g} "
                f"s on "
                "average; resample motion and forces to the same times first (signals.resample)"
            )
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise InvalidValue(f"the total mass must be known and positive, got {self.mass!r} kg")
        for name in ("com", "momentum", "momentum_rate", "acceleration"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (count, AXES)))
        if len(self.wrench) != count:
            raise InvalidValue(
                f"the wrench has {len(self.wrench)} samples, the motion {count}: resample both to the same times first "
                "(signals.resample)"
            )
        object.__setattr__(self, "wrench", frozen("wrench", self.wrench, (count, 2 * AXES), finite=False))
        used = self.wrench if self.has_moment else self.wrench[:, :AXES]
        finite = np.isfinite(used).all(axis=1)
        measured = finite if self.measured is None else frozen_mask("measured", self.measured, (count,)) & finite
        object.__setattr__(self, "measured", frozen_mask("measured", measured, (count,)))
        if self.modes is not None and len(self.modes.com) != count:
            raise InvalidValue(f"the modes of the inertials have {len(self.modes.com)} frames, the signals {count}")

    def __repr__(self) -> str:
        share = 100.0 * float(np.mean(self.known))
        moment = "" if self.has_moment else ", no moment"
        return f"CentroidalData of {self.mass:.1f} kg: {describe_span(self.times)}, {share:.0f} % with forces{moment}"

    @property
    def known(self) -> np.ndarray:
        """(N,) True where every contact is measured."""
        assert self.measured is not None
        return self.measured

    @property
    def force(self) -> np.ndarray:
        """(N, 3) [N]; zero where not measured."""
        return np.where(self.known[:, None], self.wrench[:, :AXES], 0.0)

    @property
    def moment(self) -> np.ndarray:
        """(N, 3) [N m] about the world origin; zero where not measured."""
        return np.where(self.known[:, None] & self.has_moment, self.wrench[:, AXES:], 0.0)

    @property
    def force_acceleration(self) -> np.ndarray:
        """(N, 3) [m/s^2] f / m + g of (2); where not measured, the kinematic acceleration."""
        pushed = self.force / self.mass
        pushed[:, 2] -= GRAVITY
        return np.where(self.known[:, None], pushed, self.acceleration)

    def without_wrench(self, frames: np.ndarray) -> CentroidalData:
        """A copy in which the wrench of these frames (N,) is unknown."""
        wrench = np.where(np.asarray(frames, bool)[:, None], np.nan, self.wrench)
        return replace(self, wrench=wrench, measured=self.known & ~frames)

    def part(self, start: int, stop: int) -> CentroidalData:
        """Samples start..stop-1."""
        cut = slice(start, stop)
        modes = self.modes and InertialModes(self.modes.com[cut], self.modes.momentum[cut])
        return replace(
            self,
            times=self.times[cut],
            com=self.com[cut],
            momentum=self.momentum[cut],
            momentum_rate=self.momentum_rate[cut],
            acceleration=self.acceleration[cut],
            wrench=self.wrench[cut],
            measured=self.known[cut],
            modes=modes,
        )


@dataclass(frozen=True, slots=True, repr=False)
class CentroidalEstimate(TimeSeries, ArrayValue):
    """Result of an estimator for `CentroidalData`, world axes.

    Attributes:
        method: its name.
        times: (N,) [s].
        mass: [kg].
        com: (N, 3) [m].
        acceleration: (N, 3) [m/s^2] of the centre of mass.
        momentum_rate: (N, 3) [N m] rate of the angular momentum about it.
        momentum: (N, 3) [kg m^2/s] the angular momentum; the kinematic one of a method that estimates its rate alone.
        notes: sentences for the reader.
        wrench: (N, 6) [N, N m] measured contact wrench, about the world origin; NaN where unknown.
        flights: first frame and one past the last of each flight phase.
        sources: (N, 3) of each available one of `SOURCES`, as ``"kinematic com"``; NaN where it is unknown.
    """

    method: str
    times: Annotated[np.ndarray, Times()]
    mass: float
    com: Annotated[np.ndarray, Array("N", 3)]
    acceleration: Annotated[np.ndarray, Array("N", 3)]
    momentum_rate: Annotated[np.ndarray, Array("N", 3)]
    momentum: Annotated[np.ndarray, Array("N", 3)]
    notes: tuple[str, ...] = ()
    wrench: Annotated[np.ndarray | None, Array("N", 6, finite=False)] = None
    flights: tuple[tuple[int, int], ...] = ()
    sources: Mapping[str, np.ndarray] = field(default_factory=dict)

    def require_consistent(self) -> None:
        count = len(self.times)
        if any(not 0 <= start < stop <= count for start, stop in self.flights):
            raise InvalidValue(f"flights must lie within the {count} frames: {self.flights}")
        known = {f"{who} {what}" for who, what in SOURCES}
        if not set(self.sources) <= known:
            raise InvalidValue(f"sources are {', '.join(sorted(known))}, not {', '.join(set(self.sources) - known)}")
        values = {name: frozen(name, value, (count, AXES), finite=False) for name, value in self.sources.items()}
        object.__setattr__(self, "sources", MappingProxyType(values))

    def __repr__(self) -> str:
        return f"CentroidalEstimate by {self.method}: {describe_span(self.times)}"

    @property
    def required_wrench(self) -> np.ndarray:
        """(N, 6) [N, N m] the contact wrench that the estimate requires, about the world origin: (2) and (1) solved."""
        force = self.mass * self.acceleration
        force[:, 2] += self.mass * GRAVITY
        return np.concatenate([force, self.momentum_rate + np.cross(self.com, force)], axis=1)

    def source(self, who: str, what: str) -> np.ndarray:
        """(N, 3) Values of one of `SOURCES`; NaN where it is unknown."""
        return self.sources.get(f"{who} {what}", np.full((len(self), AXES), np.nan))

    @property
    def central_axis(self) -> tuple[np.ndarray, np.ndarray]:
        """Central axis of the contact wrench: its point (N, 3) [m] nearest to the centre of mass, and its direction
        (N, 3); NaN where there is none.
        """
        wrench = np.full((len(self), 2 * AXES), np.nan) if self.wrench is None else self.wrench
        force, moment = wrench[:, :AXES], wrench[:, AXES:]
        size = np.linalg.norm(force, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.where(size > DRAWN_FORCE, force / size, np.nan)
            foot = np.cross(force, moment) / size**2
        return foot + along * np.sum(along * (self.com - foot), axis=1, keepdims=True), along

    @property
    def mean_flight_momentum(self) -> np.ndarray:
        """(N, 3) [kg m^2/s] Mean momentum of each flight, in which it is constant; NaN elsewhere."""
        result = np.full(self.momentum.shape, np.nan)
        for start, stop in self.flights:
            result[start:stop] = self.momentum[start:stop].mean(axis=0)
        return result


ESTIMATE = FileKind(CentroidalEstimate, "exciting dance centroidal estimate", version=3, remedy="Estimate again")
"""The file of an estimate, an archive."""
