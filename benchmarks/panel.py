"""Time of one redraw of the Author panels, in bpy: ``python -m benchmarks.panel``.

A redraw calls every panel's poll and draw, and every shown button's poll, as the window does at each mouse move over
the sidebar. `PollingLayout` takes the place of Blender's layout, which only a window has: it draws nothing and calls
the polls.
Simulated motion of a person: a dance of 82 s with a posture every 4 s, and 10 minutes of tracked motion at 100 Hz.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np

from addon import registration
from addon.authoring import keying, posture_cache
from addon.base import bpy_access
from addon.panels import check_and_repair, contacts, design, live, next_step, performance, postures
from addon.scene import action, armature
from solver.rigs import human
from solver.scene.motion import SceneMotion, scene_motion
from solver.skeleton.rig import Rig
from solver.values.motion import Motion

from .reference import reference_line

DANCE, DANCE_RATE, POSTURE_EVERY = 82.0, 24.0, 4.0
RECORDING, RECORDING_RATE = 600.0, 100.0
SAMPLES = 200
"""Of a motion that is repeated: the cost does not depend on what the keys say."""
REDRAWS = 20
PANELS = (
    next_step.EXCITING_DANCE_PT_next_step,
    live.EXCITING_DANCE_PT_live,
    postures.EXCITING_DANCE_PT_postures,
    contacts.EXCITING_DANCE_PT_contacts,
    design.EXCITING_DANCE_PT_design,
    check_and_repair.EXCITING_DANCE_PT_check,
    performance.EXCITING_DANCE_PT_perform,
)


@dataclass(frozen=True, slots=True)
class RedrawCost:
    """CPU time [ms] of one redraw of the Author panels, as in a window, where keys are counted between redraws.

    Attributes:
        first: of the first redraw after a change.
        later: median of those after it.
        counting: of all the counting between them.
        slice: of the longest time that the counting takes at once.
    """

    first: float
    later: float
    counting: float
    slice: float


class PollingLayout:
    """A layout that draws nothing, and calls the poll of each button as Blender does."""

    def operator(self, name: str, **_: object) -> SimpleNamespace:
        """A button: Blender calls its poll to show it grey."""
        area, _dot, verb = name.partition(".")
        getattr(getattr(bpy.ops, area), verb).poll()
        return SimpleNamespace()

    def prop(self, owner: Any, name: str, **_: object) -> None:
        """A field: its value is read."""
        getattr(owner, name, None)

    def panel(self, _name: str, **_: object) -> tuple[PollingLayout, PollingLayout]:
        """A part that folds, unfolded: its header and its body."""
        return PollingLayout(), PollingLayout()

    def __getattr__(self, name: str) -> Any:
        """Everything else is another layout."""
        return lambda *_, **__: PollingLayout()


def redraw_once() -> float:
    """CPU time [s] of one redraw."""
    start = time.process_time()
    for panel in PANELS:
        if not hasattr(panel, "poll") or panel.poll(bpy.context):
            panel.draw(SimpleNamespace(layout=PollingLayout()), bpy.context)  # type: ignore[arg-type]
    return time.process_time() - start


def redraw_cost(redraws: int = REDRAWS) -> RedrawCost:
    """What a redraw of the scene as it is costs."""
    posture_cache.PostureCache.synchronous, slices = False, []
    first, done = 1e3 * redraw_once(), False
    while not done:
        start = time.process_time()
        done = posture_cache.continue_count()
        slices.append(1e3 * (time.process_time() - start))
    times = [1e3 * redraw_once() for _ in range(redraws)]
    posture_cache.PostureCache.synchronous = bpy.app.background
    return RedrawCost(first, float(np.median(times)), sum(slices), max(slices))


def build_dancing_scene(rig: Rig, seconds: float, rate: float) -> bpy.types.Object:
    """The rig's armature in an empty scene, with a tracked motion of that length, a key a sample."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy_access.scene(bpy.context)
    body = armature.build_armature(bpy.context, rig)
    action.set_frame_rate(scene, rate)
    count = round(seconds * rate) + 1
    q = np.tile(rig.neutral, (SAMPLES, 1))
    still = np.zeros((SAMPLES, rig.nv))
    few = scene_motion(rig, Motion(np.arange(SAMPLES) / rate, q, still, still))
    arrays = {field.name: getattr(few, field.name) for field in fields(SceneMotion)}
    turns = np.arange(count) % SAMPLES
    repeated = {n: v[turns] for n, v in arrays.items() if isinstance(v, np.ndarray) and len(v) == SAMPLES}
    motion = replace(few, **{**repeated, "times": np.arange(count) / rate})
    action.add_motion_action(scene, body, motion, "Motion")
    action.set_frame_range(scene, 1.0, float(count))
    return body


def measure() -> dict[str, RedrawCost]:
    """Measure both motions."""
    rig = human(1.75, 70.0, "male")
    registration.register()
    body = build_dancing_scene(rig, DANCE, DANCE_RATE)
    redraw_once()  # imports what the panels need
    scene = bpy_access.scene(bpy.context)
    for frame in np.arange(1, DANCE * DANCE_RATE, POSTURE_EVERY * DANCE_RATE):
        keying.set_role(body, "preferred", frame=float(int(frame)))
    keying.key_contacts(scene, body, dict.fromkeys(armature.rig_of(body).patches, "sole"))
    bpy_access.view_layer(bpy.context).update()
    found = {f"dance, {DANCE:.0f} s": redraw_cost()}
    build_dancing_scene(rig, RECORDING, RECORDING_RATE)
    bpy_access.view_layer(bpy.context).update()
    found[f"recording, {RECORDING / 60.0:.0f} min"] = redraw_cost()
    registration.unregister()
    return found


def main(arguments: list[str]) -> int:
    """Print the figures."""
    print(reference_line())
    for name, cost in measure().items():
        after = f"first after a change {cost.first:.1f} ms, then {cost.counting:.0f} ms of counting keys"
        print(f"Author panel, one redraw, {name}: {cost.later:.2f} ms CPU ({after}, {cost.slice:.1f} ms at once)")
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # Blender's module sometimes never returns from its exit handlers
