"""Elements of several panels: the last message, and wrapped text."""

from __future__ import annotations

from typing import Any

import bpy

from ..base.bpy_access import scene
from ..base.scene_rigs import active_rig
from ..jobs.job_messages import STATUSES, StoredMessage, find_latest_message
from ..live.control import LiveCheck

STATUS_ICONS: dict[str, Any] = {verdict: icon for verdict, _, _, icon, _ in STATUSES}
MARGIN_WIDTH, ICON_WIDTH = 56.0, 20.0
"""[px] Width of the margins of a text in a box, and of its icon, at scale 1."""
UNKNOWN_WIDTH = 380.0
"""[px] Width of a panel without a region."""
MESSAGE_WIDTH = 0.88
"""Fraction of the width for a message beside its Dismiss button."""
SHOWN_LINES = 4
"""Number of lines of a message that are shown while it is folded."""


def draw_rig_problem(context: bpy.types.Context, layout: bpy.types.UILayout, body: bpy.types.Object) -> None:
    """Draw what prevents work with a rig, if anything does."""
    from ..scene.armature import rig_problem

    problem = rig_problem(body)
    if problem:
        box = layout.box()
        box.alert = True
        draw_wrapped(context, box.column(align=True), problem, icon="ERROR")


def draw_latest_message(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw the latest message about the active rig, unless it is a verdict about another state of it."""
    item = find_latest_message(scene(context), active_rig(context))
    if item is not None and (not item.fingerprint or LiveCheck.confirms(scene(context), item)):
        _draw_stored_message(context, layout, item)


def _draw_stored_message(context: bpy.types.Context, layout: bpy.types.UILayout, item: StoredMessage) -> None:
    """Draw a message in one sentence, and its failures and notes when it is unfolded; then it can be dismissed."""
    box = layout.box()
    row = box.row()
    failures, notes = item.failures.splitlines(), item.notes.splitlines()
    long = draw_wrapped(
        context,
        row.column(align=True),
        item.message,
        icon=STATUS_ICONS[item.verdict],
        width_fraction=MESSAGE_WIDTH,
        most_lines=None if item.unfolded else SHOWN_LINES,
    )
    folds = long > 0 or failures or notes or item.unfolded
    if item.unfolded or not folds:
        row.operator("exciting_dance.forget_message", text="", icon="X", emboss=False).place = item.place
    if folds:
        icon: Any = "DOWNARROW_HLT" if item.unfolded else "RIGHTARROW"
        row = box.row()
        row.alignment = "LEFT"
        row.prop(item, "unfolded", text=_describe_details(len(failures), len(notes)), icon=icon, emboss=False)
    if item.unfolded:
        for texts, active in ((failures, True), (notes, False)):
            column = box.column(align=True)
            column.active = active
            for text in texts:
                draw_wrapped(context, column, text, icon="DOT")


def _describe_details(failures: int, notes: int) -> str:
    """Label of a message's fold."""
    parts = [f"{failures} warning{'s' * (failures > 1)}"] if failures else []
    parts += [f"{notes} note{'s' * (notes > 1)}"] if notes else []
    return f"Details: {' and '.join(parts)}" if parts else "Details"


def tall_row(layout: bpy.types.UILayout, scale: float = 1.3) -> bpy.types.UILayout:
    """A row for a panel's main buttons, which are higher than others."""
    row = layout.row(align=True)
    row.scale_y = scale
    return row


def draw_fields(layout: bpy.types.UILayout, owner: Any, *names: str) -> bpy.types.UILayout:
    """Draw properties of an owner in a column, each beside its name; returns the column."""
    column = layout.column(align=True)
    column.use_property_split, column.use_property_decorate = True, False
    for name in names:
        column.prop(owner, name)
    return column


def draw_wrapped(
    context: bpy.types.Context,
    column: bpy.types.UILayout,
    text: str,
    *,
    icon: Any,
    width_fraction: float = 1.0,
    most_lines: int | None = None,
) -> int:
    """Draw a text, wrapped to the panel's width or a fraction of it, and cut after ``most_lines``.

    Returns:
        by how many lines the text is longer; negative if it is shorter.
    """
    region, system, bare = context.region, context.preferences.system, icon == "NONE"
    width = region.width / system.ui_scale if region else UNKNOWN_WIDTH
    lines = wrap_text(text, width_fraction * (width - MARGIN_WIDTH) - (0.0 if bare else ICON_WIDTH))
    shown = lines[:most_lines]
    for index, line in enumerate(shown):
        cut = " ..." * (line is shown[-1] and len(lines) > len(shown))
        column.label(text=f"{line}{cut}", icon="BLANK1" if index and not bare else icon)
    return len(lines) - (most_lines or len(lines))


def wrap_text(text: str, width: float) -> list[str]:
    """Lines of a text that are no wider than a width [px] at scale 1, in the font of Blender's panels."""
    import blf  # not when the extension is enabled, like all that draws

    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points)
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and blf.dimensions(0, longer)[0] > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
