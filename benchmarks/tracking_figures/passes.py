"""Time of one pass and of a converged frame over one step of mink with DAQP, in alternating blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np

from solver.tracking import Tracker, TrackingOptions

from ..figures.figure import Bound, Figure, at_most, missing
from ..models import HUMANS, model_file
from . import peers
from .bodies import Body, human
from .motions import SegmentMotion, motion, targets

BLOCK, ROUNDS, QUICK_ROUNDS = 40, 10, 4
DAMPING = 1e-6
CLOCK = time.perf_counter if time.get_clock_info("thread_time").resolution > 1e-6 else time.thread_time
Step = Callable[[], object]


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
    def note(self) -> str:
        """Medians, 99th percentiles, and the quartiles of ours."""
        ours, peer = (1e6 * np.median(times) for times in (self.ours, self.peer))
        quartiles = ", ".join(f"{1e6 * q:.0f}" for q in np.percentile(self.ours, [25, 75]))
        tails = [1e6 * np.percentile(times, 99) for times in (self.ours, self.peer)]
        return (
            f"median {ours:.0f} us, mink {peer:.0f} us; quartiles of ours {quartiles}; "
            f"99th percentiles {tails[0]:.0f}, mink {tails[1]:.0f} us"
        )

    @property
    def tail_over_median(self) -> float:
        """Our 99th percentile over the peer's median."""
        return float(np.percentile(self.ours, 99) / np.median(self.peer))

    @property
    def tail(self) -> float:
        """Our 99th percentile over the peer's."""
        return float(np.percentile(self.ours, 99) / np.percentile(self.peer, 99))


MEDIAN, TAIL, TAIL_OVER_MEDIAN = (attrgetter(name) for name in ("median", "tail", "tail_over_median"))


def pass_figures(data: Path, quick: bool) -> list[Figure]:
    """One pass and a converged frame on the run, for 66 and 48 degrees of freedom."""
    rows = _rows(None)
    seen = motion(data, "run")
    if seen is None or not peers.available() or None in map(model_file, HUMANS.values()):
        return missing(rows, "needs the recordings, the human models, mink and DAQP")
    measured: dict[tuple[int, bool], Times] = {}
    for freedoms in (66, 48):
        for converged in (False, True):
            options = TrackingOptions() if converged else TrackingOptions.one_pass()
            measured[freedoms, converged] = time_both(human(freedoms), seen, options, quick)
    return _rows(measured)


def time_both(body: Body, seen: SegmentMotion, options: TrackingOptions, quick: bool) -> Times:
    """Time the frames of a motion by our tracker and by mink."""
    wanted = targets(body, seen)
    tracker = Tracker(body.rig, wanted.tasks, options)
    samples = [wanted.sample(frame) for frame in range(len(wanted))]
    tracker.start(samples[0], 0.01)
    return alternate([partial(tracker.step, sample, 0.01) for sample in samples[1:]], peer_steps(body, seen), quick)


def peer_steps(body: Body, seen: SegmentMotion) -> list[Step]:
    """Mink's step for every frame of a motion."""
    wanted = targets(body, seen)
    peer = peers.Mink(body, DAMPING, limits=bool(np.isfinite(body.rig.limits.lower).any()))
    peer.start(Tracker(body.rig, wanted.tasks).start(wanted.sample(0), 0.01).q)
    assert wanted.positions is not None
    assert wanted.orientations is not None
    roots, rotations = wanted.positions.positions[:, 0], wanted.orientations.rotations
    return [partial(peer.step, root, turns, 0.01) for root, turns in zip(roots[1:], rotations[1:])]


def alternate(ours: Sequence[Step], theirs: Sequence[Step], quick: bool) -> Times:
    """Run blocks of both alternately, so that a busy machine slows both down."""
    times: tuple[list[float], list[float]] = ([], [])
    for block in range(QUICK_ROUNDS if quick else ROUNDS):
        for steps, into in zip((ours, theirs), times):
            count = len(steps) // BLOCK
            first = BLOCK * (block % count)
            for step in steps[first : first + BLOCK]:
                began = CLOCK()
                step()
                into.append(CLOCK() - began)
    return Times(np.array(times[0]), np.array(times[1]))


def _rows(measured: dict[tuple[int, bool], Times] | None) -> list[Figure]:
    data = "simulated, on a real run"
    rows: list[tuple[str, int, bool, Callable[[Times], float], Bound, Bound | None]] = [
        ("one pass, 66 DoF, 23 turns and base, over mink's step", 66, False, MEDIAN, at_most(1 / 4), at_most(1 / 7)),
        ("the same, 99th percentile over mink's median", 66, False, TAIL_OVER_MEDIAN, at_most(1.0), None),
        ("one pass, 48 DoF with limits, over mink's step", 48, False, MEDIAN, at_most(1 / 3), at_most(1 / 5)),
        ("the same, 99th percentile over mink's", 48, False, TAIL, at_most(1.0), None),
        ("converged frame, 66 DoF, over mink's single step", 66, True, MEDIAN, at_most(1.0), at_most(0.5)),
        ("converged frame, 48 DoF with limits, over mink's single step", 48, True, MEDIAN, at_most(1.0), at_most(0.5)),
    ]  # fmt: skip
    figures = []
    for what, freedoms, converged, read, must, aim in rows:
        times = None if measured is None else measured[freedoms, converged]
        value, note = (None, "") if times is None else (read(times), times.note)
        figures.append(Figure(what, data, value, "", must, aim, note))
    return figures
