"""Cache of the keyed postures of rigs, which panels and buttons read many times a second.

Counting the postures of an action reads all its keys, which takes 60 ms for a recording of ten minutes. It is repeated
when the action changes. In a window it runs in slices of a few milliseconds from a timer, and the panel shows the
previous counts until it is finished. `timeline.read_key_roles` counts at once, for operators that change keys.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import bpy

from ..base import bpy_access, redraw
from ..base.change_cache import ChangeCounts

if TYPE_CHECKING:
    import numpy as np

CACHE_SIZE = 16
"""Largest number of cached rigs."""
TIME_SLICE, TIMER_INTERVAL, SETTLING_TIME = 0.004, 0.02, 0.2
"""[s] Duration of a slice, interval between slices, and delay of the first slice after the last change."""


@dataclass(frozen=True, slots=True)
class PostureSummary:
    """The postures of a rig's action.

    Attributes:
        roles: role by frame, in order.
        counts: number of postures by role.
        up_to_date: whether they belong to the up_to_date state of the action, not to an earlier one.
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
    """A count in progress: the rig, the state of its action, and the posture keys of the curves read so far."""

    body: int
    state: tuple
    started: float = field(default_factory=time.monotonic)
    posture_keys: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)


class PostureCache:
    """The last results by rig, and the count in progress."""

    summaries: ClassVar[dict[int, tuple[tuple, PostureSummary]]] = {}
    pending: ClassVar[PendingCount | None] = None
    synchronous: ClassVar[bool] = bpy.app.background
    """Whether postures are counted when they are needed, as without a window, where no timer runs."""


def summarise_postures(body: bpy.types.Object) -> PostureSummary:
    """The postures of a rig's action; the previous ones while they are counted again."""
    import numpy as np

    state, uid = _action_state(body), body.session_uid
    cached = PostureCache.summaries.get(uid)
    if cached is not None and cached[0] == state:
        return cached[1]
    if PostureCache.pending is None or (PostureCache.pending.body, PostureCache.pending.state) != (uid, state):
        PostureCache.pending = PendingCount(uid, state)
        if not PostureCache.synchronous and not bpy.app.timers.is_registered(_tick):
            bpy.app.timers.register(_tick, first_interval=TIMER_INTERVAL)
    if PostureCache.synchronous:
        while not continue_count(np.inf):
            pass
        return PostureCache.summaries[uid][1]
    return replace(cached[1], up_to_date=False) if cached is not None else _summarise({}, current=False)


def continue_count(seconds: float = TIME_SLICE) -> bool:
    """Continue the count for some time [s]; whether it is finished."""
    from .pose_sampling import pose_curves
    from .timeline import merge_roles, posture_keys

    count, end = PostureCache.pending, time.perf_counter() + seconds
    body = None if count is None else next((b for b in bpy.data.objects if b.session_uid == count.body), None)
    if count is None or body is None or _action_state(body) != count.state:  # a new state is counted when needed
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
    pending = PostureCache.pending
    if pending is not None and time.monotonic() - pending.started < SETTLING_TIME:  # keys may still be dragged
        return TIMER_INTERVAL
    if not continue_count():
        return TIMER_INTERVAL
    redraw.redraw_sidebars()
    return None


def _summarise(roles: dict[float, str], *, current: bool = True) -> PostureSummary:
    from .timeline import ROLE_TYPES

    role_list = list(roles.values())
    counts = {role: role_list.count(role) for role in ROLE_TYPES}
    return PostureSummary(MappingProxyType(roles), MappingProxyType(counts), current)


def _action_state(body: bpy.types.Object) -> tuple:
    """State of a rig's action: cheap to read, and different whenever its postures may differ."""
    from ..scene.action import curves_of

    animation = body.animation_data
    if animation is None or animation.action is None:
        return ()
    action, modes = animation.action, tuple(bone.rotation_mode for bone in bpy_access.pose_bones(body))
    sizes = tuple(len(curve.keyframe_points) for curve in curves_of(body))
    return ChangeCounts.counts["ACTION"], action.session_uid, animation.action_slot_handle, modes, sizes


@bpy.app.handlers.persistent
def _clear(*_: object) -> None:
    PostureCache.summaries.clear()
    PostureCache.pending = None


def register() -> None:
    """Clear the cache when another file is opened."""
    bpy.app.handlers.load_post.append(_clear)


def unregister() -> None:
    """Clear the cache."""
    if _clear in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_clear)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _clear()
