"""The live check as a server of requests: the newest of each kind counts, and work is done in small pieces between."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..contacts.schedule import Schedule, anchors_at
from ..dance.authoring.timeline import keyed_of, sampled_configurations, standing_at
from ..errors import SolverError
from ..motion import Motion
from ..rig import Rig
from ..scene.frame import SceneFrame
from ..scene.timeline import TIMELINE, SceneTimeline
from .check import LiveCheck
from .excitation import LiveExcitation
from .frames import scene_frames
from .protocol import Check, Look, Malformed, Request, done_line, error_line, excitation_line, frames_line, pose_line

LARGEST = 32
"""Frames checked without looking for requests: some 10 ms."""
GROWTH = 4
"""The first piece after a change is one frame, so that it is told at once; each further one so many times larger."""
DEFECT = "a defect of the live check, please report it"


class LiveServer:
    """Answers requests.

    Args:
        answer: takes a line.
        rig: that every timeline must show; None: the one that the newest timeline shows.
    """

    def __init__(self, answer: Callable[[str], None], rig: Rig | None = None) -> None:
        self._answer, self._fixed = answer, rig is not None
        self._serial, self._frame = 0, 0
        self._count = 1
        self._broken: dict[int, str] = {}
        self._checking, self._exciting = False, False
        self._check: LiveCheck[SceneFrame] | None = None
        if rig is not None:
            self._prepare(rig)

    def take(self, requests: Sequence[Request]) -> None:
        """Take requests in: of each kind the newest, postures first."""
        newest: dict[str, Check] = {}
        for each in requests:
            if isinstance(each, Malformed):
                self._answer(error_line(each.message, each.serial))
            elif isinstance(each, Look):
                self._look(each.frame)
            elif isinstance(each, Check):
                newest["posture" if each.posture else "timeline"] = each
        for name in ("posture", "timeline"):
            if name in newest:
                self._begin(newest[name])

    def work(self) -> bool:
        """Do one small piece of what is left; False when nothing is."""
        with self._survived(self._serial):
            if self._checking:
                self._next_frames()
            elif self._exciting:
                told = self._excitation.next()
                self._exciting = told is not None
                if told is not None:
                    self._answer(excitation_line(self._serial, *told))
        return self._checking or self._exciting

    def _begin(self, asked: Check) -> None:
        with self._survived(asked.serial):
            if asked.posture:
                self._posture(asked)
            else:
                self._timeline(asked)

    @contextmanager
    def _survived(self, serial: int) -> Iterator[None]:
        """Have one request fail, and be told so, without those that follow."""
        try:
            yield
        except BrokenPipeError:
            raise
        except Exception as error:
            if serial == self._serial:
                self._checking = self._exciting = False
            self._answer(error_line(str(error) if isinstance(error, SolverError) else defect(error), serial))

    def _look(self, frame: int) -> None:
        self._frame, self._count = frame, 1
        if self._check is not None:
            self._check.look(frame)

    def _posture(self, asked: Check) -> None:
        timeline = TIMELINE.read(asked.path)
        check = self._check_of(timeline)
        q = sampled_configurations(timeline, check.rig, 1)[0]
        time = float(timeline.times[0])
        patches = standing_at(timeline, check.rig, time)
        self._answer(pose_line(asked.serial, check.posture(q, patches, timeline.ground, timeline.checks, time)))

    def _timeline(self, asked: Check) -> None:
        self._checking = self._exciting = False  # whatever becomes of this one, older ones say no more
        self._serial, self._count, self._broken = asked.serial, 1, {}
        timeline = TIMELINE.read(asked.path)
        check = self._check_of(timeline)
        motion, schedule = _motion(timeline, check.rig)
        check.look(self._frame)
        check.replace(motion, schedule, timeline.checks)
        self._checking, self._exciting = True, asked.excitation
        self._excitation.replace(motion)

    def _next_frames(self) -> None:
        assert self._check is not None
        chunk = self._check.next(self._count)
        self._count = min(GROWTH * self._count, LARGEST)
        if chunk.frames:
            self._answer(frames_line(self._serial, chunk.frames))
        for message in sorted({said for _, said in chunk.broken}):
            frames = [frame for frame, said in chunk.broken if said == message]
            self._broken |= dict.fromkeys(frames, message)
            self._answer(error_line(message, self._serial, frames))
        if not (chunk.frames or chunk.broken):
            self._checking = False
            self._answer(done_line(self._serial, self._check.found, self._broken, self._check.notes))

    def _check_of(self, timeline: SceneTimeline) -> LiveCheck[SceneFrame]:
        if not self._fixed and (self._check is None or self._check.rig != timeline.rig):
            self._prepare(timeline.rig)
            if self._checking:
                self._answer(error_line("another rig was asked for before all was checked", self._serial))
            self._checking = self._exciting = False
        assert self._check is not None
        return self._check

    def _prepare(self, rig: Rig) -> None:
        check = LiveCheck(rig, lambda checks, options: scene_frames(rig, checks, options))
        self._check, self._excitation = check, LiveExcitation(rig)


def defect(error: Exception) -> str:
    """What to say of an error that no input should cause."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{DEFECT}: {type(error).__name__}: {error}{place}"


def _motion(timeline: SceneTimeline, rig: Rig) -> tuple[Motion, Schedule]:
    """What a timeline shows at its own times; one frame alone is a posture at rest."""
    if len(timeline) == 1:
        q, rest = sampled_configurations(timeline, rig), np.zeros((1, rig.model.nv))
        time = float(timeline.times[0])
        anchors = anchors_at(rig, q[0], standing_at(timeline, rig, time))
        return Motion(timeline.times, q, rest, rest), Schedule.constant(anchors, time, time + 1.0, timeline.ground)
    keyed = keyed_of(timeline, rig)
    return keyed.curve().motion(rig, timeline.times), keyed.schedule
