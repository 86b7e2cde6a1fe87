"""Controls and height of the tab Dance: what somebody meets who opens the sidebar.

`count_controls` works without a window. `tab_height` needs one: run this file inside Blender with a window of 1366x768
pixels, where it prints a line for each mode and state, for example

    blender --factory-startup --window-geometry 0 0 1366 768 --python benchmarks/tab.py
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy

CONTEXT: Any = bpy.context
OPERATORS: Any = bpy.ops
"""Blender's context and operators; the stubs lack the add-on's."""
MODES = ("author", "research")
MOST_CONTROLS, TALLEST = 12, 609
"""Targets: controls, and height [px] in a window of 1366x768 pixels at scale 1."""
SETTLING_TIME = 1.0
"""[s] Time in which Blender draws the sidebar after a change."""
JOB_TIMEOUT = 600.0
"""[s] Longest job."""


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


def find_sidebar() -> Any:
    """The sidebar of the first 3D view."""
    for area in CONTEXT.window_manager.windows[0].screen.areas:
        if area.type == "VIEW_3D":
            area.spaces.active.show_region_ui = True
            return next(region for region in area.regions if region.type == "UI")
    raise LookupError("the window has no 3D view")


def find_registration() -> ModuleType:
    """The add-on's module `registration`, as an extension or from a clone."""
    return next(module for name, module in sys.modules.items() if name.endswith("addon.registration"))


def _run(name: str, **options: object) -> Iterator[float]:
    """Start a job, and wait for its end; yields the time [s] until it goes on."""
    jobs = next(module for path, module in sys.modules.items() if path.endswith("addon.jobs"))
    getattr(OPERATORS.exciting_dance, name)("EXEC_DEFAULT", **options)
    yield SETTLING_TIME
    waited = 0.0
    while jobs.CurrentJob.job is not None and waited < JOB_TIMEOUT:
        waited += SETTLING_TIME
        yield SETTLING_TIME


def _design() -> Iterator[float]:
    CONTEXT.scene.exciting_dance_dance.postures = 4
    yield from _run("design_dance")


def _disturb_and_balance() -> Iterator[float]:
    """Key a posture that is out of balance, and let it be balanced: a ghost and a message with notes."""
    body = CONTEXT.view_layer.objects.active
    CONTEXT.scene.frame_set((CONTEXT.scene.frame_start + CONTEXT.scene.frame_end) // 2)
    body.pose.bones[0].location.x += 0.15
    OPERATORS.exciting_dance.key_posture()
    yield from _run("balance_dance")


def _identify() -> Iterator[float]:
    yield from _run("sample_study")
    yield from _run("identify")


STATES: dict[str, Callable[[], Iterator[float]]] = {
    "empty scene": lambda: iter(()),
    "rig added": lambda: _run("import_rig"),
    "dance designed": _design,
    "ghost shown": _disturb_and_balance,
    "sample study identified": _identify,
}
"""States of the scene in which the tab is measured, each reached from the one before."""


def _measure() -> Iterator[float]:
    """Print all figures; yields the time [s] until it goes on."""
    yield 2.0 * SETTLING_TIME
    region = find_sidebar()
    yield SETTLING_TIME
    region.active_panel_category = "Dance"
    yield SETTLING_TIME
    for state, reach in STATES.items():
        CONTEXT.scene.exciting_dance.mode = MODES[0]
        yield from reach()
        for mode in MODES:
            controls = count_controls(find_registration(), mode)
            region.tag_redraw()
            yield SETTLING_TIME
            scale = CONTEXT.preferences.system.ui_scale
            print(
                f"{mode}, {state}: {len(controls)} controls (at most {MOST_CONTROLS} at first), "
                f"{tab_height(region) / scale:.0f} px tall at scale 1 (at most {TALLEST}); {', '.join(controls)}",
                flush=True,
            )


def measure_in_window(after: Callable[[], object] = bpy.ops.wm.quit_blender) -> None:
    """Print controls and heights, between redraws of the window, and then call ``after``."""
    steps = _measure()

    def step() -> float | None:
        delay = next(steps, None)
        if delay is None:
            after()
        return delay

    bpy.app.timers.register(step)


if __name__ == "__main__":
    measure_in_window()
