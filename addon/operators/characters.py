"""Operators that make an animator's own character a rig, and show its own materials again."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

import bpy

from ..base import bpy_access
from ..base.bpy_access import Status
from ..base.solver_api import errors, person
from ..display.properties import study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from .base import RigOperator, report_error, require_active_rig

INPUT_FILE = "character.npz"
"""The character for the solver."""
DIALOG_WIDTH, LINE_LENGTH, LABEL_WIDTH = 460, 70, 0.2
"""[px] Width of the dialog, characters in a line of it, and fraction of its width for labels."""
PART_ROWS = (
    *((name.title(), (name,)) for name in person.LINKS[:3]),
    *((name.replace("_", " ").title(), (f"left_{name}", f"right_{name}")) for chain in person.CHAINS for name in chain),
)
"""Rows of the dialog: label, and the parts in it, left before right."""


def _part_properties() -> dict[str, Any]:
    """A text property for each part of a person: the name of its bone."""
    return {
        part: bpy.props.StringProperty(
            name=part.replace("_", " ").title(), description="Bone of this part; empty: none", options={"SKIP_SAVE"}
        )
        for part in person.LINKS
    }


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


class CharacterProperties:
    """Properties of the operators that make a character a rig."""

    mass: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Mass", description="Of the whole body; 0: by volume and the densities of tables", default=0.0, min=0.0,
        max=500.0, precision=1, unit="MASS", options={"SKIP_SAVE"},
    )  # fmt: skip
    approved: bpy.props.BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # type: ignore[valid-type]
    """Whether the bones were shown, so that an empty one means that the character has no such part."""
    __annotations__.update(_part_properties())

    def stated_parts(self) -> dict[str, str]:
        """Bones of the parts that the user states or approved."""
        named = {part: getattr(self, part) for part in person.LINKS}
        return named if self.approved else {part: bone for part, bone in named.items() if bone}

    def all_values(self) -> dict[str, Any]:
        """All properties, for another operator."""
        return {"mass": self.mass, "approved": self.approved, **{part: getattr(self, part) for part in person.LINKS}}


class EXCITING_DANCE_OT_use_character(CharacterProperties, bpy.types.Operator):
    """Make the selected character a rig: match its bones, and compute masses from its mesh and weights"""

    bl_idname = "exciting_dance.use_character"
    bl_label = "Use Character"
    bl_options = {"REGISTER"}  # noqa: RUF012

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Match the bones and show them."""
        from ..base.solver_api import match_bones, require_parts
        from ..scene.character import read_skeleton

        try:
            armature = _character_armature(context)
            skeleton = read_skeleton(bpy_access.scene(context), armature)
            found = match_bones(skeleton)
        except errors.SolverError as error:
            return report_error(self, error)
        for part in person.LINKS:
            setattr(self, part, found.get(part, ""))
        try:
            require_parts(skeleton, found)
            self._problem = ""
        except errors.SolverError as error:
            self._problem = str(error)
        self.approved, self._armature = True, armature.name
        self.mass = study_settings(context).mass
        return context.window_manager.invoke_props_dialog(self, width=DIALOG_WIDTH)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the mass and the bone of each part."""
        layout = self.layout
        layout.prop(self, "mass")
        bones = bpy_access.armature(bpy.data.objects[self._armature])
        for label, parts in PART_ROWS:
            row = layout.split(factor=LABEL_WIDTH, align=True)
            row.label(text=label)
            cells = row.row(align=True)
            for part in parts:
                cells.prop_search(self, part, bones, "bones", text="", icon="BONE_DATA")
        if self._problem:
            lines = layout.column(align=True)
            for line in wrap(self._problem, LINE_LENGTH):
                lines.label(text=line)

    def execute(self, context: bpy.types.Context) -> Status:
        """Start the job."""
        operators: Any = bpy.ops
        make = operators.exciting_dance.make_character_rig
        try:
            status: Status = make("EXEC_DEFAULT", **self.all_values())
        except RuntimeError as error:  # what the job reported
            self.report({"ERROR"}, str(error).partition("\n")[0].removeprefix("Error: "))
            return {"CANCELLED"}
        return {"FINISHED"} if status & {"RUNNING_MODAL", "FINISHED"} else {"CANCELLED"}


class EXCITING_DANCE_OT_make_character_rig(CharacterProperties, JobOperator, bpy.types.Operator):
    """Make the selected character a rig with the approved bones"""

    bl_idname = "exciting_dance.make_character_rig"
    bl_label = "Make Character a Rig"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}  # noqa: RUF012
    title, panel = "Measuring the character", "rig"
    input_names = {INPUT_FILE: "the character"}  # noqa: RUF012

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        """Write the character for the solver."""
        from ..base.solver_api import CHARACTER, study_folder
        from ..scene.character import read_character

        armature = _character_armature(context)
        self._character = bpy_access.session_id(armature)
        path = CHARACTER.write(folder / INPUT_FILE, read_character(context, armature))
        arguments = ["character", str(path), "--output", str(folder / study_folder.RIG_FILE), "--progress", "json"]
        arguments += ["--mass", f"{self.mass:g}"] if self.mass else []
        stated = [f"{part}={bone}" for part, bone in self.stated_parts().items()]
        return [*arguments, *(["--parts", *stated] if stated else [])]

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

    def run(self, context: bpy.types.Context) -> Status:
        from ..scene.colours import clear_colours

        clear_colours(require_active_rig(context))
        return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_use_character,
    EXCITING_DANCE_OT_make_character_rig,
    EXCITING_DANCE_OT_restore_materials,
)
