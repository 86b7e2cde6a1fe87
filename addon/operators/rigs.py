"""Operators that add rigs, complete their data, and set joint limits."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy_extras.io_utils import ImportHelper

from ..base import bpy_access, scene_rigs
from ..base.bpy_access import Status, require
from ..base.solver_api import errors, robot_suffixes
from ..display.properties import AUTHOR, SceneSettings, study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage, dismiss_message
from ..live.control import LiveCheck
from .base import DroppedFile, RigOperator, find_rig_problem, require_active_rig

FILE_PATTERN = ";".join(f"*{suffix}" for suffix in robot_suffixes())
FROM_FILE = "urdf"
"""Kind of a rig that is read from a file."""
INPUT_FILE = "input.json"
"""The rig to complete."""
STANDING_FILE = "standing.npz"
"""Standing pose of a new rig."""
UNIT_SCALE_TOLERANCE = 1e-6  # Blender stores it in single precision


def rig_arguments(kind: str, settings: SceneSettings, path: str = "") -> list[str]:
    """Arguments of the ``rig`` verb for the settings of the Rig panel, or for a file.

    Raises:
        InvalidValue: no file is chosen.
    """
    if path:
        arguments = ["rig", bpy.path.abspath(path)]
        if path.lower().endswith(".urdf"):  # other formats define it
            arguments += [] if settings.up == "auto" else ["--up", settings.up]
            arguments += ["--packages", bpy.path.abspath(settings.packages)] if settings.packages.strip() else []
        return arguments
    if kind == FROM_FILE:
        raise errors.InvalidValue("no file of a robot or person is chosen")
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


def override_arguments(settings: SceneSettings) -> list[str]:
    """Arguments of the ``rig`` verb for the fields of the Robot Details panel; empty if none is set."""
    values = {
        "--feet": settings.stated_feet,
        "--soles": settings.stated_soles,
        "--patches": settings.stated_patches,
        "--torques": settings.stated_torques,
        "--may-touch": settings.stated_pairs,
    }
    result = [word for option, text in values.items() if text.split() for word in (option, *text.split())]
    srdf = bpy.path.abspath(settings.stated_srdf)
    return [*result, *(["--srdf", srdf] if srdf else [])]


def output_arguments(folder: Path) -> list[str]:
    """Arguments of the ``rig`` verb for its output files."""
    from ..base.solver_api import study_folder

    files = ["--output", str(folder / study_folder.RIG_FILE), "--standing", str(folder / STANDING_FILE)]
    return [*files, "--progress", "json"]


def show_rig(context: bpy.types.Context, path: Path) -> bpy.types.Object:
    """Build the armature of a rig file beside existing ones, with its prior on the bones, coloured by mass."""
    from ..base.solver_api import MOTION, read_rig
    from ..drawing import viewport
    from ..scene import armature, inertials
    from ..scene.colours import colour_body
    from ..scene.placement import avoid_overlap
    from ..scene.pose_writer import show_frame

    viewport.hide_startup_cube(context)
    body = armature.build_armature(context, read_rig(path))
    avoid_overlap(context, body)
    standing = path.with_name(STANDING_FILE)
    if standing.exists():
        show_frame(body, MOTION.read(standing).scene, 0)
    inertials.write_prior(body)
    colour_body(bpy_access.scene(context), body, "mass")
    return body


def show_added_rig(context: bpy.types.Context, job: JobOperator, body: bpy.types.Object) -> JobMessage:
    """Show all rigs in the 3D views, and in Author start posing with the live check; returns the message."""
    from ..drawing import viewport
    from ..scene import armature

    dismiss_message(bpy_access.scene(context), job.rig(), job.panel)  # removes the message of an earlier failure
    job.set_rig(body)
    viewport.frame_objects(
        context, [rig for rig in scene_rigs.find_rigs(bpy_access.scene(context)) if rig.visible_get()]
    )
    if study_settings(context).mode == AUTHOR:
        viewport.start_posing(context, body)
        start_live_check(context, job, body)
    scale = bpy_access.scene(context).unit_settings.scale_length
    if abs(scale - 1.0) > UNIT_SCALE_TOLERANCE:
        job.shows_success = True
        return JobMessage(
            f"Added {body.name} in metres, but the scene's Unit Scale is {scale:.3g}",
            notes=("Set Unit Scale to 1 in the scene's properties to see its lengths", *armature.rig_of(body).notes),
        )
    return JobMessage(f"Added {body.name}", notes=armature.rig_of(body).notes)


def start_live_check(context: bpy.types.Context, job: JobOperator, body: bpy.types.Object) -> None:
    """Start the live check in a window unless it runs; the new rig stays if that is impossible."""
    if LiveCheck.session is None and not bpy.app.background:
        try:
            LiveCheck.start(context, body)
        except errors.SolverError as error:
            job.report({"WARNING"}, f"The live check cannot start: {error}")  # type: ignore[attr-defined]


class EXCITING_DANCE_OT_import_rig(JobOperator, bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Add a human or robot, built in or from a file, as an armature with inertial parameters on its bones"""

    bl_idname = "exciting_dance.import_rig"
    bl_label = "Add Rig"
    title, panel = "Adding the rig", "rig"
    filename_ext = ".urdf"

    kind: bpy.props.StringProperty(options={"SKIP_SAVE", "HIDDEN"})  # type: ignore[valid-type]
    filepath: bpy.props.StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    filter_glob: bpy.props.StringProperty(default=FILE_PATTERN, options={"HIDDEN"})  # type: ignore[valid-type]

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:  # type: ignore[override]
        if self.filepath or (self.kind or study_settings(context).kind) != FROM_FILE:  # dropped, or built in
            return self.execute(context)
        return super().invoke(context, event)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        settings = study_settings(context)
        self.shows_success = bool(self.filepath)  # the message lists what is missing, such as meshes
        arguments = rig_arguments(self.kind or settings.kind, settings, self.filepath)
        return [*arguments, *output_arguments(folder)]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..base.solver_api import study_folder

        return show_added_rig(context, self, show_rig(context, folder / study_folder.RIG_FILE))


