"""Difficulty of each move of a designed dance, stored with its action and listed in a panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import bpy

from ..base import bpy_access

if TYPE_CHECKING:
    from ..base.solver_api import SceneMove


HARDEST = 5
"""Largest difficulty."""


def _on_move_selected(moves: DanceMoves, context: bpy.types.Context) -> None:
    """Go to the start of the move that is selected in the list."""
    from .action import set_frame

    if (move := active_move(moves)) is not None:
        set_frame(bpy_access.scene(context), move.first)


class DanceMove(bpy.types.PropertyGroup):
    """One move; the group's name is the name of the posture to which the move leads."""

    first: bpy.props.FloatProperty(name="First", description="First frame of the move")  # type: ignore[valid-type]
    last: bpy.props.FloatProperty(name="Last", description="Last frame of the move")  # type: ignore[valid-type]
    score: bpy.props.IntProperty(name="Difficulty", description="Difficulty from 1 (easy) to 5")  # type: ignore[valid-type]
    difficulty: bpy.props.StringProperty(name="Difficulty", description="Difficulty in words")  # type: ignore[valid-type]
    moving: bpy.props.StringProperty(name="Moving", description="Parts of the body that move most")  # type: ignore[valid-type]


class DanceMoves(bpy.types.PropertyGroup):
    """Moves of an action, in order."""

    rows: bpy.props.CollectionProperty(type=DanceMove)  # type: ignore[valid-type]
    index: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Move", description="Active move; selecting it goes to its first frame", update=_on_move_selected
    )


def active_move(moves: DanceMoves) -> DanceMove | None:
    """The selected move; None without one."""
    return moves.rows[moves.index] if 0 <= moves.index < len(moves.rows) else None


def find_moves(body: bpy.types.Object) -> DanceMoves | None:
    """Moves of a rig's action; None without an action."""
    action = body.animation_data.action if body.animation_data else None
    return getattr(action, "exciting_dance_moves", None)  # missing if the add-on is not registered


def store_moves(scene: bpy.types.Scene, body: bpy.types.Object, moves: Sequence[SceneMove]) -> None:
    """Store moves with a rig's action, replacing earlier ones."""
    import numpy as np

    from ..base.solver_api import display_name, join_names
    from .action import frames_at

    kept = find_moves(body)
    if kept is None:
        return
    kept.rows.clear()
    for move in moves:
        row = kept.rows.add()
        row.name, row.score, row.difficulty = move.name, move.score, move.difficulty
        row.moving = join_names([display_name(part) for part in move.moving])
        row.first, row.last = frames_at(scene, np.array([move.start, move.stop]))


def register() -> None:
    """Add the list to all actions; only designed dances fill it."""
    bpy.types.Action.exciting_dance_moves = bpy.props.PointerProperty(type=DanceMoves)  # type: ignore[attr-defined]


def unregister() -> None:
    """Remove the list."""
    del bpy.types.Action.exciting_dance_moves  # type: ignore[attr-defined]


CLASSES = (DanceMove, DanceMoves)
