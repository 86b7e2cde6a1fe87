"""Set postures, roles and contacts, and go from one to the next."""

from __future__ import annotations

import bpy

from ..authoring.properties import ROLES
from ..bpy_access import Status, scene
from ..job_messages import dismiss_message
from ..scene_rigs import active_rig
from .base import AtomicOperator, RigOperator, require_active_rig

ROLE_ITEMS = tuple(role[:3] for role in ROLES)


class EXCITING_DANCE_OT_key_posture(RigOperator, bpy.types.Operator):
    """Key every joint of the rig at this frame, in the chosen role"""

    bl_idname = "exciting_dance.key_posture"
    bl_label = "Key Posture"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    role: bpy.props.EnumProperty(name="Role", items=ROLE_ITEMS, default="preferred")  # type: ignore[valid-type]
    between: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Replace In-betweens",
        description="Remove the generated keys up to the neighbouring postures",
        default=True,
    )

    def run(self, context: bpy.types.Context) -> Status:
        from ..authoring import keying as author

        author.key_posture(scene(context), require_active_rig(context), self.role, between=self.between)
        return {"FINISHED"}


class EXCITING_DANCE_OT_set_role(RigOperator, bpy.types.Operator):
    """Give the posture at this frame, or the keys selected in the Dope Sheet, the chosen role"""

    bl_idname = "exciting_dance.set_role"
    bl_label = "Set Role"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    role: bpy.props.EnumProperty(name="Role", items=ROLE_ITEMS, default="preferred")  # type: ignore[valid-type]
    selected: bpy.props.BoolProperty(name="Selected Keys", description="Instead of this frame's")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        from ..authoring import keying as author

        frame = None if self.selected else author.current_frame(scene(context))
        count = author.set_role(require_active_rig(context), self.role, frame=frame)
        if not count:
            where = "selected in the Dope Sheet" if self.selected else "at this frame"
            self.report({"WARNING"}, f"No key of the rig is {where}")
            return {"CANCELLED"}
        return {"FINISHED"}


class EXCITING_DANCE_OT_jump_posture(RigOperator, bpy.types.Operator):
    """Go to the next posture, or to the one before, past the generated keys"""

    bl_idname = "exciting_dance.jump_posture"
    bl_label = "Jump to Posture"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    forward: bpy.props.BoolProperty(name="Forward", default=True)  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        from ..action import set_frame
        from ..authoring import keying as author

        frame = author.next_posture(scene(context), require_active_rig(context), forward=self.forward)
        if frame is None:
            self.report({"INFO"}, "No more postures in this direction")
            return {"CANCELLED"}
        set_frame(scene(context), frame)
        return {"FINISHED"}


class EXCITING_DANCE_OT_jump_frame(AtomicOperator, bpy.types.Operator):
    """Go to where this begins"""

    bl_idname = "exciting_dance.jump_frame"
    bl_label = "Jump Here"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    frame: bpy.props.FloatProperty(name="Frame")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        from ..action import set_frame

        set_frame(scene(context), self.frame)
        return {"FINISHED"}


class EXCITING_DANCE_OT_contact(RigOperator, bpy.types.Operator):
    """From this frame on, let these soles, hands or knees stand on the floor, until the next contact key"""

    bl_idname = "exciting_dance.contact"
    bl_label = "Contact"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    standing: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Standing",
        items=(
            ("all", "All", "Every sole stands, and nothing else"),
            ("one", "One", "Only the named one stands"),
            ("other", "Also", "The named one stands besides what does, or no longer"),
            ("none", "Airborne", "Nothing touches the floor"),
        ),
    )
    patch: bpy.props.StringProperty(name="Patch", description="Of the rig's contact patches")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        from ..armature import rig_of
        from ..authoring import keying as author

        body = require_active_rig(context)
        now = author.standing_patches_by_motion(scene(context), body) if self.standing == "other" else set()
        every = [sole.name for sole in rig_of(body).soles]
        chosen = {"all": every, "one": [self.patch], "other": now ^ {self.patch}, "none": []}[self.standing]
        if author.key_contacts(scene(context), body, chosen):
            self.report({"INFO"}, "Contacts before and after are now keyed as the motion has them: see the list")
        return {"FINISHED"}


class EXCITING_DANCE_OT_clear_inbetweens(RigOperator, bpy.types.Operator):
    """Delete the generated keys between postures, so that Blender interpolates: of the frame range, or the selected"""

    bl_idname = "exciting_dance.clear_inbetweens"
    bl_label = "Clear In-betweens"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    selected: bpy.props.BoolProperty(name="Selected Only", description="Selected in the Dope Sheet")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        from ..authoring import keying as author
        from ..authoring.timeline import motion_range

        now, body = scene(context), require_active_rig(context)
        preview = now.use_preview_range
        span = (now.frame_preview_start, now.frame_preview_end) if preview else motion_range(now, body)
        count = author.clear_inbetweens(body, *span, selected=self.selected)
        self.report({"INFO"}, f"Removed {count} generated keys" if count else "No generated keys here")
        return {"FINISHED"}


class EXCITING_DANCE_OT_clear_marks(AtomicOperator, bpy.types.Operator):
    """Remove the markers that the last check set"""

    bl_idname = "exciting_dance.clear_marks"
    bl_label = "Clear Marks"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..authoring.failure_markers import find_failure_markers

        if not find_failure_markers(scene(context), active_rig(context)):
            cls.poll_message_set("No check has set a mark")
            return False
        return True

    def run(self, context: bpy.types.Context) -> Status:
        from ..authoring.failure_markers import clear_failure_markers

        clear_failure_markers(scene(context), active_rig(context))
        return {"FINISHED"}


class EXCITING_DANCE_OT_forget_message(AtomicOperator, bpy.types.Operator):
    """Take the last job's message off the panel"""

    bl_idname = "exciting_dance.forget_message"
    bl_label = "Dismiss"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    place: bpy.props.StringProperty(description="The panel that shows it")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        dismiss_message(scene(context), active_rig(context), self.place)
        return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_key_posture,
    EXCITING_DANCE_OT_set_role,
    EXCITING_DANCE_OT_jump_posture,
    EXCITING_DANCE_OT_jump_frame,
    EXCITING_DANCE_OT_contact,
    EXCITING_DANCE_OT_clear_inbetweens,
    EXCITING_DANCE_OT_clear_marks,
    EXCITING_DANCE_OT_forget_message,
)
