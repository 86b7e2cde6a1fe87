"""The child process of the live check."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..base.interpreter import Interpreter
from ..base.solver_api import (
    TIMELINE,
    SceneTimeline,
    create_locked_folder,
    dance_folder,
    errors,
    remove_abandoned_folders,
    remove_locked_folder,
)
from ..jobs.child_process import ServerProcess
from .responses import MAX_BYTES, Response, parse_response

FOLDER_PREFIX = "exciting-dance-live-"
"""Prefix of the names of folders with timelines."""
KEPT_FILES = 3
"""Number of files of each kind that are kept, because the process may not have read them yet."""
REQUEST_ORDER = ("grab", "drag", "inbetweens", "pose", "timeline", "look")
"""Order in which waiting requests are sent."""


class CheckProcess(ServerProcess[Response, tuple[dict, SceneTimeline | None]]):
    """``python -m solver live``, or another program with the same protocol.

    Of each kind of request only the newest is sent; older ones are obsolete.
    """

    def __init__(self, interpreter: Interpreter, arguments: tuple[str, ...] = ("live",)) -> None:
        self._requests: dict[str, tuple[dict, SceneTimeline | None]] = {}
        self._files: dict[str, list[Path]] = {}
        parent = Path(tempfile.gettempdir())
        remove_abandoned_folders(parent, FOLDER_PREFIX)  # left by a Blender that was killed
        self.folder, self._lock = create_locked_folder(parent, FOLDER_PREFIX)
        super().__init__(interpreter, arguments, parse_response, MAX_BYTES)

    def send(self, request: Mapping[str, object], timeline: SceneTimeline | None = None) -> None:
        """Queue a request; returns at once. A thread writes the timeline to a file."""
        with self._changed:
            self._requests[str(request["do"])] = dict(request), timeline
            self._changed.notify()

    def has_request(self) -> bool:
        return bool(self._requests)

    def next_request(self) -> tuple[dict, SceneTimeline | None]:
        kind = min(
            self._requests, key=lambda name: REQUEST_ORDER.index(name) if name in REQUEST_ORDER else len(REQUEST_ORDER)
        )
        return self._requests.pop(kind)

    def encode_request(self, request: tuple[dict, SceneTimeline | None]) -> bytes | None:
        tree, timeline = request
        try:
            if timeline is not None:
                tree["path"] = str(self._write_timeline(tree, timeline))
        except (OSError, errors.SolverError) as error:  # for example a full disk; the next request may succeed
            self.put_response(Response("error", tree.get("serial", -1), message=str(error)))
            return None
        return json.dumps(tree).encode()

    def on_end(self) -> None:
        remove_locked_folder(self.folder, self._lock)

    def _write_timeline(self, request: Mapping, timeline: SceneTimeline) -> Path:
        path = self.folder / f"{request['do']}-{request['serial']}{dance_folder.TIMELINE_END}"
        files = self._files.setdefault(str(request["do"]), [])
        files.append(TIMELINE.write(path, timeline))
        while len(files) > KEPT_FILES:
            files.pop(0).unlink(missing_ok=True)
        return path
