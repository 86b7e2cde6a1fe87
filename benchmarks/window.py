"""Cost of the overlays and round trip of a drag, in Blender's window: run this file inside Blender, for example

    blender --factory-startup --python benchmarks/window.py

Overlays: processor time of the drawing functions of *Live* for one redraw, while a dance of 72 s with a posture every
4 s is scrubbed. Drag: time from a mouse event in the modal operator to the end of the drawing that shows its posture,
with mouse events from `xdotool`, about 30 a second; drawing is counted, so that a machine without a graphics card is
slower. Simulated dance, a person.
"""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import bpy

CONTEXT: Any = bpy.context
OPERATORS: Any = bpy.ops
"""Blender's context and operators; the stubs lack the add-on's."""
RATE, SECONDS, POSTURE_EVERY = 24, 72, 4
REDRAWS = 60
MOST_OVERLAYS, MOST_ROUND_TRIP = 3.0, 16.0
"""Targets [ms], median."""
MOVES, MOVE_INTERVAL = 90, 0.033
JOB_TIMEOUT = 120.0


def find_module(name: str) -> ModuleType:
    """A module of the add-on, as an extension or from a clone."""
    return next(module for path, module in sys.modules.items() if path.endswith(name))


def find_view() -> tuple[Any, Any, Any]:
    """Window, area and region of the first 3D view."""
    window = CONTEXT.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, next(region for region in area.regions if region.type == "WINDOW")


