"""Incremental checks of a motion that is edited: frames nearest to the current frame first, and changed frames only.

A frame is checked again when its posture, velocity, acceleration or contacts changed. An edited sample shifts the
derivatives of the spline through all samples, by less than half as much from one sample to the next. The states
themselves are therefore compared, and some twenty frames about an edit are checked again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ..base.errors import SolverError
from ..contacts.rolling_stances import posture_schedule
from ..contacts.schedule import SAME_TIME, Schedule
from ..feasibility import CheckOptions, Checks, FrameChecker
from ..skeleton.rig import Rig
from ..values.motion import Motion

T = TypeVar("T")

SAME_STATE = {"q": 1e-9, "v": 1e-7, "a": 1e-5}
"""[rad, m], [rad/s, m/s], [rad/s^2, m/s^2] Smaller changes move no margin by a tenth of its tolerance."""
SAME_PLACE = 1e-9
"""[m] and largest difference of a rotation matrix: a foot that moved less has not moved."""
REPEATED_FRAMES = 4
"""Most frames with known results that are reported per checked frame, because writing a long response takes time."""
MAX_CHECKERS = 2
"""Most prepared checkers that are stored, one for each set of options."""


@dataclass(frozen=True, slots=True)
class Chunk(Generic[T]):
    """Some frames of the motion.

    Attributes:
        frames: index and result, nearest to the current frame first.
        uncheckable: index and message of frames that cannot be checked.
    """

    frames: tuple[tuple[int, T], ...]
    uncheckable: tuple[tuple[int, str], ...] = ()


class IncrementalCheck(Generic[T]):
    """Checks the motion of one rig in small pieces, and reuses unchanged results when the motion is replaced.

    Args:
        rig: that dances.
        read: result of checked frames, one value a frame.
    """

    def __init__(self, rig: Rig, read: Callable[[Checks, CheckOptions], Sequence[T]]) -> None:
        self.rig, self._read = rig, read
        self._checkers: dict[CheckOptions, FrameChecker] = {}
        self._options = CheckOptions()
        self._motion: Motion | None = None
        self._schedule: Schedule | None = None
        self._results: list[T | None] = []
        self._pending: list[int] = []
        self._focus = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot be checked on this rig, and why."""
        return self._checkers[self._options].notes if self._options in self._checkers else ()

    @property
    def results(self) -> tuple[T | None, ...]:
        """Result of each frame; None if it is not checked yet, or cannot be checked."""
        return tuple(self._results)

    def set_motion(self, motion: Motion, schedule: Schedule, options: CheckOptions | None = None) -> int:
        """Replace the motion; returns the number of its frames whose results are known already.

        Raises:
            InvalidValue: a rig without contact patches; then no frame remains to check.
        """
        options = CheckOptions() if options is None else options
        self.stop()
        self._checker(options, schedule).with_schedule(schedule)
        before = self._unchanged_frames(motion, schedule) if options == self._options else np.full(len(motion), -1)
        found = [None if k < 0 else self._results[k] for k in before.tolist()]
        old = self._motion
        if old is not None and (before >= 0).any():  # checked states: small changes must not accumulate
            same = (before >= 0)[:, None]
            q, v, a = (np.where(same, getattr(old, name)[before], getattr(motion, name)) for name in SAME_STATE)
            motion = Motion(motion.times, q, v, a)
        self._motion, self._schedule, self._options, self._results = motion, schedule, options, found
        self._pending = self._nearest_last(np.arange(len(motion)))
        return int((before >= 0).sum())

    def stop(self) -> None:
        """Check no further frame until the next motion; known results are kept."""
        self._pending = []

    def set_focus(self, frame: int) -> None:
        """Order the remaining frames by their distance from this one."""
        self._focus = int(frame)
        self._pending = self._nearest_last(np.array(self._pending, int))

    def check_next(self, count: int) -> Chunk[T]:
        """Check one to ``count`` further frames, fewer at the end; empty when all are reported."""
        frames: list[int] = []
        new: list[int] = []
        while self._pending and len(new) < count and len(frames) < (1 + REPEATED_FRAMES) * count:
            frame = self._pending.pop()
            frames.append(frame)
            if self._results[frame] is None:
                new.append(frame)
        broken = self._check(sorted(new))
        results = [(frame, self._results[frame]) for frame in frames]
        return Chunk(tuple((frame, value) for frame, value in results if value is not None), tuple(broken))

    def check_posture(
        self,
        q: np.ndarray,
        patches: Mapping[str, str],
        ground: float,
        options: CheckOptions | None = None,
        time: float = 0.0,
    ) -> T:
        """Check a posture at rest, with given patches on the floor where the posture has them.

        Args:
            q: (nq,).
            patches: part of each patch that touches the floor.
            ground: [m] height of the floor.
            options: of the checks.
            time: [s] of the result.

        Raises:
            InvalidValue: a rig without contact patches, or a patch that it does not have.
        """
        options = CheckOptions() if options is None else options
        schedule = posture_schedule(self.rig, q, patches, ground, time)
        # a copy with its own schedule on the same workspaces, so that the motion's checker stays prepared
        checker = copy.copy(self._checker(options, schedule)).with_schedule(schedule)
        rest = np.zeros(self.rig.nv)
        return self._read(checker.check(q, rest, rest, time), options)[0]

    def _checker(self, options: CheckOptions, schedule: Schedule) -> FrameChecker:
        if options not in self._checkers:
            while len(self._checkers) >= MAX_CHECKERS:
                self._checkers.pop(next(each for each in self._checkers if each != self._options))
            self._checkers[options] = FrameChecker(self.rig, schedule, options)
        return self._checkers[options]

    def _nearest_last(self, frames: np.ndarray) -> list[int]:
        return frames[np.argsort(-np.abs(frames - self._focus), kind="stable")].tolist()

    def _check(self, frames: list[int]) -> list[tuple[int, str]]:
        if not frames:
            return []
        motion = self._motion
        assert motion is not None
        part = motion.frames(frames)
        try:
            checks = self._checkers[self._options].check_frames(part)
        except SolverError as error:  # frames of other phases can still be checked
            if len(frames) == 1:
                return [(frames[0], str(error))]
            return [broken for frame in frames for broken in self._check([frame])]
        for frame, value in zip(frames, self._read(checks, self._options)):
            self._results[frame] = value
        return []

    def _unchanged_frames(self, motion: Motion, schedule: Schedule) -> np.ndarray:
        """Index (N,) of the previous motion's frame with the same result as each new frame; -1 if there is none."""
        old, footing = self._motion, self._schedule
        if old is None or footing is None or footing.ground != schedule.ground or not len(old):
            return np.full(len(motion), -1)
        index = np.searchsorted(old.times, motion.times - SAME_TIME).clip(max=len(old) - 1)
        same = np.abs(old.times[index] - motion.times) <= SAME_TIME
        same &= np.array([found is not None for found in self._results])[index]
        for name in SAME_STATE:
            same &= same_state(name, getattr(old, name)[index], getattr(motion, name))
        phases = np.stack([footing.index_at(old.times)[index], schedule.index_at(motion.times)], axis=1)
        for pair in np.unique(phases[same], axis=0):
            if not footing.phases[pair[0]].has_same_contacts(schedule.phases[pair[1]]):
                same &= (phases != pair).any(axis=1)
        return np.where(same, index, -1)


def same_state(name: str, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(N,) True where ``"q"``, ``"v"`` or ``"a"`` (N, n) of two motions differ negligibly."""
    return np.abs(one - other).max(axis=1, initial=0.0) <= SAME_STATE[name]
