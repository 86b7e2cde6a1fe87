"""Protocol of the live check: parses request lines and writes response lines; `scene.checked_frame` describes both."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
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
REQUIRED = {
    "timeline": ("serial", "path"),
    "pose": ("serial", "path"),
    "look": ("frame",),
    "grab": ("serial", "path"),
    "drag": ("serial", "targets"),
    "inbetweens": ("serial", "path", "planted"),
    "end": (),
}
OPTIONAL = {"timeline": ("excitation",), "pose": ("excitation",), "grab": ("pins",), "drag": ("balance",)}


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


Request = CheckRequest | LookRequest | GrabRequest | DragRequest | InbetweensRequest | EndRequest | MalformedRequest


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
    if not isinstance(do, str) or do not in REQUIRED:
        raise InvalidValue(f"a request's 'do' must be one of {', '.join(REQUIRED)}, got {_quote(do)}")
    if missing := [name for name in REQUIRED[do] if name not in tree]:
        raise InvalidValue(f"the request {do!r} needs {' and '.join(map(repr, missing))}")
    if unknown := sorted(set(tree) - {"do", *REQUIRED[do], *OPTIONAL.get(do, ())}):
        known = ", ".join((*REQUIRED[do], *OPTIONAL.get(do, ()))) or "nothing else"
        raise InvalidValue(f"the request {do!r} has no entry {_quote(unknown[0])}; it has {known}")
    if do == "end":
        return EndRequest()
    if do == "look":
        return LookRequest(_integer(tree, "frame"))
    if do == "drag":
        balance = tree.get("balance", True)
        if not isinstance(balance, bool):
            raise InvalidValue(f"'balance' must be true or false, got {_quote(balance)}")
        return DragRequest(_integer(tree, "serial"), tuple(map(_target, _list(tree, "targets"))), balance)
    path, excitation = tree["path"], tree.get("excitation", True)
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidValue(f"'path' must be the name of a file, got {_quote(path)}")
    if not isinstance(excitation, bool):
        raise InvalidValue(f"'excitation' must be true or false, got {_quote(excitation)}")
    if do == "grab":
        return GrabRequest(_integer(tree, "serial"), path, tuple(map(_pin, _list(tree, "pins"))))
    if do == "inbetweens":
        planted = tree["planted"]
        if not isinstance(planted, list) or not planted or not all(isinstance(name, str) for name in planted):
            raise InvalidValue(f"'planted' must be a list of names of contact patches, got {_quote(planted)}")
        return InbetweensRequest(_integer(tree, "serial"), path, tuple(planted))
    return CheckRequest(_integer(tree, "serial"), path, do == "pose", excitation)


def _list(tree: Mapping[str, Any], name: str) -> list[Any]:
    found = tree.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidValue(f"{name!r} must be a list of objects, got {_quote(found)}")
    return found


def _pin(tree: Mapping[str, Any]) -> Pin:
    return Pin(_link(tree), _vector(tree, "point"))


def _target(tree: Mapping[str, Any]) -> Target:
    return Target(_link(tree), _vector(tree, "position", may_be_free=True), _vector(tree, "point"))


def _link(tree: Mapping[str, Any]) -> str:
    link = tree.get("link")
    if not isinstance(link, str):
        raise InvalidValue(f"'link' must be a name, got {_quote(link)}")
    return link


def _vector(tree: Mapping[str, Any], name: str, *, may_be_free: bool = False) -> np.ndarray:
    """Three numbers; where allowed, null is NaN."""
    found = tree.get(name)
    kinds = (int, float, type(None)) if may_be_free else (int, float)
    if not isinstance(found, list) or len(found) != 3 or not all(type(each) in kinds for each in found):
        raise InvalidValue(f"{name!r} must be three numbers, got {_quote(found)}")
    return np.array([math.nan if each is None else float(each) for each in found])


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
