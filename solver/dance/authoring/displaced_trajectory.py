"""A trajectory that a repair displaces in time windows, evaluated at the frames at which it is checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.arrays import take_ownership
from ...contacts.schedule import SAME_TIME
from ...feasibility.checker import SAME_FRAME
from ...trajectory.displacement import Displacement
from ...trajectory.planted_feet import PlantedTrajectory, Rates
from ...values.motion import Motion

PROBE_STRIDE = 10
"""Every such frame is compared to decide whether the trajectory equals the given motion."""


def _displaced_rates(trajectory: PlantedTrajectory, done: Sequence[Displacement], times: np.ndarray) -> Rates:
    rates = trajectory.curve.at(times)
    for displacement in done:
        rates = displacement.apply(times, rates)
    return rates


def evaluate_displaced(trajectory: PlantedTrajectory, done: Sequence[Displacement], times: np.ndarray) -> Motion:
    """The motion of a displaced trajectory at times (N,) [s]."""
    return trajectory.motion(times, _displaced_rates(trajectory, done, times))


def select_frames(motion: Motion, times: np.ndarray) -> Motion | None:
    """The frames of a motion at times (N,) [s]; None if it has no frame at one of them."""
    places = np.clip(np.searchsorted(motion.times, times - SAME_TIME), 0, len(motion) - 1)
    if np.abs(motion.times[places] - times).max(initial=0.0) > SAME_TIME:
        return None
    return Motion(
        times, take_ownership(motion.q[places]), take_ownership(motion.v[places]), take_ownership(motion.a[places])
    )


class DisplacedTrajectory:
    """A trajectory at the frames of a given motion; only frames that differ from that motion are evaluated.

    Where every `PROBE_STRIDE`-th frame is as given, the legs under their feet, so are those in between, and are not
    solved.
    """

    def __init__(self, trajectory: PlantedTrajectory, given: Motion) -> None:
        self._trajectory, times = trajectory, given.times
        places = np.unique(np.append(np.arange(0, len(times), PROBE_STRIDE), len(times) - 1))
        probe = trajectory.motion(times[places])
        far = [
            np.abs(getattr(probe, name) - getattr(given, name)[places]).max(axis=1) > SAME_FRAME[name]
            for name in SAME_FRAME
        ]
        differs = np.any(far, axis=0)
        other = np.repeat(differs[1:] | differs[:-1], np.diff(places))
        self._base = given if not differs.any() else self._replace_frames(given, np.append(other, differs[-1]))

    def apply(self, done: Sequence[Displacement]) -> Motion:
        """The motion with displacements applied."""
        times = self._base.times
        inside = np.zeros(len(times), bool)
        for displacement in done:
            inside |= (times >= displacement.window.start) & (times <= displacement.window.stop)
        return self._replace_frames(self._base, inside, done) if inside.any() else self._base

    def _replace_frames(self, motion: Motion, inside: np.ndarray, done: Sequence[Displacement] = ()) -> Motion:
        """A motion whose frames inside the windows are replaced by those of the displaced trajectory."""
        moved = evaluate_displaced(self._trajectory, done, motion.times[inside])
        parts = [np.array(part) for part in (motion.q, motion.v, motion.a)]
        for part, new in zip(parts, (moved.q, moved.v, moved.a)):
            part[inside] = new
        return Motion(motion.times, take_ownership(parts[0]), take_ownership(parts[1]), take_ownership(parts[2]))
