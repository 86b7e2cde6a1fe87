"""Panels: Rig, Recording, Identify, See. They show; operators do."""

from __future__ import annotations

from typing import Any

import bpy

from ..colours import QUANTITIES
from ..properties import settings_of
from ..scene_rigs import rig_in
from ..typed import layout as layout_of
from ..typed import scene, there
from ..values import spoken
from .messages import in_the_way, running, said, write
from .tab import Rows, Tab

TITLES = {"": "Mass, identified", "prior_": "Mass, prior", "std_": "Mass, std"}


class EXCITING_DANCE_PT_rig(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Rig."""

    bl_label = "Rig"
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, body = layout_of(self), rig_in(context)
        if body is None:
            _new(context, layout)
        else:
            from ..inertials import total_mass

            weighs = "" if (mass := total_mass(body)) is None else f", {mass:.1f} kg"
            words = f"{body.name}: {len(body.data.bones)} links{weighs}"
            write(context, layout.column(align=True), words, icon="OUTLINER_OB_ARMATURE")
            in_the_way(context, layout, body)
            row = layout.row(align=True)
            row.label(text="Joint limits")
            row.operator("exciting_dance.limits", text="Enforce").enforce = True
            row.operator("exciting_dance.limits", text="Ignore").enforce = False
        running(layout, "rig")
        said(context, layout, "rig")
        if body is not None:
            header, another = layout.panel("exciting_dance_another_rig", default_closed=True)
            header.label(text="Another Rig")
            if another is not None:
                _new(context, another)


def _new(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Whom to add."""
    settings, column = settings_of(context), layout.column()
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


class EXCITING_DANCE_PT_stated(Tab, bpy.types.Panel):  # type: ignore[misc]
    """What a robot's file does not tell."""

    bl_label = "Not in Its File"
    bl_parent_id = "EXCITING_DANCE_PT_rig"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), settings_of(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("stated_feet", "stated_soles", "stated_patches", "stated_torques", "stated_pairs", "stated_srdf"):
            layout.prop(settings, name)
        layout.operator("exciting_dance.state_rig", icon="GREASEPENCIL")


class EXCITING_DANCE_UL_files(Rows, bpy.types.UIList):  # type: ignore[misc]
    """Recording files by name."""

    bl_idname = "EXCITING_DANCE_UL_files"

    def show(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw one."""
        layout.label(text=bpy.path.basename(item.path), icon="FILE")


class EXCITING_DANCE_PT_recording(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Recording."""

    bl_label = "Recording"
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), settings_of(context)
        row = layout.row()
        row.template_list("EXCITING_DANCE_UL_files", "", settings, "files", settings, "file_index", rows=3)
        column = row.column(align=True)
        column.operator("exciting_dance.import_recording", text="", icon="ADD")
        column.operator("exciting_dance.remove_file", text="", icon="REMOVE")
        column.operator("exciting_dance.take_armature", text="", icon="OUTLINER_OB_ARMATURE")
        if not len(settings.files):
            write(context, layout.column(align=True), "Drop recordings onto the 3D view: markers and forces",
                  icon="IMPORT")  # fmt: skip
        said(context, layout, "recording")


class EXCITING_DANCE_PT_identify(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Identify."""

    bl_label = "Identify"
    bl_order = 2

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), settings_of(context)
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
        running(layout, "study")
        said(context, layout, "study")
        row = layout.row(align=True)
        row.operator("exciting_dance.report", text="Report", icon="URL")
        row.operator("exciting_dance.open_study", text="Open Earlier", icon="FILE_FOLDER")


class EXCITING_DANCE_PT_identify_how(Tab, bpy.types.Panel):  # type: ignore[misc]
    """How it is identified, and where the results go."""

    bl_label = "Method"
    bl_parent_id = "EXCITING_DANCE_PT_identify"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), settings_of(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("trunk", "shoulders", "method", "flight_only", "bootstrap", "output"):
            layout.prop(settings, name)


class EXCITING_DANCE_PT_see(Tab, bpy.types.Panel):  # type: ignore[misc]
    """See."""

    bl_label = "See"
    bl_order = 3

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig only."""
        return rig_in(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..inertials import told
        from ..legend import legends_in
        from ..study import trial_of, trials_of

        layout, settings, body = layout_of(self), settings_of(context), there(rig_in(context), "rig")
        playing = trial_of(body)
        column = layout.column(align=True)
        for name in trials_of(body):
            column.operator("exciting_dance.trial", text=name, icon="PLAY", depress=name == playing).name = name
        for index, words in enumerate(told(body)):
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
        text = "Remove Legend" if legends_in(scene(context)) else "Add Legend"
        row.operator("exciting_dance.legend", text=text, icon="COLOR")
        row.operator("exciting_dance.ellipsoids", icon="MESH_UVSPHERE")
        layout.operator("exciting_dance.picture", icon="RENDER_STILL")


class EXCITING_DANCE_PT_momentum(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Centre of mass and angular momentum from motion and forces together."""

    bl_label = "Momentum"
    bl_order = 4

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig that plays recordings."""
        body = rig_in(context)
        if body is None:
            return False
        from ..study import trials_of

        return bool(trials_of(body))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..estimates import estimate_file

        layout, settings, body = layout_of(self), settings_of(context), there(rig_in(context), "rig")
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.centroidal", icon="FORCE_FORCE")
        row.prop(settings, "estimator", text="")
        running(layout, "centroidal")
        said(context, layout, "centroidal")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        grid.active = estimate_file(body) is not None
        for name in ("show_estimate", "show_axis", "show_spin", "show_sources", "show_flights"):
            grid.prop(settings, name, toggle=True)


class EXCITING_DANCE_PT_bone(Tab, bpy.types.Panel):  # type: ignore[misc]
    """What is known of the active bone."""

    bl_label = "Active Link"
    bl_order = 5

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With an active bone that carries inertials."""
        body = rig_in(context)
        return body is not None and body.data.bones.active is not None and "mass" in body.data.bones.active

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..inertials import bounds_of

        layout, body = layout_of(self), there(rig_in(context), "rig")
        bone = body.data.bones.active
        layout.label(text=spoken(bone.name).capitalize(), icon="BONE_DATA")
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        for prefix, words in TITLES.items():
            if prefix + "mass" in bone:
                column.prop(bone, f'["{prefix}mass"]', text=words)
        layout.prop(bone, '["com"]', text="Centre of mass")
        layout.prop(bone, '["inertia"]', text="Inertia")
        if "determined" in bone:
            layout.prop(bone, '["determined"]', text="Determined")
        bound = [name for name in bounds_of(body) if name.startswith(f"{bone.name}")]
        if bound:
            layout.label(text=f"On a bound: {', '.join(map(spoken, bound))}", icon="INFO")


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
