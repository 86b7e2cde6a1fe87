"""The postures that a rig has keyed, known between redraws: panels and buttons use them many times a second.

Counting the postures of an action reads every key of it: 60 ms for a recording of ten minutes. It is done again when
the action changed. In a window the count goes on in the background, a few milliseconds at a time, and the panel shows
the counts from before until it is done. `timeline.read_key_roles` counts at once, for work that changes keys.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import bpy

from .. import bpy_access as typed
from .. import redraw
from ..change_cache import ChangeCounts

if TYPE_CHECKING:
    import numpy as np

CACHE_SIZE = 16
"""Rigs that are remembered."""
TIME_SLICE, TIMER_INTERVAL, SETTLING_TIME = 0.004, 0.02, 0.2
"""[s] of counting at a time, between two of them, and after the last change before the first."""


@dataclass(frozen=True, slots=True)
class PostureSummary:
    """The postures of a rig's action.

    Attributes:
        roles: by frame, in order.
        counts: how many of each role.
        up_to_date: whether they are those of the action as it is now; otherwise as it was before its last change.
    """

    roles: Mapping[float, str]
    counts: Mapping[str, int]
    up_to_date: bool = True

    def role_at(self, frame: float) -> str:
        """Role of the posture at a frame; empty between postures."""
        from .timeline import FRAME_TOLERANCE

        if frame in self.roles:
            return self.roles[frame]
        return next((role for key, role in self.roles.items() if abs(key - frame) < FRAME_TOLERANCE), "")


@dataclass(slots=True)
class PendingCount:
    """A count that goes on: of which rig, of its action in which state, and the posture keys of its first curves."""

    body: int
    state: tuple
    started: float = field(default_factory=time.monotonic)
    posture_keys: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)


class PostureCache:
    """What was counted last, by rig, and the count that goes on."""

    summaries: ClassVar[dict[int, tuple[tuple, PostureSummary]]] = {}
    pending: ClassVar[PendingCount | None] = None
    synchronous: ClassVar[bool] = bpy.app.background
    """Whether it is counted when it is needed: without a window nobody waits, and nothing runs between."""


def summarise_postures(body: bpy.types.Object) -> PostureSummary:
    """The postures of a rig's action; those from before its last change while they are counted again."""
    import numpy as np

    mark, uid = _action_state(body), body.session_uid
    known = PostureCache.summaries.get(uid)
    if known is not None and known[0] == mark:
        return known[1]
    if PostureCache.pending is None or (PostureCache.pending.body, PostureCache.pending.state) != (uid, mark):
        PostureCache.pending = PendingCount(uid, mark)
        if not PostureCache.synchronous and not bpy.app.timers.is_registered(_tick):
            bpy.app.timers.register(_tick, first_interval=TIMER_INTERVAL)
    if PostureCache.synchronous:
        while not continue_count(np.inf):
            pass
        return PostureCache.summaries[uid][1]
    return replace(known[1], up_to_date=False) if known is not None else _summarise({}, current=False)


def continue_count(seconds: float = TIME_SLICE) -> bool:
    """Go on with the count for some time; whether nothing is left to count."""
    from .pose_sampling import pose_curves
    from .timeline import merge_roles, posture_keys

    count, end = PostureCache.pending, time.perf_counter() + seconds
    body = None if count is None else next((b for b in bpy.data.objects if b.session_uid == count.body), None)
    if (
        count is None or body is None or _action_state(body) != count.state
    ):  # what it is now is counted when it is asked for
        PostureCache.pending = None
        return True
    curves = pose_curves(body)
    for curve in curves[len(count.posture_keys) :]:
        count.posture_keys.append(posture_keys(curve))
        if time.perf_counter() > end:
            break
    if len(count.posture_keys) < len(curves):
        return False
    while len(PostureCache.summaries) >= CACHE_SIZE:
        PostureCache.summaries.pop(next(iter(PostureCache.summaries)))
    PostureCache.summaries[count.body], PostureCache.pending = (
        (count.state, _summarise(merge_roles(count.posture_keys))),
        None,
    )
    return True


def _tick() -> float | None:
    if (
        PostureCache.pending is not None and time.monotonic() - PostureCache.pending.started < SETTLING_TIME
    ):  # keys are being dragged
        return TIMER_INTERVAL
    if not continue_count():
        return TIMER_INTERVAL
    redraw.redraw_sidebars()
    return None


def _summarise(roles: dict[float, str], *, current: bool = True) -> PostureSummary:
    from .timeline import ROLE_TYPES

    every = list(roles.values())
    counts = {role: every.count(role) for role in ROLE_TYPES}
    return PostureSummary(MappingProxyType(roles), MappingProxyType(counts), current)


def _action_state(body: bpy.types.Object) -> tuple:
    """What is cheap to read and differs where other keys count."""
    from ..action import curves_of

    animation = body.animation_data
    if animation is None or animation.action is None:
        return ()
    action, modes = animation.action, tuple(bone.rotation_mode for bone in typed.pose_bones(body))
    sizes = tuple(len(curve.keyframe_points) for curve in curves_of(body))
    return ChangeCounts.counts["ACTION"], action.session_uid, animation.action_slot_handle, modes, sizes


@bpy.app.handlers.persistent
def _clear(*_: object) -> None:
    PostureCache.summaries.clear()
    PostureCache.pending = None


def register() -> None:
    """Forget another file's rigs."""
    bpy.app.handlers.load_post.append(_clear)


def unregister() -> None:
    """Forget all."""
    if _clear in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_clear)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _clear()
