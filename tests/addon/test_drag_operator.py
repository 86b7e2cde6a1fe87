"""The modal operator of a drag, driven by events as a window sends them, with a real live check."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from addon import registration  # noqa: E402
from addon.authoring import timeline  # noqa: E402
from addon.base import bpy_access  # noqa: E402
from addon.live.control import LiveCheck  # noqa: E402
from addon.operators.posing import EXCITING_DANCE_OT_drag, can_drag  # noqa: E402
from addon.posing.drag import PoseDrag  # noqa: E402
from addon.posing.mouse_target import MouseTarget  # noqa: E402
from addon.posing.pins import handle_point, pinned_points  # noqa: E402
from addon.scene.armature import rig_of  # noqa: E402
from addon.scene.pose_writer import read_pose  # noqa: E402

PATIENCE = 60.0
Plain: Any = type("Plain", (), {name: value for name, value in vars(EXCITING_DANCE_OT_drag).items() if callable(value)})
"""The operator's functions; only Blender can create the operator itself."""


class WindowContext:
    """The context with a window manager whose timers do nothing."""

    window_manager = SimpleNamespace(event_timer_remove=lambda timer: None)
    area = None

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


class Operator:
    """A running drag of the root."""

    def __init__(self, body: Any, *, is_handle: bool = False) -> None:
        link = rig_of(body).links[0]
        self.plain, self.context = Plain(), WindowContext()
        self.reports: list[tuple[str, str]] = []
        drag = PoseDrag(LiveCheck.session, link, handle_point(body, link))
        vars(self.plain).update(
            _drag=drag, _target=MouseTarget(), _first=(0, 0), _balanced=True, _toggles_pin=False, _confirmed=None,
            _unit=1.0, _timer=None, is_handle=is_handle, link=link,
            report=lambda kind, text: self.reports.append((next(iter(kind)), text)),
        )  # fmt: skip

    def send(self, key: str, value: str = "PRESS", **modifiers: bool) -> str:
        """Send an event; what the operator returns."""
        held = {name: modifiers.get(name, False) for name in ("alt", "ctrl", "shift", "oskey")}
        event = SimpleNamespace(type=key, value=value, mouse_region_x=0, mouse_region_y=0, **held)
        return str(next(iter(self.plain.modal(self.context, event))))

    def type_keys(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            assert self.send(key) == "RUNNING_MODAL"

    def finish(self) -> str:
        """Send timer events until the operator ends."""
        stop = time.monotonic() + PATIENCE
        while (state := self.send("TIMER", "NOTHING")) == "RUNNING_MODAL":
            assert time.monotonic() < stop, "the drag did not end"
            time.sleep(0.002)
        return state


DOWN_8_CM = ("Z", "MINUS", "ZERO", "PERIOD", "ZERO", "EIGHT")


@pytest.fixture
def body(empty_scene: None) -> Iterator[Any]:
    """HRP-2 in its standing posture, in Pose Mode, and its live check."""
    registration.register()
    assert bpy.ops.exciting_dance.import_rig(kind="hrp2") == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    if bpy.context.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    LiveCheck.start(bpy.context, body)
    yield body
    LiveCheck.stop(wait=True)
    registration.unregister()


def height(body: Any) -> float:
    """[m] of the root."""
    bpy_access.view_layer(bpy.context).update()
    graph = bpy.context.evaluated_depsgraph_get()
    return float(timeline.evaluated_links(graph, body, rig_of(body))[1][0, 2])


def test_typed_numbers_move_the_body_and_enter_keeps_it(body: Any) -> None:
    """Z -0.08 Enter: the root is 8 cm lower within 1 mm, and the drag no longer takes responses."""
    before = height(body)
    assert can_drag(bpy.context)
    operator = Operator(body)
    operator.type_keys(*DOWN_8_CM, "RET")
    assert operator.finish() == "FINISHED"
    assert before - height(body) == pytest.approx(0.08, abs=1e-3)
    assert LiveCheck.session.receiver is None
    assert not operator.reports


@pytest.mark.parametrize("keys", [[("ESC", {})], [("RIGHTMOUSE", {})], [("Z", {"ctrl": True})]])
def test_cancelling_restores_the_posture(body: Any, keys: list[tuple[str, dict[str, bool]]]) -> None:
    """Esc, the right button and Ctrl Z bring back every bone, after the body has moved."""
    before = read_pose(body)
    operator = Operator(body)
    operator.type_keys(*DOWN_8_CM)
    stop = time.monotonic() + PATIENCE
    while np.allclose(read_pose(body), before) and time.monotonic() < stop:
        operator.send("TIMER", "NOTHING")
        time.sleep(0.002)
    assert not np.allclose(read_pose(body), before)
    ((key, modifiers),) = keys
    assert operator.send(key, **modifiers) == "CANCELLED"
    np.testing.assert_allclose(read_pose(body), before, atol=1e-6)
    assert LiveCheck.session.receiver is None


def test_r_pins_the_point_and_removes_the_pin(body: Any) -> None:
    """R ends the drag with the point pinned; R in a second drag removes the pin."""
    for expected in ([rig_of(body).links[0]], []):
        operator = Operator(body)
        operator.type_keys("R")
        assert operator.finish() == "FINISHED"
        assert list(pinned_points(body)) == expected


def test_a_handle_is_released_with_the_mouse(body: Any) -> None:
    """A drag that began by pressing the mouse on a handle ends when the button is released."""
    operator = Operator(body, is_handle=True)
    operator.type_keys("Z", "MINUS", "PERIOD", "ZERO", "FIVE")
    assert operator.send("LEFTMOUSE", "RELEASE") == "RUNNING_MODAL"
    assert operator.finish() == "FINISHED"


def test_a_process_that_ends_keeps_the_posture(body: Any) -> None:
    """The drag ends with a warning that says why, and the bones stay where they are."""
    operator = Operator(body)
    LiveCheck.session.process.end(wait=True)
    shown = read_pose(body)
    assert operator.finish() == "FINISHED"
    ((kind, text),) = operator.reports
    assert kind == "WARNING"
    assert "the posture is kept" in text
    np.testing.assert_array_equal(read_pose(body), shown)


def test_a_restarted_check_ends_the_drag(body: Any) -> None:
    """The drag belongs to the check that it began with."""
    operator = Operator(body)
    LiveCheck.start(bpy.context, body)
    assert operator.finish() == "FINISHED"
    assert operator.reports


def test_auto_key_keys_the_posture(body: Any) -> None:
    """With Blender's auto-key, the end of a drag keys a posture at the current frame; without it, none."""
    scene = bpy_access.scene(bpy.context)
    keyed = []
    for automatic in (False, True):
        scene.tool_settings.use_keyframe_insert_auto = automatic
        scene.frame_set(30)
        operator = Operator(body)
        operator.type_keys("Z", "MINUS", "PERIOD", "ZERO", "TWO", "RET")
        assert operator.finish() == "FINISHED"
        keyed.append(30.0 in timeline.read_key_roles(body))
    scene.tool_settings.use_keyframe_insert_auto = False
    assert keyed == [False, True]


def test_a_deleted_body_ends_the_drag(body: Any) -> None:
    """The error says what is missing, and the operator ends."""
    operator = Operator(body)
    operator.type_keys(*DOWN_8_CM)
    bpy.data.objects.remove(body)
    assert operator.finish() == "CANCELLED"
    assert operator.reports[0][0] == "ERROR"
