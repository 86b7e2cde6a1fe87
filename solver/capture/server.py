"""A capture for another program, such as Blender: reads requests and writes responses, one JSON object per line.

Requests: ``{"do": "record"}`` starts a recording, ``{"do": "keep", "folder": ..., "name": ...}`` writes it, ``{"do":
"drop"}`` discards it, ``{"do": "end"}``. Responses, by their ``kind``: ``pose`` (`ScenePose`, the newest only, at
screen rate), ``state`` at intervals, ``note`` with a message, ``kept`` with the folder, ``error``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import InvalidValue, SolverError
from ..live.pipes import MAX_LINE_BYTES
from ..live.protocol import format_line, parse_json_line
from ..storage.output_folder import reserve_folder
from .capture_loop import Source, follow_arrivals
from .session import StreamCapture

POSE_INTERVAL = 1.0 / 60.0
"""[s] Shortest time between poses. Derived: a frame of a screen at 60 Hz."""
STATE_INTERVAL = 0.25
"""[s] Time between states."""
REQUEST_FIELDS = {"record": (), "keep": ("folder", "name"), "drop": (), "end": ()}


@dataclass(frozen=True, slots=True)
class Request:
    """A request, or the reason why a line is not a valid one.

    Attributes:
        do: the action; empty if the request is invalid.
        folder, name: of a take to write.
        message: why the request is invalid.
    """

    do: str
    folder: str = ""
    name: str = ""
    message: str = ""


def parse_request(line: bytes | None) -> Request:
    """Parse a line; None for a line that was too long."""
    if line is None:
        return Request("", message=f"a request has at most {MAX_LINE_BYTES} bytes")
    try:
        return _parse_request_tree(parse_json_line(line))
    except SolverError as error:
        return Request("", message=str(error))


def _parse_request_tree(tree: object) -> Request:
    do = tree.get("do") if isinstance(tree, Mapping) else None
    if not isinstance(tree, Mapping) or not isinstance(do, str) or do not in REQUEST_FIELDS:
        raise InvalidValue(f"a request is an object whose 'do' is one of {', '.join(REQUEST_FIELDS)}")
    words = {name: tree.get(name) for name in REQUEST_FIELDS[do]}
    for name, value in words.items():
        if not isinstance(value, str) or not value or "\0" in value:
            raise InvalidValue(f"the request {do!r} needs {name!r}, a text")
    if "/" in str(words.get("name", "")):
        raise InvalidValue(f"{words['name']!r} is not a valid name of a take")
    return Request(do, *map(str, words.values()))


class CaptureServer:
    """Tracks a stream and handles requests.

    Args:
        source: of datagrams.
        capture: that processes them.
        write_line: writes a line.
    """

    def __init__(self, source: Source, capture: StreamCapture, write_line: Callable[[str], None]) -> None:
        self._source, self._capture, self._write_line = source, capture, write_line
        self._last_pose = self._last_state = 0.0
        self._last_error = ""

    def report(self, words: str) -> None:
        """Send a message."""
        self._send("note", message=words)

    def execute(self, request: Request) -> None:
        """Carry out a request, or send an error."""
        try:
            if request.message:
                raise InvalidValue(request.message)
            if request.do == "record":
                self._capture.record()
            elif request.do == "drop":
                self._capture.discard()
            elif request.do == "keep":
                self._write_take(Path(request.folder), request.name)
        except SolverError as error:
            self._send("error", message=str(error))

    def step(self, wait: float) -> None:
        """Process the datagrams that have arrived, and send pose and state."""
        try:
            newest = follow_arrivals(self._source, self._capture, wait)
        except SolverError as error:  # for example names that do not fit: sent once, since the stream may change
            newest = None
            if str(error) != self._last_error:
                self._last_error = str(error)
                self._send("error", message=self._last_error)
        now = time.perf_counter()
        if newest is not None and now - self._last_pose >= POSE_INTERVAL:
            self._last_pose = now
            self._send("pose", **self._capture.to_scene_pose(newest).tree())
        if now - self._last_state >= STATE_INTERVAL:
            self._last_state = now
            self._send("state", silent=self._capture.sequencer.is_paused, **self._capture.state())

    def _write_take(self, folder: Path, name: str) -> None:
        take = self._capture.build_take(name)
        with reserve_folder(folder):
            take.write(folder)
        self._capture.discard()
        self._send("kept", folder=str(folder), name=name, message=take.summary)

    def _send(self, kind: str, **tree: Any) -> None:
        self._write_line(format_line({"kind": kind, **tree}))
