"""Panels: Rig, Recording, Identify, See. They show; operators do."""

from __future__ import annotations

from typing import Any

import bpy

from ..bpy_access import layout as layout_of
from ..bpy_access import require, scene
from ..colours import QUANTITIES
from ..properties import study_settings
from ..scene_rigs import active_rig
from ..solver_api import display_name
from .messages import draw_job, draw_message, draw_rig_problem, draw_wrapped
from .tab import DancePanel, SimpleList

MASS_TITLES = {"": "Mass, identified", "prior_": "Mass, prior", "std_": "Mass, std"}


class EXCITING_DANCE_PT_rig(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Rig."""

    bl_label = "Rig"
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, body = layout_of(self), active_rig(context)
        if body is None:
            _draw_new_rig(context, layout)
        else:
            from ..inertials import total_mass

            weighs = "" if (mass := total_mass(body)) is None else f", {mass:.1f} kg"
            words = f"{body.name}: {len(body.data.bones)} links{weighs}"
            draw_wrapped(context, layout.column(align=True), words, icon="OUTLINER_OB_ARMATURE")
            draw_rig_problem(context, layout, body)
            row = layout.row(align=True)
            row.label(text="Joint limits")
            row.operator("exciting_dance.limits", text="Enforce").enforce = True
            row.operator("exciting_dance.limits", text="Ignore").enforce = False
        draw_job(layout, "rig")
        draw_message(context, layout, "rig")
        if body is not None:
            header, another = layout.panel("exciting_dance_another_rig", default_closed=True)
            header.label(text="Another Rig")
            if another is not None:
                _draw_new_rig(context, another)


def _draw_new_rig(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Whom to add."""
    settings, column = study_settings(context), layout.column()
    column.use_property_split, column.use_property_decorate = True, False
    column.prop(settings, "kind")
    if settings.kind == "human":
        person = column.column(align=True)
        person.prop(settings, "height")
        person.prop(settings, "mass")
        person.prop(settings, "sex")
    elif settings.kind == "urdf":
        column.prop(settings, "urdf")
        column.prop(settings, "packages")
        column.prop(settings, "up")
    column.operator("exciting_dance.import_rig", icon="ARMATURE_DATA")


class EXCITING_DANCE_PT_stated(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """What a robot's file does not tell."""

    bl_label = "Not in Its File"
    bl_parent_id = "EXCITING_DANCE_PT_rig"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), study_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("stated_feet", "stated_soles", "stated_patches", "stated_torques", "stated_pairs", "stated_srdf"):
            layout.prop(settings, name)
        layout.operator("exciting_dance.state_rig", icon="GREASEPENCIL")


class EXCITING_DANCE_UL_files(SimpleList, bpy.types.UIList):  # type: ignore[misc]
    """Recording files by name."""

    bl_idname = "EXCITING_DANCE_UL_files"

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw one."""
        layout.label(text=bpy.path.basename(item.path), icon="FILE")


class EXCITING_DANCE_PT_recording(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Recording."""

    bl_label = "Recording"
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), study_settings(context)
        row = layout.row()
        row.template_list("EXCITING_DANCE_UL_files", "", settings, "files", settings, "file_index", rows=3)
        column = row.column(align=True)
        column.operator("exciting_dance.import_recording", text="", icon="ADD")
        column.operator("exciting_dance.remove_file", text="", icon="REMOVE")
        column.operator("exciting_dance.take_armature", text="", icon="OUTLINER_OB_ARMATURE")
        if not len(settings.files):
            draw_wrapped(context, layout.column(align=True), "Drop recordings onto the 3D view: markers and forces",
                  icon="IMPORT")  # fmt: skip
        draw_message(context, layout, "recording")


