"""The dialog of a job that shows which bone is which part of a person, to be corrected before the job starts."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import bpy

from ..base import bpy_access
from ..base.bpy_access import Status
from ..base.solver_api import person

DIALOG_WIDTH, LINE_LENGTH, LABEL_WIDTH = 460, 70, 0.2
"""[px] Width of the dialog, characters in a line of it, and fraction of its width for labels."""
PART_ROWS = (
    *((name.title(), (name,)) for name in person.LINKS[:3]),
    *((name.replace("_", " ").title(), (f"left_{name}", f"right_{name}")) for chain in person.CHAINS for name in chain),
)
"""Rows of the dialog: label, and the parts in it, left before right."""


def _part_properties() -> dict[str, Any]:
    """A text property for each part of a person: the name of its bone."""
    return {
        part: bpy.props.StringProperty(
            name=part.replace("_", " ").title(), description="Bone of this part; empty: none", options={"SKIP_SAVE"}
        )
        for part in person.LINKS
    }


class PartsDialog:
    """Mix-in of a job about an armature with parts of a person, which must come before the job's own class."""

    approved: bpy.props.BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # type: ignore[valid-type]
    """Whether the bones were shown, so that an empty one means that there is no such part."""
    __annotations__.update(_part_properties())

    def ask(
        self, context: bpy.types.Context, armature: bpy.types.Object, parts: Mapping[str, str] | None, words: str
    ) -> Status:
        """Show the bones of the parts, unless these are known, and what else is to be known, for approval."""
        for part in person.LINKS:
            setattr(self, part, (parts or {}).get(part, ""))
        self.approved, self._armature, self._words = parts is not None, armature.name, words
        return context.window_manager.invoke_props_dialog(self, width=DIALOG_WIDTH)  # type: ignore[arg-type]

    def cancel(self, context: bpy.types.Context) -> None:
        """End the job; a dialog that is left has none."""
        if hasattr(self, "_job"):
            super().cancel(context)  # type: ignore[misc]

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the job's own fields, the bone of each part, and the words."""
        layout: bpy.types.UILayout = self.layout  # type: ignore[attr-defined]
        self.draw_fields(context, layout)
        bones = bpy_access.armature(bpy.data.objects[self._armature])
        for label, parts in PART_ROWS if self.approved else ():
            row = layout.split(factor=LABEL_WIDTH, align=True)
            row.label(text=label)
            cells = row.row(align=True)
            for part in parts:
                cells.prop_search(self, part, bones, "bones", text="", icon="BONE_DATA")
        lines = layout.column(align=True)
        for line in wrap(self._words, LINE_LENGTH):
            lines.label(text=line)

    def draw_fields(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """Draw fields of the job."""

    def stated_parts(self) -> list[str]:
        """Options with the bones that the user states or approved."""
        words = [f"{part}={bone}" for part in person.LINKS if (bone := getattr(self, part)) or self.approved]
        return ["--parts", *words] if words else []
