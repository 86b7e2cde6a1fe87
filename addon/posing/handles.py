"""Handles on the body while its live check runs, by mouse or by the key G: drag one, and the body follows."""

from __future__ import annotations

import bpy
from mathutils import Matrix

from ..base import bpy_access
from ..base.scene_rigs import active_rig
from ..base.solver_api import errors
from ..live.control import LiveCheck

SIZE = 0.06
"""Size of a handle, as a fraction of the leg's length."""
COLOUR, PINNED_COLOUR, HIGHLIGHT = (0.25, 0.65, 1.0), (1.0, 0.55, 0.1), (1.0, 1.0, 1.0)
OPACITY = 0.8
_items: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


class EXCITING_DANCE_GGT_handles(bpy.types.GizmoGroup):
    """Handles of the active rig in Pose Mode"""

    bl_label = "Dance Handles"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the active rig is posed with its live check."""
        body, session = active_rig(context), LiveCheck.session
        if body is None or session is None or context.mode != "POSE":
            return False
        return session.body == bpy_access.session_id(body)

    def setup(self, context: bpy.types.Context) -> None:
        """Nothing before the first drawing, since the rig may change."""
        self._links: dict[str, bpy.types.Gizmo] = {}

    def refresh(self, context: bpy.types.Context) -> None:
        """One gizmo for each handle of the active rig."""
        from ..base.solver_api import find_handles
        from ..scene.armature import rig_of
        from .pins import pinned_points

        body = active_rig(context)
        if body is None:
            return
        try:
            rig = rig_of(body)
        except errors.SolverError:
            return
        points = find_handles(rig)
        if set(points) != set(self._links):
            self.gizmos.clear()
            self._links = {}
            for link in points:
                gizmo = self.gizmos.new("GIZMO_GT_move_3d")
                gizmo.draw_options = {"FILL", "ALIGN_VIEW"}  # type: ignore[attr-defined]
                gizmo.use_draw_scale = False
                gizmo.use_draw_modal = True
                gizmo.alpha = gizmo.alpha_highlight = OPACITY
                gizmo.color_highlight = HIGHLIGHT
                started = gizmo.target_set_operator("exciting_dance.drag")
                started.link, started.is_handle = link, True
                self._links[link] = gizmo
        pinned = pinned_points(body)
        for link, gizmo in self._links.items():
            gizmo.color = PINNED_COLOUR if link in pinned else COLOUR
            gizmo.scale_basis = SIZE * rig.leg_length
        self.draw_prepare(context)

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Put the gizmos where the points are."""
        from .pins import handle_points

        body = active_rig(context)
        if body is None:
            return
        bones, points = bpy_access.pose_bones(body), handle_points(body)
        for link, gizmo in self._links.items():
            if link in bones:
                gizmo.matrix_basis = Matrix.Translation(body.matrix_world @ (bones[link].matrix @ points[link]))


CLASSES = (EXCITING_DANCE_GGT_handles,)


def register() -> None:
    """Add the key, before Blender's own."""
    configuration = bpy.context.window_manager.keyconfigs.addon if bpy.context.window_manager else None
    if configuration is None:  # without a window
        return
    keymap = configuration.keymaps.new(name="Pose", space_type="EMPTY")
    _items.append((keymap, keymap.keymap_items.new("exciting_dance.drag", "G", "PRESS", head=True)))


def unregister() -> None:
    """Remove it."""
    while _items:
        keymap, item = _items.pop()
        keymap.keymap_items.remove(item)
