"""The lines of the live check: requests read, answers written; `scene_frame` says what they mean."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..errors import InvalidValue, SolverError
from ..formats.json_tree import NoJson, parse_json
from ..scene.frame import SceneFrame
from ..scene.words import at_time
from .pipes import LONGEST

LARGEST = 1 << 53
"""Of serials and frames: beyond it JSON's readers disagree about whole numbers."""
SHOWN = 60
"""Characters of what was not understood that are told."""
TOLD = 2000
"""Characters of a message."""
NEEDED = {"timeline": ("serial", "path"), "pose": ("serial", "path"), "look": ("frame",), "end": ()}
CHOICES = {"timeline": ("excitation",), "pose": ("excitation",), "look": (), "end": ()}


@dataclass(frozen=True, slots=True)
class Check:
    """Check a timeline, or its first frame as a posture.

    Attributes:
        serial: of the request.
        path: of the timeline's file.
        posture: the first frame only.
        excitation: tell it too.
    """

    serial: int
    path: str
    posture: bool
    excitation: bool


@dataclass(frozen=True, slots=True)
class Look:
    """The frame that is looked at."""

    frame: int


@dataclass(frozen=True, slots=True)
class End:
    """Stop."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """No request: why, and the serial if there was one."""

    message: str
    serial: int | None


Request = Check | Look | End | Malformed


def request(line: bytes | str | None) -> Request:
    """What a line asks for, None standing for one without end; one that cannot be understood is data as well."""
    serial: int | None = None
    if line is None:
        return Malformed(f"a request has at most {LONGEST} bytes", None)
    try:
        tree = json_line(line)
        if not isinstance(tree, dict):
            raise InvalidValue(f"a request is a JSON object, not {_shown(tree)}")
        serial = tree["serial"] if _whole(tree.get("serial")) else None
        return _request(tree)
    except SolverError as error:
        return Malformed(str(error), serial)


def json_line(line: bytes | str) -> Any:
    """The JSON of a line.

    Raises:
        InvalidValue: it is not UTF-8 or no JSON; NaN, infinity, a name that stands twice and endless nesting are none.
    """
    try:
        return parse_json(line)
    except NoJson as error:
        raise InvalidValue(f"one JSON object a line is understood: {error}") from None


def frames_line(serial: int, frames: Iterable[tuple[int, SceneFrame]]) -> str:
    """Checked frames with their indices."""
    return line_of({"kind": "frames", "serial": serial, "frames": [f.tree() | {"frame": k} for k, f in frames]})


def pose_line(serial: int, frame: SceneFrame) -> str:
    """A checked posture."""
    return line_of({"kind": "pose", "serial": serial, "frame": frame.tree()})


def excitation_line(serial: int, time: float, links: Mapping[str, float]) -> str:
    """Excitation up to a time [s]; null where it is infinite."""
    values = {link: float(f"{value:.6g}") if math.isfinite(value) else None for link, value in links.items()}
    return line_of({"kind": "excitation", "serial": serial, "time": time, "links": values})


def done_line(
    serial: int, frames: Sequence[SceneFrame | None], broken: Mapping[int, str], notes: Sequence[str] = ()
) -> str:
    """The end of a timeline: which frames fail, and where each check does so first."""
    failed = sorted({k for k, frame in enumerate(frames) if frame is not None and frame.failed} | set(broken))
    first: dict[str, str] = {}
    for frame in frames:
        for margin in frame.margins if frame is not None else ():
            if margin.failed and margin.check not in first:
                assert frame is not None
                first[margin.check] = at_time(margin.said, frame.time)
    failures = list(first.values())
    tree = {
        "kind": "done", "serial": serial, "feasible": not failed, "failed": ranges(failed),
        "failures": failures + sorted(set(broken.values())), "notes": list(notes),
    }  # fmt: skip
    return line_of(tree)


def error_line(message: str, serial: int | None = None, frames: Iterable[int] = ()) -> str:
    """What went wrong, with the frames that it concerns if not all."""
    tree: dict[str, object] = {"kind": "error"}
    if serial is not None:
        tree["serial"] = serial
    words = " ".join(message.split())
    tree["message"] = words if len(words) <= TOLD else f"{words[:TOLD]} ..."
    found = ranges(frames)
    return line_of(tree | {"frames": found} if found else tree)


def ranges(frames: Iterable[int]) -> list[list[int]]:
    """Runs of frames as first and last."""
    runs = groupby(enumerate(sorted(frames)), key=lambda pair: pair[1] - pair[0])
    found = [[frame for _, frame in run] for _, run in runs]
    return [[run[0], run[-1]] for run in found]


def _request(tree: Mapping[str, object]) -> Request:
    do = tree.get("do")
    if not isinstance(do, str) or do not in NEEDED:
        raise InvalidValue(f"a request's 'do' is one of {', '.join(NEEDED)}, got {_shown(do)}")
    if missing := [name for name in NEEDED[do] if name not in tree]:
        raise InvalidValue(f"the request {do!r} needs {' and '.join(map(repr, missing))}")
    if unknown := sorted(set(tree) - {"do", *NEEDED[do], *CHOICES[do]}):
        known = ", ".join((*NEEDED[do], *CHOICES[do])) or "nothing else"
        raise InvalidValue(f"the request {do!r} has no entry {_shown(unknown[0])}; it has {known}")
    if do == "end":
        return End()
    if do == "look":
        return Look(_number(tree, "frame"))
    path, excitation = tree["path"], tree.get("excitation", True)
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidValue(f"'path' is the name of a file, got {_shown(path)}")
    if not isinstance(excitation, bool):
        raise InvalidValue(f"'excitation' is true or false, got {_shown(excitation)}")
    return Check(_number(tree, "serial"), path, do == "pose", excitation)


def _number(tree: Mapping[str, Any], name: str) -> int:
    if not _whole(tree[name]):
        raise InvalidValue(f"{name!r} is a whole number within 2^53, got {_shown(tree[name])}")
    return int(tree[name])


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def line_of(tree: Mapping[str, object]) -> str:
    """A tree as one line of JSON."""
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


__all__ = [
    "Check",
    "End",
    "Look",
    "Malformed",
    "Request",
    "done_line",
    "error_line",
    "excitation_line",
    "frames_line",
    "json_line",
    "pose_line",
    "ranges",
    "request",
]
