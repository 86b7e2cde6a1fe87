"""Import a rig."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy_extras.io_utils import ImportHelper

from .. import scene_rigs, typed
from ..jobs import JobOperator
from ..properties import Settings, settings_of
from ..told import Said, forget
from ..typed import Status, there
from ..values import errors
from .act import NeedsRig, the_rig, why_not

ASKED_FILE = "asked.json"
"""The rig about which something is stated."""
STANDING_FILE = "standing.npz"
"""How a new rig stands."""


def rig_arguments(kind: str, settings: Settings, urdf: str) -> list[str]:
    """The ``rig`` verb's words for a choice in the interface.

    Raises:
        InvalidValue: a robot from a file, and no file is chosen.
    """
    if kind == "urdf":
        if not urdf.strip():
            raise errors.InvalidValue("no file is chosen: fill in the robot's URDF first")
        words = ["rig", bpy.path.abspath(urdf)]
        if urdf.lower().endswith(".urdf"):  # other files say so themselves
            words += [] if settings.up == "auto" else ["--up", settings.up]
            words += ["--packages", bpy.path.abspath(settings.packages)] if settings.packages.strip() else []
        return words
    if kind == "human":
        return [
            "rig",
            "human",
            "--height",
            f"{settings.height:g}",
            "--mass",
            f"{settings.mass:g}",
            "--sex",
            settings.sex,
        ]
    return ["rig", kind]


def stated(settings: Settings) -> list[str]:
    """The ``rig`` verb's words for what is stated of the rig in the scene; none where nothing is."""
    words = {
        "--feet": settings.stated_feet,
        "--soles": settings.stated_soles,
        "--patches": settings.stated_patches,
        "--torques": settings.stated_torques,
        "--may-touch": settings.stated_pairs,
    }
    result = [word for option, text in words.items() if text.split() for word in (option, *text.split())]
    srdf = bpy.path.abspath(settings.stated_srdf)
    return [*result, *(["--srdf", srdf] if srdf else [])]


def written(folder: Path) -> list[str]:
    """The ``rig`` verb's words for what it writes for a new armature."""
    from ..values import study_folder

    files = ["--output", str(folder / study_folder.RIG_FILE), "--standing", str(folder / STANDING_FILE)]
    return [*files, "--progress", "json"]


def show_rig(context: bpy.types.Context, path: Path) -> bpy.types.Object:
    """Build the armature of a description beside those that are there, its prior on the bones, coloured by mass."""
    from .. import armature, inertials
    from ..capture.posing import show_frame
    from ..legend import show_quantity
    from ..places import stand_free
    from ..values import MOTION, read_rig

    body = armature.build_armature(context, read_rig(path))
    stand_free(context, body)
    stands = path.with_name(STANDING_FILE)
    if stands.exists():
        show_frame(body, MOTION.read(stands).drawn, 0)
    inertials.write_prior(body)
    show_quantity(typed.scene(context), body, "mass")
    return body


def shown(context: bpy.types.Context, job: JobOperator, body: bpy.types.Object) -> Said:
    """Let the views show a new rig with the others; what is said of it."""
    from .. import armature, view

    forget(typed.scene(context), job.rig(), job.place)  # an earlier failure is mended
    job.is_about(body)
    view.frame(context, [rig for rig in scene_rigs.rigs_in(typed.scene(context)) if rig.visible_get()])
    return Said(f"Added {body.name}", notes=armature.rig_of(body).notes)


class EXCITING_DANCE_OT_import_rig(JobOperator, bpy.types.Operator):
    """Add a human or a robot as an armature with its inertial parameters on the bones"""

    bl_idname = "exciting_dance.import_rig"
    bl_label = "Add Rig"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, place, tells_success = "Adding the rig", "rig", False

    kind: bpy.props.StringProperty(options={"SKIP_SAVE"})  # type: ignore[valid-type]

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        settings = settings_of(context)
        kind = self.kind or settings.kind
        self.tells_success = kind == "urdf"  # what its file lacks, such as meshes that were not found
        words = rig_arguments(kind, settings, settings.urdf)
        return [*words, *written(folder)]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..values import study_folder

        return shown(context, self, show_rig(context, folder / study_folder.RIG_FILE))


class EXCITING_DANCE_OT_import_urdf(JobOperator, bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Import a robot from a URDF file, or from an MJCF file where MuJoCo is installed"""

    bl_idname = "exciting_dance.import_urdf"
    bl_label = "Import Robot"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, place = "Importing the robot", "rig"
    filename_ext = ".urdf"

    filter_glob: bpy.props.StringProperty(default="*.urdf;*.xml", options={"HIDDEN"})  # type: ignore[valid-type]

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        words = rig_arguments("urdf", settings_of(context), self.filepath)  # type: ignore[attr-defined]
        return [*words, *written(folder)]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..values import study_folder

        return shown(context, self, show_rig(context, folder / study_folder.RIG_FILE))


class EXCITING_DANCE_OT_state_rig(JobOperator, bpy.types.Operator):
    """Write what the robot's file does not tell into the rig: feet, soles, patches, torques, links that may touch"""

    bl_idname = "exciting_dance.state_rig"
    bl_label = "State"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, place = "Stating", "rig"
    handed = {ASKED_FILE: "the rig"}  # noqa: RUF012

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """A rig whose bones can be written to."""
        return why_not(context, data=True)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from .. import armature
        from ..values import study_folder, write_rig

        given = stated(settings_of(context))
        if not given:
            raise errors.InvalidValue(
                "nothing is stated: fill in feet, soles, patches, torques or links that may touch"
            )
        asked = write_rig(folder / ASKED_FILE, armature.rig_of(the_rig(context)))
        return ["rig", str(asked), *given, "--output", str(folder / study_folder.RIG_FILE), "--progress", "json"]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from .. import armature
        from ..values import read_rig, study_folder

        body = there(self.rig(), "rig")
        before, rig = armature.rig_of(body), read_rig(folder / study_folder.RIG_FILE)
        armature.describe(body, rig)
        added = rig.notes[len(before.notes) :]
        return Said("Written into the rig, see the notes" if added else "The rig says so already", notes=added)


class EXCITING_DANCE_OT_limits(NeedsRig, bpy.types.Operator):
    """Let hinges stop at their limits while posing, or leave them free"""

    bl_idname = "exciting_dance.limits"
    bl_label = "Joint Limits"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    enforce: bpy.props.BoolProperty(name="Enforce", default=True)  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context) -> Status:
        from .. import armature

        armature.enforce_limits(the_rig(context), self.enforce)
        return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_import_rig,
    EXCITING_DANCE_OT_import_urdf,
    EXCITING_DANCE_OT_state_rig,
    EXCITING_DANCE_OT_limits,
)
