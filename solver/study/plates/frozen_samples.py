"""Finds frozen and lost samples: forces or markers that repeat while the other side changes, and force dropouts.

Plates under a person and markers always have noise. Samples that repeat exactly were filled in by a program.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.ndimage import binary_opening

from ...base.arrays import true_runs
from ...base.file_arrays import iterate_slices
from ...options.plates import FROZEN
from ...skeleton.rig import GRAVITY
from ...values.motion import Markers
from ...values.wrenches import LEAST_LOAD, Wrenches
from .finding import UNKNOWN_INTERVAL, Action, Finding

MIN_DURATION = 0.1
"""[s] Shortest interval of repeated samples that counts as frozen: rounding repeats only one or two samples."""
SAME_POSITION = 1e-9
"""[m] A marker that moves less than this has not moved at all."""
SAME_FORCE = 1e-6
"""Fraction of the weight by which a force must change to count as different."""
SAME_POINT = 1e-6
"""[m] Motion of a centre of pressure between samples below which it is constant: a foot's moves by more. Chosen on 17
trials of six people."""
MIN_FORCE_CHANGE = 0.02
"""Fraction of the weight by which one side must change while the other is frozen."""
UNLOADED_FRACTION, LOADED_FRACTION = 0.02, 0.2
"""Fractions of the weight: below the first a plate is unloaded; above the second a foot cannot leave or reach it
between two samples."""
UNLOADED_OFFSET, LEAST_OFFSET = 0.06, 5.0
"""Fraction of the weight below which a plate may be unloaded in spite of its offset; [N] largest offset that does not
matter, and the largest noise of an unloaded plate. Chosen on three walks over plates that were not zeroed (foreign)
and six people's trials."""
MOST_IDLE = 10_000
"""Samples of an unloaded plate whose median is its offset. Chosen on six people's trials, of which none has more."""
MAX_SHOWN = 3
"""Largest number of intervals that a finding lists."""
MAX_DROPOUT = 0.2
"""[s] Longest dropout: a plate that reads nothing for longer may really be unloaded."""


def find_repeated_forces(wrenches: Wrenches, mass: float) -> np.ndarray:
    """(K,) True in samples under load that repeat the previous one, for at least the shortest frozen interval."""
    still = _find_still(wrenches.values, lambda values: values[:, :, :3], SAME_FORCE * mass * GRAVITY)
    return _keep_long(still & wrenches.loaded.any(axis=1), wrenches.rate)


def find_dropouts(wrenches: Wrenches, mass: float) -> np.ndarray:
    """(K, P) True in samples of a plate that reads nothing between two samples under load: no foot moves so fast.

    Both edges must be steep: a landing also rises within a sample, but the load before it falls slowly.
    """
    found = np.zeros((len(wrenches), len(wrenches.frames)), bool)
    for plate in range(len(wrenches.frames)):
        forces = wrenches.map(lambda values, _: np.linalg.norm(values[:, plate, :3], axis=1))  # noqa: B023
        share = forces / (mass * GRAVITY)
        for start, stop in true_runs(share < UNLOADED_FRACTION):
            inside = start > 0 and stop < len(share) and stop - start <= MAX_DROPOUT * wrenches.rate
            if inside and min(share[start - 1], share[stop]) > LOADED_FRACTION:
                found[start:stop, plate] = True
    return found


