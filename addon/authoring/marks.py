"""Timeline markers on what fails, named by check and culprit; replaced at every check."""

from __future__ import annotations

import bpy
import numpy as np

from ..action import frames_at
from ..values import SceneSummary, spoken

SIGN = "✗"
"""First letter of the add-on's own markers: the user's stay."""


def mark_failures(scene: bpy.types.Scene, summary: SceneSummary) -> int:
    """Mark the first failure of every check, and the start of every other failing span; how many markers."""
    clear_marks(scene)
    names: dict[int, list[str]] = {}
    for failure in summary.failures:
        names.setdefault(_frame(scene, failure.time), []).append(f"{failure.check}: {spoken(failure.item)}")
    for start, stop in summary.ranges:
        if not any(start - 1e-6 <= failure.time <= stop + 1e-6 for failure in summary.failures):
            names.setdefault(_frame(scene, start), [])
    for frame, found in names.items():
        scene.timeline_markers.new(f"{SIGN} {', '.join(found)}".rstrip(), frame=frame)
    return len(names)


def marks_of(scene: bpy.types.Scene) -> list[bpy.types.TimelineMarker]:
    """The markers that a check set."""
    return [marker for marker in scene.timeline_markers if marker.name.startswith(SIGN)]


def clear_marks(scene: bpy.types.Scene) -> None:
    """Remove them."""
    for marker in marks_of(scene):
        scene.timeline_markers.remove(marker)


def _frame(scene: bpy.types.Scene, time: float) -> int:
    return round(float(frames_at(scene, np.array(time))))
