"""What in the signals a careful reader must know before believing any estimate: plates that drift or show nothing."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidValue
from ..signals import GRAVITY, stretches
from .flights import SHORTEST, flights, unloaded
from .values import CentroidalData

WINDOW = 1.0
"""[s] over which force and kinematic acceleration are averaged: what a second adds to the body's speed both know."""
LEAST_WINDOWS = 4
SURE = 4.0
"""Standard errors from which a trend is told."""
DRIFT = 0.015
"""Share of the body weight by which the plates' zero must wander over the recording to be told."""
FALLING = 0.5
"""Share of gravity from which a body without load falls; one that does not stands on something unmeasured."""


def doubts(data: CentroidalData) -> tuple[str, ...]:
    """Sentences about signals that can be used, and yet."""
    found = []
    drift = vertical_drift(data)
    if drift is not None:
        seconds = data.times[-1] - data.times[0]
        found.append(
            f"the plates drift: beside what the motion needs their vertical force changes by {drift:+.0f} N over the "
            f"{seconds:.0f} s; set them to zero again, or take the drift off"
        )
    bare = stretches(data.known & unloaded(data))
    used = flights(data, by_motion=False)
    if short := len(bare) - len(used):
        each = "a time" if short == 1 else f"{short} times"
        found.append(f"{each} without load, shorter than {SHORTEST * 1e3:.0f} ms, count as no flight: too short to use")
    return tuple(found)


def vertical_drift(data: CentroidalData) -> float | None:
    """[N] by which the measured vertical force, less what the motion needs, changes from first to last sample; None
    where no trend stands out.
    """
    size = round(WINDOW * data.rate)
    rest = data.force[:, 2] - data.mass * (data.acceleration[:, 2] + GRAVITY)
    loaded = data.known & ~unloaded(data)
    starts = [first for begin, end in stretches(loaded) for first in range(begin, end - size + 1, size)]
    if len(starts) < LEAST_WINDOWS:
        return None
    means = np.array([rest[first : first + size].mean() for first in starts])
    times = np.array([data.times[first : first + size].mean() for first in starts])
    line = np.column_stack([np.ones(len(times)), times - times.mean()])
    fit, *_ = np.linalg.lstsq(line, means, rcond=None)
    scatter = np.sqrt(np.sum((means - line @ fit) ** 2) / (len(means) - 2))
    change = float(fit[1] * (data.times[-1] - data.times[0]))
    error = scatter / np.linalg.norm(line[:, 1]) * (data.times[-1] - data.times[0])
    told = abs(change) > max(SURE * error, DRIFT * data.mass * GRAVITY)
    return change if told else None


def require_load(data: CentroidalData, name: str) -> None:
    """Refuse forces that show nothing of a body that stands: they are of another time, or were never recorded.

    Raises:
        InvalidValue: no measured sample is loaded, and in half of them the kinematic centre of mass does not fall.
    """
    bare = data.known & unloaded(data)
    if not data.known.any() or not np.array_equal(bare, data.known):
        return
    if np.mean(data.acceleration[bare, 2] > -FALLING * GRAVITY) > 0.5:
        raise InvalidValue(
            f"trial {name!r}: the plates show no load in any measured frame, and the body does not fall: its forces "
            "were not recorded, or belong to another trial; leave them out, or name the right file"
        )
