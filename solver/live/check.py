"""The checks while somebody edits: the frames nearest to the one that is looked at first, and only what changed anew.

A frame is checked again when its posture, speed or acceleration changed, or what stands. An edited sample shifts the
derivatives of the spline through all samples, by less than half as much from one sample to the next; so the states
themselves are compared, and some twenty frames about an edit are checked again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ..contacts.schedule import SAME_TIME, Phase, Schedule, anchors_at, flat_on_ground
from ..errors import SolverError
from ..feasibility import CheckOptions, Checks, FrameChecker
from ..motion import Motion
from ..rig import Rig

T = TypeVar("T")

SAME_STATE = {"q": 1e-9, "v": 1e-7, "a": 1e-5}
"""[rad, m], [rad/s, m/s], [rad/s^2, m/s^2] Smaller changes move no margin by a tenth of its tolerance."""
SAME_PLACE = 1e-9
"""[m] and largest entry of a rotation: a foot that moved less stands where it stood."""
REPEATED_FRAMES = 4
"""Frames known already that may be told with each one that is checked: a long answer takes time to write as well."""
MAX_CHECKERS = 2
"""Prepared checkers that are kept, one for each set of options."""


@dataclass(frozen=True, slots=True)
class Chunk(Generic[T]):
    """Some frames of the motion.

    Attributes:
        frames: index and what was read of its check, nearest to the frame looked at first.
        uncheckable: index and message of frames that cannot be checked.
    """

    frames: tuple[tuple[int, T], ...]
    uncheckable: tuple[tuple[int, str], ...] = ()


class LiveCheck(Generic[T]):
    """Checks one rig's motion in small pieces, and keeps what still holds when another motion replaces it.

    Args:
        rig: that dances.
        read: what to keep of checked frames, one value a frame.
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
        """What is known of each frame; None where it is not checked yet, or cannot be."""
        return tuple(self._results)

    def set_motion(self, motion: Motion, schedule: Schedule, options: CheckOptions | None = None) -> int:
        """Check another motion from now on; how many of its frames are known already.

        Raises:
            InvalidValue: a rig without contact patches. Nothing is left to check then.
        """
        options = CheckOptions() if options is None else options
        self.stop()
        self._checker(options, schedule).with_schedule(schedule)
        before = self._unchanged_frames(motion, schedule) if options == self._options else np.full(len(motion), -1)
        found = [None if k < 0 else self._results[k] for k in before.tolist()]
        old = self._motion
        if old is not None and (before >= 0).any():  # what was checked, or small changes would add up unseen
            same = (before >= 0)[:, None]
            q, v, a = (np.where(same, getattr(old, name)[before], getattr(motion, name)) for name in SAME_STATE)
            motion = Motion(motion.times, q, v, a)
        self._motion, self._schedule, self._options, self._results = motion, schedule, options, found
        self._pending = self._nearest_last(np.arange(len(motion)))
        return int((before >= 0).sum())

    def stop(self) -> None:
        """Check nothing more until another motion comes; what is known stays."""
        self._pending = []

    def set_focus(self, frame: int) -> None:
        """Take the frames that are left in the order of their distance to this one."""
        self._focus = int(frame)
        self._pending = self._nearest_last(np.array(self._pending, int))

    def check_next(self, count: int) -> Chunk[T]:
        """Check at least one and at most ``count`` frames more, fewer at the end; empty when all are told."""
        frames: list[int] = []
        new: list[int] = []
        while self._pending and len(new) < count and len(frames) < (1 + REPEATED_FRAMES) * count:
            frame = self._pending.pop()
            frames.append(frame)
            if self._results[frame] is None:
                new.append(frame)
        broken = self._check(sorted(new))
        told = [(frame, self._results[frame]) for frame in frames]
        return Chunk(tuple((frame, value) for frame, value in told if value is not None), tuple(broken))

    def check_posture(
        self,
        q: np.ndarray,
        patches: Sequence[str],
        ground: float,
        options: CheckOptions | None = None,
        time: float = 0.0,
    ) -> T:
        """A posture held at rest, standing on patches where it has them, flat on the ground.

        Args:
            q: (nq,).
            patches: names of those that stand.
            ground: [m] height of the floor.
            options: of the checks.
            time: [s] that the result tells.

        Raises:
            InvalidValue: a rig without contact patches, or a patch it does not have.
        """
        options = CheckOptions() if options is None else options
        anchors = [flat_on_ground(self.rig, anchor, ground) for anchor in anchors_at(self.rig, q, patches)]
        schedule = Schedule.constant(anchors, time, time + 1.0, ground)
        # a checker of its own schedule on the same workspaces: the motion's stays prepared
        checker = copy.copy(self._checker(options, schedule)).with_schedule(schedule)
        rest = np.zeros(self.rig.model.nv)
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
        except SolverError as error:  # the frames of other phases can still be told
            if len(frames) == 1:
                return [(frames[0], str(error))]
            return [broken for frame in frames for broken in self._check([frame])]
        for frame, value in zip(frames, self._read(checks, self._options)):
            self._results[frame] = value
        return []

    def _unchanged_frames(self, motion: Motion, schedule: Schedule) -> np.ndarray:
        """Index (N,) of the frame before that says the same as each of a new motion; -1 where none does."""
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
            if not _same_contacts(footing.phases[pair[0]], schedule.phases[pair[1]]):
                same &= (phases != pair).any(axis=1)
        return np.where(same, index, -1)


def same_state(name: str, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(N,) True where ``"q"``, ``"v"`` or ``"a"`` (N, n) of two motions differ too little to matter."""
    return np.abs(one - other).max(axis=1, initial=0.0) <= SAME_STATE[name]


def _same_contacts(one: Phase, other: Phase) -> bool:
    if set(one.loaded) != set(other.loaded):
        return False
    known = {anchor.patch: anchor for anchor in one.anchors}
    return all(
        np.abs(anchor.position - known[anchor.patch].position).max() <= SAME_PLACE
        and np.abs(anchor.rotation - known[anchor.patch].rotation).max() <= SAME_PLACE
        for anchor in other.anchors
    )


__all__ = ["Chunk", "LiveCheck", "same_state"]
