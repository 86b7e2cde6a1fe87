"""The poses of a recording, piece by piece: frame after frame, or many frames at once between some that were followed.

Recorded markers show where the body is before and after every frame. Where each frame is to converge, only some of them
are followed one after the other, near enough to each other that none is lost; the frames between are brought to rest
together (`ManyFrames`). What does not come to rest so is followed after all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..arrays import stretches
from ..progress import Progress
from ..shelf import passing
from ..tracking_methods import DYNAMICAL
from .many_frames import ManyFrames, between
from .memory import Memory
from .options import DEAD_BEAT
from .targets import Targets, faded
from .tasks import TargetSample
from .tracker import FEWEST_POINTS, Tracker

FOLLOWED = 25.0
"""[1/s] Frames that are followed one after the other, at least, where the others are found between them."""
PIECE = 1024
"""Frames of a piece."""
KNOTS = 12
"""Followed frames beyond a piece that shape the curve through it."""
PROGRESS_EVERY = 100
FOLLOWING = 0.8
"""Share of the time that the followed frames take."""
USUAL_STEP = 0.01
"""[s] Of a recording of one frame."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive frames n of a recording.

    Attributes:
        frames: which.
        q: (n, nq).
        v: (n, nv) velocities of the steps; those that count only where the targets measure velocities.
        converged: (n,) see `Tracked`.
        slack: (n,) the same.
        restarts: frames in which the fit had been lost and was found again.
        bounded: how many frames had an active joint limit without being followed.
    """

    frames: slice
    q: np.ndarray
    v: np.ndarray
    converged: np.ndarray
    slack: np.ndarray
    restarts: tuple[int, ...] = ()
    bounded: int = 0


@dataclass(slots=True)
class Samples:
    """The measurements of a recording by frame, points fading near their gaps; a piece's shares are found at once.

    Attributes:
        targets: of N frames.
        fade: [s] see `TrackingOptions`.
    """

    targets: Targets
    fade: float
    _piece: int = -1
    _shares: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def shares(self, start: int, stop: int) -> np.ndarray | None:
        """(n, P) of frames start..stop-1, see `faded`; None without points."""
        points, times = self.targets.positions, self.targets.times
        if points is None:
            return None
        near = slice(*np.searchsorted(times, [times[start] - self.fade, times[stop - 1] + self.fade]))
        near = slice(min(near.start, start), max(near.stop, stop))
        found = faded(times[near], points.positions[near], self.fade)
        return found[start - near.start : stop - near.start]

    def __getitem__(self, frame: int) -> TargetSample:
        if self.targets.positions is None:
            return self.targets.sample(frame)
        if frame // PIECE != self._piece:
            self._piece = frame // PIECE
            start = self._piece * PIECE
            found = self.shares(start, min(start + PIECE, len(self.targets)))
            assert found is not None
            self._shares = found
        return self.targets.sample(frame, self._shares[frame % PIECE])

    def step(self, frame: int, before: int | None = None) -> float:
        """[s] to a frame from another, by default the one before it."""
        times = self.targets.times
        if len(times) < 2:
            return USUAL_STEP
        last = max(frame, 1)
        return float(times[last] - times[last - 1 if before is None else before])


def usable_frames(targets: Targets) -> np.ndarray:
    """(N,) True in the frames that show enough to be tracked, see `Tracker.usable`."""
    result = np.zeros(len(targets), int)
    for own in passing(len(targets), PIECE):
        if (points := targets.positions) is not None:
            result[own] += np.isfinite(points.positions[own, points.task.weights > 0.0, 0]).sum(axis=1)
        if (turns := targets.orientations) is not None:
            result[own] += FEWEST_POINTS * np.isfinite(turns.rotations[own, :, 0, 0]).sum(axis=1)
    return result >= FEWEST_POINTS


def followed(tracker: Tracker, samples: Samples, usable: np.ndarray, progress: Progress) -> Iterator[Piece]:
    """All frames of a recording, those before the first usable one (N,) as that.

    Args:
        tracker: new, of the recording's tasks.
        samples: of the recording.
        usable: which frames can be tracked.
        progress: told about the progress.
    """
    times, every = samples.targets.times, 1
    if _settles(tracker, samples.targets) and len(times) > 1:
        every = max(int((len(times) - 1) / (times[-1] - times[0]) / FOLLOWED), 1)
    if every > 1:
        yield from _between_followed(tracker, samples, usable, every, progress)
    else:
        yield from _one_by_one(tracker, samples, usable, progress)


def _settles(tracker: Tracker, targets: Targets) -> bool:
    """Whether every frame comes to rest at a cost that `ManyFrames` knows, whatever the one before it was."""
    options = tracker.options
    followed_so = options.method == DYNAMICAL and options.iterations > 0 and options.share(USUAL_STEP) == DEAD_BEAT
    plain = not options.huber and options.coupled is None and options.budget is None
    points = targets.orientations is None and not targets.measures_velocities
    return followed_so and plain and points and options.integrator == "manifold"


def _one_by_one(tracker: Tracker, samples: Samples, usable: np.ndarray, progress: Progress) -> Iterator[Piece]:
    first, count = int(np.argmax(usable)), len(usable)
    for start in range(first, count, PIECE):
        stop = min(start + PIECE, count)
        path = _Path(tracker, stop - start)
        for frame in range(start, stop):
            if frame % PROGRESS_EVERY == 0:
                progress(frame / count, f"tracking frame {frame} of {count}")
            path.take(frame - start, samples[frame], samples.step(frame))
        if start == first:
            yield from _resting(path, first)
        yield path.piece(start)


def _between_followed(
    tracker: Tracker, samples: Samples, usable: np.ndarray, every: int, progress: Progress
) -> Iterator[Piece]:
    first, count = int(np.argmax(usable)), len(usable)
    runs = [(max(start, first), stop) for start, stop in stretches(usable)]
    chosen = ~usable  # in which the pose is held
    chosen[:first], chosen[first::every] = False, True
    chosen[np.array(runs) - [0, 1]] = True
    known = np.flatnonzero(chosen)
    path, before = _Path(tracker, len(known)), None
    for place, frame in enumerate(known.tolist()):
        if place % PROGRESS_EVERY == 0:
            progress(FOLLOWING * frame / count, f"tracking frame {frame} of {count}")
        path.take(place, samples[frame], samples.step(frame, before))
        before = frame
    yield from _resting(path, first)
    many, last = ManyFrames(tracker.solver), path.q[0]
    for start in range(first, count, PIECE):
        progress(FOLLOWING + (1.0 - FOLLOWING) * start / count, f"tracking from frame {start} of {count}")
        stop = min(start + PIECE, count)
        piece, there = _Path(tracker, stop - start), chosen[start:stop]
        piece.put(there, path, (known >= start) & (known < stop))
        for begin, end in runs:
            span = slice(max(begin, start), min(end, stop))
            own = slice(*np.searchsorted(known, [max(begin, start - KNOTS * every), min(end, stop + KNOTS * every)]))
            if span.start < span.stop:
                nearby = between(tracker.rig, samples.targets.times, known[own], path.q[own], span)
                gaps = slice(span.start - start, span.stop - start)
                piece.q[gaps] = np.where(there[gaps, None], piece.q[gaps], nearby)
        free = np.flatnonzero(~there)
        points, shares = samples.targets.positions, samples.shares(start, stop)
        assert points is not None
        assert shares is not None
        found = many.settled(piece.q[free], points.positions[start:stop][free], shares[free])
        piece.q[free] = found.q
        lost = np.zeros(stop - start, bool)
        lost[free] = ~found.arrived | (found.error > tracker.options.restart_error)
        for begin, end in stretches(lost):
            tracker.solver.memory = Memory.of(tracker.rig.model.nv)
            q = piece.q[begin - 1] if begin else last
            tracker.start(samples[start + begin - 1], samples.step(start + begin - 1), q)
            for place in range(begin, end):
                piece.take(place, samples[start + place], samples.step(start + place))
        last = piece.q[-1]
        yield piece.piece(start, int(found.bounded.sum()))


def _resting(path: _Path, first: int) -> Iterator[Piece]:
    """The frames before the first that can be tracked, posed as that one."""
    for start in range(0, first, PIECE):
        rest = _Path(path.tracker, min(start + PIECE, first) - start)
        rest.q[:] = path.q[0]
        yield rest.piece(start)


class _Path:
    """Poses that a tracker takes one after the other."""

    def __init__(self, tracker: Tracker, count: int) -> None:
        self.tracker = tracker
        self.q, self.v = np.zeros((count, tracker.rig.model.nq)), np.zeros((count, tracker.rig.model.nv))
        self.converged, self.slack = np.ones(count, bool), np.zeros(count)
        self.restarted = np.zeros(count, bool)

    def take(self, place: int, sample: TargetSample, step: float) -> None:
        """The tracker's next one, ``step`` [s] after the one before."""
        taken = self.tracker.step(sample, step)
        self.q[place], self.v[place] = taken.q, taken.v
        self.converged[place], self.slack[place] = taken.converged, taken.slack
        self.restarted[place] = taken.restarted

    def put(self, places: np.ndarray, other: _Path, which: np.ndarray) -> None:
        """Those of another path."""
        for name in ("q", "v", "converged", "slack", "restarted"):
            getattr(self, name)[places] = getattr(other, name)[which]

    def piece(self, start: int, bounded: int = 0) -> Piece:
        """All of them, the first being that frame."""
        frames = slice(start, start + len(self.q))
        restarts = tuple((start + np.flatnonzero(self.restarted)).tolist())
        return Piece(frames, self.q, self.v, self.converged, self.slack, restarts, bounded)