def find_unloaded_offsets(wrenches: Wrenches, mass: float) -> np.ndarray:
    """(P, 6) Median wrench of each plate while nothing touches it, about the world origin; zero if it is small, was cut
    to zero, or is unknown because the plate is never unloaded."""
    result = np.zeros((len(wrenches.frames), 6))
    for plate in range(len(wrenches.frames)):
        share = np.abs(wrenches.map(lambda values, _: values[:, plate, 2])) / (mass * GRAVITY)  # noqa: B023
        empty = np.flatnonzero(_keep_long(share < UNLOADED_OFFSET, wrenches.rate))
        if not len(empty) or not np.any(share > LOADED_FRACTION):
            continue
        some = np.zeros(len(wrenches), bool)
        some[empty[:: max(1, len(empty) // MOST_IDLE)]] = True
        idle = wrenches.map(lambda values, own: values[some[own], plate])  # noqa: B023
        median = np.median(idle, axis=0)
        if np.linalg.norm(median[:3]) > LEAST_OFFSET > np.median(np.abs(idle[:, :3] - median[:3]), axis=0).max():
            result[plate] = median
    return result


def find_saturated_samples(wrenches: Wrenches) -> np.ndarray:
    """(K, P) True in samples of a plate at its largest vertical force, if it stays there: its range has ended."""
    peaks = [np.nanmax(wrenches.values[own, :, 2], axis=0, initial=LEAST_LOAD) for own in iterate_slices(len(wrenches))]
    least = np.max(peaks, axis=0) * (1.0 - SAME_FORCE)
    largest = wrenches.map(lambda values, _: values[:, :, 2] >= least) > 0.0
    return largest & np.array([_keep_long(own, wrenches.rate).any() for own in largest.T], bool)


def find_constant_points(wrenches: Wrenches, mass: float) -> np.ndarray:
    """(P,) True for loaded plates whose centre of pressure does not move while their force changes."""
    found = np.zeros(len(wrenches.frames), bool)
    if not np.asarray(wrenches.measured)[:, 3:5].all():
        return found
    for plate in range(len(wrenches.frames)):
        forces = wrenches.map(lambda values, _: values[:, plate, 2:5])  # noqa: B023
        vertical, about_x, about_y = forces[forces[:, 0] > LOADED_FRACTION * mass * GRAVITY].T
        if len(vertical) <= MIN_DURATION * wrenches.rate:
            continue
        steps = np.abs(np.diff([-about_y / vertical, about_x / vertical])).max(axis=0)
        change = np.ptp(vertical)
        found[plate] = np.median(steps) < SAME_POINT and change > MIN_FORCE_CHANGE * mass * GRAVITY
    return found


def find_repeated_markers(markers: Markers) -> np.ndarray:
    """(N,) True in frames in which no visible marker moves, for at least the shortest frozen interval."""
    return _keep_long(_find_still(markers.positions, lambda positions: positions, SAME_POSITION), markers.rate)


def find_frozen_samples(
    still: np.ndarray, times: np.ndarray, other: np.ndarray, other_times: np.ndarray, mass: float
) -> np.ndarray:
    """(K,) True in samples at these times that repeat while the other side's force (M, 3) [N] changes."""
    found = np.zeros(len(still), bool)
    for start, stop in true_runs(still):
        inside = (other_times >= times[start]) & (other_times <= times[stop - 1])
        force = other[inside]
        force = force[np.isfinite(force).all(axis=1)]
        found[start:stop] = len(force) > 1 and np.ptp(force, axis=0).max() > MIN_FORCE_CHANGE * mass * GRAVITY
    return found


def report_samples(trial: str, times: np.ndarray, lost: np.ndarray, text: str, done: Action) -> Finding:
    """The finding of samples (K,) that are lost for a reason in words."""
    step = float(np.median(np.diff(times)))
    spans = [(float(times[start]), float(times[stop - 1]) + step) for start, stop in true_runs(lost)]
    seconds = sum(stop - start for start, stop in spans)
    listed = ", ".join(f"{start:.3f} to {stop:.3f} s" for start, stop in spans[:MAX_SHOWN])
    text = f"{text}, for {seconds:.2f} s in all ({listed}{' ...' * (len(spans) > MAX_SHOWN)})"
    return Finding(FROZEN, (trial,), seconds, UNKNOWN_INTERVAL, "s", done, text)


def _find_still(values: np.ndarray, part: Callable[[np.ndarray], np.ndarray], least: float) -> np.ndarray:
    """(N,) True in samples in which no known entry of a part (n, K, C) of the values changes by ``least`` or more."""
    still = np.zeros(len(values), bool)
    for own in iterate_slices(len(values) - 1):
        step = np.abs(np.diff(part(values[own.start : own.stop + 1]), axis=0))
        known = np.isfinite(step).any(axis=(1, 2))
        still[own.start + 1 : own.stop + 1] = known & (np.nan_to_num(step).max(axis=(1, 2)) < least)
    return still


def _keep_long(still: np.ndarray, rate: float) -> np.ndarray:
    """Samples (N,) in runs of at least the shortest frozen interval, and the one before each."""
    long = binary_opening(still, np.ones(max(int(np.ceil(MIN_DURATION * rate)), 1)))
    return np.asarray(long | np.append(long[1:], False))