class EXCITING_DANCE_FH_rig(DroppedFile, bpy.types.FileHandler):
    """Robots' and persons' models dropped onto the 3D view."""

    bl_idname = "EXCITING_DANCE_FH_rig"
    bl_label = "Rig"
    bl_import_operator = "exciting_dance.import_rig"
    bl_file_extensions = ";".join(robot_suffixes())


class EXCITING_DANCE_OT_state_rig(JobOperator, bpy.types.Operator):
    """Add data to the rig that the robot's file lacks: feet, soles, patches, torque limits, allowed contacts"""

    bl_idname = "exciting_dance.state_rig"
    bl_label = "Add to Rig"
    title, panel = "Adding to the rig", "rig"
    input_names = {INPUT_FILE: "the rig"}  # noqa: RUF012

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig with local bones is needed."""
        return find_rig_problem(context, data=True)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..base.solver_api import study_folder, write_rig
        from ..scene import armature

        given = override_arguments(study_settings(context))
        if not given:
            raise errors.InvalidValue("no field is set: enter feet, soles, patches, torque limits or allowed contacts")
        rig_file = write_rig(folder / INPUT_FILE, armature.rig_of(require_active_rig(context)))
        return ["rig", str(rig_file), *given, "--output", str(folder / study_folder.RIG_FILE), "--progress", "json"]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..base.solver_api import read_rig, study_folder
        from ..scene import armature

        body = require(self.rig(), "rig")
        before, rig = armature.rig_of(body), read_rig(folder / study_folder.RIG_FILE)
        armature.store_rig(body, rig)
        added = rig.notes[len(before.notes) :]
        return JobMessage("Added to the rig, see the notes" if added else "The rig already has these data", notes=added)


class EXCITING_DANCE_OT_limits(RigOperator, bpy.types.Operator):
    """Enable or disable joint limits while posing"""

    bl_idname = "exciting_dance.limits"
    bl_label = "Joint Limits"

    enforce: bpy.props.BoolProperty(name="Enforce", description="Keep hinges within their limits", default=True)  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..scene import armature

        body = require_active_rig(context)
        if not armature.enforce_limits(body, self.enforce):
            raise errors.InvalidValue(f"{body.name} has no constraints for its joint limits: add the rig again")


CLASSES = (
    EXCITING_DANCE_OT_import_rig,
    EXCITING_DANCE_FH_rig,
    EXCITING_DANCE_OT_state_rig,
    EXCITING_DANCE_OT_limits,
)
