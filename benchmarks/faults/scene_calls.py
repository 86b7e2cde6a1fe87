"""Every operator, panel, field, overlay and handler of the add-on, called in the open scene, and the outcome."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import bpy

from addon import registration
from addon.display import flight_strip, overlays
from addon.display.properties import AUTHOR, RESEARCH
from addon.interface.next_step import find_next_step
from addon.live import control, timeline_overlays
from addon.live import overlays as live_overlays

from ..panel import PollingLayout
from .dancing_scene import Stage
from .scene_digest import changes, digest

CONTEXT: Any = bpy.context
VERBS: Any = bpy.ops
TRACEBACK = "Traceback (most recent call last)"
BLENDER = ('File "', "Error: Python")
"""How Blender reports an exception in a field's callback, without its traceback."""
NO_REASON = "failed, context is incorrect"
"""What Blender says of an operator whose poll gives no reason."""
NO_SCREEN = ("background mode", "GPU", "gpu")
"""Words of Blender where there is nothing to draw on."""
Options = dict[str, Any]


@dataclass(slots=True)
class Outcome:
    """What came of a call.

    Attributes:
        call: what was called, with which options.
        refused: it was cancelled, its poll said no, or it reported an error.
        words: its message.
        tracebacks: uncaught exceptions, of the call and of the handlers that it set off.
        changed: what of the scene it changed although it was refused.
        effect: whether it changed the scene.
    """

    call: str
    refused: bool = False
    words: str = ""
    tracebacks: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    effect: bool = False


def operators() -> list[str]:
    """Names in `VERBS.exciting_dance` of every operator."""
    classes = [cls for cls in registration.CLASSES if issubclass(cls, bpy.types.Operator)]
    return [cls.bl_idname.partition(".")[2] for cls in classes]


def variants(name: str, stage: Stage, *, expensive: bool) -> Iterator[Options]:
    """Options with which an operator is called; those that render only if ``expensive``."""
    nowhere = str(stage.folder / "nowhere")
    wrong = str(stage.scene)
    table: dict[str, list[Options]] = {
        "key_posture": [{"role": "fixed"}, {"role": "free", "between": False}],
        "set_role": [{"role": "free"}, {"role": "fixed", "selected": True}],
        "jump_posture": [{"forward": True}, {"forward": False}],
        "jump_frame": [{"frame": 3.5}, {"frame": 1e9}],
        "contact": [{"standing": "all"}, {"standing": "none"}, {"standing": "one", "patch": "no sole"}],
        "clear_inbetweens": [{}, {"selected": True}],
        "forget_message": [{"place": "dance"}, {"place": "nowhere"}],
        "open_dance": [{"directory": nowhere}, {"directory": str(stage.study)}, {"directory": str(stage.kept("slow"))}],
        "open_study": [{"directory": nowhere}, {"directory": str(stage.kept("slow"))}, {"directory": str(stage.study)}],
        "export_dance": [{"filepath": nowhere + "/a/b.csv"}],
        "import_recording": [{"filepath": nowhere}, {"filepath": wrong}, {"filepath": str(stage.recording)}],
        "import_rig": [{"kind": "hoap3"}, {"kind": "nonsense"}, {"filepath": nowhere}],
        "limits": [{"enforce": True}, {"enforce": False}],
        "trial": [{"name": "walk"}, {"name": "no trial"}],
        "picture": [{"filepath": str(stage.folder / "picture.png")}] if expensive else [],
        "rehearsal": [{}],
        "report": [],  # it would open a browser
    }
    yield from table.get(name, [{}])


def call(name: str, options: Options, before: dict[str, str]) -> tuple[Outcome, dict[str, str]]:
    """Call an operator; also the scene's digest after it."""
    outcome = Outcome(f"{name}({', '.join(f'{key}={value!r}'[:60] for key, value in options.items())})")
    with capture_tracebacks(outcome):
        try:
            outcome.refused = "CANCELLED" in getattr(VERBS.exciting_dance, name)(**options)
        except RuntimeError as error:
            outcome.refused, outcome.words = True, str(error)
            if TRACEBACK in str(error):
                outcome.tracebacks.append(str(error))
    after = digest()
    outcome.effect = after != before
    if outcome.refused:
        outcome.changed = changes(before, after)
    return outcome, after


def look_at_offered() -> Outcome:
    """Whether the button at the top of the tab, in both modes, can be pressed."""
    outcome = Outcome("the offered button")
    with capture_tracebacks(outcome):
        for mode in (AUTHOR, RESEARCH):
            CONTEXT.scene.exciting_dance.mode = mode
            step = find_next_step(CONTEXT)
            place, _dot, name = ("" if step is None else step.operator).rpartition(".")
            if name and not getattr(getattr(VERBS, place or "exciting_dance"), name).poll():
                outcome.refused, outcome.words = True, f"{mode}: {step}"
    return outcome


