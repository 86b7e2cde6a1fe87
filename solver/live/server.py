"""Server of the live check: the newest request of each kind counts, and checks run in small pieces between requests."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InvalidValue, SolverError
from ..contacts.rolling_stances import posture_schedule
from ..contacts.schedule import Schedule
from ..dance.authoring.timeline import dance_from_timeline, patches_on_floor, timeline_configurations
from ..posing.drag import Drag
from ..posing.inbetweens import inbetween_postures
from ..posing.values import DragResult
from ..scene.checked_frame import SceneFrame
from ..scene.motion import joint_movements
from ..scene.timeline import TIMELINE, SceneTimeline
from ..skeleton.rig import Rig
from ..values.motion import Motion
from .check import IncrementalCheck
from .excitation import LiveExcitation
from .protocol import (
    CheckRequest,
    DragRequest,
    EndRequest,
    GrabRequest,
    InbetweensRequest,
    LookRequest,
    MalformedRequest,
    PoseRequest,
    Request,
    WorkRequest,
    done_line,
    error_line,
    excitation_line,
    frames_line,
    pose_line,
    posture_line,
)
from .scene_frames import scene_frames

MAX_PIECE = 32
"""Most frames that are checked between two looks for requests: about 10 ms."""
GROWTH = 4
"""Factor on the size of successive pieces; the first after a change is one frame, so that it is reported at once."""
DEFECT_PREFIX = "a defect of the live check, please report it"


class LiveServer:
    """Processes requests and writes responses.

    Args:
        respond: writes a line.
        rig: of every timeline; None: the rig of the newest timeline.
    """

    def __init__(self, respond: Callable[[str], None], rig: Rig | None = None) -> None:
        self._respond, self._has_fixed_rig = respond, rig is not None
        self._serial, self._frame = 0, 0
        self._count = 1
        self._uncheckable: dict[int, str] = {}
        self._checking, self._exciting = False, False
        self._drag: Drag | None = None
        self._drag_request: DragRequest | None = None
        """Newest targets that are not reached yet."""
        self._check: IncrementalCheck[SceneFrame] | None = None
        self._starts: dict[type, Callable[[Any], None]] = {
            GrabRequest: self._grab, DragRequest: self._aim, InbetweensRequest: self._fill_inbetweens,
            PoseRequest: self._posture, CheckRequest: self._timeline,
        }  # fmt: skip
        if rig is not None:
            self._prepare(rig)

    def accept(self, requests: Sequence[Request]) -> None:
        """Start the newest request of each kind, drags and postures first."""
        newest: dict[type, WorkRequest] = {}
        for each in requests:
            if isinstance(each, MalformedRequest):
                self._respond(error_line(each.message, each.serial))
            elif isinstance(each, LookRequest):
                self._look(each.frame)
            elif not isinstance(each, EndRequest):
                if isinstance(each, GrabRequest):
                    newest.pop(DragRequest, None)  # of the drag before
                newest[type(each)] = each
        for kind, start in self._starts.items():
            if (request := newest.get(kind)) is not None:
                with self._report_errors(request.serial):
                    start(request)

    def work(self) -> bool:
        """Process one small piece of the remaining work, a drag first; False if there is none."""
        if self._drag_request is not None:
            with self._report_errors(self._drag_request.serial):
                self._move()
            return True
        with self._report_errors(self._serial):
            if self._checking:
                self._next_frames()
            elif self._exciting:
                found = self._excitation.evaluate_next()
                self._exciting = found is not None
                if found is not None:
                    self._respond(excitation_line(self._serial, *found))
        return self._checking or self._exciting

    @contextmanager
    def _report_errors(self, serial: int) -> Iterator[None]:
        """Report the failure of one request without affecting those that follow."""
        try:
            yield
        except BrokenPipeError:
            raise
        except Exception as error:
            if serial == self._serial:
                self._checking = self._exciting = False
            self._respond(error_line(str(error) if isinstance(error, SolverError) else describe_defect(error), serial))

    def _look(self, frame: int) -> None:
        self._frame, self._count = frame, 1
        if self._check is not None:
            self._check.set_focus(frame)

    def _aim(self, request: DragRequest) -> None:
        if self._drag is None:
            raise InvalidValue("a drag needs a posture first: send 'grab'")
        self._drag_request = request

    def _posture(self, request: PoseRequest) -> None:
        timeline = TIMELINE.read(request.path)
        check = self._check_for(timeline)
        q = timeline_configurations(timeline, check.rig, 1)[0]
        time = float(timeline.times[0])
        patches = patches_on_floor(timeline, check.rig, time)
        self._respond(
            pose_line(request.serial, check.check_posture(q, patches, timeline.ground, timeline.checks, time))
        )

    def _grab(self, request: GrabRequest) -> None:
        self._drag = self._drag_request = None
        timeline = TIMELINE.read(request.path)
        check = self._check_for(timeline)
        q = timeline_configurations(timeline, check.rig, 1)[0]
        planted = tuple(patches_on_floor(timeline, check.rig, float(timeline.times[0])))
        self._drag = Drag(check.rig, q, planted, request.pins, checks=timeline.checks, ground=timeline.ground)

    def _move(self) -> None:
        """One piece of the drag; the request ends when the body has reached its targets or cannot come nearer."""
        request, self._drag_request = self._drag_request, None
        assert request is not None
        assert self._drag is not None
        found = self._drag.move(request.targets, balance=request.balance)
        self._respond_posture(request.serial, self._drag.rig, found, self._drag.link_poses())
        if not found.converged:
            self._drag_request = request

    def _fill_inbetweens(self, request: InbetweensRequest) -> None:
        """Respond with a posture for each frame between the first and the last."""
        timeline = TIMELINE.read(request.path)
        rig = self._check_for(timeline).rig
        q = timeline_configurations(timeline, rig)
        for found, poses in inbetween_postures(rig, q, request.planted, checks=timeline.checks):
            self._respond_posture(request.serial, rig, found, poses)

    def _respond_posture(self, serial: int, rig: Rig, found: DragResult, poses: tuple[np.ndarray, np.ndarray]) -> None:
        movements = joint_movements(rig, poses[0][None], poses[1][None])
        self._respond(posture_line(serial, (movements[0][0], movements[1][0]), found))

    def _timeline(self, request: CheckRequest) -> None:
        self._checking = self._exciting = False  # older requests end even if this one fails
        self._serial, self._count, self._uncheckable = request.serial, 1, {}
        timeline = TIMELINE.read(request.path)
        check = self._check_for(timeline)
        motion, schedule = _timeline_motion(timeline, check.rig)
        check.set_focus(self._frame)
        check.set_motion(motion, schedule, timeline.checks)
        self._checking, self._exciting = True, request.excitation
        self._excitation.set_motion(motion)

    def _next_frames(self) -> None:
        assert self._check is not None
        chunk = self._check.check_next(self._count)
        self._count = min(GROWTH * self._count, MAX_PIECE)
        if chunk.frames:
            self._respond(frames_line(self._serial, chunk.frames))
        for message in sorted({said for _, said in chunk.uncheckable}):
            frames = [frame for frame, said in chunk.uncheckable if said == message]
            self._uncheckable |= dict.fromkeys(frames, message)
            self._respond(error_line(message, self._serial, frames))
        if not (chunk.frames or chunk.uncheckable):
            self._checking = False
            self._respond(done_line(self._serial, self._check.results, self._uncheckable, self._check.notes))

    def _check_for(self, timeline: SceneTimeline) -> IncrementalCheck[SceneFrame]:
        if not self._has_fixed_rig and (self._check is None or self._check.rig != timeline.rig):
            self._prepare(timeline.rig)
            if self._checking:
                self._respond(error_line("another rig was requested before all frames were checked", self._serial))
            self._checking = self._exciting = False
        assert self._check is not None
        return self._check

    def _prepare(self, rig: Rig) -> None:
        check = IncrementalCheck(rig, lambda checks, options: scene_frames(rig, checks, options))
        self._check, self._excitation = check, LiveExcitation(rig)


def describe_defect(error: Exception) -> str:
    """Description of an error that no input should cause."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{DEFECT_PREFIX}: {type(error).__name__}: {error}{place}"


def _timeline_motion(timeline: SceneTimeline, rig: Rig) -> tuple[Motion, Schedule]:
    """Motion and contacts of a timeline at its own times; a single frame is a posture at rest."""
    if len(timeline) == 1:
        q, rest = timeline_configurations(timeline, rig), np.zeros((1, rig.nv))
        time = float(timeline.times[0])
        schedule = posture_schedule(rig, q[0], patches_on_floor(timeline, rig, time), timeline.ground, time)
        return Motion(timeline.times, q, rest, rest), schedule
    keyed = dance_from_timeline(timeline, rig)
    return keyed.curve().motion(rig, timeline.times), keyed.schedule
