"""What only Blender's window shows: height of the tab, cost of the overlays, round trip of a drag.

Run this file inside Blender with the extension enabled, for example

    blender --factory-startup --python benchmarks/window.py -- --output window.json

`python -m benchmarks extension --window window.json` then prints the figures beside the others.

Tab: controls and height of the panels in each mode, in an empty scene and with a rig. Overlays: processor time of the
drawing functions of *Live* for one redraw, while a dance of 72 s with a posture every 4 s is scrubbed. Drag: time from
a mouse event in the modal operator to the end of the drawing that shows its posture, with mouse events from `xdotool`,
about 30 a second; drawing is counted, so that a machine without a graphics card is slower. Simulated dance, a person.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy

CONTEXT: Any = bpy.context
OPERATORS: Any = bpy.ops
"""Blender's context and operators; the stubs lack the add-on's."""
MODES = ("author", "research")
MOST_CONTROLS = 12
"""Target: controls that a mode shows at first."""
RATE, SECONDS, POSTURE_EVERY = 24, 72, 4
REDRAWS = 60
MOVES, MOVE_INTERVAL = 90, 0.033
SETTLING_TIME = 1.0
"""[s] Time in which Blender draws a change."""
JOB_TIMEOUT = 120.0
"""[s] Time in which a rig is added, or a dance checked."""
FIGURES: dict[str, float] = {}
"""What was measured, by the names of `benchmarks.extension`."""


class CountingLayout:
    """A layout that counts what can be clicked, and draws nothing. Folded parts count as what shows: nothing."""

    def __init__(self, count: list[str]) -> None:
        self._count = count

    def operator(self, name: str, **_: object) -> SimpleNamespace:
        """A button."""
        self._count.append(name)
        return SimpleNamespace()

    def prop(self, owner: Any, name: str, *, expand: bool = False, **_: object) -> None:
        """A field, or a button for each item."""
        items = owner.bl_rna.properties[name].enum_items if expand and hasattr(owner, "bl_rna") else [name]
        self._count += [name] * len(items)

    def prop_enum(self, _owner: Any, name: str, value: str, **_: object) -> None:
        """A button for one item."""
        self._count.append(f"{name}.{value}")

    def menu(self, name: str, **_: object) -> None:
        """A menu."""
        self._count.append(name)

    def template_list(self, kind: str, *_: object, **__: object) -> None:
        """A list."""
        self._count.append(kind)

    def panel(self, _name: str, *, default_closed: bool = False) -> tuple[CountingLayout, CountingLayout | None]:
        """A part that folds: its header and, unless it is closed, its body."""
        return self, None if default_closed else self

    def __getattr__(self, name: str) -> Any:
        """Rows and columns are layouts; labels and separators are none."""
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: self


def count_controls(registration: ModuleType, mode: str, *, opened: bool = False) -> list[str]:
    """Names of the controls that the tab shows at first in a mode, in the scene as it is. Headings are not counted.

    Args:
        registration: the add-on's module of this name.
        mode: one of `MODES`.
        opened: count the panels that are closed at first too.
    """
    CONTEXT.scene.exciting_dance.mode = mode
    found: list[str] = []
    for cls in registration.CLASSES:
        is_root = issubclass(cls, bpy.types.Panel) and not hasattr(cls, "bl_parent_id")
        if is_root and cls.poll(bpy.context):
            closed = not opened and "DEFAULT_CLOSED" in getattr(cls, "bl_options", ())
            for part in ("draw_header", "draw_header_preset", *(() if closed else ("draw",))):
                if part in vars(cls):
                    vars(cls)[part](SimpleNamespace(layout=CountingLayout(found)), bpy.context)
    return found


def tab_height(region: bpy.types.Region) -> float:
    """Height [px] of the panels of a sidebar that was drawn.

    Blender's Python does not show it: the region begins with two pointers and its `View2D`, which begins with the
    extent of the contents (xmin, xmax, ymin, ymax), downwards from 0.
    """
    extent = (ctypes.c_float * 4).from_address(region.as_pointer() + 2 * ctypes.sizeof(ctypes.c_void_p))
    return -extent[2]


def find_module(name: str) -> ModuleType:
    """A module of the add-on that is imported, as an extension or from a clone."""
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

    def wrap_panel(self, panel: Any) -> None:
        """Time the drawing of a panel, whose signature Blender reads."""
        draw = panel.draw
        panel.draw = lambda own, context: self.wrap(panel.__name__, lambda: draw(own, context))()

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
    """Measure all figures; yields the time [s] until it goes on."""
    yield 2.0 * SETTLING_TIME
    _, area, _ = find_view()
    area.spaces.active.show_region_ui = True
    sidebar = next(region for region in area.regions if region.type == "UI")
    yield SETTLING_TIME
    sidebar.active_panel_category = "Dance"
    yield SETTLING_TIME
    yield from measure_tab(sidebar, "empty scene")
    CONTEXT.scene.exciting_dance.mode = MODES[0]
    OPERATORS.exciting_dance.import_rig("EXEC_DEFAULT")
    yield from wait_until(lambda: any(item.type == "ARMATURE" for item in bpy.data.objects))
    yield 2.0 * SETTLING_TIME
    yield from measure_tab(sidebar, "with a rig")
    CONTEXT.scene.exciting_dance.mode = MODES[0]
    body = CONTEXT.view_layer.objects.active
    yield from measure_overlays(body)
    yield from measure_drag(body)


def wait_until(condition: Callable[[], object]) -> Iterator[float]:
    """Wait for a condition, or until the time is up."""
    stop = time.monotonic() + JOB_TIMEOUT
    while not condition() and time.monotonic() < stop:
        yield SETTLING_TIME


def measure_tab(sidebar: Any, state: str) -> Iterator[float]:
    """Controls and height of the tab in both modes."""
    for mode in MODES:
        controls = count_controls(find_module("addon.registration"), mode)
        sidebar.tag_redraw()
        yield SETTLING_TIME
        height = tab_height(sidebar) / CONTEXT.preferences.system.ui_scale
        print(f"{mode}, {state}: {len(controls)} controls, {height:.0f} px tall; {', '.join(controls)}", flush=True)
        FIGURES[f"height {mode}"] = max(FIGURES.get(f"height {mode}", 0.0), height)


def measure_overlays(body: Any) -> Iterator[float]:
    """Processor time of one redraw of the overlays."""
    control, clock = find_module("live.control"), Clock()
    if control.LiveCheck.session is not None:
        control.LiveCheck.stop(wait=True)
    window, area, region = find_view()
    with CONTEXT.temp_override(window=window, area=area, region=region):
        key_dance(body)
        OPERATORS.exciting_dance.live("EXEC_DEFAULT")
    session = control.LiveCheck.session
    yield from wait_until(lambda: session.results is not None and session.results.done)
    tall = next((area for area in window.screen.areas if area.type == "PROPERTIES"), None)
    if tall is not None:
        tall.type = "DOPESHEET_EDITOR"  # the timeline is too low for its overlays
    for name in ("live.overlays", "live.timeline_overlays"):
        clock.wrap_handlers(name, find_module(name).HANDLERS)
    panels = Clock()
    for panel in (cls for cls in find_module("addon.registration").CLASSES if hasattr(cls, "has_content")):
        panels.wrap_panel(panel)
    scene = CONTEXT.scene
    yield SETTLING_TIME
    for frame in range(1, REDRAWS + 1):
        scene.frame_set(1 + frame * scene.frame_end // (REDRAWS + 1))
        yield 0.1
    for name, times in (*clock.times.items(), *panels.times.items()):
        print(f"{name}: {statistics.median(times):.2f} ms median, {max(times):.2f} largest, {len(times)} redraws")
    FIGURES["overlays"] = sum(map(statistics.median, clock.times.values()))
    FIGURES["redraw"] = FIGURES["overlays"] + sum(map(statistics.median, panels.times.values()))
    print(f"one redraw: overlays {FIGURES['overlays']:.2f} ms, with the tab {FIGURES['redraw']:.2f} ms", flush=True)


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
    FIGURES["round trip"] = statistics.median(trips)
    print(
        f"drag: {statistics.median(own):.1f} ms median from event to posture, {FIGURES['round trip']:.1f} ms to the "
        f"drawn posture; {len(sent)} events, {len(trips)} drawn",
        flush=True,
    )


def write_figures(path: Path) -> None:
    """Write what was measured, with Blender's version and the day."""
    found = {"blender": bpy.app.version_string, "day": time.strftime("%Y-%m-%d"), "figures": FIGURES}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def run(output: Path, after: Callable[[], object] = bpy.ops.wm.quit_blender) -> None:
    """Measure between redraws of the window, write the figures, and then call ``after``."""
    steps = measure()

    def step() -> float | None:
        try:
            delay = next(steps, None)
        except Exception as error:
            print(f"stopped: {type(error).__name__}: {error}", flush=True)
            delay = None
        if delay is None:
            write_figures(output)
            after()
        return delay

    bpy.app.timers.register(step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="window.py", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("window.json"), help="file of the figures")
    run(parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []).output)
