"""What one pass and a converged frame cost beside one step of mink with DAQP, blocks of both taking turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.tracking import Targets, Tracker, TrackingOptions

from ..figures.figure import Bound, Figure, at_most, missing
from . import peers
from .bodies import HUMANS, Body, human
from .motions import SegmentMotion, motion, targets

BLOCK, ROUNDS, QUICK_ROUNDS = 40, 10, 4
DAMPING = 1e-6
CLOCK = time.perf_counter if time.get_clock_info("thread_time").resolution > 1e-6 else time.thread_time


@dataclass(frozen=True, slots=True)
class Times:
    """Of single frames [s], processor."""

    ours: np.ndarray
    peer: np.ndarray

    @property
    def median(self) -> float:
        """Ratio of medians, ours over the peer's."""
        return float(np.median(self.ours) / np.median(self.peer))

    @property
    def tail(self) -> float:
        """Our 99th percentile over the peer's median."""
        return float(np.percentile(self.ours, 99) / np.median(self.peer))


def pass_figures(data: Path, quick: bool) -> list[Figure]:
    """One pass and a converged frame on the run, for 66 and 48 degrees of freedom."""
    rows = _rows(None, None)
    seen = motion(data, "run")
    if seen is None or not peers.available() or not all(path.exists() for path in HUMANS.values()):
        return missing(rows, "needs the recordings, the human models, mink and DAQP")
    measured: dict[tuple[int, bool], Times] = {}
    for freedoms in (66, 48):
        for converged in (False, True):
            options = TrackingOptions() if converged else TrackingOptions.one_pass()
            measured[freedoms, converged] = interleaved(human(freedoms), seen, options, quick)
    return _rows(measured, seen)


def interleaved(body: Body, seen: SegmentMotion, options: TrackingOptions, quick: bool) -> Times:
    """Frames of a motion by our tracker and by mink, in blocks that take turns."""
    wanted = targets(body, seen)
    start = Tracker(body.rig, wanted.tasks).start(wanted.sample(0), 0.01).q
    steps = (_ours(body, wanted, options, start), _peer(body, wanted, start))
    times: tuple[list[float], list[float]] = ([], [])
    frame = 1
    for _ in range(QUICK_ROUNDS if quick else ROUNDS):
        frames = range(frame, min(frame + BLOCK, len(wanted)))
        for step, into in zip(steps, times):
            for k in frames:
                began = CLOCK()
                step(k)
                into.append(CLOCK() - began)
        frame = frames.stop if frames.stop < len(wanted) else 1
    return Times(np.array(times[0]), np.array(times[1]))


def _ours(body: Body, wanted: Targets, options: TrackingOptions, start: np.ndarray) -> Callable[[int], object]:
    tracker = Tracker(body.rig, wanted.tasks, options)
    samples = [wanted.sample(k) for k in range(len(wanted))]
    tracker.start(samples[0], 0.01, start)
    return lambda frame: tracker.step(samples[frame], 0.01)


def _peer(body: Body, wanted: Targets, start: np.ndarray) -> Callable[[int], object]:
    peer = peers.Mink(body, DAMPING, limits=bool(np.isfinite(body.rig.limits.lower).any()))
    peer.start(start)
    assert wanted.positions is not None
    assert wanted.orientations is not None
    roots, rotations = wanted.positions.positions[:, 0], wanted.orientations.rotations
    return lambda frame: peer.step(roots[frame], rotations[frame], 0.01)


def _rows(measured: dict[tuple[int, bool], Times] | None, seen: SegmentMotion | None) -> list[Figure]:
    def value(freedoms: int, converged: bool, tail: bool = False) -> float | None:
        if measured is None:
            return None
        found = measured[freedoms, converged]
        return found.tail if tail else found.median

    def told(freedoms: int, converged: bool) -> str:
        if measured is None:
            return ""
        found = measured[freedoms, converged]
        ours, peer = (1e6 * np.median(times) for times in (found.ours, found.peer))
        return f"median {ours:.0f} us, mink {peer:.0f} us; quartiles of ours " + ", ".join(
            f"{1e6 * q:.0f}" for q in np.percentile(found.ours, [25, 75])
        )

    data = "simulated, on a real run"
    rows: list[tuple[str, int, bool, bool, Bound, Bound | None]] = [
        ("one pass, 66 DoF, 23 turns and base, over mink's step", 66, False, False, at_most(1 / 4), at_most(1 / 7)),
        ("the same, 99th percentile over mink's median", 66, False, True, at_most(1.0), None),
        ("one pass, 48 DoF with limits, over mink's step", 48, False, False, at_most(1 / 3), at_most(1 / 5)),
        ("the same, 99th percentile over mink's median", 48, False, True, at_most(1.0), None),
        ("converged frame, 66 DoF, over mink's single step", 66, True, False, at_most(1.0), at_most(0.5)),
        ("converged frame, 48 DoF with limits, over mink's single step", 48, True, False, at_most(1.0), at_most(0.5)),
    ]  # fmt: skip
    return [
        Figure(what, data, value(freedoms, converged, tail), "", must, aim, told(freedoms, converged))
        for what, freedoms, converged, tail, must, aim in rows
    ]