@contextmanager
def capture_tracebacks(outcome: Outcome) -> Iterator[None]:
    """Capture the standard error of Python and Blender in the context, and extract the tracebacks."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as said:
        own = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(own, 2)
            os.close(own)
            said.seek(0)
            words = said.read().decode("utf-8", "replace")
    if any(sign in words for sign in (TRACEBACK, *BLENDER)):
        outcome.tracebacks.append(words)


def redraw_everything() -> Iterator[Outcome]:
    """Draw every panel, list and overlay, and run timers and handlers."""
    for cls in registration.CLASSES:
        if issubclass(cls, bpy.types.Panel):
            yield _try_step(f"panel {cls.__name__}", lambda cls=cls: _draw(cls))  # type: ignore[misc]
    yield _try_step("lists", _lists)
    yield _try_step("preferences", lambda: registration.Preferences.draw(_sheet(), CONTEXT))  # type: ignore[arg-type]
    for draw in (overlays.draw_legends, overlays.draw_motion, live_overlays._draw_space, live_overlays._draw_text):
        yield _try_step(f"overlay {draw.__name__}", lambda draw=draw: _over("VIEW_3D", draw))  # type: ignore[misc]
    for draw in (timeline_overlays._draw, flight_strip.draw):
        yield _try_step(f"overlay {draw.__module__}", lambda draw=draw: _over("DOPESHEET_EDITOR", draw))  # type: ignore[misc]
    yield _try_step("live tick", control._tick)
    yield _try_step("another frame", lambda: CONTEXT.scene.frame_set(2))
    yield _try_step("and back", lambda: CONTEXT.scene.frame_set(1))


def fields() -> Iterator[Outcome]:
    """Write every field of the add-on's that does something when it is written."""
    scene = CONTEXT.scene
    for group, name, value in (
        *((scene.exciting_dance, "quantity", value) for value in ("density", "change", "determined", "deviation")),
        (scene.exciting_dance, "file_index", 0),
        (scene.exciting_dance, "file_index", 5),
        (scene.exciting_dance_dance, "posture_name", "a name"),
        (scene.exciting_dance_dance, "ghost_place", "beside"),
        *((item.exciting_dance_checks, name, 0.1) for item in scene.objects for name in ("shrink", "clearance")),
    ):
        if CONTEXT.scene == scene:
            yield _try_step(f"field {name} = {value!r}", lambda g=group, n=name, v=value: setattr(g, n, v))  # type: ignore[misc]


def _try_step(what: str, step: Callable[[], object]) -> Outcome:
    outcome = Outcome(what)
    with capture_tracebacks(outcome):
        try:
            step()
        except (SystemError, RuntimeError, AttributeError) as error:
            if not any(word in str(error) for word in NO_SCREEN) and "read-only" not in str(error):
                outcome.tracebacks.append(traceback.format_exc())
        except Exception:
            outcome.tracebacks.append(traceback.format_exc())
    return outcome


def _sheet() -> SimpleNamespace:
    return SimpleNamespace(layout=PollingLayout(), solver_python="")


def _draw(panel: Any) -> None:
    if not hasattr(panel, "poll") or panel.poll(CONTEXT):
        panel.draw(_sheet(), CONTEXT)


def _lists() -> None:
    for cls in registration.CLASSES:
        if issubclass(cls, bpy.types.UIList):
            for item in CONTEXT.scene.exciting_dance_told:
                for joint in item.joints:
                    cls.draw_item(_sheet(), CONTEXT, PollingLayout(), item, joint, 0, item, "", 0, 0)


def _over(kind: str, draw: Callable[[], None]) -> None:
    """Draw over an editor, as far as possible without a screen."""
    window = CONTEXT.window_manager.windows[0]
    area = next((one for one in window.screen.areas if one.type == kind), None)
    if area is None:
        area = window.screen.areas[0]
        area.type = kind
    region = next(one for one in area.regions if one.type == "WINDOW")
    with CONTEXT.temp_override(window=window, area=area, region=region):
        draw()


def call_everything(
    open_scene: Callable[[], object], stage: Stage, *, only: tuple[str, ...] = (), expensive: bool = False
) -> Iterator[Outcome]:
    """Call every operator and field of a scene, or only some operators; the scene is reopened after each call that
    changed it."""
    outcome = Outcome("open")
    with capture_tracebacks(outcome):
        open_scene()
    yield outcome
    _settle()
    before = digest()
    for name in only or operators():
        for options in variants(name, stage, expensive=expensive):
            outcome, after = call(name, options, before)
            yield outcome
            if after != before:
                with capture_tracebacks(outcome):
                    open_scene()
                _settle()
                before = digest()
    yield from redraw_everything()
    yield from fields()
    with capture_tracebacks(outcome):
        control.LiveCheck.stop(wait=True)


def _settle() -> None:
    """Let Blender evaluate what was opened, so that looking again finds the same."""
    scene = CONTEXT.scene
    with capture_tracebacks(Outcome("settle")):
        if CONTEXT.view_layer.objects.active is None or CONTEXT.view_layer.objects.active.mode != "EDIT":
            scene.frame_set(scene.frame_current)
        CONTEXT.view_layer.update()
