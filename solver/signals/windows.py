"""Counted frames: those in which every contact of the body with the world is measured.

By Newton's law the external force on the whole body is m (a_com - g). The part that the plates miss, averaged over a
time longer than the noise of a landing, is unmeasured support: a box, a chair, ground beside the plates. Flight needs
no special case: nothing is measured and nothing is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from scipy.ndimage import binary_dilation

from ..base.arrays import Array, ArrayValue, Times, true_runs
from ..base.errors import InvalidValue
from ..dynamics.kinematics import motion_pieces, sole_paths
from ..dynamics.wrench import com_acceleration
from ..skeleton.rig import GRAVITY, Rig
from ..values.filter_presets import FilterPreset
from ..values.motion import Motion
from ..values.wrenches import Wrenches
from .filters import settling_time
from .resampling import rate_of_grid
from .window_reasons import COUNTED, TEXTS, Reason

AVERAGING = 0.2
"""[s] Averaging time of the missing force, as reported and as required locally for unmeasured support."""
MISSING_FORCES = ((0.1, 0.30, 0.20), (0.2, 0.15, 0.10), (0.8, 0.10, 0.03))
"""Averaging times [s], and the fractions of the body weight and of the acting force above whose sum a mean missing
force over such a time proves unmeasured support; landings with several body weights have larger errors.

