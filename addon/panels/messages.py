"""What several panels show alike: the running job, what the last one said, and words in lines."""

from __future__ import annotations

import textwrap
from typing import Any

import bpy

from ..jobs import Current
from ..scene_rigs import rig_in
from ..told import VERDICTS, told
from ..typed import scene

ICONS: dict[str, Any] = {verdict: icon for verdict, _, _, icon, _ in VERDICTS}
LETTER, MARGIN, ICON = 6.0, 56.0, 20.0
"""[px] of a letter of a panel, of what stands beside a text in a box, and of its icon, at scale 1."""
BESIDE = 0.88
"""Share of the width that a message has beside the button that dismisses it."""
LINES = 5
"""Failures that are shown while the notes are folded away."""


def running(layout: bpy.types.UILayout, place: str) -> bool:
    """Show the job of this panel, if it runs; whether it does."""
    job = Current.job
    if job is None or job.place != place:
        return False
    row = layout.row(align=True)
    row.progress(factor=job.fraction, text=f"{job.title}: {job.message}")
    row.operator("exciting_dance.cancel", text="", icon="X")
    return True


def in_the_way(context: bpy.types.Context, layout: bpy.types.UILayout, body: bpy.types.Object) -> None:
    """Show why nothing can be done with a rig as it is, if that is so."""
    from ..armature import trouble

    why = trouble(body)
    if why:
        box = layout.box()
        box.alert = True
        write(context, box.column(align=True), why, icon="ERROR")


def said(context: bpy.types.Context, layout: bpy.types.UILayout, place: str) -> None:
    """Show what the last job of this panel said of the rig that is meant: whole, until it is dismissed."""
    item = told(scene(context), rig_in(context), place)
    if item is None:
        return
    box = layout.box()
    row = box.row()
    write(context, row.column(align=True), item.message, icon=ICONS[item.verdict], share=BESIDE)
    row.operator("exciting_dance.forget_message", text="", icon="X", emboss=False).place = place
    failures, notes = item.failures.splitlines(), item.notes.splitlines()
    column = box.column(align=True)
    for words in failures if item.unfolded else failures[:LINES]:
        write(context, column, words, icon="DOT")
    more = [f"{len(failures) - LINES} more"] if len(failures) > LINES else []
    more += [f"{len(notes)} note{'s' if len(notes) > 1 else ''}"] if notes else []
    if more:
        icon: Any = "DOWNARROW_HLT" if item.unfolded else "RIGHTARROW"
        row = box.row()
        row.alignment = "LEFT"
        row.prop(item, "unfolded", text=" and ".join(more), icon=icon, emboss=False)
    if item.unfolded:
        column = box.column(align=True)
        column.active = False
        for words in notes:
            write(context, column, words, icon="DOT")


def write(context: bpy.types.Context, column: bpy.types.UILayout, words: str, *, icon: Any, share: float = 1.0) -> None:
    """A text in as many lines as the panel's width, or a share of it, needs."""
    region, bare = context.region, icon == "NONE"
    width = letters(region.width / context.preferences.system.ui_scale, share, bare=bare) if region else 60
    for index, line in enumerate(textwrap.wrap(words, width) or [""]):
        column.label(text=line, icon="BLANK1" if index and not bare else icon)


def letters(width: float, share: float = 1.0, *, bare: bool = False) -> int:
    """How many letters fit into a line.

    Args:
        width: [px] of the sidebar, at scale 1.
        share: of the panel's width that the text has.
        bare: without an icon before it.
    """
    return max(16, int((share * (width - MARGIN) - (0.0 if bare else ICON)) / LETTER))
