"""A complete scene of the add-on, from which broken ones are built: a small humanoid that dances, with all data.

Postures and contacts are keyed, a ghost proposes a slower dance, the bones carry inertials and scores, two trials of a
study can be played, a recording with a plate is on the list, a check has left marks and words. Simulated throughout.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from addon import registration
from addon.authoring import dance_import, failure_markers, ghost, keying, timeline
from addon.base.interpreter import PACKAGE
from addon.base.solver_api import SceneRecording
from addon.display.study import read_study, show_study
from addon.jobs.job_messages import JobMessage, store_message
from addon.scene import action, armature, recording, scores
from addon.scene.colours import colour_body
from solver.cli import main as solver
from solver.demo.laboratory import write_trc
from solver.rigs import hoap3
from solver.scene import study_folder
from solver.scene.motion import RECORDING
from solver.scene.result import RESULT, SceneResult
from solver.scene.rig import write_rig
from solver.scene.timeline import TIMELINE
from solver.skeleton.rig import Rig
from solver.values.motion import Markers

CONTEXT: Any = bpy.context
RATE = 20.0
POSTURES = ((1, 0.0, "fixed"), (6, 0.6, "preferred"), (11, 0.0, "free"))
"""Frame, angle of an arm [rad], role."""
STAND_IN = """#!/bin/sh
# In the solver's place: writes the results that were kept for a verb, or refuses in the solver's manner.
verb="$3"
[ "$verb" = live ] && exec cat > /dev/null
for word in "$@"; do [ "$before" = --output ] && output="$word"; before="$word"; done
kept="$(dirname "$0")/$verb"
if [ -d "$kept" ]; then mkdir -p "$output" && cp -r "$kept/." "$output"; exit 0; fi
if [ -f "$kept" ]; then cp "$kept" "$output"; exit 0; fi
echo "error: nothing is stored for $verb" >&2
exit 2
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """Files from which a broken scene is built.

    Attributes:
        folder: of all of them.
    """

    folder: Path

    @property
    def scene(self) -> Path:
        """The whole scene."""
        return self.folder / "whole.blend"

    @property
    def stand_in(self) -> Path:
        """A program in the solver's place."""
        return self.folder / "solver"

    @property
    def study(self) -> Path:
        """Results of a study of the rig."""
        return self.folder / "study"

    @property
    def recording(self) -> Path:
        """A recording's file."""
        return self.folder / "recorded.trc"

    def kept(self, verb: str) -> Path:
        """What the stand-in writes for a verb."""
        return self.folder / verb


def run_verb(program: Path | str) -> None:
    """Let this program run the children from now on: the user's preference."""
    addons = CONTEXT.preferences.addons
    entry = addons.get(PACKAGE)
    if entry is None:
        entry = addons.new()
        entry.module = PACKAGE
    entry.preferences.solver_python = str(program)


def make_stage(folder: Path) -> Stage:
    """Make the scene and the results, with the real solver."""
    stage = Stage(folder)
    stage.stand_in.write_text(STAND_IN, encoding="utf-8")
    stage.stand_in.chmod(0o755)
    rig = hoap3(torque="peak")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    body = build_dance(rig)
    scene = CONTEXT.scene
    line = folder / "scene.timeline.npz"
    TIMELINE.write(line, timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body)))
    verbs(stage, line, rig)
    dress(stage, body)
    bpy.ops.wm.save_as_mainfile(filepath=str(stage.scene))
    return stage


def build_dance(rig: Rig) -> Any:
    """The rig's armature with postures and contacts."""
    body: Any = armature.build_armature(CONTEXT, rig)
    scene = CONTEXT.scene
    action.set_frame_rate(scene, RATE)
    for frame, angle, role in POSTURES:
        scene.frame_set(frame)
        body.pose.bones["left_upper_arm"].rotation_euler.x = angle
        keying.key_posture(scene, body, role)
    scene.frame_set(1)
    keying.key_contacts(scene, body, dict.fromkeys(armature.rig_of(body).patches, "sole"))
    return body


def verbs(stage: Stage, line: Path, rig: Rig) -> None:
    """Keep what the solver really says of this dance, and a study of the same rig."""
    quiet = ("--progress", "none")
    solver(["check", str(line), "--output", str(stage.kept("check")), *quiet])
    solver(["slow", str(line), "--rate", f"{RATE:g}", "--output", str(stage.kept("slow")), *quiet])
    for verb in ("repair", "complete", "dance"):
        shutil.copytree(stage.kept("slow"), stage.kept(verb))
    write_rig(stage.kept("dance") / "rig.json", rig)
    write_rig(stage.folder / "rig.json", rig).rename(stage.kept("rig"))
    stage.kept("export").write_text("time\n0\n", encoding="utf-8")
    seen = simulate_recording()
    write_trc(stage.recording, Markers(seen.marker_times, seen.markers, seen.positions))
    stage.study.mkdir()
    write_rig(stage.study / study_folder.RIG_FILE, rig)
    RESULT.write(stage.study / study_folder.RESULT_FILE, SceneResult(rig.prior, rig.prior, method="consistent"))
    for trial in ("walk", "squat"):
        shutil.copy(stage.kept("slow") / "dance.motion.npz", stage.study / f"{trial}{study_folder.MOTION_END}")
        RECORDING.write(stage.study / f"{trial}{study_folder.RECORDING_END}", simulate_recording())
    for verb in ("track", "identify"):
        shutil.copytree(stage.study, stage.kept(verb))


def simulate_recording() -> SceneRecording:
    """Three markers and a plate for half a second."""
    times = np.linspace(0.0, 0.5, 51)
    path = np.stack([np.sin(times), np.cos(times), 1.0 + times], axis=1)
    return SceneRecording(
        marker_times=times,
        markers=("A", "B", "C"),
        positions=np.stack([path, path + 0.1, path - 0.1], axis=1),
        force_times=times,
        plates=("plate 1",),
        forces=np.tile([0.0, 0.0, 80.0], (51, 1, 1)),
        centres=np.zeros((51, 1, 3)),
    )


def dress(stage: Stage, body: Any) -> None:
    """All else that the add-on keeps in a scene."""
    scene, context = CONTEXT.scene, CONTEXT
    danced = body.animation_data.action
    show_study(context, read_study(stage.study), onto=body)
    slot = danced.slots[0]
    body.animation_data.action, body.animation_data.action_slot = danced, slot
    checked = dance_import.read_dance(stage.kept("check"))
    scores.write_scores(body, checked.summary.excitation, checked.summary.deviation)
    failure_markers.mark_failures(scene, body, checked.summary, "any")
    ghost.show_ghost(context, body, dance_import.read_dance(stage.kept("slow")), "slower", beside=False)
    proposed: Any = ghost.find_ghost(scene, body)
    proposed[ghost.OPERATION_KEY] = "slower"
    colour_body(CONTEXT.scene, body, "mass")
    seen = recording.add_recording(context, simulate_recording(), "seen")
    seen[recording.FILES_KEY] = str(stage.recording)
    scene.exciting_dance.files.add().path = str(stage.recording)
    scene.exciting_dance_rehearsal.film = str(stage.folder / "nothing.mp4")  # refused before anything is rendered
    store_message(scene, body, "dance", JobMessage("a word", "bad", ("one failure",), ("one note",)))
    text = bpy.data.texts.new("Performance report")
    text.from_string("a report")
    scene.frame_set(1)
    context.view_layer.objects.active = body
