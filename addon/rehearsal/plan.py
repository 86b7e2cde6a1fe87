"""Plans every frame of a rehearsal video: time of the dance, ghost of the next move, countdown.

Uses no Blender data. Times of dance and video are in seconds; frames of the video count from zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..base.solver_api import counts_at, errors
from .options import RehearsalOptions

COUNTDOWN_START = 3
"""First number of the countdown."""
COUNT_DURATION, SHORTEST_COUNT = 1.0, 0.4
"""[s] Duration of one number of the countdown, and the shortest one that can be read; short stops count from 2 or 1."""
GHOST_TRAVEL_FRACTION = 0.7
"""Fraction of a stop after which the ghost has finished the next move and waits."""
TIME_TOLERANCE = 1e-6
"""[s] Times that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of the dance.

    Attributes:
        start, stop: [s] times of the dance; equal if it only passes through a posture.
        name: name of the posture.
        difficulty: difficulty of the move to it, in words; empty if unknown.
    """

    start: float
    stop: float
    name: str = ""
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class VideoPart:
    """A part of the video from frame ``start`` to before ``stop``: ``"title"``, ``"slow"`` or ``"real"``.

    The dance itself starts at frame ``play`` and runs in the given tempo.
    """

    kind: str
    tempo: float
    start: int
    play: int
    stop: int


@dataclass(frozen=True, slots=True)
class VideoPlan:
    """A rehearsal video, frame by frame.

    Attributes:
        rate: [1/s] frame rate of the video.
        stops: stops in the interval that is shown; the first and last are its ends.
        times: (F,) [s] time of the dance.
        stop_indices: (F,) index of the current or last stop.
        is_still: (F,) whether the body is at that stop.
        ghosts: (F,) [s] time of the dance that the ghost shows; NaN without a ghost.
        counts: (F,) number of the countdown; 0 for none.
        parts: parts of the video, in order.
        beats: (F,) beat of the phrase, 1 to 8, while the dance runs; 0 for none.
    """

    rate: float
    stops: tuple[Stop, ...]
    times: np.ndarray
    stop_indices: np.ndarray
    is_still: np.ndarray
    ghosts: np.ndarray
    counts: np.ndarray
    parts: tuple[VideoPart, ...]
    beats: np.ndarray

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        """Duration of the video [s]."""
        return len(self.times) / self.rate

    @property
    def move_count(self) -> int:
        """Number of moves between stops."""
        return len(self.stops) - 1

    def part_kinds(self) -> np.ndarray:
        """Kind (F,) of each frame's part."""
        return np.repeat([part.kind for part in self.parts], [part.stop - part.start for part in self.parts])


def plan_video(stops: Sequence[Stop], interval: tuple[float, float], options: RehearsalOptions) -> VideoPlan:
    """Plan a video.

    Args:
        stops: stops of the dance, in any order.
        interval: first and last time [s] of the dance.
        options: how the dance is taught.

    Raises:
        InvalidValue: the interval is outside the dance, or stops overlap.
    """
    first = interval[0] if options.start is None else options.start
    last = interval[1] if options.stop is None else options.stop
    if not interval[0] - TIME_TOLERANCE <= first < last <= interval[1] + TIME_TOLERANCE:
        raise errors.InvalidValue(
            f"the interval {first:g} to {last:g} s is not within the dance, {interval[0]:g} to {interval[1]:g} s"
        )
    stops = _clip_stops(stops, first, last)
    runs = [("slow", options.slow)] * (options.slow > 0.0) + [("real", 1.0)] * options.loops
    title = round(options.title_time * options.rate)
    times, paused = [np.full(title, first)], [np.ones(title, bool)]
    parts = [VideoPart("title", 0.0, 0, 0, title)] * (title > 0)
    for kind, tempo in runs:
        start = sum(map(len, times))
        lead = round(options.lead * options.rate)
        danced, stands = _sample_run(stops, tempo, options.rate, options.pause if kind == "slow" else 0.0)
        rest = round(options.rest * options.rate)
        times += [np.full(lead, first), danced, np.full(rest, last)]
        paused += [np.ones(lead, bool), stands, np.ones(rest, bool)]
        parts.append(VideoPart(kind, tempo, start, start + lead, start + lead + len(danced) + rest))
    moments, stands_still = np.concatenate(times), np.concatenate(paused)
    beats = np.where(stands_still | (options.bpm == 0.0), 0, counts_at(moments - interval[0], options.bpm))
    return _complete_plan(options, stops, moments, stands_still, tuple(parts), beats)


