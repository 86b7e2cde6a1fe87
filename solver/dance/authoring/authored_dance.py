"""An authored dance: postures at times, how binding each of them is, and when which patch is on the floor.

Between keys each coordinate follows a spline of degree 5 (order 6), as the dances of bonnet2016 do. Its slopes are
those of a monotone interpolant and its acceleration is zero at the keys: it never overshoots a key, rests where its
direction reverses and at both ends, and its acceleration is continuous. A timeline that interpolates in another way
stores its samples.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from ...base.arrays import Array, ArrayValue, Times
from ...base.errors import InvalidValue, UnknownPreset
from ...contacts.schedule import SAME_TIME, Schedule
from ...dynamics.coordinates import quaternion_columns
from ...options.checks import CheckOptions
from ...skeleton.rig import Rig
from ...storage.codec import FileKind
from ...trajectory.ballistic import find_flights
from ...trajectory.curve import FlatCurve, sample_times
from ...values.motion import Motion

ROLES = ("fixed", "preferred", "free")
"""Roles of a key: kept exactly; kept where possible; to be filled."""
INTERPOLATIONS = ("clamped", "rest")
"""Slopes at the keys: without overshoot, or zero, so that every key is a posture at rest."""
FLIGHT_RATE, EXACT_FLIGHT_RATE = 180.0, 400.0
"""[1/s] Least sampling rate of a dance with flights, in single and in double precision. The force of jumping legs
changes within hundredths of a second; closer samples of poses in single precision resolve it less well."""
UNIT_TOLERANCE = 1e-6
"""Largest error of a quaternion's length; that of single precision is smaller."""


@dataclass(frozen=True, slots=True)
class Keyframe(ArrayValue):
    """A posture at a time.

    Attributes:
        time: [s].
        q: (nq,) configuration; its quaternions are normalised.
        role: one of `ROLE_COLOURS`.
        name: shown to the user.
    """

    time: float
    q: Annotated[np.ndarray, Array(None)]
    role: str = "preferred"
    name: str = ""

    def require_consistent(self) -> None:
        if self.role not in ROLES:
            raise UnknownPreset(self.role, ROLES)
        if not np.isfinite(self.time):
            raise InvalidValue(f"key {self.name!r} has no finite time")

    def __str__(self) -> str:
        return (
            f"{self.role} key {self.name!r} at {self.time:g} s" if self.name else f"{self.role} key at {self.time:g} s"
        )


@dataclass(frozen=True, slots=True)
class Samples(ArrayValue):
    """A motion as the timeline shows it, where it differs from the spline through the keys.

    Attributes:
        times: (N,) [s]; q: (N, nq).
    """

    times: Annotated[np.ndarray, Times()]
    q: Annotated[np.ndarray, Array("N", None)]

    def require_consistent(self) -> None:
        if len(self.times) < 2:
            raise InvalidValue("a sampled dance needs at least two samples at increasing times")


