"""Child processes that fail in every way, and changes of the scene meanwhile: one message, nothing changed."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from addon.jobs.job import CurrentJob, JobOperator
from addon.jobs.job_messages import find_message
from addon.operators import check_and_repair, dance_base, identify, rigs
from solver.rigs import human
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION, MotionRecord
from solver.scene.rig import write_rig
from solver.values.motion import Motion

from .broken_scenes import find_rig
from .dancing_scene import Stage, run_verb
from .scene_calls import TRACEBACK, Outcome, capture_tracebacks
from .scene_digest import changes, digest

CONTEXT: Any = bpy.context
DATA: Any = bpy.data
VERBS: Any = bpy.ops
LONGEST = 500
"""Letters of a message that a panel can show."""
BEGIN = """#!/bin/sh
for word in "$@"; do [ "$before" = --output ] && output="$word"; before="$word"; done
kept="$(dirname "$0")/$3"
"""
GIVE = 'mkdir -p "$output"; cp -r "$kept/." "$output"\n'


class _ReportingButton:
    """Takes an operator's place, so that the scene can change while its child runs."""

    def __init__(self) -> None:
        self.reports: list[str] = []
        self.meanwhile: Callable[[], None] | None = None

    def look(self, context: Any) -> None:
        """Called while the child runs."""
        if self.meanwhile is not None:
            done, self.meanwhile = self.meanwhile, None
            done()

    def report(self, kind: set[str], words: str) -> None:
        """What Blender would show in its status bar."""
        self.reports.append(words)


class Check(_ReportingButton, dance_base.DanceJob):
    """The button Check."""

    title, verb, apply = "Checking", "check", check_and_repair.EXCITING_DANCE_OT_check_dance.apply


class Slow(_ReportingButton, dance_base.GhostJob):
    """The button Slow Down."""

    title, verb, done = "Slowing down", "slow", "slower"


class Identify(_ReportingButton, identify.StudyOperator):
    """The button Identify."""

    title, verb, done = "Identifying", "identify", "Identified from"


class AddRig(_ReportingButton, JobOperator):
    """The button Add Rig."""

    title, place, shows_success, kind = "Adding the rig", "rig", False, "hoap3"
    arguments = rigs.EXCITING_DANCE_OT_import_rig.arguments
    apply = rigs.EXCITING_DANCE_OT_import_rig.apply


@dataclass(frozen=True, slots=True)
class BrokenJob:
    """A fault of a job.

    Attributes:
        name: of the way.
        program: what the child does, in the shell's language; or the path of what is to run in its place.
        button: which job.
        meanwhile: done while the child runs.
        ends_well: the job can be done all the same.
    """

    name: str
    program: str | Path
    button: Callable[[], Any] = Check
    meanwhile: Callable[[Any], object] | None = None
    ends_well: bool = False


def _slow_child(after: str = GIVE) -> str:
    return f"sleep 0.3\n{after}"


def _delete(job: Any) -> None:
    DATA.objects.remove(find_rig())


def _cancel(job: Any) -> None:
    running: Any = CurrentJob.job
    running.cancel()


def _rename_bone(job: Any) -> None:
    find_rig().data.bones["left_upper_arm"].name = "arm.L"


def _undo(job: Any) -> None:
    VERBS.ed.undo_push(message="before")
    find_rig().location.x += 1.0
    VERBS.ed.undo_push(message="moved")
    VERBS.ed.undo()