Errors of a kinematic acceleration oscillate, and their integral is a velocity error of a few cm/s at most. So their
mean over a time T decreases with 1/T, while a lasting support remains. A large missing fraction therefore proves a
short support, a small one only a long support: 30 % over a brief step beside the plates, 15 % over 0.2 s, 10 % over
0.8 s (more than a step). The smallest exceeds the effect of wrong segment masses or of a plate offset of 6 %."""
RELEASED_SECONDS, RELEASED = 0.05, (0.10, 0.05)
"""The same of a smaller force: a proven support extends to neighbouring frames that exceed it."""
MAX_EXTENSION = 0.2
"""[s] Largest extension: a sitting person takes about 0.2 s to leave a chair."""
MIN_DURATION = 0.2
"""[s] Least duration of a counted interval between excluded frames."""
UNLOADED = 0.03
"""Vertical force, as a fraction of the body weight, below which there is no contact."""
MIN_SUPPORT_HEIGHT = 0.06
"""[m] Height above their floor contact on the plates from which feet are on a raised support."""
SEAT_DROP, SEAT_SPEED = 0.15, 0.3
"""[m] Drop of the root link below its highest position on the plates from which the body may sit, if the root is slower
than the second [m/s]."""
STANCE_SPEED = 0.3
"""[m/s] Speed below which a foot is in stance."""


@dataclass(frozen=True, slots=True)
class Windows(ArrayValue):
    """Counted frames of a trial, and reasons for excluded ones.

    Attributes:
        times: (N,) [s].
        counted: (N,) True where every contact is measured, including flight.
        reasons: (N,) integer codes of `Reason`.
        missing: (N, 3) [N] averaged missing force (predicted minus measured), world axes.
    """

    times: Annotated[np.ndarray, Times()]
    counted: Annotated[np.ndarray, Array("N", mask=True)]
    reasons: np.ndarray
    missing: Annotated[np.ndarray, Array("N", 3)]

    def require_consistent(self) -> None:
        reasons = np.array(self.reasons, dtype=np.int8)
        if reasons.shape != self.times.shape:
            raise InvalidValue(f"reasons has shape {reasons.shape}, expected {self.times.shape}")
        reasons.setflags(write=False)
        object.__setattr__(self, "reasons", reasons)

    @property
    def flight(self) -> np.ndarray:
        """(N,) True in counted frames without contact."""
        return self.reasons == Reason.FLIGHT

    @property
    def excluded(self) -> tuple[tuple[str, int], ...]:
        """(reason, number of frames) of excluded frames, most frequent first."""
        counts = [(TEXTS[reason], int(np.sum(self.reasons == reason))) for reason in Reason if reason not in COUNTED]
        return tuple(sorted(((text, n) for text, n in counts if n), key=lambda item: -item[1]))

    @property
    def spans(self) -> tuple[tuple[Reason, float, float], ...]:
        """(reason, first time, last time [s]) of every run of one reason, in order, for the timeline."""
        edges = np.flatnonzero(np.diff(self.reasons)) + 1
        bounds = [0, *edges.tolist(), len(self.reasons)]
        return tuple(
            (Reason(int(self.reasons[start])), float(self.times[start]), float(self.times[stop - 1]))
            for start, stop in pairwise(bounds)
        )


@dataclass(frozen=True, slots=True)
class ContactEvidence(ArrayValue):
    """Data of a trial, frame by frame, from which measured contacts are determined.

    Attributes:
        times: (N,) [s], evenly spaced.
        com_acceleration: (N, 3) [m/s^2], world, from the kinematics of any reasonable body model.
        force: (N, 3) [N] total measured force through the same filter as the motion; NaN where missing.
        load: (N,) [N] unfiltered total vertical force, which shows short flights that the filter smooths out; by
            default the filtered one.
        feet: (N, P, 3) [m] points of the feet; without them the kind of an unmeasured support is unknown.
        root: (N, 3) [m] pelvis or trunk, to detect sitting.
        usable: (N,) False where the motion itself is unreliable (long gaps); None: nowhere.
    """

    times: Annotated[np.ndarray, Times()]
    com_acceleration: Annotated[np.ndarray, Array("N", 3)]
    force: Annotated[np.ndarray, Array("N", 3, finite=False)]
    load: Annotated[np.ndarray | None, Array("N", finite=False)] = None
    feet: Annotated[np.ndarray | None, Array("N", None, 3, finite=False)] = None
    root: Annotated[np.ndarray | None, Array("N", 3, finite=False)] = None
    usable: Annotated[np.ndarray | None, Array("N", mask=True)] = None

    @staticmethod
    def of_motion(
        rig: Rig,
        motion: Motion,
        wrenches: Wrenches,
        *,
        load: np.ndarray | None = None,
        usable: np.ndarray | None = None,
    ) -> ContactEvidence:
        """From a tracked motion: the centre of mass by the rig's prior, the feet by the rig's soles.

        Args:
            rig: with a prior and soles.
            motion: N frames, filtered.
            wrenches: N samples at the motion's times, through the same filter.
            load, usable: as the attributes.

        Raises:
            InvalidValue: the numbers of wrenches and frames differ.
        """
        if len(wrenches) != len(motion):
            raise InvalidValue(f"{len(wrenches)} wrench samples for {len(motion)} frames; resample the wrenches first")
        acceleration, origins = np.empty((2, len(motion), 3))
        feet = sole_paths(rig, motion)
        for here, links in motion_pieces(rig, motion):
            acceleration[here], origins[here] = com_acceleration(links, rig.prior), links.position[:, 0].T
        corners_of_all = np.concatenate(feet, axis=1) if feet else None
        return ContactEvidence(motion.times, acceleration, wrenches.total[:, :3], load, corners_of_all, origins, usable)


def find_windows(evidence: ContactEvidence, mass: float, preset: FilterPreset | None = None) -> Windows:
    """Find the frames in which every contact with the world is measured.

    Args:
        evidence: data of the trial.
        mass: [kg], accurate to about 6 %.
        preset: filter of both sides: frames within its settling time of excluded ones and of the trial's ends are
            excluded too. None: no margin.

    Raises:
        InvalidValue: a mass that is not positive.
    """
    times, force = evidence.times, evidence.force
    load = force[:, 2] if evidence.load is None else evidence.load
    count = len(times)
    if not mass > 0.0:
        raise InvalidValue(f"the mass must be positive, got {mass:g} kg")
    rate = rate_of_grid(np.asarray(times))
    weight = mass * GRAVITY
    predicted = mass * (evidence.com_acceleration + np.array([0.0, 0.0, GRAVITY]))
    no_forces = ~np.isfinite(force).all(axis=1)
    no_motion = np.zeros(count, bool) if evidence.usable is None else ~evidence.usable
    judged = ~(no_forces | no_motion)
    known = np.nan_to_num(force)
    gap = np.where(judged[:, None], predicted - known, 0.0)
    scale = np.where(judged, np.maximum(np.linalg.norm(predicted, axis=1), np.linalg.norm(known, axis=1)), 0.0)

    def exceeds(seconds: float, of_weight: float, of_force: float) -> np.ndarray:
        average, share = _average(gap, judged, seconds, rate)
        acting, _ = _average(scale[:, None], judged, seconds, rate)
        # An average shortened by the trial's ends or by gaps has more noise.
        size = np.linalg.norm(average, axis=1) * np.sqrt(share)
        return judged & (size > of_weight * weight + of_force * acting[:, 0])

    local = exceeds(AVERAGING, *RELEASED)
    proven = np.any([exceeds(*proof) for proof in MISSING_FORCES], axis=0) & local
    suspect = exceeds(RELEASED_SECONDS, *RELEASED)
    unmeasured = _widen(proven, round(MAX_EXTENSION * rate), suspect)

    reasons = np.full(count, Reason.MEASURED, np.int8)
    loaded = judged & ~unmeasured & (known[:, 2] > 0.5 * weight)
    heights = None if evidence.feet is None else _Heights.of(evidence.feet, evidence.root, rate, loaded)
    missing, _ = _average(gap, judged, AVERAGING, rate)
    size = np.linalg.norm(missing, axis=1)
    for start, stop in true_runs(unmeasured):
        # The support is classified by the frames with much missing force, without stepping onto it and off.
        heavy = start + np.flatnonzero(size[start:stop] >= np.median(size[start:stop]))
        reasons[start:stop] = _classify(heavy, heights)
    reasons[no_forces] = Reason.NO_FORCES
    reasons[no_motion] = Reason.NO_MOTION

    reach = 0 if preset is None else int(np.ceil(settling_time(preset) * rate))
    bad = reasons != Reason.MEASURED
    reasons[_widen(bad, reach) & ~bad] = Reason.NEAR_UNMEASURED
    for end in (slice(0, reach), slice(count - reach, count)) if reach else ():
        reasons[end] = np.where(reasons[end] == Reason.MEASURED, Reason.TRIAL_END, reasons[end])
    if (reasons != Reason.MEASURED).any():
        for start, stop in true_runs(reasons == Reason.MEASURED):
            if stop - start < MIN_DURATION * rate:
                reasons[start:stop] = Reason.TOO_SHORT
    free = np.nan_to_num(np.abs(load), nan=np.inf) < UNLOADED * weight
    reasons[(reasons == Reason.MEASURED) & free] = Reason.FLIGHT
    return Windows(times, np.isin(reasons, COUNTED), reasons, missing)


def _average(values: np.ndarray, known: np.ndarray, seconds: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Centred moving average (N, C) over the known frames, and their fraction of the window (N,)."""
    half = round(0.5 * seconds * rate)
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(np.where(known[:, None], values, 0.0), axis=0)])
    counts = np.concatenate([[0], np.cumsum(known)])
    low = np.maximum(np.arange(len(values)) - half, 0)
    high = np.minimum(np.arange(len(values)) + half + 1, len(values))
    count = counts[high] - counts[low]
    return (sums[high] - sums[low]) / np.maximum(count, 1)[:, None], count / (2 * half + 1)


