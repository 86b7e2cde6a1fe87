"""A drag of one point of a body, without a window: sends targets to the live check and applies the postures."""

from __future__ import annotations

import math
import time

import bpy
import numpy as np

from ..authoring import timeline
from ..base import bpy_access
from ..live.responses import DraggedPosture, Response
from ..live.session import CheckSession
from ..scene.pose_writer import PoseWriter, read_pose, restore_pose
from .pins import pinned_points

FIRST_SERIAL = 1 << 40
"""Serials of drags do not meet those of checks."""
REACHED = 1e-3
"""[m] Distance below which the header shows no obstacle."""


class PoseDrag:
    """A drag that has started.

    Attributes:
        link: that is dragged.
        point: (3,) [m] its dragged point, link axes.
        start: (3,) [m] the point at the start, world.
        posture: the last posture that was applied; None before the first.
        problem: why the drag cannot go on; empty if it can.
        first_serial: serial of the request that started it.

    Args:
        session: the live check of the body.
        link: to drag.
        point: (3,) [m] of the link.

    Raises:
        InvalidValue: the rig is damaged or scaled.
    """

    def __init__(self, session: CheckSession, link: str, point: np.ndarray) -> None:
        self._session = session
        _, body = session.find_scene_and_rig()
        self.link, self.point = link, np.asarray(point, float)
        self.posture: DraggedPosture | None = None
        self.problem = ""
        self._before, self._writer = read_pose(body), PoseWriter(body)
        shown = timeline.sample_posture(bpy.context, body)
        rotations, origins = timeline.evaluated_links(bpy.context.evaluated_depsgraph_get(), body, shown.rig)
        index = shown.rig.index(link)
        self.start = rotations[index] @ self.point + origins[index]
        self._serial = self.first_serial = self._answered = _next_serial()
        self._is_new, self._refused = False, ""
        session.receiver = self
        pins = [{"link": name, "point": place.tolist()} for name, place in pinned_points(body).items() if name != link]
        session.process.send({"do": "grab", "serial": self._serial, "pins": pins}, shown)

    def move(self, position: np.ndarray, *, balance: bool = True) -> None:
        """Request that the point goes to a position (3,) [m], world; NaN leaves an axis free."""
        self._serial = _next_serial()
        place = [None if math.isnan(value) else float(value) for value in position]
        target = {"link": self.link, "point": self.point.tolist(), "position": place}
        self._session.process.send({"do": "drag", "serial": self._serial, "targets": [target], "balance": balance})

    def add_response(self, response: Response) -> bool:
        """Take a response of this drag; older ones are ignored."""
        if response.serial < FIRST_SERIAL:
            return False
        if response.serial >= self.first_serial:
            if response.posture is not None:
                self.posture, self._is_new, self.problem = response.posture, True, ""
                self._answered = response.serial
            elif response.kind == "error" and (self._refused or response.serial == self.first_serial):
                self._refused = self._refused or response.message  # the posture: what follows is refused for it
                self.problem = self._refused
            elif response.kind == "error":
                self.problem = response.message
        return True

    def apply(self) -> bool:
        """Read the responses and show the newest posture; whether there is a new one."""
        session = self._session
        session.read_responses()
        if not session.process.running:
            self.problem = f"The live check ended: {session.process.failure}"
        posture = self.posture
        if not self._is_new or posture is None:
            return False
        self._is_new = False
        _, body = session.find_scene_and_rig()
        self._writer.show_posture(body, posture.rotations, posture.translations)
        return True

    def settle(self, timeout: float) -> None:
        """Apply postures until the body is where the newest request can bring it, or a time [s] has passed."""
        stop = time.monotonic() + timeout
        while self.is_running and time.monotonic() < stop:
            self.apply()
            if self.is_settled:
                break
            time.sleep(0.002)
        self.apply()

    @property
    def is_running(self) -> bool:
        """Whether the process that moves the body runs, as part of the same live check as at the start."""
        return self._session.receiver is self and self._session.process.running

    @property
    def is_settled(self) -> bool:
        """Whether the body is where the newest request can bring it."""
        if self._serial == self.first_serial or self.problem:
            return True
        return self._answered == self._serial and self.posture is not None and self.posture.converged

    def describe(self) -> str:
        """What keeps the point from its target, as one sentence; empty if nothing does."""
        if self.problem:
            return self.problem
        posture = self.posture
        if posture is None and self._serial != self.first_serial:
            return "waiting for the live check"
        if posture is None or posture.distance <= REACHED or not posture.obstacles:
            return ""
        return f"{100.0 * posture.distance:.1f} cm short: {'; '.join(posture.obstacles)}"

    def end(self) -> None:
        """Keep the posture."""
        if self._session.receiver is self:
            self._session.receiver = None

    def cancel(self) -> None:
        """Restore the posture before the drag."""
        self.end()
        _, body = self._session.find_scene_and_rig()
        restore_pose(body, self._before)
        bpy_access.view_layer(bpy.context).update()


_last_serial = FIRST_SERIAL


def _next_serial() -> int:
    global _last_serial
    _last_serial += 1
    return _last_serial
