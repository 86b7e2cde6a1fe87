"""The lines of the live check: requests read, answers written; `scene_frame` says what they mean."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..errors import InvalidValue, SolverError
from ..scene.frame import SceneFrame
from ..scene.words import at_time

CHOICES = ("excitation",)
NEEDED = {"timeline": ("serial", "path"), "pose": ("serial", "path"), "look": ("frame",), "end": ()}


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


def request(line: str) -> Request:
    """What a line asks for; one that cannot be understood is data as well."""
    try:
        tree = json.loads(line)
    except ValueError as error:
        return Malformed(f"a request is one JSON object a line: {error}", None)
    if not isinstance(tree, dict):
        return Malformed(f"a request is a JSON object, not {line.strip()[:40]!r}", None)
    serial = tree.get("serial")
    try:
        return _request(tree)
    except SolverError as error:
        return Malformed(str(error), serial if _whole(serial) else None)


def frames_line(serial: int, frames: Iterable[tuple[int, SceneFrame]]) -> str:
    """Checked frames with their indices."""
    return _line({"kind": "frames", "serial": serial, "frames": [f.tree() | {"frame": k} for k, f in frames]})


def pose_line(serial: int, frame: SceneFrame) -> str:
    """A checked posture."""
    return _line({"kind": "pose", "serial": serial, "frame": frame.tree()})


def excitation_line(serial: int, time: float, links: Mapping[str, float]) -> str:
    """Excitation up to a time [s]; null where it is infinite."""
    values = {link: float(f"{value:.6g}") if math.isfinite(value) else None for link, value in links.items()}
    return _line({"kind": "excitation", "serial": serial, "time": time, "links": values})


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
    return _line(tree)


def error_line(message: str, serial: int | None = None, frames: Iterable[int] = ()) -> str:
    """What went wrong, with the frames that it concerns if not all."""
    tree: dict[str, object] = {"kind": "error"}
    if serial is not None:
        tree["serial"] = serial
    tree["message"] = " ".join(message.split())
    found = ranges(frames)
    return _line(tree | {"frames": found} if found else tree)


def ranges(frames: Iterable[int]) -> list[list[int]]:
    """Runs of frames as first and last."""
    runs = groupby(enumerate(sorted(frames)), key=lambda pair: pair[1] - pair[0])
    found = [[frame for _, frame in run] for _, run in runs]
    return [[run[0], run[-1]] for run in found]


def _request(tree: Mapping[str, object]) -> Request:
    do = tree.get("do")
    if not isinstance(do, str) or do not in NEEDED:
        raise InvalidValue(f"a request's 'do' is one of {', '.join(NEEDED)}, got {do!r}")
    missing = [name for name in NEEDED[do] if name not in tree]
    if missing:
        raise InvalidValue(f"the request {do!r} needs {' and '.join(map(repr, missing))}")
    if do == "end":
        return End()
    if do == "look":
        if not _whole(tree["frame"]):
            raise InvalidValue(f"'frame' is a frame's index, got {tree['frame']!r}")
        return Look(int(str(tree["frame"])))
    if not _whole(tree["serial"]) or not isinstance(tree["path"], str):
        raise InvalidValue(f"the request {do!r} needs a whole number as 'serial' and a file as 'path'")
    unknown = sorted(set(tree) - {"do", *NEEDED[do], *CHOICES})
    if unknown:
        raise InvalidValue(f"the request {do!r} has no choice {unknown[0]!r}; it has {', '.join(CHOICES)}")
    return Check(int(str(tree["serial"])), tree["path"], do == "pose", bool(tree.get("excitation", True)))


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _line(tree: Mapping[str, object]) -> str:
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
    "pose_line",
    "ranges",
    "request",
]
