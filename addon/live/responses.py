"""Parses the responses of the live check's process and checks them, because a line may contain anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.option_fields import use_field_labels
from ..base.solver_api import SceneFrame, errors, parse_json_line, scene_frame

MAX_BYTES = 1 << 26
"""Longest response [bytes]; ordinary ones have some hundred thousand."""
SHOWN_CHARACTERS = 60
"""Largest number of characters of an invalid response that are shown."""
INVALID = "garbled"


@dataclass(frozen=True, slots=True)
class DraggedPosture:
    """A posture on the way to the target of a drag.

    Attributes:
        rotations: (L, 4) xyzw of each joint from neutral; the root's orientation in the world.
        translations: (L, 3) [m] the same; the root's position in the world.
        converged: the posture does not change until the target does.
        distance: [m] from the target.
        obstacles: what keeps the body from it.
    """

    rotations: np.ndarray
    translations: np.ndarray
    converged: bool
    distance: float
    obstacles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Response:
    """One response.

    Attributes:
        kind: ``"frames"``, ``"pose"``, ``"posture"``, ``"excitation"``, ``"done"``, ``"error"``, or `INVALID`.
        serial: serial number of the request; -1 for none.
        frames: results of ``"frames"`` and ``"pose"``.
        time: [s] end of the interval of an excitation.
        links: condition number by link of an excitation; infinite while undetermined.
        notes: checks that are impossible for this rig, of ``"done"``.
        posture: of a drag.
        message: of an error.
        unchecked: first and last frames of runs that could not be checked.
    """

    kind: str
    serial: int
    frames: tuple[SceneFrame, ...] = ()
    time: float = 0.0
    links: Mapping[str, float] = field(default_factory=dict)
    posture: DraggedPosture | None = None
    notes: tuple[str, ...] = ()
    message: str = ""
    unchecked: tuple[tuple[int, int], ...] = ()


def parse_response(line: bytes | str | None) -> Response:
    """Parse a line; None stands for a line that is too long."""
    try:
        if line is None:
            raise errors.InvalidValue("the line is too long")
        return _parse(parse_json_line(line))
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, errors.SolverError):
        shown = (
            line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line or "(a line that is too long)"
        )
        shown = shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}..."
        return Response(INVALID, -1, message=f"The live check sent an invalid response: {shown!r}")


def _parse(tree: Any) -> Response:
    kind, serial = tree["kind"], _require_integer(tree.get("serial", -1))
    if kind == "frames":
        return Response(kind, serial, tuple(scene_frame(each) for each in _require_list(tree["frames"])))
    if kind == "pose":
        return Response(kind, serial, (scene_frame(tree["frame"]),))
    if kind == "posture":
        return Response(kind, serial, posture=_parse_posture(tree))
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
    raise errors.UnknownName(str(kind), ("frames", "pose", "posture", "excitation", "done", "error"))


def _parse_posture(tree: Any) -> DraggedPosture:
    rotations, translations = (np.array(tree[name], float) for name in ("rotations", "translations"))
    if rotations.shape != (len(translations), 4) or translations.shape != (len(rotations), 3):
        raise errors.InvalidValue("a posture has one rotation and one translation a link")
    if not (np.isfinite(rotations).all() and np.isfinite(translations).all()):
        raise errors.InvalidValue("a posture is finite")
    obstacles = tuple(use_field_labels(_require_text(text)) for text in _require_list(tree["obstacles"]))
    return DraggedPosture(
        rotations, translations, tree["converged"] is True, _require_number(tree["distance"]), obstacles
    )


def _parse_run(run: Any) -> tuple[int, int]:
    first, last = (_require_integer(value) for value in _require_list(run))
    if not 0 <= first <= last:
        raise errors.InvalidValue("the last frame of a run lies before its first")
    return first, last


def _require_list(value: Any) -> list:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _require_integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not an integer")
    return value


def _require_number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError("not a number")
    return float(value)
