"""What a rig has keyed, known between redraws: panels and buttons ask for it many times a second.

Counting the postures of an action reads every key of it. That is done again when Blender says that an action changed,
or when a number that is cheap to read did; `timeline.key_roles` counts anew each time, for work that changes keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import bpy

from .. import typed
from ..action import curves_of
from .timeline import ROLE_TYPES, SAME_FRAME, key_roles

KEPT = 16
"""Rigs that are remembered."""
Handler = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Keyed:
    """The postures of a rig's action.

    Attributes:
        roles: by frame, in order.
        counts: how many of each role.
    """

    roles: Mapping[float, str]
    counts: Mapping[str, int]

    def at(self, frame: float) -> str:
        """Role of the posture at a frame; empty between postures."""
        if frame in self.roles:
            return self.roles[frame]
        return next((role for key, role in self.roles.items() if abs(key - frame) < SAME_FRAME), "")


class Known:
    """What was counted last, by rig, and how often an action has changed."""

    changes: ClassVar[int] = 0
    rigs: ClassVar[dict[int, tuple[tuple, Keyed]]] = {}


def keyed(body: bpy.types.Object) -> Keyed:
    """The postures of a rig's action, counted when it changed."""
    mark, uid = _mark(body), body.session_uid
    if uid not in Known.rigs or Known.rigs[uid][0] != mark:
        roles = key_roles(body)
        every = list(roles.values())
        counts = {role: every.count(role) for role in ROLE_TYPES}
        while len(Known.rigs) >= KEPT:
            Known.rigs.pop(next(iter(Known.rigs)))
        Known.rigs[uid] = mark, Keyed(MappingProxyType(roles), MappingProxyType(counts))
    return Known.rigs[uid][1]


def _mark(body: bpy.types.Object) -> tuple:
    """What is cheap to read and differs where other keys count."""
    animation = body.animation_data
    if animation is None or animation.action is None:
        return ()
    action, modes = animation.action, tuple(bone.rotation_mode for bone in typed.pose_bones(body))
    sizes = tuple(len(curve.keyframe_points) for curve in curves_of(body))
    return Known.changes, action.session_uid, animation.action_slot_handle, modes, sizes


def _on_change(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    if graph is None or graph.id_type_updated("ACTION"):
        Known.changes += 1


@bpy.app.handlers.persistent
def _on_another(*_: object) -> None:
    Known.changes += 1
    Known.rigs.clear()


HANDLERS: tuple[tuple[str, Handler], ...] = (
    ("depsgraph_update_post", bpy.app.handlers.persistent(_on_change)),
    ("undo_post", _on_another),
    ("redo_post", _on_another),
    ("load_post", _on_another),
)


def register() -> None:
    """Have Blender tell when an action changed."""
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Count anew from now on."""
    for name, handler in HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
    Known.rigs.clear()
