"""Parses the responses of the capture process and checks them, because a line may contain anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..option_labels import use_field_labels
from ..solver_api import ScenePose, errors, parse_json_line, scene_pose

MAX_BYTES = 1 << 22
"""Longest response [bytes]; ordinary ones have some thousand."""
KINDS = ("pose", "state", "note", "kept", "error")


@dataclass(frozen=True, slots=True)
class Response:
    """One response.

    Attributes:
        kind: one of `KINDS`.
        pose: the pose of ``"pose"``.
        state: numbers and texts of ``"state"``.
        message: message for the user.
        folder, name: of a take that was written.
    """

    kind: str
    pose: ScenePose | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    folder: str = ""
    name: str = ""


def parse_response(line: bytes | None) -> Response:
    """Parse a line; None stands for a line that is too long."""
    try:
        tree = parse_json_line(line if line is not None else b"")
        if not isinstance(tree, Mapping) or tree.get("kind") not in KINDS:
            raise errors.InvalidValue("not a response of the capture")
        kind = str(tree["kind"])
        if kind == "pose":
            return Response(kind, pose=scene_pose(tree))
        if kind == "state":
            return Response(kind, state=dict(tree))
        return Response(kind, message=use_field_labels(str(tree.get("message", ""))), folder=str(tree.get("folder",
            "")),
                      name=str(tree.get("name", "")))  # fmt: skip
    except errors.SolverError as error:
        return Response("error", message=f"The capture sent an invalid response ({error})")
