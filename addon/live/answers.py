"""What the child of the live check says, line by line: read with care, for it may be anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..fields import in_window
from ..values import SceneFrame, errors, json_line, scene_frame

LONGEST = 1 << 26
"""Bytes of an answer; those of ours have some hundred thousand."""
SHOWN = 60
"""Characters that are told of what is no answer."""
GARBLED = "garbled"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        kind: ``"frames"``, ``"pose"``, ``"excitation"``, ``"done"``, ``"error"``, or `GARBLED` for what is none.
        serial: of the request that it answers; -1 for none in particular.
        frames: checked, of ``"frames"`` and ``"pose"``.
        time: [s] up to which an excitation tells.
        links: condition number of each link, infinite while undetermined, of an excitation.
        notes: what cannot be checked on this rig, at the end.
        message: of an error.
        broken: first and last frames of runs that an error concerns.
    """

    kind: str
    serial: int
    frames: tuple[SceneFrame, ...] = ()
    time: float = 0.0
    links: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    message: str = ""
    broken: tuple[tuple[int, int], ...] = ()


def answer(line: bytes | str | None) -> Answer:
    """What a line says; None is one too long to be kept."""
    try:
        if line is None:
            raise errors.InvalidValue("it does not end")
        return _answer(json_line(line))
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, errors.SolverError):
        shown = line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line or "a line without end"
        shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
        return Answer(GARBLED, -1, message=f"The live check said what is no answer: {shown!r}")


def _answer(tree: Any) -> Answer:
    kind, serial = tree["kind"], _whole(tree.get("serial", -1))
    if kind == "frames":
        return Answer(kind, serial, tuple(scene_frame(each) for each in _list(tree["frames"])))
    if kind == "pose":
        return Answer(kind, serial, (scene_frame(tree["frame"]),))
    if kind == "excitation":
        links = {name: math.inf if value is None else _number(value) for name, value in tree["links"].items()}
        return Answer(kind, serial, time=_number(tree["time"]), links=links)
    if kind == "done":
        return Answer(kind, serial, notes=tuple(in_window(_text(note)) for note in _list(tree.get("notes", []))))
    if kind == "error":
        broken = tuple(_run(run) for run in _list(tree.get("frames", [])))
        return Answer(kind, serial, message=in_window(_text(tree["message"])), broken=broken)
    raise errors.UnknownName(str(kind), ("frames", "pose", "excitation", "done", "error"))


def _run(run: Any) -> tuple[int, int]:
    first, last = (_whole(value) for value in _list(run))
    if not 0 <= first <= last:
        raise errors.InvalidValue("a run of frames goes from its first to its last")
    return first, last


def _list(value: Any) -> list:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("no whole number")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError("no number")
    return float(value)
