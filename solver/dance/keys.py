"""What an animator's timeline hands over: postures at times, how binding each is, and where the feet stand.

Between keys each coordinate follows a spline of sixth order (degree 5), as the dances of bonnet2016 do, with the slopes
of a monotone interpolant and no acceleration at the keys: it never overshoots a key, rests where its direction turns
and at both ends, and its acceleration is continuous. A timeline that interpolates otherwise gives its samples instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BPoly, PchipInterpolator, make_interp_spline

from ..arrays import frozen
from ..errors import InvalidValue, UnknownPreset
from ..motion import Motion
from ..rig import ROOT_NV, Rig
from .charts import to_manifold
from .checks.joints import joint_coordinates, rotation_vectors
from .schedule import SAME_TIME, Schedule

ROLES = ("fixed", "preferred", "free")
"""Kept exactly; kept where possible; to be filled."""
INTERPOLATIONS = ("clamped", "rest")
"""Slopes that pass through keys without overshoot, or none: every key is a posture at rest."""
DEGREE = 5
UNIT = 1e-6
"""Largest error of a quaternion's length; single precision of a file or of Blender stays below it."""
SINGULAR = 1.9 * np.pi
"""[rad] length at which a rotation vector's chart comes near its end, one full turn."""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A posture at a time.

    Attributes:
        time: [s].
        q: (nq,) configuration; its quaternions are normalised.
        role: one of `ROLES`.
        name: shown to people.
    """

    time: float
    q: np.ndarray
    role: str = "preferred"
    name: str = ""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise UnknownPreset(self.role, ROLES)
        if not np.isfinite(self.time):
            raise InvalidValue(f"key {self.name!r} has no finite time")
        object.__setattr__(self, "q", frozen(f"key at {self.time:g} s", self.q, (None,)))

    def __str__(self) -> str:
        return (
            f"{self.role} key {self.name!r} at {self.time:g} s" if self.name else f"{self.role} key at {self.time:g} s"
        )


@dataclass(frozen=True, slots=True)
class Samples:
    """A motion as the timeline shows it, where that is not the spline through the keys.

    Attributes:
        times: (N,) [s]; q: (N, nq).
    """

    times: np.ndarray
    q: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen("times of the samples", self.times, (None,)))
        object.__setattr__(self, "q", frozen("samples", self.q, (len(self.times), None)))
        if len(self.times) < 2 or (np.diff(self.times) <= 0.0).any():
            raise InvalidValue("a sampled dance needs at least two samples at increasing times")


@dataclass(frozen=True, slots=True)
class Keyed:
    """A dance as authored.

    Attributes:
        rig: that dances.
        keys: in the order of time; at least two unless there are samples.
        schedule: of the contacts, over the whole dance.
        samples: the motion between the keys; None: the spline through them.
        interpolation: of the keys, one of `INTERPOLATIONS`.
        name: of the dance.
    """

    rig: Rig
    keys: tuple[Keyframe, ...]
    schedule: Schedule
    samples: Samples | None = None
    interpolation: str = "clamped"
    name: str = "dance"

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", tuple(self.keys))
        if self.interpolation not in INTERPOLATIONS:
            raise UnknownPreset(self.interpolation, INTERPOLATIONS)
        if self.samples is None and len(self.keys) < 2:
            raise InvalidValue(f"dance {self.name!r} has {len(self.keys)} keys; it needs two, or samples")
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

    @property
    def start(self) -> float:
        """[s]."""
        return float(self.keys[0].time if self.samples is None else self.samples.times[0])

    @property
    def stop(self) -> float:
        """[s]."""
        return float(self.keys[-1].time if self.samples is None else self.samples.times[-1])

    def curve(self) -> FlatCurve:
        """The dance between its ends in flat coordinates."""
        if self.samples is not None:
            return FlatCurve.through_samples(self.rig, self.samples.times, self.samples.q)
        times = np.array([key.time for key in self.keys])
        return FlatCurve.through_keys(self.rig, times, [key.q for key in self.keys], self.interpolation)

    def motion(self, rate: float) -> Motion:
        """The dance sampled at least ``rate`` times a second, feet wherever the keys bring them."""
        return self.curve().motion(self.rig, sample_times(self.start, self.stop, rate))


@dataclass(frozen=True, slots=True)
class FlatCurve:
    """A smooth curve in the flat coordinates of a rig, see `charts`.

    Attributes:
        spline: of nv coordinates over time [s].
        start, stop: [s].
    """

    spline: BPoly
    start: float
    stop: float

    @staticmethod
    def through_keys(rig: Rig, times: np.ndarray, q: Sequence[np.ndarray], interpolation: str = "clamped") -> FlatCurve:
        """The curve through configurations (nq,) at times (K,), at rest at both ends."""
        y = unwrapped(rig, q)
        slopes = np.zeros_like(y)
        if interpolation == "clamped" and len(times) > 2:
            slopes[1:-1] = PchipInterpolator(times, y, axis=0).derivative()(times[1:-1])
        states = [list(state) for state in zip(y, slopes, np.zeros_like(y))]
        return FlatCurve(BPoly.from_derivatives(times, states), float(times[0]), float(times[-1]))

    @staticmethod
    def through_samples(rig: Rig, times: np.ndarray, q: np.ndarray) -> FlatCurve:
        """The curve through dense samples (N, nq)."""
        degree = min(DEGREE, len(times) - 1)
        spline = make_interp_spline(times, unwrapped(rig, q), k=degree - (degree + 1) % 2)
        return FlatCurve(spline, float(times[0]), float(times[-1]))

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates (N, nv) and their first and second derivatives."""
        inside = np.clip(times, self.start, self.stop)
        return self.spline(inside), self.spline(inside, 1), self.spline(inside, 2)

    def motion(self, rig: Rig, times: np.ndarray) -> Motion:
        """The motion at times (N,) [s]."""
        curves = to_manifold(rig, *self.at(times))
        return Motion(times, curves.q, curves.v, curves.a)


