"""What the child of a capture says, line by line: read with care, for it may be anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..option_labels import use_field_labels
from ..solver_api import ScenePose, errors, parse_json_line, scene_pose

MAX_BYTES = 1 << 22
"""Bytes of an answer; those of ours have some thousand."""
KINDS = ("pose", "state", "told", "kept", "error")


@dataclass(frozen=True, slots=True)
class Response:
    """One answer.

    Attributes:
        kind: one of `KINDS`.
        pose: of ``"pose"``.
        state: numbers and words of ``"state"``.
        message: what to tell.
        folder, name: of a take that was kept.
    """

    kind: str
    pose: ScenePose | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    folder: str = ""
    name: str = ""


def parse_response(line: bytes | None) -> Response:
    """What a line says; None is one too long to be kept."""
    try:
        tree = parse_json_line(line if line is not None else b"")
        if not isinstance(tree, Mapping) or tree.get("kind") not in KINDS:
            raise errors.InvalidValue("no answer of a capture")
        kind = str(tree["kind"])
        if kind == "pose":
            return Response(kind, pose=scene_pose(tree))
        if kind == "state":
            return Response(kind, state=dict(tree))
        return Response(kind, message=use_field_labels(str(tree.get("message", ""))), folder=str(tree.get("folder",
            "")),
                      name=str(tree.get("name", "")))  # fmt: skip
    except errors.SolverError as error:
        return Response("error", message=f"The capture said what is no answer ({error})")