@dataclass(frozen=True, slots=True, repr=False)
class AuthoredDance:
    """A dance as an animator authored it.

    Attributes:
        rig: that dances.
        keys: in the order of time; at least two unless there are samples.
        schedule: of the contacts, over the whole dance.
        samples: the motion between the keys; None: the spline through them.
        interpolation: of the keys, one of `INTERPOLATIONS`.
        name: of the dance.
        checks: that it must pass, stored with it.
    """

    rig: Rig
    keys: tuple[Keyframe, ...]
    schedule: Schedule
    samples: Samples | None = None
    interpolation: str = "clamped"
    name: str = "dance"
    checks: CheckOptions = field(default_factory=CheckOptions)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", tuple(self.keys))
        if self.interpolation not in INTERPOLATIONS:
            raise UnknownPreset(self.interpolation, INTERPOLATIONS)
        if self.samples is None and len(self.keys) < 2:
            raise InvalidValue(f"a dance needs two keys, or samples: {self.name!r} has {len(self.keys) or 'none'}")
        for key in self.keys:
            _require_configuration(self.rig, key.q, str(key))
        for before, after in zip(self.keys, self.keys[1:]):
            if after.time <= before.time + SAME_TIME:
                raise InvalidValue(f"{after} does not follow {before}: one key a time, in order")
        if self.samples is not None:
            _require_configurations(self.rig, self.samples)
            for key in self.keys:
                if not self.start - SAME_TIME <= key.time <= self.stop + SAME_TIME:
                    raise InvalidValue(f"{key} lies outside the samples, {self.start:g} to {self.stop:g} s")
        if self.schedule.start > self.start + SAME_TIME or self.schedule.stop < self.stop - SAME_TIME:
            raise InvalidValue(
                f"the contact schedule covers {self.schedule.start:g} to {self.schedule.stop:g} s of a dance from "
                f"{self.start:g} to {self.stop:g} s: extend its first or last strip"
            )

    def __repr__(self) -> str:
        between = self.interpolation if self.samples is None else f"{len(self.samples.times)} samples"
        return (
            f"Authored dance {self.name!r} of {self.stop - self.start:.2f} s: {len(self.keys)} keys, {between}\n"
            f"  {self.rig.summary}\n"
            f"  checks: {self.checks.words}"
        )

    def with_checks(self, checks: CheckOptions | None) -> AuthoredDance:
        """This dance with other checks; None: with its own."""
        return self if checks is None else replace(self, checks=checks)

    @property
    def start(self) -> float:
        """[s]."""
        return float(self.keys[0].time if self.samples is None else self.samples.times[0])

    @property
    def stop(self) -> float:
        """[s]."""
        return float(self.keys[-1].time if self.samples is None else self.samples.times[-1])

    @property
    def flights(self) -> list[tuple[float, float]]:
        """Start and stop [s] of each flight; there contact forces end and begin, and the acceleration has corners."""
        return find_flights(self.schedule, self.start, self.stop)

    def sampling_rate(self, rate: float, flight_rate: float = FLIGHT_RATE) -> float:
        """[1/s] Sampling rate that represents the dance: the requested rate, doubled until it suffices for flights.

        Doubling keeps every earlier sample time, and thus the frames of a scene.
        """
        if self.flights:
            while rate < flight_rate:
                rate *= 2.0
        return rate

    def curve(self) -> FlatCurve:
        """The dance between its ends in flat coordinates."""
        if self.samples is not None:
            corners = [end for flight in self.flights for end in flight]
            return FlatCurve.through_samples(self.rig, self.samples.times, self.samples.q, corners)
        times = np.array([key.time for key in self.keys])
        return FlatCurve.through_keys(self.rig, times, [key.q for key in self.keys], self.interpolation)

    def motion(self, rate: float) -> Motion:
        """The dance sampled at least ``rate`` times a second; the feet are where the keys place them."""
        return self.curve().motion(self.rig, sample_times(self.start, self.stop, rate))


def _require_configuration(rig: Rig, q: np.ndarray, what: str) -> None:
    if len(q) != rig.nq:
        raise InvalidValue(f"{what} has {len(q)} numbers; rig {rig.name!r} has {rig.nq}")
    for part in quaternion_columns(rig):
        length = float(np.linalg.norm(q[part]))
        if abs(length - 1.0) > UNIT_TOLERANCE:
            raise InvalidValue(f"{what}: the rotation in q[{part.start}:{part.stop}] has length {length:g}, not 1")


def _require_configurations(rig: Rig, samples: Samples) -> None:
    if samples.q.shape[1] == rig.nq:
        lengths = [np.linalg.norm(samples.q[:, part], axis=1) for part in quaternion_columns(rig)]
        suspect = np.flatnonzero(np.abs(np.array(lengths) - 1.0).max(axis=0) > UNIT_TOLERANCE)[:1]
    else:
        suspect = np.zeros(1, int)
    for frame in suspect:
        _require_configuration(rig, samples.q[frame], f"sample at {samples.times[frame]:g} s")


AUTHORED_DANCE = FileKind(
    AuthoredDance, "exciting dance authored dance", remedy="Write the dance again from the timeline"
)
"""The file of an authored dance, JSON: rig, keys, contact schedule and samples; q as in Pinocchio."""
