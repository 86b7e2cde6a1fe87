"""One live check: what changed of a rig's timeline is sent to a child process, what it says is kept.

What is sent is decided by numbers: a fingerprint of the action and the choices, and the posture against the timeline's.
"""

from __future__ import annotations

import time

import bpy

from .. import redraw
from ..action import times_at
from ..authoring import timeline
from ..checks import KEY
from ..typed import found_again, known_by
from ..values import SceneFrame, SceneTimeline, errors
from .answers import GARBLED
from .child import Child
from .properties import live_settings, options_of
from .readings import Readings
from .watch import fingerprint

QUIET = 0.2
"""[s] without a change before the timeline is sampled."""
PATIENCE = 2.0
"""[s] after which a posture that was not answered is no longer waited for."""
SILENCE = 30.0
"""[s] without an answer to what was asked, after which the panel says so: a slow start takes some ten."""
SILENT = f"The live check has not answered for {SILENCE:.0f} s: wait, or start it again"
STEPS = "Constraints, NLA or drivers move this rig: only the frame shown is checked, as a posture at rest"


class Session:
    """The live check of one rig in one scene.

    Attributes:
        body, scene: how to find them again.
        child: that checks.
        readings: of the timeline; None while there is nothing to check it by.
        pose: the reading of a posture that is shown and not keyed; None where the timeline's frame is shown.
        trouble: what went wrong last; empty without.
        steps: whether sampling the timeline needs frames to be stepped, which is not done unasked.
    """

    def __init__(self, scene: bpy.types.Scene, body: bpy.types.Object, child: Child) -> None:
        self.scene, self.body, self.child = known_by(scene), known_by(body), child
        self.readings: Readings | None = None
        self.pose: SceneFrame | None = None
        self.trouble, self.steps = "", False
        self.touched: float | None = 0.0
        self.moved = False
        self._serial, self._pose_serial, self._sent, self._posed = 0, 0, 0, False
        self._pose_sent: float | None = None
        self._asked: float | None = None
        """[s] since when an answer is due."""
        self._options: dict[str, object] = {}

    def tick(self) -> None:
        """Look once: answers in, changes out."""
        scene, body = self.found()
        options = watched(scene, body)
        if options != self._options:  # set by a script, they are told to nobody
            self._options, self.touched = options, time.monotonic()
        before, was_fresh = self.reading(scene)
        told = self._take()
        now, fresh = self.reading(scene)
        changed = told and (now is not before or fresh is not was_fresh or now is None)
        if not self.child.running:
            ended = f"The live check ended: {self.child.last_words}"
            changed |= self.trouble != ended
            self.trouble = ended
        else:
            try:
                if self.touched is not None and time.monotonic() - self.touched >= QUIET:
                    self.touched = None
                    changed |= self._refresh(scene, body)
                if self.moved and not self._waiting():
                    self.moved = False
                    changed |= self._show(scene, body)
            except errors.SolverError as error:
                self._know_nothing(str(error))
                changed = True
            if self._asked is not None and time.monotonic() - self._asked > SILENCE and not self.trouble:
                self.trouble, changed = SILENT, True
        if changed or told:
            redraw.readings(in_views=changed)

    def found(self) -> tuple[bpy.types.Scene, bpy.types.Object]:
        """The scene and the rig as they are now.

        Raises:
            InvalidValue: one of them was deleted.
        """
        return found_again(bpy.data.scenes, self.scene), found_again(bpy.data.objects, self.body)

    def check_all(self) -> None:
        """Sample the timeline now and send it, stepping through the frames where that is needed."""
        scene, body = self.found()
        self._sent = fingerprint(scene, body, watched(scene, body))
        self.touched, self.moved = None, False
        self._send(scene, body)

    def look(self, scene: bpy.types.Scene) -> None:
        """Note that another frame is shown: it is checked first."""
        self.pose, self._posed = None, False
        if self.steps:
            self.moved = True
        if self.readings is not None:
            index = self.readings.index_at(times_at(scene))
            if index is not None and self.readings.frames[index] is None:
                self.child.send({"do": "look", "frame": index})

    def reading(self, scene: bpy.types.Scene) -> tuple[SceneFrame | None, bool]:
        """What is known of what the scene shows, and whether it is up to date."""
        if self._posed or self.readings is None:
            return self.pose, self._pose_sent is None
        return self.readings.at(times_at(scene))

    def excitation(self, scene: bpy.types.Scene) -> dict[str, float]:
        """What the dance has excited up to the frame shown, by link; empty where that is unknown or not wanted."""
        if self._posed or self.readings is None or not live_settings(scene).show_excitation:
            return {}
        return self.readings.excitation_at(times_at(scene))

    @property
    def posing(self) -> bool:
        """Whether a posture that is not keyed is shown."""
        return self._posed

    def _take(self) -> bool:
        answers = self.child.answers()
        for answer in answers:
            if answer.serial == self._pose_serial:
                self._pose_sent = None
            if answer.kind == "pose":
                if self._posed:
                    self.pose, self.trouble = answer.frames[0], ""
            elif answer.kind == GARBLED:
                self.trouble = answer.message
            elif self.readings is not None and self.readings.take(answer):
                continue
            elif answer.kind == "error" and answer.serial in (-1, self._serial, self._pose_serial):
                self.trouble, self._pose_sent = answer.message, None
        if answers:
            self._asked = time.monotonic() if self._due() else None
            self.trouble = "" if self.trouble == SILENT else self.trouble
        return bool(answers)

    def _due(self) -> bool:
        """Whether something that was asked is not answered to its end."""
        checking = self.readings is not None and not self.readings.done and not self.readings.message
        return checking or self._pose_sent is not None

    def _ask(self, request: dict[str, object], shown: SceneTimeline) -> None:
        """Send what must be answered."""
        if self._asked is None:
            self._asked = time.monotonic()
        self.child.send(request, shown)

    def _know_nothing(self, trouble: str) -> None:
        """The rig cannot be checked as it is: what was known is of another one, and nothing of it is shown."""
        self.trouble, self.readings, self.pose, self._posed, self._sent = trouble, None, None, False, 0
        self._asked = None

    def _waiting(self) -> bool:
        """Whether a posture is being checked: one at a time, and none waits for ever."""
        return self._pose_sent is not None and time.monotonic() - self._pose_sent < PATIENCE

    def _refresh(self, scene: bpy.types.Scene, body: bpy.types.Object) -> bool:
        """Send the timeline if it is another than the one sent."""
        now = fingerprint(scene, body, watched(scene, body))
        if now == self._sent:
            return False
        self._sent, self.steps = now, timeline.steps_needed(body)
        if self.steps:
            self.readings, self.moved = None, True
            return True
        self._send(scene, body)
        return True

    def _send(self, scene: bpy.types.Scene, body: bpy.types.Object) -> None:
        sampled = timeline.sample(scene, body)
        self._serial += 1
        self.trouble = ""
        self.readings = Readings(self._serial, sampled, before=self.readings)
        self._ask({"do": "timeline", "serial": self._serial, **options_of(scene)}, sampled)
        self.pose, self._posed = None, False
        index = self.readings.index_at(times_at(scene))
        if index is not None:
            self.child.send({"do": "look", "frame": index})
        self.moved = True  # the pose shown may still be another

    def _show(self, scene: bpy.types.Scene, body: bpy.types.Object) -> bool:
        """Send the posture that is shown if it is none of the timeline's."""
        shown = timeline.posture(bpy.context, body)
        posed = self.readings is None or self.readings.differs(shown, times_at(scene))
        changed, self._posed = posed or self._posed, posed
        if not posed:
            self.pose, self._pose_sent = None, None
            return changed
        self._serial += 1
        self._pose_serial, self._pose_sent = self._serial, time.monotonic()
        options = {name: value for name, value in options_of(scene).items() if name != "excitation"}
        self._ask({"do": "pose", "serial": self._serial, **options}, shown)
        return changed


def watched(scene: bpy.types.Scene, body: bpy.types.Object) -> dict[str, object]:
    """The choices that change what is said of a timeline."""
    return {**options_of(scene), "checks": body.get(KEY)}
