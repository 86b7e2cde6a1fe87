"""The child process of the live check: requests go out and answers come in on threads, so that nothing waits."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..children import Talking
from ..interpreter import Interpreter
from ..values import TIMELINE, SceneTimeline, dance_folder, discard, errors, own_folder, sweep
from .answers import LONGEST, Answer, answer

OWN_FOLDER = "exciting-dance-live-"
"""Begins the names of the folders of timelines."""
KEPT = 3
"""Files of each kind that stay: the child may not have read the last ones yet."""
ORDER = ("pose", "timeline", "look")
"""What goes out first."""


class Child(Talking[Answer, tuple[dict, SceneTimeline | None]]):
    """``python -m solver live``, or whatever else speaks its protocol.

    Of each kind of request only the newest is sent: what a newer one overtook is of no use to anybody.
    """

    def __init__(self, interpreter: Interpreter, arguments: tuple[str, ...] = ("live",)) -> None:
        self._waiting: dict[str, tuple[dict, SceneTimeline | None]] = {}
        self._files: dict[str, list[Path]] = {}
        parent = Path(tempfile.gettempdir())
        sweep(parent, OWN_FOLDER)  # of a Blender that was killed
        self.folder, self._lock = own_folder(parent, OWN_FOLDER)
        super().__init__(interpreter, arguments, answer, LONGEST)

    def send(self, request: Mapping[str, object], timeline: SceneTimeline | None = None) -> None:
        """Send a request, at once as far as the caller is concerned; a timeline's file is written on the way."""
        with self._changed:
            self._waiting[str(request["do"])] = dict(request), timeline
            self._changed.notify()

    def waiting(self) -> bool:
        return bool(self._waiting)

    def next_request(self) -> tuple[dict, SceneTimeline | None]:
        kind = min(self._waiting, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
        return self._waiting.pop(kind)

    def line_of(self, request: tuple[dict, SceneTimeline | None]) -> bytes | None:
        tree, timeline = request
        try:
            if timeline is not None:
                tree["path"] = str(self._written(tree, timeline))
        except (OSError, errors.SolverError) as error:  # as where the disk is full: the next one may be written
            self.put(Answer("error", tree.get("serial", -1), message=str(error)))
            return None
        return json.dumps(tree).encode()

    def cleared(self) -> None:
        discard(self.folder, self._lock)

    def _written(self, request: Mapping, timeline: SceneTimeline) -> Path:
        path = self.folder / f"{request['do']}-{request['serial']}{dance_folder.TIMELINE_END}"
        files = self._files.setdefault(str(request["do"]), [])
        files.append(TIMELINE.write(path, timeline))
        while len(files) > KEPT:
            files.pop(0).unlink(missing_ok=True)
        return path
