"""Comparison of a performance with its dance: numbers in the panel's list, the report as a text data-block."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..base.bpy_access import scene
from ..base.solver_api import dance_folder, errors, read_json
from ..jobs.job_messages import JobMessage, store_message

TEXT_NAME = "Performance report"
PANEL = "performance"
"""Panel name under which the numbers are stored; the message itself belongs to the dance panel."""
COLUMNS = ("rmse", "offset", "correlation", "gain")


def show_performance(context: bpy.types.Context, body: bpy.types.Object, folder: Path) -> JobMessage:
    """Fill the list of joints, worst first, and show the report; returns the message for the panel.

    Raises:
        InputError: the folder contains no such result.
    """
    path = folder / dance_folder.PERFORMANCE_FILE
    tree = read_json(path, "Compare again")
    try:
        report = (folder / dance_folder.REPORT_FILE).read_text(encoding="utf-8")
        joints = [(str(j["joint"]), {name: float(j[name] or 0.0) for name in COLUMNS}) for j in tree["joints"]]
        message, notes = str(tree["message"]), [str(note) for note in tree["notes"]]
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise errors.InputError(path, f"cannot be read ({error})", remedy="Compare again") from None
    stored = store_message(scene(context), body, PANEL, JobMessage(message))
    for joint, numbers in sorted(joints, key=lambda row: -row[1]["rmse"]):
        item = stored.joints.add()
        item.name = joint
        for name, value in numbers.items():
            setattr(item, name, value)
    _show_text(context, report)
    return JobMessage(message, notes=tuple(notes))


def _show_text(context: bpy.types.Context, report: str) -> None:
    text = bpy.data.texts.get(TEXT_NAME) or bpy.data.texts.new(TEXT_NAME)
    text.from_string(report)
    text.cursor_set(0)
    for area in context.screen.areas if context.screen else ():
        if area.type == "TEXT_EDITOR":
            area.spaces.active.text = text  # type: ignore[union-attr]
