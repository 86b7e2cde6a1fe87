"""Subpanel Moves of Author: difficulty of each move."""

from __future__ import annotations

from typing import Any

import bpy

from ..base.bpy_access import require
from ..base.scene_rigs import active_rig
from ..scene.dance_moves import HARDEST, DanceMove, active_move, find_moves
from .base import AuthorPanel, SimpleList, capitalised_name
from .messages import draw_wrapped


class EXCITING_DANCE_UL_moves(SimpleList, bpy.types.UIList):  # type: ignore[misc]
    """Moves of a designed dance, with their end postures and difficulties."""

    bl_idname = "EXCITING_DANCE_UL_moves"

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw a row."""
        split = layout.split(factor=0.8)
        split.label(text=describe_move(item))
        split.label(text=f"{item.score} of {HARDEST}")


class EXCITING_DANCE_PT_moves(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Difficulty of each move of a designed dance"""

    bl_label = "Moves"
    bl_parent_id = "EXCITING_DANCE_PT_design"

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether the rig has a designed dance."""
        moves = find_moves(require(active_rig(context), "rig")) if super().has_content(context) else None
        return moves is not None and bool(len(moves.rows))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, moves = (
            require(self.layout, "layout"),
            require(find_moves(require(active_rig(context), "rig")), "moves"),
        )
        layout.label(text="Move, difficulty")
        layout.template_list("EXCITING_DANCE_UL_moves", "", moves, "rows", moves, "index", rows=5)
        if (move := active_move(moves)) is not None:  # a narrow list truncates the text
            draw_wrapped(context, layout.column(align=True), f"{describe_move(move)}: {move.difficulty}", icon="INFO")


def describe_move(move: DanceMove) -> str:
    """Name of a move: the posture that it leads to, and what moves most."""
    name = capitalised_name(move.name)
    return f"{name}: {move.moving}" if move.moving else name


CLASSES = (EXCITING_DANCE_UL_moves, EXCITING_DANCE_PT_moves)
