"""What the child of the live check says, line by line: read with care, for it may be anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..option_labels import use_field_labels
from ..solver_api import SceneFrame, errors, parse_json_line, scene_frame

MAX_BYTES = 1 << 26
"""Bytes of an answer; those of ours have some hundred thousand."""
SHOWN_CHARACTERS = 60
"""Characters that are told of what is no answer."""
INVALID = "garbled"


@dataclass(frozen=True, slots=True)
class Response:
    """One answer.

    Attributes:
        kind: ``"frames"``, ``"pose"``, ``"excitation"``, ``"done"``, ``"error"``, or `INVALID` for what is none.
        serial: of the request that it answers; -1 for none in particular.
        frames: checked, of ``"frames"`` and ``"pose"``.
        time: [s] up to which an excitation tells.
        links: condition number of each link, infinite while undetermined, of an excitation.
        notes: what cannot be checked on this rig, at the end.
        message: of an error.
        unchecked: first and last frames of runs that an error concerns.
    """

    kind: str
    serial: int
    frames: tuple[SceneFrame, ...] = ()
    time: float = 0.0
    links: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    message: str = ""
    unchecked: tuple[tuple[int, int], ...] = ()


def parse_response(line: bytes | str | None) -> Response:
    """What a line says; None is one too long to be kept."""
    try:
        if line is None:
            raise errors.InvalidValue("it does not end")
        return _parse(parse_json_line(line))
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, errors.SolverError):
        shown = line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line or "a line without end"
        shown = shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}..."
        return Response(INVALID, -1, message=f"The live check said what is no answer: {shown!r}")


def _parse(tree: Any) -> Response:
    kind, serial = tree["kind"], _require_integer(tree.get("serial", -1))
    if kind == "frames":
        return Response(kind, serial, tuple(scene_frame(each) for each in _require_list(tree["frames"])))
    if kind == "pose":
        return Response(kind, serial, (scene_frame(tree["frame"]),))
    if kind == "excitation":
        links = {name: math.inf if value is None else _require_number(value) for name, value in tree["links"].items()}
        return Response(kind, serial, time=_require_number(tree["time"]), links=links)
    if kind == "done":
        return Response(
            kind,
            serial,
            notes=tuple(use_field_labels(_require_text(note)) for note in _require_list(tree.get("notes", []))),
        )
    if kind == "error":
        broken = tuple(_parse_run(run) for run in _require_list(tree.get("frames", [])))
        return Response(kind, serial, message=use_field_labels(_require_text(tree["message"])), unchecked=broken)
    raise errors.UnknownName(str(kind), ("frames", "pose", "excitation", "done", "error"))


def _parse_run(run: Any) -> tuple[int, int]:
    first, last = (_require_integer(value) for value in _require_list(run))
    if not 0 <= first <= last:
        raise errors.InvalidValue("a run of frames goes from its first to its last")
    return first, last


def _require_list(value: Any) -> list:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _require_integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("no whole number")
    return value


def _require_number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError("no number")
    return float(value)
