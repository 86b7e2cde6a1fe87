"""Flight phases as trials of their own, ayusawa (7): while nothing touches the body, Y phi = 0 needs no force plate.

A filter would spread the impact of the landing into the flight. The coordinates of each flight are therefore filtered
by themselves, without the frames before and after it. The equations are not filtered, because a flight of a third of a
second would consist mostly of the filter's ends. They are weighted by the covariance of their noise instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import polynomial

from ..base.errors import InvalidValue
from ..base.progress import Progress
from ..dynamics import difference, integrate, link_motions
from ..dynamics.wrench import com_acceleration
from ..identification.accumulate import accumulate_regression
from ..identification.comparison import compare
from ..identification.flight import null_space
from ..identification.identify import IdentifyOptions, identify_trials
from ..identification.result import Identification
from ..signals import (
    GRAVITY,
    FilterPreset,
    find_flights,
    light_preset,
    preset_of,
    resample,
    settling_time,
    shrink_runs,
    smooth_motion,
    true_runs,
)
from ..signals.trial import Trial
from ..signals.windows import UNLOADED
from ..skeleton.rig import Rig
from ..values.motion import Motion
from ..values.wrenches import Wrenches
from .values import Flights, StudyData, TrialRecord

LIGHT_CUTOFF_FACTOR = 1.5
"""Cut-off for coordinates in flight, as a multiple of the preset's; their equations are not filtered (on simulated
jumpers 2.5 gives the same result)."""
MIN_FRAMES = 5
"""Smallest number of frames of a flight beyond the filter's reach from its ends. Shorter flights of runs (0.1 s), used
all the same, predicted the plates worse than the prior (measured on two subjects)."""
NOISE_CORNER, TRIMMED_TIME = 2.0, 0.02
"""[Hz] corner frequency of the noise by which the equations are weighted, and [s] left out at either end, where a toe
may still touch and coordinates are extrapolated. Chosen on simulated jumpers with stance before and after the flight
and soft-tissue motion: 1 to 2 Hz and 10 to 30 ms give the same result, 3 Hz a worse one."""
NO_CONTACT, IN_CONTACT, FLIGHT_ENDS = "no contact", "in contact", "at the ends of a flight"
EXTRAPOLATION_TIME, EXTRAPOLATION_DEGREE = 0.12, 2
"""[s] at either end of a flight to which polynomials are fitted, and their degree; they extrapolate the flight."""
INTERPOLATED_TRACKED = 0.99
"""An interpolated frame counts as tracked if both of its neighbours were. Derived: between two tracked neighbours the
interpolated mask is 1."""


@dataclass(frozen=True, slots=True)
class TrialFlights:
    """The flight phases of one trial.

    Attributes:
        trial: with zero wrenches in flight and unknown ones elsewhere; None without a flight that can be used.
        flights: (first, last) [s] of the flights used, their ends included.
        short: the same for flights that are too short to be used.
    """

    trial: Trial | None
    flights: tuple[tuple[float, float], ...]
    short: tuple[tuple[float, float], ...]


def find_trial_flights(rig: Rig, record: TrialRecord, preset: FilterPreset, mass: float) -> TrialFlights:
    """The flight phases of a recording whose motion is known, as a trial that needs no forces.

    Args:
        rig: of the motion, with any reasonable prior.
        record: with poses and the motion filtered from them. Forces only exclude frames in which they show a contact.
        preset: filter of the equations.
        mass: [kg] of the body, which scales the force that counts as a contact.

    Raises:
        InvalidValue: a recording without motion.
    """
    poses = record.poses
    if poses is None:
        raise InvalidValue(f"trial {record.name!r} has no motion: its flights cannot be found")
    motion = record.motion or smooth_motion(rig, poses.times, poses.q, preset)
    flying = find_flights(motion.times, com_acceleration(link_motions(rig, motion), rig.prior)[:, 2])
    if record.recording.wrenches is not None:
        least = UNLOADED * GRAVITY * mass
        load = np.abs(resample(record.recording.wrenches, motion.times).total[:, 2])
        flying &= np.nan_to_num(load) < least
    known = np.interp(motion.times, poses.times, poses.known.astype(float)) > INTERPOLATED_TRACKED
    flying &= known
    settled = shrink_runs(
        flying, int(settling_time(light_preset(preset, motion.rate, LIGHT_CUTOFF_FACTOR)) * motion.rate)
    )
    inner = shrink_runs(flying, round(TRIMMED_TIME * motion.rate))
    runs = true_runs(flying)
    used = [(start, stop) for start, stop in runs if settled[start:stop].sum() >= MIN_FRAMES]
    short = [run for run in runs if run not in used]
    spans = [tuple((float(motion.times[a]), float(motion.times[b - 1])) for a, b in kind) for kind in (used, short)]
    for start, stop in short:
        inner[start:stop] = flying[start:stop] = False
    if not used:
        return TrialFlights(None, *spans)
    return TrialFlights(_build_flight_trial(rig, record, preset, motion, (flying, inner)), *spans)


def _build_flight_trial(
    rig: Rig, record: TrialRecord, preset: FilterPreset, motion: Motion, frames: tuple[np.ndarray, np.ndarray]
) -> Trial:
    """A trial from flight frames (N,), and from those of them that are not at the ends."""
    flying, inner = frames
    poses, rate = record.poses, motion.rate
    assert poses is not None
    light = light_preset(preset, rate, LIGHT_CUTOFF_FACTOR)
    reach = round(settling_time(light) * rate)
    even = len(poses.times) == len(motion) and np.allclose(
        poses.times, motion.times, atol=0.5 * INTERPOLATED_TRACKED / rate
    )
    q = _extrapolate_flights(rig, poses.q if even else motion.q, flying, rate, reach)
    times = motion.times[0] + np.arange(-reach, len(motion) + reach) / rate
    kept = replace(smooth_motion(rig, times, q, light).part(reach, reach + len(motion)), times=motion.times)
    zero = Wrenches(motion.times, (NO_CONTACT,), np.where(inner[:, None, None], np.zeros((1, 1, 6)), np.nan))
    left = ((IN_CONTACT, int(np.sum(~flying))), (FLIGHT_ENDS, int(np.sum(flying & ~inner))))
    return Trial(record.name, kept, zero, inner, left, preset, corner=NOISE_CORNER)


def _extrapolate_flights(rig: Rig, q: np.ndarray, in_flight: np.ndarray, rate: float, reach: int) -> np.ndarray:
    """Configurations of flights, extrapolated beyond either end by polynomials; NaN elsewhere.

    The reflection that filters use by default would make the acceleration vanish at the ends.

    Args:
        rig: of the motion.
        q: (N, nq).
        in_flight: (N,) True in flight.
        rate: frames per second.
        reach: frames by which flights are extrapolated.

    Returns:
        (reach + N + reach, nq): a flight may begin or end with the recording.
    """
    known = round(EXTRAPOLATION_TIME * rate)
    result = np.full((len(q) + 2 * reach, q.shape[1]), np.nan)
    result[reach : reach + len(q)][in_flight] = q[in_flight]
    for start, stop in true_runs(in_flight):
        for edge, inwards in ((start, 1), (stop - 1, -1)):
            inside = np.arange(min(known, stop - start))
            steps = difference(rig, q[edge], q[edge + inwards * inside])
            fitted = polynomial.polyfit(inside / known, steps, min(EXTRAPOLATION_DEGREE, len(inside) - 1))
            beyond = np.arange(1, reach + 1)
            at = reach + edge - inwards * beyond
            free = np.isnan(result[at, 0])
            carried = polynomial.polyval(-beyond[free] / known, fitted).T
            result[at[free]] = integrate(rig, q[edge], carried)
    return result


def identify_flights(
    prepared: StudyData, options: IdentifyOptions, progress: Progress
) -> tuple[Identification, Flights]:
    """Identify from flight phases alone; trials with plates are only compared with, never fitted.

    Args:
        prepared: trials with motion, with or without forces; the settings name the filter.
        options: of the identification; the total mass sets the scale.
        progress: receives progress.

    Raises:
        InvalidValue: no flight that can be used.
    """
    rig, mass = prepared.rig, options.total_mass
    assert mass is not None
    moving = [record for record in prepared.records if record.poses is not None]
    preset = preset_of(prepared.settings.filter)
    found = {record.name: find_trial_flights(rig, record, preset, mass) for record in moving}
    trials = [each.trial for each in found.values() if each.trial is not None]
    used = tuple((name, *span) for name, each in found.items() for span in each.flights)
    short = tuple((name, *span) for name, each in found.items() for span in each.short)
    if not trials:
        longest = max((last - first for _, first, last in short), default=0.0)
        seen = (
            f"the longest of {len(short)} lasts {longest:.2f} s" if short else "the centre of mass never falls freely"
        )
        raise InvalidValue(f"no flight is long enough to identify from: {seen}; record jumps of 0.3 s or more")
    result = identify_trials(rig, trials, options, progress=progress)
    contact = [_build_contact_trial(record) for record in prepared.records]
    comparisons = [
        compare(rig, trial, result.parameters, result.prior, base=options.base)
        for trial in contact
        if trial is not None and trial.counted.any()
    ]
    regression = accumulate_regression(rig, trials, options.base, "world").with_weights(result.weights)
    flights = Flights(used, short, null_space(regression, mass))
    return replace(result, comparisons=(*result.comparisons, *comparisons)), flights


def _build_contact_trial(record: TrialRecord) -> Trial | None:
    """A trial's frames on the plates, none of which the identification from flight used."""
    if record.trial is None or record.windows is None:
        return None
    counted = record.trial.counted & ~record.windows.flight
    return replace(record.trial, name=f"{record.name}, on the plates", counted=counted)
