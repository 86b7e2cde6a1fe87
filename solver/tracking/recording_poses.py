"""Poses of a recording, block by block: frame after frame, or many frames at once between some tracked ones.

If every frame converges by itself, only some frames are tracked one after the other, near enough to each other that
none is lost; the frames in between are solved together (`BatchSolver`). Frames that do not converge so are tracked
sequentially.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import true_runs
from ..base.file_arrays import iterate_slices, release_pages
from ..base.progress import Progress
from .batch_solver import BatchSolver, interpolate_poses
from .newton import SolverState
from .options import DEAD_BEAT_GAIN
from .tasks import Targets, TargetSample, fade_weights
from .tracker import MIN_POINTS, RESTART_ERROR, Tracker

SEQUENTIAL_RATE = 25.0
"""[1/s] Lowest rate of frames that are tracked sequentially if the others are solved in between. Measured on a
simulated dance of 3 s with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and twice the value
give 13.2 and 13.3 mm."""
FRAMES_PER_BLOCK = 1024
"""Frames of a piece."""
MARGIN_KNOTS = 12
"""Tracked frames beyond a block that shape the curve through it."""
PROGRESS_EVERY = 100
SEQUENTIAL_PROGRESS = 0.8
"""Fraction of the time that the sequential frames take."""
DEFAULT_STEP = 0.01
"""[s] Interval of a recording of one frame."""


@dataclass(frozen=True, slots=True)
class PoseBlock:
    """Consecutive frames n of a recording.

    Attributes:
        frames: indices in the recording.
        q: (n, nq).
        v: (n, nv) velocities of the steps; used only if the targets measure velocities.
        converged: (n,) see `TrackedMotion`.
        slack: (n,) the same.
        restarts: frames in which the fit was lost and found again.
    """

    frames: slice
    q: np.ndarray
    v: np.ndarray
    converged: np.ndarray
    slack: np.ndarray
    restarts: tuple[int, ...] = ()


@dataclass(slots=True)
class TargetSamples:
    """The measurements of a recording by frame, with weights that fade near gaps; a block's weight factors are computed
    together.

    Attributes:
        targets: of N frames.
        fade_time: [s] see `TrackingOptions`.
    """

    targets: Targets
    fade_time: float
    _block: int = -1
    _block_factors: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def weight_factors(self, start: int, stop: int) -> np.ndarray | None:
        """(n, P) of frames start..stop-1, see `fade_weights`; None without points."""
        points, times = self.targets.positions, self.targets.times
        if points is None:
            return None
        near = slice(*np.searchsorted(times, [times[start] - self.fade_time, times[stop - 1] + self.fade_time]))
        near = slice(min(near.start, start), max(near.stop, stop))
        return fade_weights(times[near], points.positions[near], self.fade_time)[start - near.start : stop - near.start]

    def __getitem__(self, frame: int) -> TargetSample:
        if self.targets.positions is None:
            return self.targets.sample(frame)
        if frame // FRAMES_PER_BLOCK != self._block:
            self._block = frame // FRAMES_PER_BLOCK
            start = self._block * FRAMES_PER_BLOCK
            found = self.weight_factors(start, min(start + FRAMES_PER_BLOCK, len(self.targets)))
            assert found is not None
            self._block_factors = found
        return self.targets.sample(frame, self._block_factors[frame % FRAMES_PER_BLOCK])

    def interval(self, frame: int, before: int | None = None) -> float:
        """[s] to a frame from another, by default the one before it."""
        times = self.targets.times
        if len(times) < 2:
            return DEFAULT_STEP
        last = max(frame, 1)
        return float(times[last] - times[last - 1 if before is None else before])


def usable_frames(targets: Targets) -> np.ndarray:
    """(N,) True in the frames that show enough to be tracked, see `Tracker.is_usable`."""
    result = np.zeros(len(targets), int)
    for own in iterate_slices(len(targets), FRAMES_PER_BLOCK):
        if (points := targets.positions) is not None:
            result[own] += np.isfinite(points.positions[own, points.task.weights > 0.0, 0]).sum(axis=1)
        if (rotations := targets.orientations) is not None:
            result[own] += MIN_POINTS * np.isfinite(rotations.rotations[own, :, 0, 0]).sum(axis=1)
    return result >= MIN_POINTS


def track_blocks(
    tracker: Tracker, samples: TargetSamples, usable: np.ndarray, progress: Progress
) -> Iterator[PoseBlock]:
    """All frames of a recording; those before the first usable one (N,) get its pose.

    Args:
        tracker: a new one, for the recording's tasks.
        samples: of the recording.
        usable: which frames can be tracked.
        progress: receives the progress.
    """
    times, every = samples.targets.times, 1
    if _converges_independently(tracker, samples.targets) and len(times) > 1:
        every = max(int((len(times) - 1) / (times[-1] - times[0]) / SEQUENTIAL_RATE), 1)
    if every > 1:
        yield from _track_with_batches(tracker, samples, usable, every, progress)
    else:
        yield from _track_sequentially(tracker, samples, usable, progress)


def _converges_independently(tracker: Tracker, targets: Targets) -> bool:
    """Whether every frame converges to a minimum that `BatchSolver` knows, whatever the frame before it."""
    options = tracker.options
    refines = options.iterations > 0 and options.gain == DEAD_BEAT_GAIN
    has_plain_cost = not options.huber_distance and options.coupled_limits is None and options.time_budget is None
    points_only = targets.orientations is None and not targets.measures_velocities
    return refines and has_plain_cost and points_only and options.integrator == "manifold"


def _track_sequentially(
    tracker: Tracker, samples: TargetSamples, usable: np.ndarray, progress: Progress
) -> Iterator[PoseBlock]:
    first, count = int(np.argmax(usable)), len(usable)
    for start in range(first, count, FRAMES_PER_BLOCK):
        stop = min(start + FRAMES_PER_BLOCK, count)
        path = _PoseRecorder(tracker, stop - start)
        for frame in range(start, stop):
            if frame % PROGRESS_EVERY == 0:
                progress(frame / count, f"tracking frame {frame} of {count}")
            path.record(frame - start, samples[frame], samples.interval(frame))
        if start == first:
            yield from _leading_blocks(path, first)
        yield path.to_block(start)


def _track_with_batches(
    tracker: Tracker, samples: TargetSamples, usable: np.ndarray, every: int, progress: Progress
) -> Iterator[PoseBlock]:
    first, count = int(np.argmax(usable)), len(usable)
    runs = [(max(start, first), stop) for start, stop in true_runs(usable)]
    chosen = ~usable  # the pose is constant there
    chosen[:first], chosen[first::every] = False, True
    chosen[np.array(runs) - [0, 1]] = True
    known = np.flatnonzero(chosen)
    path, before = _PoseRecorder(tracker, len(known)), None
    for place, frame in enumerate(known.tolist()):
        if place % PROGRESS_EVERY == 0:
            progress(SEQUENTIAL_PROGRESS * frame / count, f"tracking frame {frame} of {count}")
            release_pages()
        path.record(place, samples[frame], samples.interval(frame, before))
        before = frame
    yield from _leading_blocks(path, first)
    many, last = BatchSolver(tracker.solver), path.q[0]
    for start in range(first, count, FRAMES_PER_BLOCK):
        progress(
            SEQUENTIAL_PROGRESS + (1.0 - SEQUENTIAL_PROGRESS) * start / count, f"tracking from frame {start} of {count}"
        )
        stop = min(start + FRAMES_PER_BLOCK, count)
        piece, is_chosen = _PoseRecorder(tracker, stop - start), chosen[start:stop]
        piece.copy_from(is_chosen, path, (known >= start) & (known < stop))
        for run_start, run_stop in runs:
            span = slice(max(run_start, start), min(run_stop, stop))
            own = slice(
                *np.searchsorted(
                    known, [max(run_start, start - MARGIN_KNOTS * every), min(run_stop, stop + MARGIN_KNOTS * every)]
                )
            )
            if span.start < span.stop:
                nearby = interpolate_poses(tracker.rig, samples.targets.times, known[own], path.q[own], span)
                gaps = slice(span.start - start, span.stop - start)
                piece.q[gaps] = np.where(is_chosen[gaps, None], piece.q[gaps], nearby)
        free = np.flatnonzero(~is_chosen)
        points, shares = samples.targets.positions, samples.weight_factors(start, stop)
        assert points is not None
        assert shares is not None
        found = many.solve(piece.q[free], points.positions[start:stop][free], shares[free])
        piece.q[free] = found.q
        not_converged = np.zeros(stop - start, bool)
        not_converged[free] = ~found.converged | (found.error > RESTART_ERROR)
        for run_start, run_stop in true_runs(not_converged):
            tracker.solver.state = SolverState.initial(tracker.rig.nv)
            q = piece.q[run_start - 1] if run_start else last
            tracker.start(samples[start + run_start - 1], samples.interval(start + run_start - 1), q)
            for place in range(run_start, run_stop):
                piece.record(place, samples[start + place], samples.interval(start + place))
        last = piece.q[-1]
        yield piece.to_block(start)


def _leading_blocks(path: _PoseRecorder, first: int) -> Iterator[PoseBlock]:
    """Frames before the first usable one, with its pose."""
    for start in range(0, first, FRAMES_PER_BLOCK):
        rest = _PoseRecorder(path.tracker, min(start + FRAMES_PER_BLOCK, first) - start)
        rest.q[:] = path.q[0]
        yield rest.to_block(start)


class _PoseRecorder:
    """Poses that a tracker finds one after the other."""

    def __init__(self, tracker: Tracker, count: int) -> None:
        self.tracker = tracker
        self.q, self.v = np.zeros((count, tracker.rig.nq)), np.zeros((count, tracker.rig.nv))
        self.converged, self.slack = np.ones(count, bool), np.zeros(count)
        self.restarted = np.zeros(count, bool)

    def record(self, place: int, sample: TargetSample, step: float) -> None:
        """Tracks the next sample, ``step`` [s] after the one before."""
        taken = self.tracker.step(sample, step)
        self.q[place], self.v[place] = taken.q, taken.v
        self.converged[place], self.slack[place] = taken.converged, taken.slack
        self.restarted[place] = taken.restarted

    def copy_from(self, places: np.ndarray, other: _PoseRecorder, which: np.ndarray) -> None:
        """Copies frames of another recorder."""
        for name in ("q", "v", "converged", "slack", "restarted"):
            getattr(self, name)[places] = getattr(other, name)[which]

    def to_block(self, start: int) -> PoseBlock:
        """All frames as a block that begins at a frame."""
        frames = slice(start, start + len(self.q))
        restarts = tuple((start + np.flatnonzero(self.restarted)).tolist())
        return PoseBlock(frames, self.q, self.v, self.converged, self.slack, restarts)
