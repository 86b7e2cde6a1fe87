"""Errors of force plates: what each parameter of a plate adds to its readings, and how it is removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..options.plates import KnownLayout, KnownPlates
from ..values.wrenches import LEAST_LOAD, Wrenches

VERTICAL_MOMENT = 5
"""Index of the vertical moment in a wrench. By definition."""
PARAMETERS = 22
"""Number of parameters of a plate. By definition."""
VERTICAL_GAIN, OFFSET, DRIFT, POSITION, COUPLE, FREE_MOMENT, MOMENT = 8, 9, 12, 15, 17, 18, 19
"""The last entry of the matrix, and the first parameter of each group after it."""
WELL_LOADED = 0.2
"""Fraction of a plate's largest load above which its centres of pressure are reliable: less load gives any place.
Chosen on walks of subject_a and subject_c."""


@dataclass(frozen=True, slots=True)
class PlateErrors(ArrayValue):
    """Errors of the plates in one trial, relative to what they read.

    Attributes:
        plates: (K, 22) of each plate, world axes: the matrix by rows (9), whose entry i j is the false force along i
            per force along j; a constant force (3) [N] while the plate is loaded, and its drift (3) [N/s]; the
            displacement of the centre of pressure along x and y (2) [m]; the false vertical moment per vertical
            force [m]; the false fraction of the free moment, 2 for a wrong sign; a constant moment (3) [N m] while the
            plate is loaded.
        lag: [s] of the plates behind the motion at the start.
        clock: [s/s] by which the lag grows.
        start: [s] in the plates' time, when drift and clock begin.
        has_vertical_moment: False: the vertical moment counts as not measured.
    """

    plates: Annotated[np.ndarray, Array(None, PARAMETERS)] = field(default_factory=lambda: np.zeros((0, PARAMETERS)))
    lag: float = 0.0
    clock: float = 0.0
    start: float = 0.0
    has_vertical_moment: bool = True

    def remove_from(self, wrenches: Wrenches) -> Wrenches:
        """The wrenches without the errors, on the motion's time."""
        times, measured = wrenches.times, np.array(wrenches.measured)
        reaches = {plate: find_reach(wrenches, plate) for plate, errors in enumerate(self.plates) if errors.any()}

        def correct(values: np.ndarray, own: slice) -> np.ndarray:
            part, values = wrenches.part(own.start, own.stop), values.copy()
            for plate, reach in reaches.items():
                used = np.flatnonzero(self.plates[plate])
                values[:, plate] -= error_wrenches(part, plate, used, self.start, reach) @ self.plates[plate, used]
            return values

        measured[:, VERTICAL_MOMENT] &= self.has_vertical_moment
        times = times - self.lag - self.clock * (times - self.start)
        return Wrenches(times, wrenches.frames, wrenches.map(correct) if reaches else wrenches.values, measured)


NO_ERRORS = PlateErrors()


@dataclass(frozen=True, slots=True)
class LikelyErrors(ArrayValue):
    """Most likely errors of the plates of a layout by some trials on them, for other trials on the same plates.

    Attributes:
        plates: names of the K plates.
        sizes: (K, 22) in standard deviations of the errors that a trial's plates may have.
    """

    plates: tuple[str, ...]
    sizes: Annotated[np.ndarray, Array(None, PARAMETERS)]


def find_reach(wrenches: Wrenches, plate: int) -> np.ndarray:
    """Smallest, largest and mean centre of pressure (3, 3) [m] of a plate while it is well loaded; 0 if it never is."""
    own = wrenches.map(lambda values, _: values[:, plate, [2, 4, 3]] * [1.0, -1.0, 1.0])
    load = own[:, 0]
    reliable = own[(load > LEAST_LOAD) & (load > WELL_LOADED * np.nanmax(load, initial=0.0))]
    if not len(reliable):
        return np.zeros((3, 3))
    points = np.column_stack([reliable[:, 1:] / reliable[:, :1], np.zeros(len(reliable))])
    return np.stack([points.min(axis=0), points.max(axis=0), points.mean(axis=0)])


