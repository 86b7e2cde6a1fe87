"""How hard each move of a designed dance is, kept with its action, and listed in a panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import bpy

from . import bpy_access as typed

if TYPE_CHECKING:
    from .solver_api import SceneMove


def _on_move_selected(moves: DanceMoves, context: bpy.types.Context) -> None:
    """Show the beginning of the move that is chosen in the list."""
    from .action import set_frame

    if (move := active_move(moves)) is not None:
        set_frame(typed.scene(context), move.first)


class DanceMove(bpy.types.PropertyGroup):
    """One move; its name is that of the posture to which it leads."""

    first: bpy.props.FloatProperty(name="First", description="Frame at which it begins")  # type: ignore[valid-type]
    last: bpy.props.FloatProperty(name="Last", description="Frame at which it ends")  # type: ignore[valid-type]
    score: bpy.props.IntProperty(name="Difficulty", description="From 1, easy, to 5")  # type: ignore[valid-type]
    difficulty: bpy.props.StringProperty(name="Difficulty", description="In words")  # type: ignore[valid-type]


class DanceMoves(bpy.types.PropertyGroup):
    """Those of an action, in order."""

    rows: bpy.props.CollectionProperty(type=DanceMove)  # type: ignore[valid-type]
    index: bpy.props.IntProperty(name="Move", description="Go to where this move begins", update=_on_move_selected)  # type: ignore[valid-type]


def active_move(moves: DanceMoves) -> DanceMove | None:
    """The move of the active row; None without one."""
    return moves.rows[moves.index] if 0 <= moves.index < len(moves.rows) else None


def find_moves(body: bpy.types.Object) -> DanceMoves | None:
    """The moves of what a rig dances, as it was designed; None where nothing dances."""
    action = body.animation_data.action if body.animation_data else None
    return getattr(action, "exciting_dance_moves", None)  # an add-on that is not registered keeps none


def store_moves(scene: bpy.types.Scene, body: bpy.types.Object, moves: Sequence[SceneMove]) -> None:
    """Keep moves with what a rig dances, instead of those that it had."""
    import numpy as np

    from .action import frames_at

    kept = find_moves(body)
    if kept is None:
        return
    kept.rows.clear()
    for move in moves:
        row = kept.rows.add()
        row.name, row.score, row.difficulty = move.name, move.score, move.difficulty
        row.first, row.last = frames_at(scene, np.array([move.start, move.stop]))


def register() -> None:
    """Give every action a list; only designed dances fill it."""
    bpy.types.Action.exciting_dance_moves = bpy.props.PointerProperty(type=DanceMoves)  # type: ignore[attr-defined]


def unregister() -> None:
    """Take it away."""
    del bpy.types.Action.exciting_dance_moves  # type: ignore[attr-defined]


CLASSES = (DanceMove, DanceMoves)
