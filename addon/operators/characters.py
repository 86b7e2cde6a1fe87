"""Operators that make an animator's own character a rig, and show its own materials again."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..base import bpy_access
from ..base.bpy_access import Status
from ..base.solver_api import errors
from ..display.properties import study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from .base import RigOperator, require_active_rig
from .parts_dialog import PartsDialog

INPUT_FILE = "character.npz"
"""The character for the solver."""


def _character_armature(context: bpy.types.Context) -> bpy.types.Object:
    """The armature of the active character, which can become a rig.

    Raises:
        InvalidValue: there is none, or it cannot.
    """
    from ..scene.character import character_meshes, find_armature, require_usable

    armature = find_armature(bpy_access.view_layer(context).objects.active)
    require_usable(bpy_access.scene(context), armature)
    character_meshes(bpy_access.scene(context), armature)
    return armature


class EXCITING_DANCE_OT_use_character(PartsDialog, JobOperator, bpy.types.Operator):
    """Make the selected character a rig: match its bones, and compute masses from its mesh and weights"""

    bl_idname = "exciting_dance.use_character"
    bl_label = "Use Character"
    title, panel = "Measuring the character", "rig"
    input_names = {INPUT_FILE: "the character"}  # noqa: RUF012

    mass: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Mass", description="Of the whole body; 0: by volume and the densities of tables", default=0.0, min=0.0,
        max=500.0, precision=1, unit="MASS", options={"SKIP_SAVE"},
    )  # fmt: skip

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A character that can become a rig is needed."""
        try:
            _character_armature(context)
        except errors.SolverError as error:
            return str(error)
        return ""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Match the bones and show them."""
        from ..base.solver_api import match_bones, require_parts
        from ..scene.character import read_skeleton

        armature = _character_armature(context)
        skeleton = read_skeleton(bpy_access.scene(context), armature)
        found, words = match_bones(skeleton), ""
        try:
            require_parts(skeleton, found)
        except errors.SolverError as error:
            words = str(error)
        self.mass = study_settings(context).mass
        return self.ask(context, armature, found, words)

    def draw_fields(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """Draw the mass."""
        layout.prop(self, "mass")

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        """Write the character for the solver."""
        from ..base.solver_api import CHARACTER, study_folder
        from ..scene.character import read_character

        armature = _character_armature(context)
        self._character = bpy_access.session_id(armature)
        path = CHARACTER.write(folder / INPUT_FILE, read_character(context, armature))
        arguments = ["character", str(path), "--output", str(folder / study_folder.RIG_FILE), "--progress", "json"]
        return [*arguments, *(["--mass", f"{self.mass:g}"] if self.mass else []), *self.stated_parts()]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        """Store the rig on the character's armature, and colour its mesh by mass."""
        from ..base.solver_api import read_rig, study_folder
        from ..scene import inertials
        from ..scene.character import attach_rig
        from ..scene.colours import colour_body
        from .rigs import show_added_rig

        armature = bpy_access.find_by_session_id(bpy.data.objects, self._character)
        rig = read_rig(folder / study_folder.RIG_FILE)
        attach_rig(context, armature, rig)
        inertials.write_prior(armature)
        colour_body(bpy_access.scene(context), armature, "mass")
        message = show_added_rig(context, self, armature)
        return JobMessage(f"{armature.name} is a rig of {len(rig.links)} links", notes=message.notes)


class EXCITING_DANCE_OT_restore_materials(RigOperator, bpy.types.Operator):
    """Show the character's own materials again, and remove the colours of the links"""

    bl_idname = "exciting_dance.restore_materials"
    bl_label = "Own Materials"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """The reason, unless link colours replace the materials of a character."""
        from ..scene.armature import shape_objects
        from ..scene.skin import has_link_materials

        if problem := super().find_problem(context):
            return problem
        return (
            ""
            if any(map(has_link_materials, shape_objects(require_active_rig(context))))
            else "No character shows link colours"
        )

    def run(self, context: bpy.types.Context) -> None:
        from ..scene.colours import clear_colours

        clear_colours(require_active_rig(context))


CLASSES = (
    EXCITING_DANCE_OT_use_character,
    EXCITING_DANCE_OT_restore_materials,
)
