"""Timeline markers at failed checks, named by check and link or contact; removed as soon as the rig changes."""

from __future__ import annotations

import bpy
import numpy as np

from ..base.scene_rigs import find_rigs
from ..base.solver_api import SceneSummary, display_name
from ..jobs.job_messages import MARKERS, JobMessage, dismiss_message, find_message, store_message
from ..scene.action import frames_at

MARKER_PREFIX = "✗"
"""First character of the add-on's markers; the user's markers are not changed."""


def mark_failures(scene: bpy.types.Scene, body: bpy.types.Object, summary: SceneSummary, fingerprint: str) -> None:
    """Mark the first failure of every check, and the start of every other failing interval; true of a rig with this
    fingerprint.

    If the scene has several rigs, the markers contain the rig's name.
    """
    clear_failure_markers(scene, body)
    names: dict[int, list[str]] = {}
    for failure in summary.failures:
        names.setdefault(_frame_at(scene, failure.time), []).append(f"{failure.check}: {display_name(failure.item)}")
    for start, stop in summary.ranges:
        if not any(start - 1e-6 <= failure.time <= stop + 1e-6 for failure in summary.failures):
            names.setdefault(_frame_at(scene, start), [])
    prefix = f"{body.name}: " if len(find_rigs(scene)) > 1 else ""
    marker_names = {frame: f"{MARKER_PREFIX} {prefix}{', '.join(found)}".rstrip(": ") for frame, found in names.items()}
    for frame, name in marker_names.items():
        scene.timeline_markers.new(name, frame=frame)
    if marker_names:
        store_message(
            scene, body, MARKERS, JobMessage("", "bad", tuple(marker_names.values()), fingerprint=fingerprint)
        )


def find_failure_markers(scene: bpy.types.Scene, body: bpy.types.Object | None) -> list[bpy.types.TimelineMarker]:
    """Markers of a rig's checks, and those of deleted rigs."""
    messages = [find_message(scene, rig, MARKERS) for rig in find_rigs(scene) if rig != body]
    others = {name for item in messages if item is not None for name in item.failures.splitlines()}
    return [
        marker
        for marker in scene.timeline_markers
        if marker.name.startswith(MARKER_PREFIX) and marker.name not in others
    ]


def clear_failure_markers(scene: bpy.types.Scene, body: bpy.types.Object | None) -> None:
    """Remove the markers of a rig's checks."""
    for marker in find_failure_markers(scene, body):
        scene.timeline_markers.remove(marker)
    dismiss_message(scene, body, MARKERS)


def _frame_at(scene: bpy.types.Scene, time: float) -> int:
    return round(float(frames_at(scene, np.array(time))))
