"""A capture for another program, such as Blender: poses and words out, one JSON object a line; requests in.

Requests: ``{"do": "record"}``, ``{"do": "keep", "folder": ..., "name": ...}`` writes what was recorded since,
``{"do": "drop"}`` forgets it, ``{"do": "end"}``. Answers, by their ``kind``: ``pose`` (`ScenePose`, the newest only, at
the rate of a screen), ``state`` once in a while, ``told``, ``kept`` with the folder, ``error``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidValue, SolverError
from ..formats.folder import claimed
from ..live.pipes import LONGEST
from ..live.protocol import json_line, line_of
from .run import Source, take
from .session import Capture

SHOWN_EVERY = 1.0 / 60.0
"""[s] between poses that are told."""
STATE_EVERY = 0.25
"""[s] between states."""
NEEDED = {"record": (), "keep": ("folder", "name"), "drop": (), "end": ()}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, or why it is none.

    Attributes:
        do: what; empty where it was not understood.
        folder, name: of a take to keep.
        message: what was not understood.
    """

    do: str
    folder: str = ""
    name: str = ""
    message: str = ""


def asked(line: bytes | None) -> Asked:
    """What a line asks for, None standing for one without end."""
    if line is None:
        return Asked("", message=f"a request has at most {LONGEST} bytes")
    try:
        return _asked(json_line(line))
    except SolverError as error:
        return Asked("", message=str(error))


def _asked(tree: object) -> Asked:
    do = tree.get("do") if isinstance(tree, Mapping) else None
    if not isinstance(tree, Mapping) or not isinstance(do, str) or do not in NEEDED:
        raise InvalidValue(f"a request is an object whose 'do' is one of {', '.join(NEEDED)}")
    words = {name: tree.get(name) for name in NEEDED[do]}
    for name, value in words.items():
        if not isinstance(value, str) or not value or "\0" in value:
            raise InvalidValue(f"the request {do!r} needs {name!r}, a text")
    if "/" in str(words.get("name", "")):
        raise InvalidValue(f"{words['name']!r} is no name of a take")
    return Asked(do, *map(str, words.values()))


class CaptureServer:
    """Follows a stream and answers requests.

    Args:
        source: of datagrams.
        capture: that follows them.
        answer: takes a line.
    """

    def __init__(self, source: Source, capture: Capture, answer: Callable[[str], None]) -> None:
        self._source, self._capture, self._answer = source, capture, answer
        self._shown = self._stated = 0.0
        self._failed = ""

    def told(self, words: str) -> None:
        """Pass on what was noticed."""
        self._say("told", message=words)

    def obey(self, request: Asked) -> None:
        """Do what was asked; what stands in the way is told."""
        try:
            if request.message:
                raise InvalidValue(request.message)
            if request.do == "record":
                self._capture.record()
            elif request.do == "drop":
                self._capture.drop()
            elif request.do == "keep":
                self._keep(Path(request.folder), request.name)
        except SolverError as error:
            self._say("error", message=str(error))

    def work(self, wait: float) -> None:
        """Follow what has come, and tell."""
        try:
            newest = take(self._source, self._capture, wait)
        except SolverError as error:  # as where the names do not fit: said once, and the stream may change
            newest = None
            if str(error) != self._failed:
                self._failed = str(error)
                self._say("error", message=self._failed)
        now = time.perf_counter()
        if newest is not None and now - self._shown >= SHOWN_EVERY:
            self._shown = now
            self._say("pose", **self._capture.shown(newest).tree())
        if now - self._stated >= STATE_EVERY:
            self._stated = now
            self._say("state", silent=self._capture.intake.silent, **self._capture.state())

    def _keep(self, folder: Path, name: str) -> None:
        take = self._capture.keep(name)
        with claimed(folder):
            take.write(folder)
        self._capture.drop()
        self._say("kept", folder=str(folder), name=name, message=take.told)

    def _say(self, kind: str, **tree: Any) -> None:
        self._answer(line_of({"kind": kind, **tree}))