def sample_times(start: float, stop: float, rate: float) -> np.ndarray:
    """Even times from start to stop [s], both included, at least ``rate`` a second."""
    return np.linspace(start, stop, max(2, int(np.ceil((stop - start) * rate - 1e-6)) + 1))


def unwrapped(rig: Rig, q: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Flat coordinates (N, nv) of configurations, each rotation vector the one nearest to its predecessor.

    Raises:
        InvalidValue: a rotation comes near a full turn, where rotation vectors end.
    """
    rows = np.array(q, float)
    for part in _quaternions(rig):
        rows[:, part] /= np.linalg.norm(rows[:, part], axis=1, keepdims=True)
    y = np.concatenate([rows[:, :3], rotation_vectors(rows[:, 3:7]), joint_coordinates(rig, rows)], axis=1)
    for columns in rotation_columns(rig):
        steps = np.linalg.norm(np.diff(y[:, columns], axis=0), axis=1)
        jumps = np.flatnonzero(steps >= np.pi)  # before the first of these every vector is the nearest already
        for frame in range(jumps[0] + 1 if len(jumps) else len(y), len(y)):
            y[frame, columns] = _nearest(y[frame, columns], y[frame - 1, columns])
        far = np.linalg.norm(y[:, columns], axis=1) > SINGULAR
        if far.any():
            raise InvalidValue(
                f"frame {int(np.argmax(far))} of the dance has turned nearly once around since its start: "
                "turn back, or cut the dance there and start it anew"
            )
    return y


def rotation_columns(rig: Rig) -> list[slice]:
    """Where rotation vectors lie in the flat coordinates."""
    joints = [j for j in list(rig.model.joints)[2:] if j.shortname() == "JointModelSpherical"]
    return [slice(3, ROOT_NV), *(slice(j.idx_v, j.idx_v + 3) for j in joints)]


def _nearest(vector: np.ndarray, goal: np.ndarray) -> np.ndarray:
    angle = float(np.linalg.norm(vector))
    if angle < 1e-9:
        axis, far = goal, float(np.linalg.norm(goal))
        turns = round(far / (2.0 * np.pi))
        return vector if not turns else axis / far * 2.0 * np.pi * turns
    axis = vector / angle
    return vector + axis * 2.0 * np.pi * round(float(axis @ goal - angle) / (2.0 * np.pi))


def _quaternions(rig: Rig) -> list[slice]:
    joints = [j for j in list(rig.model.joints)[2:] if j.shortname() == "JointModelSpherical"]
    return [slice(3, 7), *(slice(j.idx_q, j.idx_q + 4) for j in joints)]


def _require_configuration(rig: Rig, q: np.ndarray, what: str) -> None:
    if len(q) != rig.model.nq:
        raise InvalidValue(f"{what} has {len(q)} numbers; rig {rig.name!r} has {rig.model.nq}")
    for part in _quaternions(rig):
        length = float(np.linalg.norm(q[part]))
        if abs(length - 1.0) > UNIT:
            raise InvalidValue(f"{what}: the rotation in q[{part.start}:{part.stop}] has length {length:g}, not 1")


def _require_configurations(rig: Rig, samples: Samples) -> None:
    if samples.q.shape[1] == rig.model.nq:
        lengths = [np.linalg.norm(samples.q[:, part], axis=1) for part in _quaternions(rig)]
        wrong = np.abs(np.array(lengths) - 1.0).max(axis=0) > UNIT
        suspect = np.flatnonzero(wrong)[:1]
    else:
        suspect = np.zeros(1, int)
    for frame in suspect:
        _require_configuration(rig, samples.q[frame], f"sample at {samples.times[frame]:g} s")
