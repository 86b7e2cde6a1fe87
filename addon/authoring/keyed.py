"""The postures that a rig has keyed, known between redraws: panels and buttons use them many times a second.

Counting the postures of an action reads every key of it: 60 ms for a recording of ten minutes. It is done again when
the action changed. In a window the count goes on in the background, a few milliseconds at a time, and the panel shows
the counts from before until it is done. `timeline.key_roles` counts at once, for work that changes keys.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import bpy

from .. import redraw, typed
from ..changes import Changes

if TYPE_CHECKING:
    import numpy as np

KEPT = 16
"""Rigs that are remembered."""
SLICE, PAUSE, SETTLED = 0.004, 0.02, 0.2
"""[s] of counting at a time, between two of them, and after the last change before the first."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """The postures of a rig's action.

    Attributes:
        roles: by frame, in order.
        counts: how many of each role.
        current: whether they are those of the action as it is now; otherwise as it was before its last change.
    """

    roles: Mapping[float, str]
    counts: Mapping[str, int]
    current: bool = True

    def at(self, frame: float) -> str:
        """Role of the posture at a frame; empty between postures."""
        from .timeline import SAME_FRAME

        if frame in self.roles:
            return self.roles[frame]
        return next((role for key, role in self.roles.items() if abs(key - frame) < SAME_FRAME), "")


@dataclass(slots=True)
class Count:
    """A count that goes on: of which rig, of its action in which state, and the posture keys of its first curves."""

    body: int
    mark: tuple
    begun: float = field(default_factory=time.monotonic)
    keys: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)


class Known:
    """What was counted last, by rig, and the count that goes on."""

    rigs: ClassVar[dict[int, tuple[tuple, Keyed]]] = {}
    count: ClassVar[Count | None] = None
    at_once: ClassVar[bool] = bpy.app.background
    """Whether it is counted when it is needed: without a window nobody waits, and nothing runs between."""


def keyed(body: bpy.types.Object) -> Keyed:
    """The postures of a rig's action; those from before its last change while they are counted again."""
    import numpy as np

    mark, uid = _mark(body), body.session_uid
    known = Known.rigs.get(uid)
    if known is not None and known[0] == mark:
        return known[1]
    if Known.count is None or (Known.count.body, Known.count.mark) != (uid, mark):
        Known.count = Count(uid, mark)
        if not Known.at_once and not bpy.app.timers.is_registered(_tick):
            bpy.app.timers.register(_tick, first_interval=PAUSE)
    if Known.at_once:
        while not count_on(np.inf):
            pass
        return Known.rigs[uid][1]
    return replace(known[1], current=False) if known is not None else _keyed({}, current=False)


def count_on(seconds: float = SLICE) -> bool:
    """Go on with the count for some time; whether nothing is left to count."""
    from .poses import pose_curves
    from .timeline import posture_keys, roles_of

    count, end = Known.count, time.perf_counter() + seconds
    body = None if count is None else next((b for b in bpy.data.objects if b.session_uid == count.body), None)
    if count is None or body is None or _mark(body) != count.mark:  # what it is now is counted when it is asked for
        Known.count = None
        return True
    curves = pose_curves(body)
    for curve in curves[len(count.keys) :]:
        count.keys.append(posture_keys(curve))
        if time.perf_counter() > end:
            break
    if len(count.keys) < len(curves):
        return False
    while len(Known.rigs) >= KEPT:
        Known.rigs.pop(next(iter(Known.rigs)))
    Known.rigs[count.body], Known.count = (count.mark, _keyed(roles_of(count.keys))), None
    return True


def _tick() -> float | None:
    if Known.count is not None and time.monotonic() - Known.count.begun < SETTLED:  # keys are being dragged
        return PAUSE
    if not count_on():
        return PAUSE
    redraw.sidebars()
    return None


def _keyed(roles: dict[float, str], *, current: bool = True) -> Keyed:
    from .timeline import ROLE_TYPES

    every = list(roles.values())
    counts = {role: every.count(role) for role in ROLE_TYPES}
    return Keyed(MappingProxyType(roles), MappingProxyType(counts), current)


def _mark(body: bpy.types.Object) -> tuple:
    """What is cheap to read and differs where other keys count."""
    from ..action import curves_of

    animation = body.animation_data
    if animation is None or animation.action is None:
        return ()
    action, modes = animation.action, tuple(bone.rotation_mode for bone in typed.pose_bones(body))
    sizes = tuple(len(curve.keyframe_points) for curve in curves_of(body))
    return Changes.counts["ACTION"], action.session_uid, animation.action_slot_handle, modes, sizes


@bpy.app.handlers.persistent
def _forget(*_: object) -> None:
    Known.rigs.clear()
    Known.count = None


def register() -> None:
    """Forget another file's rigs."""
    bpy.app.handlers.load_post.append(_forget)


def unregister() -> None:
    """Forget all."""
    if _forget in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_forget)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _forget()
