"""Protocol of the live check: parses request lines and writes response lines; `scene.checked_frame` describes both."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from ..base.errors import InvalidValue, SolverError
from ..posing.values import DragResult, Pin, Target
from ..scene.checked_frame import SceneFrame
from ..scene.labels import append_time
from ..storage.json_tree import WrongEntry, parse_json
from .pipes import MAX_LINE_BYTES

LARGEST_INTEGER = 1 << 53
"""Largest serial or frame number: JSON readers disagree about larger integers. By definition of double precision."""
QUOTED_CHARACTERS = 60
"""Characters that are quoted of a malformed entry."""
MESSAGE_CHARACTERS = 2000
"""Most characters of a message."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Check a timeline.

    Attributes:
        serial: of the request.
        path: of the timeline's file.
        excitation: evaluate it too.
    """

    serial: int
    path: str
    excitation: bool = True


@dataclass(frozen=True, slots=True)
class PoseRequest:
    """Check the first frame of a timeline as a posture."""

    serial: int
    path: str


@dataclass(frozen=True, slots=True)
class LookRequest:
    """Report frames near this one first."""

    frame: int


@dataclass(frozen=True, slots=True)
class GrabRequest:
    """Start a drag.

    Attributes:
        serial: of the request.
        path: of a timeline's file; its first frame is the posture at the start.
        pins: points that stay where they are.
    """

    serial: int
    path: str
    pins: tuple[Pin, ...] = ()


@dataclass(frozen=True, slots=True)
class DragRequest:
    """Move towards targets, until the body has reached them or cannot come nearer.

    Attributes:
        serial: of the request.
        targets: of points of the body.
        balance: keep the centre of mass above the support polygon.
    """

    serial: int
    targets: tuple[Target, ...]
    balance: bool = True


@dataclass(frozen=True, slots=True)
class InbetweensRequest:
    """Fit the frames between the first and the last of a timeline to planted soles.

    Attributes:
        serial: of the request.
        path: of the timeline's file.
        planted: names of contact patches on the floor from the first frame to the last.
    """

    serial: int
    path: str
    planted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndRequest:
    """Stop."""


@dataclass(frozen=True, slots=True)
class MalformedRequest:
    """A malformed request: the reason, and its serial if it has one."""

    message: str
    serial: int | None


WorkRequest = GrabRequest | DragRequest | InbetweensRequest | PoseRequest | CheckRequest
"""Requests of which only the newest of each kind counts."""
Request = WorkRequest | LookRequest | EndRequest | MalformedRequest


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
    except WrongEntry as error:
        raise InvalidValue(f"a line must be one JSON object: {error}") from None


def frames_line(serial: int, frames: Iterable[tuple[int, SceneFrame]]) -> str:
    """Checked frames with their indices."""
    return format_line({"kind": "frames", "serial": serial, "frames": [f.tree() | {"frame": k} for k, f in frames]})


def pose_line(serial: int, frame: SceneFrame) -> str:
    """A checked posture."""
    return format_line({"kind": "pose", "serial": serial, "frame": frame.tree()})


def posture_line(serial: int, movements: tuple[np.ndarray, np.ndarray], found: DragResult) -> str:
    """A posture of a drag, with its joints' rotations (L, 4) and translations (L, 3) from neutral.

    Of the root, the first, they are its orientation and position in the world.
    """
    rotations, translations = movements
    tree = {
        "kind": "posture", "serial": serial, "rotations": rotations.tolist(), "translations": translations.tolist(),
        "converged": found.converged, "distance": found.distance, "obstacles": list(found.obstacles),
        "slip": found.slip, "margin": found.margin if math.isfinite(found.margin) else None,
    }  # fmt: skip
    return format_line(tree)


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
    if not isinstance(do, str) or do not in REQUESTS:
        raise InvalidValue(f"a request's 'do' must be one of {', '.join(REQUESTS)}, got {_quote(do)}")
    make, required, optional = REQUESTS[do]
    if missing := [name for name in required if name not in tree]:
        raise InvalidValue(f"the request {do!r} needs {' and '.join(map(repr, missing))}")
    if unknown := sorted(set(tree) - {"do", *required, *optional}):
        known = ", ".join((*required, *optional)) or "nothing else"
        raise InvalidValue(f"the request {do!r} has no entry {_quote(unknown[0])}; it has {known}")
    return make(**{name: ENTRIES[name](name, value) for name, value in tree.items() if name != "do"})


def _path(name: str, value: Any) -> str:
    _require(isinstance(value, str) and value and "\0" not in value, name, "the name of a file", value)
    return str(value)


def _flag(name: str, value: Any) -> bool:
    _require(isinstance(value, bool), name, "true or false", value)
    return bool(value)


def _names(name: str, value: Any) -> tuple[str, ...]:
    valid = isinstance(value, list) and value and all(isinstance(each, str) for each in value)
    _require(valid, name, "a list of names of contact patches", value)
    return tuple(value)


def _pins(name: str, value: Any) -> tuple[Pin, ...]:
    return tuple(Pin(_link(each), _vector(each, "point")) for each in _objects(name, value))


def _targets(name: str, value: Any) -> tuple[Target, ...]:
    return tuple(
        Target(_link(each), _vector(each, "position", may_be_free=True), _vector(each, "point"))
        for each in _objects(name, value)
    )


def _objects(name: str, value: Any) -> list[dict[str, Any]]:
    valid = isinstance(value, list) and all(isinstance(each, dict) for each in value)
    _require(valid, name, "a list of objects", value)
    return list(value)


def _link(tree: Mapping[str, Any]) -> str:
    _require(isinstance(tree.get("link"), str), "link", "a name", tree.get("link"))
    return str(tree["link"])


def _vector(tree: Mapping[str, Any], name: str, *, may_be_free: bool = False) -> np.ndarray:
    """Three numbers; where allowed, null is NaN."""
    found = tree.get(name)
    kinds = (int, float, type(None)) if may_be_free else (int, float)
    valid = isinstance(found, list) and len(found) == 3 and all(type(each) in kinds for each in found)
    _require(valid, name, "three numbers", found)
    return np.array(found, float)  # None is NaN


def _integer(name: str, value: Any) -> int:
    _require(_is_integer(value), name, "an integer within 2^53", value)
    return int(value)


def _require(valid: object, name: str, kind: str, value: object) -> None:
    if not valid:
        raise InvalidValue(f"{name!r} must be {kind}, got {_quote(value)}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_INTEGER


def _quote(value: object) -> str:
    text = repr(value)
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[:QUOTED_CHARACTERS]}..."


def format_line(tree: Mapping[str, object]) -> str:
    """A tree as one line of JSON."""
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


ENTRIES: Mapping[str, Callable[[str, Any], Any]] = {
    "serial": _integer, "frame": _integer, "path": _path, "planted": _names, "pins": _pins, "targets": _targets,
    "excitation": _flag, "balance": _flag,
}  # fmt: skip
"""How each entry of a request is read."""
REQUESTS: Mapping[str, tuple[Callable[..., Request], tuple[str, ...], tuple[str, ...]]] = {
    "timeline": (CheckRequest, ("serial", "path"), ("excitation",)),
    "pose": (PoseRequest, ("serial", "path"), ()),
    "look": (LookRequest, ("frame",), ()),
    "grab": (GrabRequest, ("serial", "path"), ("pins",)),
    "drag": (DragRequest, ("serial", "targets"), ("balance",)),
    "inbetweens": (InbetweensRequest, ("serial", "path", "planted"), ()),
    "end": (EndRequest, (), ()),
}
"""By the request's ``do`` its class, and the entries that it needs and may have."""
