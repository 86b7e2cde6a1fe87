"""Operators that pose a body by dragging its points."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import bpy

from ..base.bpy_access import Status, require, scene
from ..base.scene_rigs import active_rig
from ..base.solver_api import errors
from ..live.control import LiveCheck
from .base import PolledOperator, find_rig_problem, report_error, require_active_rig
from .keying import key_posture

if TYPE_CHECKING:
    from ..posing.drag import PoseDrag
    from ..posing.mouse_target import MouseTarget

INTERVAL = 0.005
"""[s] between two looks for postures."""
PATIENCE = 10.0
"""[s] for which a confirmed drag waits until the body is there."""
HELP = "X Y Z axis, Shift+X Y Z plane, Alt without balance, R pin here, number, Enter, Esc"
CONFIRM = ("LEFTMOUSE", "RET", "NUMPAD_ENTER", "SPACE")
CANCEL = ("RIGHTMOUSE", "ESC")


def can_drag(context: bpy.types.Context) -> bool:
    """Whether the active rig is posed and its live check runs."""
    body, session = active_rig(context), LiveCheck.session
    if body is None or session is None or not session.checks(body):
        return False
    return context.mode == "POSE" and not find_rig_problem(context, data=True)


class EXCITING_DANCE_OT_drag(PolledOperator, bpy.types.Operator):
    """Move this point of the body: the body follows, planted feet stay, joint limits and balance hold"""

    bl_idname = "exciting_dance.drag"
    bl_label = "Drag Body"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}  # noqa: RUF012

    link: bpy.props.StringProperty(name="Link", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    is_handle: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Handle", description="Confirm when the mouse button is released", options={"SKIP_SAVE"}
    )

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """Otherwise Blender's own tool for the same key starts."""
        return "" if can_drag(context) else "Enter Pose Mode of a rig of this file, and start its live check"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        from ..posing.drag import PoseDrag
        from ..posing.mouse_target import MouseTarget
        from ..posing.pins import handle_point

        link = self.link or getattr(context.active_pose_bone, "name", "")
        body = require_active_rig(context)
        try:
            point = handle_point(body, link)
            self._drag: PoseDrag = PoseDrag(require(LiveCheck.session, "live check"), link, point)
        except errors.SolverError as error:
            return report_error(self, error)
        self._target: MouseTarget = MouseTarget()
        self._first = (event.mouse_region_x, event.mouse_region_y)
        self._balanced, self._toggles_pin = True, False
        self._confirmed: float | None = None
        self._unit = 1.0 / scene(context).unit_settings.scale_length
        manager = require(context.window_manager, "window manager")
        self._timer = manager.event_timer_add(INTERVAL, window=context.window)
        manager.modal_handler_add(self)
        self._show(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        try:
            return self._handle(context, event)
        except errors.SolverError as error:  # the rig or its scene was deleted
            self._finish(context)
            return report_error(self, error)

    def _handle(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        drag, target = self._drag, self._target
        if event.type == "TIMER":
            if drag.apply() or drag.problem:
                self._show(context)
            if self._confirmed is not None and (drag.is_settled or time.monotonic() - self._confirmed > PATIENCE):
                return self._end(context)
            if not drag.is_running:
                self._finish(context)
                self.report({"WARNING"}, f"{drag.problem}; the posture is kept")
                return {"FINISHED"}
            return {"RUNNING_MODAL"}
        released = self.is_handle and event.type == "LEFTMOUSE" and event.value == "RELEASE"
        if released or (event.type in CONFIRM and event.value == "PRESS"):
            return self._confirm()
        undone = event.type == "Z" and (event.ctrl or event.oskey)
        if event.value == "PRESS" and (undone or event.type in CANCEL):
            self._finish(context)
            drag.cancel()
            return {"CANCELLED"}
        if event.type == "R" and event.value == "PRESS":
            self._toggles_pin = not self._toggles_pin
            return self._confirm()
        changed = self._confirmed is None and self._read_event(context, event)
        if changed:
            drag.move(drag.start + target.displacement(self._unit), balance=self._balanced)
            self._show(context)
        return {"RUNNING_MODAL"}

    def _read_event(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Whether an event changes the target."""
        target, changed = self._target, event.alt == self._balanced
        self._balanced = not event.alt
        if event.type in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            target.mouse = self._mouse_displacement(context, event)
            return changed or not target.typed
        if event.value == "PRESS":
            if event.type in ("X", "Y", "Z"):
                target.press_axis("XYZ".index(event.type), plane=event.shift)
                return True
            return target.press_key(event.type) or changed
        return changed

    def _mouse_displacement(self, context: bpy.types.Context, event: bpy.types.Event):  # type: ignore[no-untyped-def]
        """(3,) [m] of the mouse since the start, in the plane of the view through the point."""
        import numpy as np
        from bpy_extras.view3d_utils import region_2d_to_location_3d
        from mathutils import Vector

        region = require(context.region, "region")
        view = context.space_data.region_3d  # type: ignore[union-attr]
        depth = Vector(self._drag.start.tolist())
        here = (event.mouse_region_x, event.mouse_region_y)
        places = [region_2d_to_location_3d(region, view, place, depth) for place in (self._first, here)]
        return np.array(places[1] - places[0])

    def _confirm(self) -> Status:
        """End once the body is there."""
        self._confirmed = self._confirmed or time.monotonic()
        return {"RUNNING_MODAL"}

    def _end(self, context: bpy.types.Context) -> Status:
        self._finish(context)
        if self._toggles_pin:
            from ..posing.pins import toggle_pin

            toggle_pin(require_active_rig(context), self._drag.link, self._drag.point)
        obstacle = self._drag.describe()
        if obstacle:
            self.report({"INFO"}, obstacle)
        if scene(context).tool_settings.use_keyframe_insert_auto:
            from ..authoring.properties import dance_settings

            settings = dance_settings(context)
            problem = key_posture(context, settings.role, between=settings.between)
            if problem:
                self.report({"WARNING"}, problem)
        return {"FINISHED"}

    def _finish(self, context: bpy.types.Context) -> None:
        self._drag.end()
        require(context.window_manager, "window manager").event_timer_remove(self._timer)
        if context.area is not None:
            context.area.header_text_set(None)
            context.area.tag_redraw()

    def _show(self, context: bpy.types.Context) -> None:
        if context.area is None:
            return
        words = [self._target.describe(self._unit), "" if self._balanced else "without balance"]
        words += [self._drag.describe() or HELP]
        context.area.header_text_set("   ".join(word for word in words if word))
        context.area.tag_redraw()


CLASSES = (EXCITING_DANCE_OT_drag,)
