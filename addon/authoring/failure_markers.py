"""Timeline markers on what fails, named by check and culprit; replaced at every check."""

from __future__ import annotations

import bpy
import numpy as np

from ..action import frames_at
from ..job_messages import JobMessage, dismiss_message, find_message, store_message
from ..scene_rigs import find_rigs
from ..solver_api import SceneSummary, display_name

MARKER_PREFIX = "✗"
"""First letter of the add-on's own markers: the user's stay."""


PANEL = "marks"
"""Where it is kept which rig's the markers are, by their names: markers have no properties of their own."""


def mark_failures(scene: bpy.types.Scene, body: bpy.types.Object, summary: SceneSummary) -> int:
    """Mark the first failure of every check of a rig, and the start of every other failing span; how many markers.

    Where the scene has several rigs, the markers name theirs.
    """
    clear_failure_markers(scene, body)
    names: dict[int, list[str]] = {}
    for failure in summary.failures:
        names.setdefault(_frame_at(scene, failure.time), []).append(f"{failure.check}: {display_name(failure.item)}")
    for start, stop in summary.ranges:
        if not any(start - 1e-6 <= failure.time <= stop + 1e-6 for failure in summary.failures):
            names.setdefault(_frame_at(scene, start), [])
    whose = f"{body.name}: " if len(find_rigs(scene)) > 1 else ""
    words = {frame: f"{MARKER_PREFIX} {whose}{', '.join(found)}".rstrip(": ") for frame, found in names.items()}
    for frame, name in words.items():
        scene.timeline_markers.new(name, frame=frame)
    if words:
        store_message(scene, body, PANEL, JobMessage("", "bad", tuple(words.values())))
    return len(names)


def find_failure_markers(scene: bpy.types.Scene, body: bpy.types.Object | None) -> list[bpy.types.TimelineMarker]:
    """The markers that checks of a rig set, and those of rigs that are no more."""
    kept = [find_message(scene, rig, PANEL) for rig in find_rigs(scene) if rig != body]
    others = {name for item in kept if item is not None for name in item.failures.splitlines()}
    return [
        marker
        for marker in scene.timeline_markers
        if marker.name.startswith(MARKER_PREFIX) and marker.name not in others
    ]


def clear_failure_markers(scene: bpy.types.Scene, body: bpy.types.Object | None) -> None:
    """Remove them."""
    for marker in find_failure_markers(scene, body):
        scene.timeline_markers.remove(marker)
    dismiss_message(scene, body, PANEL)


def _frame_at(scene: bpy.types.Scene, time: float) -> int:
    return round(float(frames_at(scene, np.array(time))))
