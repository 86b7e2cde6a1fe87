"""A dance as a video to learn it from: a slow preview, then real time, the next move as a ghost, a countdown."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from .. import armature
from ..interpreter import ROOT, Interpreter, build_environment
from ..solver_api import errors
from . import video as rehearsal_video
from .dance import RehearsedDance, from_folder, from_scene
from .options import RehearsalOptions, Rendering, Staging
from .plan import VideoPlan, plan_video
from .scene import build_scene, remove_added_data
from .video import Report, render_video, set_engine

SCENE_FILE = "rehearsal.blend"
CHILD_CODE = (
    "import sys; sys.path.insert(0, {root!r}); sys.path += [path for path in {paths!r} if path not in sys.path]; "
    "from addon.rehearsal.video import run_child; run_child(*sys.argv[-2:])"
)
"""The child's program: what this Blender finds it finds too, after what is its own."""


def plan_rehearsal(danced: RehearsedDance, options: RehearsalOptions) -> VideoPlan:
    """The video of a dance, frame by frame."""
    return plan_video(danced.stops, danced.interval, options)


def rehearse_folder(
    folder: str | Path,
    output: str | Path,
    options: RehearsalOptions,
    staging: Staging,
    rendering: Rendering,
    report: Report = rehearsal_video.print_progress,
) -> tuple[Path, VideoPlan]:
    """Render the dance of a folder in a Blender of its own, which is emptied for it.

    Returns:
        what was written, and what its frames show.

    Raises:
        SolverError: the dance, the film or the output is at fault; nothing was written.
    """
    danced = from_folder(folder)
    plan_rehearsal(danced, options)  # what is wrong with it is said before anything is built
    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = armature.build_armature(bpy.context, danced.rig)
    done = plan_rehearsal(danced, options)
    scene = build_scene(body, danced, done, staging)
    set_engine(scene, rendering)
    return render_video(scene, Path(output), report, own_process=True), done


def write_scene(
    context: bpy.types.Context,
    body: bpy.types.Object,
    path: Path,
    options: RehearsalOptions,
    staging: Staging,
    rendering: Rendering,
) -> VideoPlan:
    """Write a rehearsal's scene to a .blend file for a child to render; the open file stays as it is.

    Raises:
        SolverError: there is no dance, film or camera; nothing was written.
    """
    scene = context.scene
    if scene is None:
        raise errors.InvalidValue("Blender has no scene here")
    danced = from_scene(scene, body)
    done = plan_rehearsal(danced, options)
    with remove_added_data():
        made = build_scene(body, danced, done, staging)
        set_engine(made, rendering)
        bpy.data.libraries.write(str(path), {made}, path_remap="ABSOLUTE", compress=True)
    return done


def render_interpreter() -> Interpreter:
    """What renders a written scene: this Blender without a window, or the Python that has Blender as a module."""
    own = Path(bpy.utils.resource_path("LOCAL")).resolve()  # holds parts of the module, which only it can load
    paths = [path for path in sys.path if path and own not in Path(path).resolve().parents]
    code = CHILD_CODE.format(root=str(ROOT), paths=paths)
    if bpy.app.binary_path:
        words = ("--background", "--factory-startup", "--python-exit-code", "2", "--python-expr", code, "--")
        return Interpreter(bpy.app.binary_path, build_environment([str(ROOT)]), words)
    return Interpreter(sys.executable, build_environment([str(ROOT)]), ("-c", code))


def describe_plan(done: VideoPlan) -> str:
    """A plan in one line."""
    return f"{done.move_count} moves, {done.duration:.0f} s of video, {len(done)} frames"
