"""Renders rehearsal videos: a slow preview, then real time, with a ghost of the next move and a countdown."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..base import bpy_access
from ..scene import armature
from . import video as rehearsal_video
from .dance import RehearsedDance, from_folder, from_scene
from .options import RehearsalOptions, Rendering, Staging
from .plan import VideoPlan, plan_video
from .scene import build_scene, remove_added_data
from .video import Report, Video, render_video, set_engine

SCENE_FILE = "rehearsal.blend"
CHILD_CALL = "from addon.rehearsal.video import run_child; run_child(*sys.argv[-2:])"
"""Program of the child process that renders a scene file."""


def plan_rehearsal(danced: RehearsedDance, options: RehearsalOptions) -> VideoPlan:
    """Plan the video of a dance."""
    return plan_video(danced.stops, danced.interval, options)


def rehearse_folder(
    folder: str | Path,
    output: str | Path,
    options: RehearsalOptions,
    staging: Staging,
    rendering: Rendering,
    report: Report = rehearsal_video.print_progress,
) -> tuple[Video, VideoPlan]:
    """Render the dance of a folder; empties the open Blender session.

    Returns:
        what was written, and its plan.

    Raises:
        SolverError: dance, film or output are invalid; nothing was written.
    """
    danced = from_folder(folder)
    plan = plan_rehearsal(danced, options)  # reports errors before anything is built
    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = armature.build_armature(bpy.context, danced.rig)
    scene = build_scene(body, danced, plan, staging)
    set_engine(scene, rendering)
    return render_video(scene, Path(output), report), plan


def write_scene(
    context: bpy.types.Context,
    body: bpy.types.Object,
    path: Path,
    options: RehearsalOptions,
    staging: Staging,
    rendering: Rendering,
) -> VideoPlan:
    """Write a rehearsal scene to a .blend file, which a child process renders; the open file is not changed.

    Raises:
        SolverError: dance, film or camera are missing or invalid; nothing was written.
    """
    danced = from_scene(bpy_access.scene(context), body)
    plan = plan_rehearsal(danced, options)
    with remove_added_data():
        made = build_scene(body, danced, plan, staging)
        set_engine(made, rendering)
        bpy.data.libraries.write(str(path), {made}, path_remap="ABSOLUTE", compress=True)
    return plan


def describe_plan(plan: VideoPlan) -> str:
    """Summary of a plan in one line."""
    return f"{plan.move_count} move{'s' * (plan.move_count != 1)}, {plan.duration:.0f} s of video, {len(plan)} frames"