class Clock:
    """Processor times [ms] of the drawing functions, by redraw; a software renderer has threads of its own."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    def wrap(self, name: str, draw: Callable[[], None]) -> Callable[[], None]:
        """The function, timed."""

        def timed() -> None:
            start = time.thread_time()
            draw()
            self.times.setdefault(name, []).append(1e3 * (time.thread_time() - start))

        return timed

    def wrap_handlers(self, name: str, handlers: Any) -> None:
        """Time the functions of draw handlers."""
        on = handlers.enabled
        handlers.enable(False)
        handlers.functions = tuple((self.wrap(f"{name} {kind}", draw), kind) for draw, kind in handlers.functions)
        handlers.enable(on)


def key_dance(body: Any) -> None:
    """Key postures of a person who lifts the arms in turn."""
    scene = CONTEXT.scene
    scene.render.fps, scene.frame_end = RATE, RATE * SECONDS + 1
    arms = [bone for bone in body.pose.bones if "upper_arm" in bone.name]
    for number, frame in enumerate(range(1, scene.frame_end + 1, RATE * POSTURE_EVERY)):
        scene.frame_set(frame)
        for side, arm in enumerate(arms):
            arm.rotation_mode = "QUATERNION"
            angle = 0.2 + 0.3 * math.sin(1.7 * number + side)
            arm.rotation_quaternion = (math.cos(angle), math.sin(angle), 0.0, 0.0)
        OPERATORS.exciting_dance.key_posture("EXEC_DEFAULT")
    scene.frame_set(1)


def measure() -> Iterator[float]:
    """Print all figures; yields the time [s] until it goes on."""
    yield 2.0
    OPERATORS.exciting_dance.import_rig("EXEC_DEFAULT")
    waited = 0.0
    while not any(item.type == "ARMATURE" for item in bpy.data.objects) and waited < JOB_TIMEOUT:
        waited += 1.0
        yield 1.0
    yield 2.0
    body = CONTEXT.view_layer.objects.active
    control, clock = find_module("live.control"), Clock()
    if control.LiveCheck.session is not None:
        control.LiveCheck.stop(wait=True)
    window, area, region = find_view()
    with CONTEXT.temp_override(window=window, area=area, region=region):
        key_dance(body)
        OPERATORS.exciting_dance.live("EXEC_DEFAULT")
    session, waited = control.LiveCheck.session, 0.0
    while (session.results is None or not session.results.done) and waited < JOB_TIMEOUT:
        waited += 1.0
        yield 1.0
    tall = next((area for area in window.screen.areas if area.type == "PROPERTIES"), None)
    if tall is not None:
        tall.type = "DOPESHEET_EDITOR"  # the timeline is too low for its overlays
    for name in ("live.overlays", "live.timeline_overlays"):
        clock.wrap_handlers(name, find_module(name).HANDLERS)
    scene = CONTEXT.scene
    yield 1.0
    for frame in range(1, REDRAWS + 1):
        scene.frame_set(1 + frame * scene.frame_end // (REDRAWS + 1))
        yield 0.1
    total = 0.0
    for name, times in clock.times.items():
        total += statistics.median(times)
        print(f"{name}: {statistics.median(times):.2f} ms median, {max(times):.2f} largest, {len(times)} redraws")
    print(f"overlays, one redraw: {total:.2f} ms (at most {MOST_OVERLAYS:g})", flush=True)
    yield from measure_drag(body)


def measure_drag(body: Any) -> Iterator[float]:
    """Print the round trip of a drag."""
    if shutil.which("xdotool") is None:
        print("drag: not measured, xdotool is not installed")
        return
    window, area, region = find_view()
    CONTEXT.scene.frame_set(1)
    with CONTEXT.temp_override(window=window, area=area, region=region):
        if CONTEXT.mode != "POSE":
            bpy.ops.object.mode_set(mode="POSE")
        for bone in body.pose.bones:
            bone.select = bone == body.pose.bones[0]
        body.data.bones.active = body.data.bones[0]
        x, y = area.x + area.width // 2, window.height - (area.y + area.height // 2)
        subprocess.run(["xdotool", "mousemove", str(x), str(y)], check=True)
    yield 1.0
    subprocess.run(["xdotool", "search", "--class", "blender", "windowfocus"], check=False)
    yield 0.5
    subprocess.run(["xdotool", "key", "g"], check=True)
    yield 1.0
    drag_module = find_module("posing.drag")
    sent: dict[int, float] = {}
    shown: list[float] = []
    answered, trips, own = [0], [], []
    move, apply = drag_module.PoseDrag.move, drag_module.PoseDrag.apply

    def timed_move(self: Any, *arguments: Any, **named: Any) -> None:
        sent[self._serial + 1] = time.perf_counter()
        move(self, *arguments, **named)

    def timed_apply(self: Any) -> bool:
        found = bool(apply(self))
        if found and self._answered in sent and self._answered != answered[0]:
            answered[0] = self._answered
            shown.append(sent[self._answered])
            own.append(1e3 * (time.perf_counter() - sent[self._answered]))
        return found

    def drawn() -> None:
        if shown:
            trips.append(1e3 * (time.perf_counter() - shown[-1]))
            shown.clear()

    drag_module.PoseDrag.move, drag_module.PoseDrag.apply = timed_move, timed_apply
    handle = bpy.types.SpaceView3D.draw_handler_add(drawn, (), "WINDOW", "POST_PIXEL")

    def shake() -> None:
        for number in range(MOVES):
            dx, dy = round(60 * math.sin(number / 10)), round(40 * (1 - math.cos(number / 13)))
            subprocess.run(["xdotool", "mousemove", str(x + dx), str(y + dy)], check=False)
            time.sleep(MOVE_INTERVAL)

    thread = threading.Thread(target=shake)
    thread.start()
    while thread.is_alive():
        yield 0.5
    yield 1.0
    subprocess.run(["xdotool", "key", "Escape"], check=False)
    yield 1.0
    bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    drag_module.PoseDrag.move, drag_module.PoseDrag.apply = move, apply
    if not trips:
        print(f"drag: no posture was drawn; {len(sent)} events, {len(own)} postures")
        return
    print(
        f"drag: {statistics.median(own):.1f} ms median from event to posture, {statistics.median(trips):.1f} ms to the "
        f"drawn posture (at most {MOST_ROUND_TRIP:g}); {len(sent)} events, {len(trips)} drawn",
        flush=True,
    )


def run(after: Callable[[], object] = bpy.ops.wm.quit_blender) -> None:
    """Measure between redraws of the window, and then call ``after``."""
    steps = measure()

    def step() -> float | None:
        try:
            delay = next(steps, None)
        except Exception as error:
            print(f"stopped: {type(error).__name__}: {error}", flush=True)
            delay = None
        if delay is None:
            after()
        return delay

    bpy.app.timers.register(step)


if __name__ == "__main__":
    run()
