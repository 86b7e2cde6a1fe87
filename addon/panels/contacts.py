"""Subpanel Contacts of Author."""

from __future__ import annotations

import bpy

from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig
from .base import AuthorPanel, capitalised_name
from .messages import draw_wrapped

PART_BUTTONS = {"heel": ("heel",), "flat": ("sole",), "toe": ("ball", "toes")}
"""Parts of a sole that the choices of the operator key."""
SHORT_NAME = 10
"""Longest name of a sole, in letters, for a button in a row of four."""


class EXCITING_DANCE_PT_contacts(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Contacts of soles, hands and knees with the floor"""

    bl_label = "Contacts"
    bl_parent_id = "EXCITING_DANCE_PT_postures"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..authoring.keying import nearby_strips, standing_patches
        from ..authoring.timeline import contact_curves
        from ..display.study import played_trial
        from ..scene.armature import rig_of

        layout, body, where = require(self.layout, "layout"), require(active_rig(context), "rig"), scene(context)
        rig = rig_of(body)
        patches = [sole.name for sole in rig.soles]
        if not rig.patches:
            layout.label(text="This rig has no soles", icon="INFO")
            return
        known, standing = bool(contact_curves(body)), standing_patches(where, body)
        column = layout.column(align=True)
        column.label(text="On the floor from this frame on")
        row = column.row(align=True)
        every = row.operator("exciting_dance.contact", text="All", depress=known and set(standing) == set(patches))
        every.standing = "all"
        soles = row if all(len(capitalised_name(name)) <= SHORT_NAME for name in patches) else column
        for name in patches:
            one = soles.operator("exciting_dance.contact", text=capitalised_name(name), depress=set(standing) == {name})
            one.standing, one.patch = "one", name
        none = row.operator("exciting_dance.contact", text="Airborne", depress=known and not standing)
        none.standing = "none"
        for sole in rig.soles:
            if sole.name in standing:
                row = column.row(align=True)
                row.label(text=capitalised_name(sole.name))
                for choice, parts in PART_BUTTONS.items():
                    text = choice.capitalize()
                    part = row.operator("exciting_dance.contact", text=text, depress=standing[sole.name] in parts)
                    part.standing, part.patch = choice, sole.name
        others = [patch.name for patch in rig.contacts if not patch.sole]
        for pair in (others[k : k + 2] for k in range(0, len(others), 2)):
            row = column.row(align=True)
            for name in pair:
                also = row.operator("exciting_dance.contact", text=capitalised_name(name), depress=name in standing)
                also.standing, also.patch = "other", name
        if not known:
            draw_wrapped(
                context,
                layout.column(align=True),
                "Not keyed: contacts follow from the motion of the soles",
                icon="INFO",
            )
        if played_trial(body):
            layout.operator("exciting_dance.find_contacts", icon="VIEWZOOM")
        strips = nearby_strips(where, body) if known else []
        if not strips:
            return
        header, listed = layout.panel("exciting_dance_strips", default_closed=True)
        header.label(text=f"{len(strips)} Strips Near This Frame" if len(strips) > 1 else "1 Strip")
        if listed is not None:
            column = listed.column(align=True)
            for strip, frame, present in strips:
                what = capitalised_name(strip.patch) + f" {strip.part.capitalize()}" * (strip.part != "sole")
                text = f"{what}  {strip.start:.2f} to {strip.stop:.2f} s"
                column.operator("exciting_dance.jump_frame", text=text, depress=present).frame = frame


CLASSES = (EXCITING_DANCE_PT_contacts,)