def jobs(stage: Stage) -> Iterator[BrokenJob]:
    """The catalogue."""
    missing = stage.folder / "no such python"
    python = f'exec "{sys.executable}" -S "$@"\n'
    load = str(stage.scene)
    yield BrokenJob("ends with a code and a message", 'echo "error: the dance has no end" >&2; exit 1\n')
    yield BrokenJob("ends with a code and no message", "exit 3\n")
    yield BrokenJob("killed", "kill -9 $$\n")
    yield BrokenJob("segmentation fault", "kill -SEGV $$\n")
    lines = ("\\377\\000", "[1]", '{"fraction": "x"}', '{"fraction": NaN, "message": 7}', '{"fraction": 1e999}')
    garbage = "".join(f"printf '{line}\\n'\n" for line in lines) + "head -c 200000 /dev/zero | tr '\\0' '['; echo\n"
    yield BrokenJob("garbage for progress", garbage + GIVE, ends_well=True)
    yield BrokenJob("no result", "exit 0\n")
    half = 'rm "$output"/*; head -c 300 "$kept/summary.json" > "$output/summary.json"\n'
    yield BrokenJob("half a result", GIVE + half)
    yield BrokenJob("a result that is a list", GIVE + 'echo "[1, 2]" > "$output/summary.json"\n')
    cut = 'head -c 4000 "$kept/dance.motion.npz" > "$output/dance.motion.npz"\n'
    yield BrokenJob("a motion without its arrays", GIVE + cut, Slow)
    other = f'cp "{stage.folder}/other.motion.npz" "$output/dance.motion.npz"\n'
    yield BrokenJob("a motion of another rig", GIVE + other, Slow)
    version = """sed 's/"version": *[0-9]*/"version": 99/' "$kept/summary.json" > "$output/summary.json"\n"""
    yield BrokenJob("a result of another version", GIVE + version)
    yield BrokenJob("a study of another rig", GIVE + f'cp "{stage.folder}/other.json" "$output/rig.json"\n', Identify)
    yield BrokenJob("a rig that is none", 'echo "{}" > "$output"\n', AddRig)
    yield BrokenJob("ignores the request to end", "trap '' TERM\nexec sleep 20\n", meanwhile=_cancel)  # type: ignore[union-attr]
    yield BrokenJob("100 MB in one line", "head -c 100000000 /dev/zero | tr '\\0' x\nexit 1\n")
    yield BrokenJob("20 MB of messages", "yes message | head -c 20000000 >&2\nexit 1\n")
    yield BrokenJob("closes its output", "exec >&- 2>&-\nexit 4\n")
    into = 'cp -r "$kept" "$output"\n'
    yield BrokenJob("its folder deleted", _slow_child(into), meanwhile=lambda job: shutil.rmtree(job._folder))
    yield BrokenJob("the rig deleted", _slow_child(), meanwhile=_delete)
    yield BrokenJob(
        "the rig deleted while it is identified",
        _slow_child(),
        Identify,
        lambda job: DATA.objects.remove(find_rig()),
        True,
    )
    yield BrokenJob("a bone renamed", _slow_child(), Slow, _rename_bone)
    yield BrokenJob("the rig renamed", _slow_child(), Slow, lambda job: setattr(find_rig(), "name", "other"), True)
    yield BrokenJob("another file opened", _slow_child(), meanwhile=lambda job: VERBS.wm.open_mainfile(filepath=load))
    yield BrokenJob("undo", _slow_child(), meanwhile=_undo, ends_well=True)
    yield BrokenJob("no place for its folder", GIVE, meanwhile=None)
    yield BrokenJob("the interpreter is missing", missing)
    yield BrokenJob("the interpreter is a folder", stage.folder)
    yield BrokenJob("the interpreter is no Python", Path("/bin/ls"))
    yield BrokenJob("a Python without the libraries", python)


def prepare(stage: Stage) -> None:
    """Files of another rig."""
    rig = human(1.75, 70.0, "male")
    times, zeros = [0.0, 0.5], [[0.0] * rig.nv] * 2
    motion = Motion(times, [rig.neutral] * 2, zeros, zeros)  # type: ignore[arg-type]
    record = MotionRecord("other", rig, motion, scene_motion(rig, motion))
    MOTION.write(stage.folder / "other.motion.npz", record)
    write_rig(stage.folder / "other.json", rig)


def outcomes(stage: Stage, only: tuple[str, ...] = ()) -> Iterator[Outcome]:
    """Let every job go wrong, or only some."""
    prepare(stage)
    for job in jobs(stage):
        if not only or job.name in only:
            yield _outcome(stage, job)


def _outcome(stage: Stage, job: BrokenJob) -> Outcome:
    outcome = Outcome(job.name)
    with capture_tracebacks(outcome):
        VERBS.wm.open_mainfile(filepath=str(stage.scene))
        run_verb(_program(stage, job.program))
        before = digest()
        button = job.button()
        place = tempfile.tempdir
        try:
            if job.name == "no place for its folder":
                tempfile.tempdir = str(stage.folder / "full")
            outcome.refused = _run(button, job, before) != {"FINISHED"}
        finally:
            tempfile.tempdir = place
    after = digest()
    outcome.words = _message(button)
    if outcome.refused:
        outcome.changed = changes(before, after)
    if outcome.refused is job.ends_well:
        outcome.changed.append("it should have ended well" if job.ends_well else "it should have been refused")
    if not outcome.words or len(outcome.words) > LONGEST or TRACEBACK in outcome.words:
        outcome.changed.append(f"its message cannot be read: {outcome.words[:200]!r}")
    with capture_tracebacks(outcome):
        VERBS.wm.open_mainfile(filepath=str(stage.scene))
        run_verb(stage.stand_in)
        with suppress(RuntimeError):
            if VERBS.exciting_dance.check_dance() != {"FINISHED"}:
                outcome.changed.append("the next job does not work")
    return outcome


def _program(stage: Stage, program: str | Path) -> Path:
    if isinstance(program, Path):
        return program
    path = stage.folder / "broken"
    path.write_text(BEGIN + program, encoding="utf-8")
    path.chmod(0o755)
    return path


def _run(button: Any, job: BrokenJob, before: dict[str, str]) -> set[str]:
    """Press the button, and change the scene while the child runs; what is changed so counts as it was before."""

    def change() -> None:
        if job.meanwhile is not None:
            job.meanwhile(button)
            before.clear()
            before.update(digest())

    button.meanwhile = change
    return set(button.execute(CONTEXT))


def _message(button: Any) -> str:
    """What the panel shows, or what was reported."""
    scene = CONTEXT.scene
    for item in (next((one for one in DATA.objects if one.session_uid == button._rig_id), None), None):
        found = find_message(scene, item, button.panel)
        if found is not None and found.message != "a word":
            return str(found.message)
    return button.reports[-1] if button.reports else ""