class EXCITING_DANCE_PT_identify(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Identify."""

    bl_label = "Identify"
    bl_order = 2

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), study_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "height")
        column.prop(settings, "sex")
        column = layout.column(align=True)
        column.prop(settings, "weigh")
        if not settings.weigh:
            column.prop(settings, "mass")
        layout.prop(settings, "smooth")
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.track", icon="CON_FOLLOWPATH")
        row.operator("exciting_dance.identify", icon="PHYSICS")
        draw_job(layout, "study")
        draw_message(context, layout, "study")
        row = layout.row(align=True)
        row.operator("exciting_dance.report", text="Report", icon="URL")
        row.operator("exciting_dance.open_study", text="Open Earlier", icon="FILE_FOLDER")


class EXCITING_DANCE_PT_identify_how(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """How it is identified, and where the results go."""

    bl_label = "Method"
    bl_parent_id = "EXCITING_DANCE_PT_identify"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), study_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("trunk", "shoulders", "method", "flight_only", "bootstrap", "output"):
            layout.prop(settings, name)


class EXCITING_DANCE_PT_see(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """See."""

    bl_label = "See"
    bl_order = 3

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig only."""
        return active_rig(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..inertials import describe_result
        from ..legend import find_legends
        from ..study import find_trials, played_trial

        layout, settings, body = layout_of(self), study_settings(context), require(active_rig(context), "rig")
        playing = played_trial(body)
        column = layout.column(align=True)
        for name in find_trials(body):
            column.operator("exciting_dance.trial", text=name, icon="PLAY", depress=name == playing).name = name
        for index, words in enumerate(describe_result(body)):
            layout.label(text=words, icon="BLANK1" if index else "INFO")
        if playing:
            layout.operator("exciting_dance.reduce_keys", icon="KEYFRAME")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in QUANTITIES:
            grid.prop_enum(settings, "quantity", name)
        layout.prop(settings, "overlay")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in ("show_com", "show_support", "show_forces", "show_momentum", "show_markers"):
            grid.prop(settings, name, toggle=True)
        row = layout.row(align=True)
        text = "Remove Legend" if find_legends(scene(context)) else "Add Legend"
        row.operator("exciting_dance.legend", text=text, icon="COLOR")
        row.operator("exciting_dance.ellipsoids", icon="MESH_UVSPHERE")
        layout.operator("exciting_dance.picture", icon="RENDER_STILL")


class EXCITING_DANCE_PT_momentum(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Centre of mass and angular momentum from motion and forces together."""

    bl_label = "Momentum"
    bl_order = 4

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig that plays recordings."""
        body = active_rig(context)
        if body is None:
            return False
        from ..study import find_trials

        return bool(find_trials(body))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..centroidal_estimates import find_estimate_file

        layout, settings, body = layout_of(self), study_settings(context), require(active_rig(context), "rig")
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.centroidal", icon="FORCE_FORCE")
        row.prop(settings, "estimator", text="")
        draw_job(layout, "centroidal")
        draw_message(context, layout, "centroidal")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        grid.active = find_estimate_file(body) is not None
        for name in ("show_estimate", "show_axis", "show_spin", "show_sources", "show_flights"):
            grid.prop(settings, name, toggle=True)


class EXCITING_DANCE_PT_bone(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """What is known of the active bone."""

    bl_label = "Active Link"
    bl_order = 5

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With an active bone that carries inertials."""
        body = active_rig(context)
        return body is not None and body.data.bones.active is not None and "mass" in body.data.bones.active

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..inertials import read_bounds

        layout, body = layout_of(self), require(active_rig(context), "rig")
        bone = body.data.bones.active
        layout.label(text=display_name(bone.name).capitalize(), icon="BONE_DATA")
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        for prefix, words in MASS_TITLES.items():
            if prefix + "mass" in bone:
                column.prop(bone, f'["{prefix}mass"]', text=words)
        layout.prop(bone, '["com"]', text="Centre of mass")
        layout.prop(bone, '["inertia"]', text="Inertia")
        if "determined" in bone:
            layout.prop(bone, '["determined"]', text="Determined")
        bound = [name for name in read_bounds(body) if name.startswith(f"{bone.name}")]
        if bound:
            layout.label(text=f"On a bound: {', '.join(map(display_name, bound))}", icon="INFO")


CLASSES = (
    EXCITING_DANCE_UL_files,
    EXCITING_DANCE_PT_rig,
    EXCITING_DANCE_PT_stated,
    EXCITING_DANCE_PT_recording,
    EXCITING_DANCE_PT_identify,
    EXCITING_DANCE_PT_identify_how,
    EXCITING_DANCE_PT_see,
    EXCITING_DANCE_PT_momentum,
    EXCITING_DANCE_PT_bone,
)