def error_wrenches(
    wrenches: Wrenches, plate: int, parameters: Sequence[int] | np.ndarray, start: float, reach: np.ndarray
) -> np.ndarray:
    """Wrenches (N, 6, k) that k parameters of one plate add to its readings, each of size one, about the world origin.

    A false force acts at the centre of pressure, as in files that state forces beside it, within the plate's ``reach``
    (3, 3) in all samples (`find_reach`).
    """
    force, loaded = wrenches.values[:, plate, :3], wrenches.loaded[:, plate]
    point = np.where(loaded[:, None], np.clip(wrenches.centres_of_pressure()[:, plate], reach[0], reach[1]), reach[2])
    result = np.zeros((len(wrenches), 6, len(parameters)))
    for column, parameter in enumerate(parameters):
        added, moment = np.zeros_like(force), 0.0
        if parameter < OFFSET:
            added[:, parameter // 3] = force[:, parameter % 3]
        elif parameter < DRIFT:
            added[:, parameter - OFFSET] = loaded
        elif parameter < POSITION:
            added[:, parameter - DRIFT] = loaded * (wrenches.times - start)
        elif parameter < COUPLE:
            moment = np.cross(np.eye(3)[parameter - POSITION], force)
        elif parameter == COUPLE:
            result[:, VERTICAL_MOMENT, column] = force[:, 2]
        elif parameter >= MOMENT:
            result[:, 3 + parameter - MOMENT, column] = loaded
        else:
            result[:, VERTICAL_MOMENT, column] = wrenches.free_moments[:, plate]
        result[:, :3, column] = added
        result[:, 3:, column] += moment + np.cross(point, added)
    return result


def count_errors(layouts: Sequence[tuple[str, ...]]) -> int:
    """Number 22 P + 2 of the errors of layouts with P plates in all, and of their time; 0 without plates."""
    return PARAMETERS * sum(map(len, layouts)) + 2 * bool(layouts)


def tolerated_wrenches(
    wrenches: Wrenches,
    frames: np.ndarray,
    tolerance: PlateErrors,
    origins: np.ndarray,
    layouts: Sequence[tuple[str, ...]],
) -> np.ndarray:
    """Wrenches (n, 6, 22 P + 2) that errors of plates and of their time add, one standard deviation each, rounded to
    single precision.

    Args:
        wrenches: N samples of K plates.
        frames: (n,) the samples.
        tolerance: one standard deviation of each error.
        origins: (n, 3) [m] about which the moments are, world.
        layouts: names of the plates of each group of trials, P in all, whose errors come in this order.
    """
    times = wrenches.times[frames]
    some = Wrenches(times, wrenches.frames, wrenches.values[frames])
    result = np.zeros((len(frames), 6, count_errors(layouts)), np.float32)
    first = sum(map(len, layouts[: layouts.index(wrenches.frames)]))
    for plate in range(len(wrenches.frames)):
        at = PARAMETERS * (first + plate)
        unit = error_wrenches(some, plate, range(PARAMETERS), tolerance.start, find_reach(wrenches, plate))
        result[:, :, at : at + PARAMETERS] = unit * tolerance.plates[plate]
    rates = -np.gradient(wrenches.total, wrenches.times, axis=0)[frames][:, :, None]
    lags = np.stack([np.full(len(times), tolerance.lag), tolerance.clock * (times - tolerance.start)], axis=1)
    result[:, :, -2:] = rates * lags[:, None]
    result[:, 3:] -= np.cross(origins[:, :, None], result[:, :3], axis=1)
    return result


def collect_known_plates(trials: Sequence[tuple[tuple[str, ...], PlateErrors]]) -> KnownPlates:
    """Calibrations that further trials on the same plates should use; plates with conflicting ones are left out.

    Args:
        trials: names of the plates of each trial, with their errors.
    """
    found: dict[tuple[str, ...], set[KnownLayout]] = {}
    for names, errors in trials:
        plates = errors.plates.copy()
        plates[:, [*range(OFFSET, POSITION), *range(MOMENT, PARAMETERS)]] = 0.0
        layout = KnownLayout(names, tuple(map(tuple, plates.tolist())), errors.has_vertical_moment)
        found.setdefault(names, set()).add(layout)
    return KnownPlates(tuple(next(iter(alike)) for alike in found.values() if len(alike) == 1))
