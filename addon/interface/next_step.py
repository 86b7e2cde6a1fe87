"""The next step in Author and in Research: the button at the top of the tab, and what it does or lacks in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import bpy

from ..authoring.posture_cache import summarise_postures
from ..authoring.properties import dance_settings
from ..base.bpy_access import scene, session_id
from ..base.scene_rigs import active_rig, find_foreign_armature, find_source, has_mesh
from ..display.properties import RESEARCH, study_settings
from ..jobs.job_messages import describe_duration, find_message
from ..live.control import LiveCheck
from ..rehearsal.properties import rehearsal_settings

if TYPE_CHECKING:
    from ..base.solver_api import Rig
    from ..live.check_results import CheckResults

DESIGN_SECONDS = {"human": 8.0, "robot": 12.0}
"""[s] Time of the search for postures of a person or a robot in a design."""
SECONDS_PER_POSTURE = 1.2
"""[s] Time of each phrase in a design. Both were measured with 4 to 12 phrases of a person, and 12 of HOAP-3, on a core
that makes 20 million passes of ``s += i * i`` in 2.8 s."""
FEWEST_POSTURES = 2
"""Number of postures from which a motion is a dance."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step that the tab offers.

    Attributes:
        operator: id of the operator, without the add-on's name.
        label: of the button.
        icon: of the button.
        hint: what the step does, or what is missing, in one sentence.
    """

    operator: str
    label: str
    icon: str
    hint: str


def find_next_step(context: bpy.types.Context) -> NextStep | None:
    """The next step, with what prevents it as hint; None for a rig with a problem, which the panel shows instead."""
    body = active_rig(context)
    if study_settings(context).mode == RESEARCH:
        step = _next_research_step(context, body)
    elif body is None:
        step = _first_step(context)
    else:
        from ..scene.armature import rig_problem

        if rig_problem(body):
            return None
        step = _next_authoring_step(context, body)
    find_problem = getattr(getattr(bpy.types, f"EXCITING_DANCE_OT_{step.operator}", None), "find_problem", None)
    problem = find_problem(context) if find_problem else ""
    return replace(step, hint=problem) if problem else step


def _first_step(context: bpy.types.Context) -> NextStep:
    """What the active object is good for: a character, a motion, or nothing."""
    armature = find_foreign_armature(context)
    if armature is not None and has_mesh(scene(context), armature):
        hint = "Masses from its mesh; shows the bones to approve"
        return NextStep("use_character", "Use Character", "OUTLINER_OB_ARMATURE", hint)
    if armature is not None and find_source(context) is not None:
        return NextStep("retarget", "Retarget", "MOD_ARMATURE", f"The motion of {armature.name} on another body")
    hint = "A body to pose, with masses on its bones"
    if armature is not None:
        hint = f"{armature.name} has no mesh, and no legs or no motion: add a body"
    return NextStep("import_rig", "Add Rig", "ARMATURE_DATA", hint)


def _next_authoring_step(context: bpy.types.Context, body: bpy.types.Object) -> NextStep:
    from ..authoring.ghost import OPERATION_KEY, find_ghost
    from ..base.custom_properties import read_label
    from ..display.study import played_trial
    from ..scene.armature import rig_of

    if (ghost := find_ghost(scene(context), body)) is not None:
        hint = f"The blue ghost is the {read_label(ghost, OPERATION_KEY)} dance"
        return NextStep("apply_ghost", "Apply Ghost", "CHECKMARK", hint)
    roles = summarise_postures(body).roles
    if not roles and not played_trial(body):
        if not rig_of(body).soles:
            return NextStep("key_posture", "Key Posture", "KEY_HLT", "This rig has no feet: pose it and key postures")
        hint = f"{_describe_design(context, rig_of(body))}; or drag the blue handles and key postures"
        return NextStep("design_dance", "Design Dance", "OUTLINER_DATA_ARMATURE", hint)
    if roles and len(roles) < FEWEST_POSTURES:
        return NextStep(
            "key_posture",
            "Key Posture",
            "KEY_HLT",
            "1 posture is keyed: at a later frame, drag the handles, key another",
        )
    free = sum(role == "free" for role in roles.values())
    if free:
        return NextStep(
            "complete_dance", "Complete", "KEYTYPE_BREAKDOWN_VEC", f"{free} free posture{'s' * (free > 1)} to fill"
        )
    return _next_step_of_dance(context, body)


def _describe_design(context: bpy.types.Context, rig: Rig) -> str:
    """Size of the dance to design, and the time it takes."""
    count = dance_settings(context).postures
    kind = "human" if rig.is_person else "robot"
    seconds = DESIGN_SECONDS[kind] + SECONDS_PER_POSTURE * count
    return f"{count} phrase{'s' * (count > 1)}, about {describe_duration(seconds)}"


def _next_step_of_dance(context: bpy.types.Context, body: bpy.types.Object) -> NextStep:
    """The next step of a dance with all its postures: check, balance or teach it."""
    results = _live_results(body)
    if results is not None:
        failing = len(results.failing_intervals())
        hint = f"{failing} interval{'s' * (failing > 1)} fail{'s' * (failing == 1)}" if failing else "All frames pass"
        passes = not failing
    elif (
        (item := find_message(scene(context), body, "dance")) is not None
        and item.verdict != "failed"
        and LiveCheck.confirms(scene(context), item)
    ):
        passes = item.verdict == "good"
        hint = "All checks pass" if passes else "Some checks fail"
    else:
        return NextStep("check_dance", "Check", "VIEWZOOM", "The dance is not checked yet")
    if passes and rehearsal_settings(context).needs_saved_file:
        return NextStep("wm.save_mainfile", "Save File", "FILE_TICK", f"{hint}: save the file, then make a video of it")
    if passes:
        return NextStep("rehearsal", "Rehearsal Video", "RENDER_ANIMATION", f"{hint}: make a video of it")
    return NextStep("balance_dance", "Balance", "CON_FLOOR", f"{hint}: repair with the smallest change")


def _live_results(body: bpy.types.Object) -> CheckResults | None:
    """Complete results of the live check about a rig; None without them."""
    session = LiveCheck.session
    if session is None or session.body != session_id(body) or session.problem or session.results is None:
        return None
    results = session.results
    return results if results.done and not results.message and len(results.frames) > 1 else None


def _next_research_step(context: bpy.types.Context, body: bpy.types.Object | None) -> NextStep:
    files = len(study_settings(context).files)
    if files or body is not None:
        from ..display.study import find_report, find_trials
        from ..scene.recording import find_recordings, has_forces, read_files

        trials = () if body is None else find_trials(body)
        waiting = [child for child in find_recordings(scene(context)) if read_files(child)]
        if files and (waiting or not trials):
            count, kind = (len(waiting), "recording") if waiting else (files, "file")
            what = f"{count} {kind}{'s' * (count > 1)}"
            if waiting and not any(map(has_forces, waiting)):
                return NextStep("track", "Track", "CON_FOLLOWPATH", f"{what} without forces: find the motion only")
            return NextStep("identify", "Identify", "PHYSICS", f"{what}: find mass and inertia of every link")
        if body is not None and find_report(body) is not None:
            from ..scene.inertials import describe_result

            return NextStep("report", "Open Report", "URL", (*describe_result(body), "")[1])
    hint = "Drop recordings onto the 3D view, or import them; right: samples"
    return NextStep("import_recording", "Import Recordings", "IMPORT", hint)