def _clip_stops(stops: Sequence[Stop], first: float, last: float) -> tuple[Stop, ...]:
    """The stops in an interval, in order, with its ends."""
    ordered = sorted(stops, key=lambda stop: (stop.start, stop.stop))
    for before, after in pairwise(ordered):
        if after.start < before.stop - TIME_TOLERANCE:
            raise errors.InvalidValue(f"the stop {after.name!r} at {after.start:g} s overlaps the one before it")
    inside = [
        replace(stop, start=max(stop.start, first), stop=min(stop.stop, last))
        for stop in ordered
        if stop.stop >= first - TIME_TOLERANCE and stop.start <= last + TIME_TOLERANCE
    ]
    if not inside or inside[0].start > first + TIME_TOLERANCE:
        inside.insert(0, Stop(first, first, "start"))
    if inside[-1].stop < last - TIME_TOLERANCE:
        inside.append(Stop(last, last, "end"))
    return tuple(inside)


def _sample_run(stops: tuple[Stop, ...], tempo: float, rate: float, pause: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (F,) [s] of the dance for one run in a tempo, and whether it pauses (F,)."""
    pause_frames = round(pause * rate)
    breaks = [stop.start for stop in stops[1:-1]] if pause_frames else []
    edges = [stops[0].start, *breaks, stops[-1].stop]
    times: list[np.ndarray] = []
    paused: list[np.ndarray] = []
    for number, (begin, end) in enumerate(pairwise(edges)):
        if number:
            times.append(np.full(pause_frames, begin))
            paused.append(np.ones(pause_frames, bool))
        final = number == len(edges) - 2
        steps = (end - begin) / tempo * rate
        count = int(np.floor(steps + TIME_TOLERANCE)) + 1 if final else int(np.ceil(steps - TIME_TOLERANCE))
        times.append(begin + np.arange(count) * (tempo / rate))
        paused.append(np.zeros(count, bool))
    return np.concatenate(times), np.concatenate(paused)


def _complete_plan(
    options: RehearsalOptions,
    stops: tuple[Stop, ...],
    times: np.ndarray,
    paused: np.ndarray,
    parts: tuple[VideoPart, ...],
    beats: np.ndarray,
) -> VideoPlan:
    """Complete a plan from the times of the dance: stops, ghosts, countdowns."""
    starts, ends = np.array([s.start for s in stops]), np.array([s.stop for s in stops])
    at = np.clip(np.searchsorted(starts, times + TIME_TOLERANCE, side="right") - 1, 0, len(stops) - 1)
    still = paused | (times < ends[at] - TIME_TOLERANCE) | (at == len(stops) - 1)
    ghosts, counts = np.full(len(times), np.nan), np.zeros(len(times), int)
    for part in parts:
        still[part.start : part.stop] |= part.kind == "title"
        if part.kind == "title":
            continue
        frame = part.start
        while frame < part.stop:
            place, standing, begin = at[frame], still[frame], frame
            while frame < part.stop and at[frame] == place and still[frame] == standing:
                frame += 1
            if place == len(stops) - 1:
                continue
            long_enough = begin < frame and (frame - begin) / options.rate >= SHORTEST_COUNT - TIME_TOLERANCE
            if standing and long_enough:
                counts[begin:frame] = _countdown(frame - begin, options.rate)
                ghosts[begin:frame] = _ghost_times(options.ghost, frame - begin, ends[place], starts[place + 1])
            elif not standing and not (begin > part.start and bool(np.isfinite(ghosts[begin - 1]))):
                ghosts[begin:frame] = starts[place + 1]  # without a stop the ghost shows the end of the move
    if options.ghost == "none":
        ghosts[:] = np.nan
    return VideoPlan(options.rate, stops, times, at, still, ghosts, counts, parts, beats)


def _countdown(frames: int, rate: float) -> np.ndarray:
    """Numbers (frames,) of a countdown that ends with the last frame; 0 before it starts."""
    seconds = frames / rate
    numbers = min(int(seconds / SHORTEST_COUNT + TIME_TOLERANCE), COUNTDOWN_START)
    beat = min(COUNT_DURATION, seconds / numbers)
    left = np.arange(frames, 0, -1) / rate
    result = np.ceil(left / beat - TIME_TOLERANCE).astype(int)
    return np.where(result <= numbers, result, 0)


def _ghost_times(kind: str, frames: int, leaves: float, arrives: float) -> np.ndarray:
    """Times (frames,) [s] of the dance that the ghost shows during a stop: the next move, then the next posture."""
    if kind == "posture":
        return np.full(frames, arrives)
    share = np.minimum(np.arange(frames) / max(GHOST_TRAVEL_FRACTION * (frames - 1), 1.0), 1.0)
    return np.where(share < 1.0, leaves + (arrives - leaves) * share, arrives)
