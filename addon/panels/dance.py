"""Panels of dances: Author with Postures, Contacts, Design, Check, Perform. They show; operators do."""

from __future__ import annotations

from typing import Any

import bpy

from ..authoring.posture_cache import summarise_postures
from ..authoring.properties import ROLES, dance_settings
from ..bpy_access import require, scene
from ..custom_properties import read_label
from ..dance_moves import active_move, find_moves
from ..job_messages import find_message
from ..scene_rigs import active_rig
from ..scores import has_scores
from ..solver_api import display_name
from .messages import draw_job, draw_message, draw_rig_problem, draw_wrapped
from .tab import DancePanel, SimpleList

SHORT_NAME = 10
"""Letters of a sole's name that a button has room for beside three others."""
ROLE_ICONS: dict[str, Any] = {role: icon for role, _, _, icon, _ in ROLES}


class EXCITING_DANCE_PT_author(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """The dance of the rig: what runs, what was said, and the ghost."""

    bl_label = "Author"
    bl_order = 0
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012  # unfolded, its parts push away what Identify says of a new rig

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, body = require(self.layout, "layout"), active_rig(context)
        if body is None:
            layout.label(text="Add or select a rig first", icon="INFO")
        else:
            action = body.animation_data.action if body.animation_data else None
            draw_rig_problem(context, layout, body)
            if action:
                layout.label(text=action.name, icon="ACTION")
            else:
                draw_wrapped(context, layout.column(align=True), "Nothing keyed yet: design a dance, or key postures",
                      icon="ACTION")  # fmt: skip
                _draw_design(layout)
            _draw_ghost(context, layout, body)
        draw_job(layout, "dance")
        draw_message(context, layout, "dance")


def _draw_ghost(context: bpy.types.Context, layout: bpy.types.UILayout, body: bpy.types.Object) -> None:
    """The ghost of the rig, if it has one: take it or leave it."""
    from ..authoring.ghost import OPERATION_KEY, find_ghost

    ghost = find_ghost(scene(context), body)
    if ghost is not None:
        box = layout.box()
        row = box.row()
        row.label(text=f"Ghost, {read_label(ghost, OPERATION_KEY)}", icon="GHOST_ENABLED")
        box.row().prop(dance_settings(context), "ghost_place", expand=True)
        row = box.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.apply_ghost", icon="CHECKMARK")
        row.operator("exciting_dance.discard_ghost", icon="X")


class AuthorPanel(DancePanel):
    """Mix-in: a part of Author, for which there must be a rig that is whole."""

    bl_parent_id = "EXCITING_DANCE_PT_author"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig only."""
        body = active_rig(context)
        if body is None:
            return False
        from ..armature import rig_problem

        return not rig_problem(body)


class EXCITING_DANCE_PT_postures(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Postures and their roles."""

    bl_label = "Postures"
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..authoring.keying import current_frame

        layout, settings, body = (
            require(self.layout, "layout"),
            dance_settings(context),
            require(active_rig(context), "rig"),
        )
        postures = summarise_postures(body)
        column = layout.column(align=True)
        column.row(align=True).prop(settings, "role", expand=True)
        row = column.row(align=True)
        row.scale_y = 1.3
        key = row.operator("exciting_dance.key_posture", icon="KEY_HLT")
        key.role, key.between = settings.role, settings.between
        row = column.row(align=True)
        here = row.operator("exciting_dance.set_role", text="Set Role Here")
        here.role, here.selected = settings.role, False
        chosen = row.operator("exciting_dance.set_role", text="On Selected Keys")
        chosen.role, chosen.selected = settings.role, True
        role = postures.role_at(current_frame(scene(context)))
        row = layout.row(align=True)
        row.operator("exciting_dance.jump_posture", text="", icon="PREV_KEYFRAME").forward = False
        if role:
            row.prop(settings, "posture_name", text="", icon=ROLE_ICONS[role], placeholder=f"{role} posture")
        else:
            field = row.row(align=True)
            field.alignment = "CENTER"
            field.label(text="between postures")
        row.operator("exciting_dance.jump_posture", text="", icon="NEXT_KEYFRAME").forward = True
        row = layout.row(align=True)
        row.active = postures.up_to_date
        row.label(text="Keys")
        for name, count in postures.counts.items():
            row.label(text=str(count), icon=ROLE_ICONS[name])
        header, between = layout.panel("exciting_dance_inbetweens", default_closed=True)
        header.label(text="In-betweens")
        if between is not None:
            between.prop(settings, "between")
            row = between.row(align=True)
            row.operator("exciting_dance.clear_inbetweens", text="Clear All").selected = False
            row.operator("exciting_dance.clear_inbetweens", text="Clear Selected").selected = True


class EXCITING_DANCE_UL_moves(SimpleList, bpy.types.UIList):  # type: ignore[misc]
    """Moves of a designed dance, by where they lead and how hard they are."""

    bl_idname = "EXCITING_DANCE_UL_moves"

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw one."""
        split = layout.split(factor=0.4)
        split.label(text=item.name)
        split.label(text=item.difficulty)


class EXCITING_DANCE_PT_moves(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """How hard each move of the designed dance is."""

    bl_label = "Moves"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a designed dance only."""
        moves = find_moves(require(active_rig(context), "rig")) if super().poll(context) else None
        return moves is not None and bool(len(moves.rows))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, moves = (
            require(self.layout, "layout"),
            require(find_moves(require(active_rig(context), "rig")), "moves"),
        )
        layout.label(text="To, and how hard to learn it is")
        layout.template_list("EXCITING_DANCE_UL_moves", "", moves, "rows", moves, "index", rows=5)
        if (move := active_move(moves)) is not None:  # a narrow list cuts its words
            draw_wrapped(
                context, layout.column(align=True), f"{capitalised_name(move.name)}: {move.difficulty}", icon="INFO"
            )


class EXCITING_DANCE_PT_contacts(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """When which sole, hand or knee stands on the floor."""

    bl_label = "Contacts"
    bl_order = 2

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..armature import rig_of
        from ..authoring.keying import nearby_strips, standing_patches
        from ..authoring.timeline import contact_curves
        from ..study import played_trial

        layout, body, where = require(self.layout, "layout"), require(active_rig(context), "rig"), scene(context)
        rig = rig_of(body)
        patches = [sole.name for sole in rig.soles]
        if not rig.patches:
            layout.label(text="This rig has no soles", icon="INFO")
            return
        known, standing = bool(contact_curves(body)), standing_patches(where, body)
        column = layout.column(align=True)
        column.label(text="From this frame on, standing on")
        row = column.row(align=True)
        every = row.operator("exciting_dance.contact", text="All", depress=known and standing == set(patches))
        every.standing = "all"
        soles = row if all(len(capitalised_name(name)) <= SHORT_NAME for name in patches) else column
        for name in patches:
            one = soles.operator("exciting_dance.contact", text=capitalised_name(name), depress=standing == {name})
            one.standing, one.patch = "one", name
        none = row.operator("exciting_dance.contact", text="Airborne", depress=known and not standing)
        none.standing = "none"
        others = [patch.name for patch in rig.contacts if not patch.sole]
        for pair in (others[k : k + 2] for k in range(0, len(others), 2)):
            row = column.row(align=True)
            for name in pair:
                also = row.operator("exciting_dance.contact", text=capitalised_name(name), depress=name in standing)
                also.standing, also.patch = "other", name
        if not known:
            draw_wrapped(context, layout.column(align=True), "Not keyed: soles stand where the motion "
            "has them on the floor",
                  icon="INFO")  # fmt: skip
        if played_trial(body):
            layout.operator("exciting_dance.find_contacts", icon="VIEWZOOM")
        strips = nearby_strips(where, body) if known else []
        if not strips:
            return
        header, listed = layout.panel("exciting_dance_strips", default_closed=True)
        header.label(text=f"{len(strips)} Strips near this Frame" if len(strips) > 1 else "1 Strip")
        if listed is not None:
            column = listed.column(align=True)
            for strip, frame, present in strips:
                text = f"{capitalised_name(strip.patch)}  {strip.start:.2f} to {strip.stop:.2f} s"
                column.operator("exciting_dance.jump_frame", text=text, depress=present).frame = frame


class EXCITING_DANCE_PT_design(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """A new dance from nothing."""

    bl_label = "Design"
    bl_parent_id = "EXCITING_DANCE_PT_author"
    bl_order = 0
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings, body = require(self.layout, "layout"), dance_settings(context), active_rig(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "postures")
        column.prop(settings, "shortest")
        column.prop(settings, "hold")
        column.prop(settings, "passes")
        column = layout.column(align=True)
        column.prop(settings, "emphasis")
        if settings.emphasis != "none":
            column.prop(settings, "factor")
        column.row().prop(settings, "objective", expand=True)
        if body is not None:
            layout.prop(settings, "posed")
        column = layout.column(align=True)
        column.prop(settings, "counted")
        if settings.counted:
            column.prop(settings, "bpm")
            column.prop(settings, "skill")
            column.prop(settings, "mirrored")
        column = layout.column(align=True)
        column.prop(settings, "effort")
        column.prop(settings, "seed")
        _draw_design(layout)
        if body is None:
            layout.label(text="For the rig chosen under Rig", icon="ARMATURE_DATA")


def _draw_design(layout: bpy.types.UILayout) -> None:
    """Design one as is set, or open one."""
    row = layout.row(align=True)
    row.scale_y = 1.3
    row.operator("exciting_dance.design_dance", icon="OUTLINER_DATA_ARMATURE")
    row.operator("exciting_dance.open_dance", text="", icon="FILE_FOLDER")


class EXCITING_DANCE_PT_check(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Is it feasible, and make it so."""

    bl_label = "Check and Repair"
    bl_order = 4

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings, body = (
            require(self.layout, "layout"),
            dance_settings(context),
            require(active_rig(context), "rig"),
        )
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.check_dance", icon="VIEWZOOM")
        row.operator("exciting_dance.clear_marks", text="", icon="MARKER")
        column = layout.column(align=True)
        column.operator("exciting_dance.balance_dance", icon="CON_FLOOR")
        row = column.row(align=True)
        row.operator("exciting_dance.complete_dance", icon="KEYTYPE_BREAKDOWN_VEC")
        row.prop(settings, "calm", toggle=True)
        row = column.row(align=True)
        row.operator("exciting_dance.slow_dance", icon="TIME")
        row.prop(settings, "dynamics", toggle=True)
        if has_scores(body):
            row = layout.row(align=True)
            row.label(text="Colour by")
            row.operator("exciting_dance.colour", text="Excitation").quantity = "excitation"
            row.operator("exciting_dance.colour", text="Deviation").quantity = "deviation"


class EXCITING_DANCE_UL_joints(SimpleList, bpy.types.UIList):  # type: ignore[misc]
    """Joints by how closely they were performed, worst first."""

    bl_idname = "EXCITING_DANCE_UL_joints"

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw one."""
        split = layout.split(factor=0.6)
        split.label(text=capitalised_name(item.name))
        row = split.row()
        row.enabled = False
        row.prop(item, "rmse", text="", emboss=False)
        row.prop(item, "gain", text="", emboss=False)


class EXCITING_DANCE_PT_perform(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Out to a robot or a person, and back."""

    bl_label = "Export and Compare"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        from ..authoring.performance import PANEL

        layout, settings = require(self.layout, "layout"), dance_settings(context)
        layout.operator("exciting_dance.export_dance", text="Export Joint Angles", icon="EXPORT")
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "performed")
        column.prop(settings, "trial")
        layout.operator("exciting_dance.compare_performance", icon="ARROW_LEFTRIGHT")
        numbers = find_message(scene(context), active_rig(context), PANEL)
        if numbers is not None:
            layout.label(text="Joint, error (rms), amplitude of plan")
            layout.template_list("EXCITING_DANCE_UL_joints", "", numbers, "joints", numbers, "joint_index", rows=5)


def capitalised_name(name: str) -> str:
    """A name of the rig as people write it."""
    return display_name(name).capitalize()


CLASSES = (
    EXCITING_DANCE_PT_author,
    EXCITING_DANCE_PT_postures,
    EXCITING_DANCE_PT_contacts,
    EXCITING_DANCE_UL_moves,
    EXCITING_DANCE_PT_moves,
    EXCITING_DANCE_PT_design,
    EXCITING_DANCE_PT_check,
    EXCITING_DANCE_UL_joints,
    EXCITING_DANCE_PT_perform,
)