def _widen(mask: np.ndarray, steps: int, within: np.ndarray | None = None) -> np.ndarray:
    """Frames of a mask (N,), and those ``within`` another (all by default) connected to them by this many steps."""
    return np.asarray(binary_dilation(mask, iterations=steps, mask=within)) if steps else mask


@dataclass(frozen=True, slots=True)
class _Heights:
    """Heights of feet and root relative to those while the plates carry the body."""

    feet: np.ndarray  # (N, P) [m] above the floor
    speed: np.ndarray  # (N, P) [m/s]
    drop: np.ndarray | None  # (N,) [m] of the root below its highest position on the plates
    root_speed: np.ndarray | None  # (N,) [m/s]

    @staticmethod
    def of(feet: np.ndarray, root: np.ndarray | None, rate: float, loaded: np.ndarray) -> _Heights:
        """Heights of feet (N, P, 3) and root (N, 3) [m]; ``loaded`` (N,): the plates carry the body."""
        heights = feet[:, :, 2]
        # Each point has its own lowest height: markers are at different heights on a foot.
        floor = np.nanquantile(heights[loaded] if loaded.any() else heights, 0.05, axis=0)
        speed = np.empty(heights.shape)
        for point in range(heights.shape[1]):
            speed[:, point] = np.linalg.norm(np.gradient(feet[:, point], 1.0 / rate, axis=0), axis=1)
        if root is None:
            return _Heights(heights - floor, speed, None, None)
        root = np.asarray(root, float)
        top = np.nanmax(root[loaded, 2]) if loaded.any() else np.nanmax(root[:, 2])
        return _Heights(
            heights - floor, speed, top - root[:, 2], np.linalg.norm(np.gradient(root, 1.0 / rate, axis=0), axis=1)
        )


def _classify(frames: np.ndarray, heights: _Heights | None) -> Reason:
    """The unmeasured support that carried the body in these frames (indices)."""
    if heights is None:
        return Reason.OTHER_SUPPORT
    lowest = np.nanmin(heights.feet[frames], axis=1)
    if np.nanmedian(lowest) > MIN_SUPPORT_HEIGHT:
        return Reason.RAISED_SUPPORT
    if heights.drop is not None and heights.root_speed is not None:
        still = heights.root_speed[frames] < SEAT_SPEED
        if np.mean(still & (heights.drop[frames] > SEAT_DROP)) > 0.5:
            return Reason.SEAT
    in_stance = (heights.speed[frames] < STANCE_SPEED) & (heights.feet[frames] < MIN_SUPPORT_HEIGHT)
    return Reason.OFF_PLATES if np.mean(in_stance.any(axis=1)) > 0.5 else Reason.OTHER_SUPPORT
