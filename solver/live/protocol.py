"""Protocol of the live check: parses request lines and writes response lines; `scene.checked_frame` describes both."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..errors import InvalidValue, SolverError
from ..formats.json_tree import InvalidJson, parse_json
from ..scene.checked_frame import SceneFrame
from ..scene.labels import append_time
from .pipes import MAX_LINE_BYTES

LARGEST_INTEGER = 1 << 53
"""Largest serial or frame number: JSON readers disagree about larger integers."""
QUOTED_CHARACTERS = 60
"""Characters that are quoted of a malformed entry."""
MESSAGE_CHARACTERS = 2000
"""Most characters of a message."""
REQUIRED = {"timeline": ("serial", "path"), "pose": ("serial", "path"), "look": ("frame",), "end": ()}
OPTIONAL = {"timeline": ("excitation",), "pose": ("excitation",), "look": (), "end": ()}


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Check a timeline, or its first frame as a posture.

    Attributes:
        serial: of the request.
        path: of the timeline's file.
        is_posture: the first frame only.
        excitation: evaluate it too.
    """

    serial: int
    path: str
    is_posture: bool
    excitation: bool


@dataclass(frozen=True, slots=True)
class LookRequest:
    """Report frames near this one first."""

    frame: int


@dataclass(frozen=True, slots=True)
class EndRequest:
    """Stop."""


@dataclass(frozen=True, slots=True)
class MalformedRequest:
    """A malformed request: the reason, and its serial if it has one."""

    message: str
    serial: int | None


Request = CheckRequest | LookRequest | EndRequest | MalformedRequest


def parse_request(line: bytes | str | None) -> Request:
    """Parse a line; None is a line that is too long. A malformed request is returned as a value, not raised."""
    serial: int | None = None
    if line is None:
        return MalformedRequest(f"a request has at most {MAX_LINE_BYTES} bytes", None)
    try:
        tree = parse_json_line(line)
        if not isinstance(tree, dict):
            raise InvalidValue(f"a request is a JSON object, not {_quote(tree)}")
        serial = tree["serial"] if _is_integer(tree.get("serial")) else None
        return _parse_fields(tree)
    except SolverError as error:
        return MalformedRequest(str(error), serial)


def parse_json_line(line: bytes | str) -> Any:
    """The JSON of a line.

    Raises:
        InvalidValue: the line is not UTF-8 or not JSON; NaN, infinity, repeated names and deep nesting are refused.
    """
    try:
        return parse_json(line)
    except InvalidJson as error:
        raise InvalidValue(f"a line must be one JSON object: {error}") from None


def frames_line(serial: int, frames: Iterable[tuple[int, SceneFrame]]) -> str:
    """Checked frames with their indices."""
    return format_line({"kind": "frames", "serial": serial, "frames": [f.tree() | {"frame": k} for k, f in frames]})


def pose_line(serial: int, frame: SceneFrame) -> str:
    """A checked posture."""
    return format_line({"kind": "pose", "serial": serial, "frame": frame.tree()})


def excitation_line(serial: int, time: float, links: Mapping[str, float]) -> str:
    """Excitation up to a time [s]; null if it is infinite."""
    values = {link: float(f"{value:.6g}") if math.isfinite(value) else None for link, value in links.items()}
    return format_line({"kind": "excitation", "serial": serial, "time": time, "links": values})


def done_line(
    serial: int, frames: Sequence[SceneFrame | None], uncheckable: Mapping[int, str], notes: Sequence[str] = ()
) -> str:
    """The end of a timeline's results: which frames fail, and where each check fails first."""
    failed = sorted({k for k, frame in enumerate(frames) if frame is not None and frame.failed} | set(uncheckable))
    first: dict[str, str] = {}
    for frame in frames:
        for margin in frame.margins if frame is not None else ():
            if margin.failed and margin.check not in first:
                assert frame is not None
                first[margin.check] = append_time(margin.text, frame.time)
    failures = list(first.values())
    tree = {
        "kind": "done", "serial": serial, "feasible": not failed, "failed": frame_ranges(failed),
        "failures": failures + sorted(set(uncheckable.values())), "notes": list(notes),
    }  # fmt: skip
    return format_line(tree)


def error_line(message: str, serial: int | None = None, frames: Iterable[int] = ()) -> str:
    """An error, with the frames that it concerns if not all."""
    tree: dict[str, object] = {"kind": "error"}
    if serial is not None:
        tree["serial"] = serial
    words = " ".join(message.split())
    tree["message"] = words if len(words) <= MESSAGE_CHARACTERS else f"{words[:MESSAGE_CHARACTERS]} ..."
    found = frame_ranges(frames)
    return format_line(tree | {"frames": found} if found else tree)


def frame_ranges(frames: Iterable[int]) -> list[list[int]]:
    """Runs of frames as first and last."""
    runs = groupby(enumerate(sorted(frames)), key=lambda pair: pair[1] - pair[0])
    found = [[frame for _, frame in run] for _, run in runs]
    return [[run[0], run[-1]] for run in found]


def _parse_fields(tree: Mapping[str, object]) -> Request:
    do = tree.get("do")
    if not isinstance(do, str) or do not in REQUIRED:
        raise InvalidValue(f"a request's 'do' must be one of {', '.join(REQUIRED)}, got {_quote(do)}")
    if missing := [name for name in REQUIRED[do] if name not in tree]:
        raise InvalidValue(f"the request {do!r} needs {' and '.join(map(repr, missing))}")
    if unknown := sorted(set(tree) - {"do", *REQUIRED[do], *OPTIONAL[do]}):
        known = ", ".join((*REQUIRED[do], *OPTIONAL[do])) or "nothing else"
        raise InvalidValue(f"the request {do!r} has no entry {_quote(unknown[0])}; it has {known}")
    if do == "end":
        return EndRequest()
    if do == "look":
        return LookRequest(_integer(tree, "frame"))
    path, excitation = tree["path"], tree.get("excitation", True)
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidValue(f"'path' must be the name of a file, got {_quote(path)}")
    if not isinstance(excitation, bool):
        raise InvalidValue(f"'excitation' must be true or false, got {_quote(excitation)}")
    return CheckRequest(_integer(tree, "serial"), path, do == "pose", excitation)


def _integer(tree: Mapping[str, Any], name: str) -> int:
    if not _is_integer(tree[name]):
        raise InvalidValue(f"{name!r} must be an integer within 2^53, got {_quote(tree[name])}")
    return int(tree[name])


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_INTEGER


def _quote(value: object) -> str:
    text = repr(value)
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[:QUOTED_CHARACTERS]}..."


def format_line(tree: Mapping[str, object]) -> str:
    """A tree as one line of JSON."""
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


__all__ = [
    "CheckRequest",
    "EndRequest",
    "LookRequest",
    "MalformedRequest",
    "Request",
    "done_line",
    "error_line",
    "excitation_line",
    "frame_ranges",
    "frames_line",
    "parse_json_line",
    "parse_request",
    "pose_line",
]
