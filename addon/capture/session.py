"""One capture: a child process follows a stream; what it says moves the rig and is kept for the panel."""

from __future__ import annotations

import json
import time
from collections import deque
from pathlib import Path
from typing import Any

import bpy

from .. import redraw
from ..action import motion_action
from ..children import Talking
from ..convert import motion_moved
from ..interpreter import Interpreter
from ..jobs import new_folder
from ..study import OF_KEY, TRIAL_KEY, show_trial
from ..typed import found_again, known_by
from ..values import MOTION, ScenePose, discard, study_folder
from .answers import LONGEST, Answer, answer
from .posing import Poser, bones_as_they_are, put_back

WORDS = 4
"""Of what was told, the newest that the panel shows."""
SMOOTHED = 0.1
"""Weight of the newest latency in the mean that is shown."""


class CaptureChild(Talking[Answer, dict]):
    """``python -m solver capture --serve``."""

    def __init__(self, interpreter: Interpreter, arguments: tuple[str, ...]) -> None:
        self._requests: deque[dict] = deque()
        super().__init__(interpreter, arguments, answer, LONGEST)

    def send(self, **request: object) -> None:
        """Send a request, at once as far as the caller is concerned."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify()

    def waiting(self) -> bool:
        return bool(self._requests)

    def next_request(self) -> dict:
        return self._requests.popleft()

    def line_of(self, request: dict) -> bytes | None:
        return json.dumps(request).encode()


class CaptureSession:
    """Live motion of one rig in one scene.

    Attributes:
        body, scene: how to find them again.
        child: that follows the stream.
        pose: shown last; None before the first one.
        state: numbers and words on the stream, as the child tells them.
        told: what was noticed, the newest last.
        trouble: why the child ended; empty while it runs.
        recording: whether what comes is recorded.
        kept: the newest take that was written and is not yet an action.
        screen: [s] from the arrival of a sample to the bones of this window, in the mean.
    """

    def __init__(self, scene: bpy.types.Scene, body: bpy.types.Object, child: CaptureChild) -> None:
        self.scene, self.body, self.child = known_by(scene), known_by(body), child
        self.pose: ScenePose | None = None
        self.state: dict[str, Any] = {}
        self.told: deque[str] = deque(maxlen=WORDS)
        self.trouble, self.recording = "", False
        self.kept: Answer | None = None
        self.failed = ""
        self.screen = 0.0
        self._poser, self._before = Poser(body), bones_as_they_are(body)
        self._folder, self._lock = new_folder()
        self._takes = 0

    def tick(self) -> None:
        """Look once: the newest pose onto the bones, all words in.

        Raises:
            InvalidValue: the rig was deleted.
        """
        body = found_again(bpy.data.objects, self.body)
        newest: ScenePose | None = None
        told = False
        for each in self.child.answers():
            newest = each.pose or newest
            told |= each.kind != "pose"
            self._take(each)
        if newest is not None and body.mode != "EDIT":
            self._poser.show(body, newest)
            self.pose = newest
            late = time.perf_counter() - newest.arrived
            self.screen = late if self.screen == 0.0 else (1.0 - SMOOTHED) * self.screen + SMOOTHED * late
            redraw.views()
        if not self.child.running and not self.trouble:
            self.trouble = f"The capture ended: {self.child.last_words}"
            told = True
        if told:
            redraw.sidebars()

    def record(self) -> None:
        """From now on record what comes."""
        self.kept, self.failed, self.recording = None, "", True
        self.child.send(do="record")

    def discard(self) -> None:
        """Forget what was recorded."""
        self.recording = False
        self.child.send(do="drop")

    def keep(self, name: str) -> None:
        """Have what was recorded written."""
        self._takes += 1
        self.recording = False
        self.child.send(do="keep", folder=str(self._folder / f"take {self._takes}"), name=name)

    def apply(self, context: bpy.types.Context) -> bpy.types.Action:
        """The take that was written as an action of the rig, from the scene's first moment on.

        Raises:
            InputError: it is damaged or gone.
            InvalidValue: the rig was deleted or is another one now.
        """
        assert self.kept is not None
        taken, self.kept = self.kept, None
        body = found_again(bpy.data.objects, self.body)
        scene = found_again(bpy.data.scenes, self.scene)
        record = MOTION.read(Path(taken.folder) / f"{taken.name}{study_folder.MOTION_END}")
        made = motion_action(scene, body, motion_moved(body.matrix_world.inverted(), record.drawn), taken.name)
        made.use_fake_user = True
        made[TRIAL_KEY], made[OF_KEY] = made.name, body
        show_trial(context, body, made.name)
        return made

    def end(self, *, wait: bool = False) -> None:
        """End the child; the bones stand as before where nothing was recorded of them. Takes that were kept stay."""
        self.child.end(wait=wait)
        if self._takes:
            self._lock.release()
        else:
            discard(self._folder, self._lock)
            body = next((item for item in bpy.data.objects if item.session_uid == self.body), None)
            if body is not None and body.mode != "EDIT":
                put_back(body, self._before)

    def _take(self, each: Answer) -> None:
        if each.kind == "state":
            self.state = dict(each.state)
        elif each.kind in ("told", "error"):
            self.told.append(each.message)
            if each.kind == "error":
                self.failed = each.message
        elif each.kind == "kept":
            self.kept = each
