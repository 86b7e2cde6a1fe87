"""Operators that key postures, roles and contacts, and go from one to the next."""

from __future__ import annotations

import bpy

from ..authoring.properties import ROLES
from ..base.bpy_access import scene
from ..base.scene_rigs import active_rig
from ..base.solver_api import errors
from ..jobs.job_messages import dismiss_message
from ..live.control import LiveCheck
from .base import AtomicOperator, RigOperator, SceneOperator, require_active_rig
from .dance_base import DanceJob

ROLE_ITEMS = tuple(role[:3] for role in ROLES)


def key_posture(context: bpy.types.Context, role: str, *, between: bool) -> str:
    """Key the active rig's posture and, while its live check runs, in-between keys that keep the soles in place.

    Returns:
        why keys that keep the soles in place are missing; empty if none are.
    """
    from ..authoring import keying

    body, session = require_active_rig(context), LiveCheck.session
    keying.key_posture(scene(context), body, role, between=between)
    if not between or session is None or not session.checks(body):
        return ""
    from ..posing.inbetweens import key_inbetweens

    problem = key_inbetweens(session, keying.current_frame(scene(context)))
    return f"The soles slide between the postures: {problem}" if problem else ""


class EXCITING_DANCE_OT_key_posture(RigOperator, bpy.types.Operator):
    """Key all joints of the rig at this frame, with the chosen role"""

    bl_idname = "exciting_dance.key_posture"
    bl_label = "Key Posture"

    role: bpy.props.EnumProperty(name="Role", items=ROLE_ITEMS, default="preferred")  # type: ignore[valid-type]
    between: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Replace In-betweens",
        description="Replace generated keys up to the neighbouring postures; while Live runs, soles stay in place",
        default=True,
    )

    def run(self, context: bpy.types.Context) -> None:
        problem = key_posture(context, self.role, between=self.between)
        if problem:
            self.report({"WARNING"}, problem)


class EXCITING_DANCE_OT_set_role(RigOperator, bpy.types.Operator):
    """Set the role of the posture at this frame, or of the keys selected in the Dope Sheet"""

    bl_idname = "exciting_dance.set_role"
    bl_label = "Set Role"

    role: bpy.props.EnumProperty(name="Role", items=ROLE_ITEMS, default="preferred")  # type: ignore[valid-type]
    selected: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Selected Keys", description="Change the selected keys instead of the posture at this frame"
    )

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring import keying

        frame = None if self.selected else keying.current_frame(scene(context))
        count = keying.set_role(require_active_rig(context), self.role, frame=frame)
        if not count:
            where = "selected in the Dope Sheet" if self.selected else "at this frame"
            raise errors.InvalidValue(f"the rig has no key {where}")


class EXCITING_DANCE_OT_jump_posture(RigOperator, bpy.types.Operator):
    """Go to the next or previous posture, skipping generated keys"""

    bl_idname = "exciting_dance.jump_posture"
    bl_label = "Jump to Posture"

    forward: bpy.props.BoolProperty(name="Forward", default=True)  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring import keying
        from ..scene.action import set_frame

        frame = keying.next_posture(scene(context), require_active_rig(context), forward=self.forward)
        if frame is None:
            self.report({"INFO"}, "There are no more postures in this direction")
        else:
            set_frame(scene(context), frame)


class EXCITING_DANCE_OT_jump_frame(SceneOperator, bpy.types.Operator):
    """Go to this frame"""

    bl_idname = "exciting_dance.jump_frame"
    bl_label = "Jump Here"

    frame: bpy.props.FloatProperty(name="Frame")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..scene.action import set_frame

        set_frame(scene(context), self.frame)


class EXCITING_DANCE_OT_contact(RigOperator, bpy.types.Operator):
    """Key what is on the floor from this frame until the next contact key: soles, hands, knees, or a part of a sole"""

    bl_idname = "exciting_dance.contact"
    bl_label = "Contact"

    standing: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Standing",
        items=(
            ("all", "All", "All soles are on the floor, and nothing else"),
            ("one", "One", "Only the named patch is on the floor"),
            ("other", "Toggle", "Add or remove the contact of the named patch"),
            ("none", "Airborne", "Nothing is on the floor"),
            ("heel", "Heel", "The named sole rolls on its heel"),
            ("flat", "Flat", "The named sole lies flat on the floor"),
            ("toe", "Toe", "The named sole rolls on ball and toes, or on the edge of stiff toes"),
        ),
    )
    patch: bpy.props.StringProperty(name="Patch", description="Contact patch of the rig")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring import keying
        from ..scene.armature import rig_of

        body = require_active_rig(context)
        rig, alone = rig_of(body), self.standing in ("all", "one", "none")
        chosen = {} if alone else keying.standing_patches_by_motion(scene(context), body)
        if self.standing == "all":
            chosen = {sole.name: "sole" for sole in rig.soles}
        elif self.standing == "other" and self.patch in chosen:
            del chosen[self.patch]
        elif self.standing != "none":
            toe = "ball" if any(sole.name == self.patch and sole.toes for sole in rig.soles) else "toes"
            chosen[self.patch] = {"heel": "heel", "toe": toe}.get(self.standing, "sole")
        if keying.key_contacts(scene(context), body, chosen):
            self.report({"INFO"}, "Contacts before and after this frame were keyed from the motion")


class EXCITING_DANCE_OT_clear_inbetweens(RigOperator, bpy.types.Operator):
    """Delete generated keys between postures, so that Blender interpolates: all in the range, or the selected ones"""

    bl_idname = "exciting_dance.clear_inbetweens"
    bl_label = "Clear In-betweens"

    selected: bpy.props.BoolProperty(name="Selected Only", description="Delete only keys selected in the Dope Sheet")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring import keying
        from ..authoring.timeline import motion_range

        now, body = scene(context), require_active_rig(context)
        preview = (now.frame_preview_start, now.frame_preview_end) if now.use_preview_range else None
        count = keying.clear_inbetweens(body, *(preview or motion_range(now, body)), selected=self.selected)
        self.report({"INFO"}, f"Removed {count} generated keys" if count else "There are no generated keys here")


class EXCITING_DANCE_OT_forget_message(AtomicOperator, bpy.types.Operator):
    """Remove this message from the panel, and the timeline markers of a check"""

    bl_idname = "exciting_dance.forget_message"
    bl_label = "Dismiss"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    place: bpy.props.StringProperty(description="Panel that shows the message")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring.failure_markers import clear_failure_markers

        dismiss_message(scene(context), active_rig(context), self.place)
        if self.place == DanceJob.panel:
            clear_failure_markers(scene(context), active_rig(context))


CLASSES = (
    EXCITING_DANCE_OT_key_posture,
    EXCITING_DANCE_OT_set_role,
    EXCITING_DANCE_OT_jump_posture,
    EXCITING_DANCE_OT_jump_frame,
    EXCITING_DANCE_OT_contact,
    EXCITING_DANCE_OT_clear_inbetweens,
    EXCITING_DANCE_OT_forget_message,
)
