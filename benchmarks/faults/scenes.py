"""Operators in broken scenes and jobs that go wrong: uncaught exceptions, and refusals that changed the scene.

    python -m benchmarks.faults.scenes [SCENE ...]      the outcome of each call

A Blender of its own does it, so that a crash costs the figure and not the run. Simulated scenes of a small humanoid.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..figures.figure import Figure, at_most

ROOT = Path(__file__).resolve().parent.parent.parent
WHOLE = "whole"
"""The scene that is not broken: a call that changes it must change a broken one too, or be refused."""
QUICK = ("a bone renamed", "a bone deleted", "in edit mode", "custom properties: NaN", "custom properties: truncated")
"""Scenes of a quick run, in which only the main buttons are pressed."""
QUICK_JOBS = ("killed", "half a result", "a bone renamed", "the interpreter is missing")
MAIN = (
    *("key_posture", "contact", "ellipsoids", "design_dance", "check_dance", "slow_dance", "apply_ghost"),
    *("open_study", "live", "ellipsoids"),
)
LONGEST = 3600.0
"""[s] after which a run counts as hanging."""
QUIET = "--lines"
"""Option: a line of JSON for every call."""
SHORT = "--quick"


def rows(quick: bool) -> list[Figure]:
    """The figures."""
    if importlib.util.find_spec("bpy") is None:
        return _figures([], "Blender's module is not installed")
    words = [sys.executable, "-m", __name__, QUIET, *([SHORT] if quick else [])]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return _figures([], f"hangs for {LONGEST:g} s")
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not found or "ended" not in found[-1]:
        last = found[-1]["call"] if found else "the start"
        found.append({"kind": "scene", "scene": "", "call": last, "tracebacks": [f"Blender ended after {last}"]})
    return _figures([one for one in found if "ended" not in one])


def _figures(found: list[dict], missing: str = "") -> list[Figure]:
    calls, jobs, steps = ([one for one in found if one["kind"] == kind] for kind in ("scene", "job", "step"))
    scenes = {one["scene"] for one in calls}
    where, whose = f"{len(calls)} calls, {len(scenes)} scenes, simulated", f"{len(jobs)} broken jobs, simulated"
    return [
        _figure("operators in broken scenes: uncaught exceptions", where, calls, "tracebacks", missing),
        _figure("operators in broken scenes: refused, yet something changed", where, calls, "changed", missing),
        _figure("operators in broken scenes: finished, yet nothing was done", where, calls, "ineffective", missing),
        _figure("operators in broken scenes: refused without a reason", where, calls, "unexplained", missing),
        _figure("the offered button cannot be pressed", f"{len(steps)} scenes, simulated", steps, "dead end", missing),
        _figure("jobs that go wrong: uncaught exceptions", whose, jobs, "tracebacks", missing),
        _figure("jobs that go wrong: scene changed, or no clear message", whose, jobs, "changed", missing),
    ]


def _figure(what: str, data: str, found: list[dict], kind: str, missing: str) -> Figure:
    if missing:
        return Figure(what, "simulated", None, must=at_most(0), note=missing)
    wrong = [f"{one['scene']}: {one['call']}".strip(": ") for one in found if one.get(kind)]
    return Figure(what, data, float(len(wrong)), must=at_most(0), note="; ".join(wrong[:4]))


def outcomes(folder: Path, quick: bool, names: tuple[str, ...] = ()) -> Iterator[tuple[str, str, object]]:
    """Kind, scene and outcome of every call; needs Blender's module."""
    from . import broken_jobs, broken_scenes, dancing_scene, scene_calls

    stage = dancing_scene.make_stage(folder)
    for name in (WHOLE, *(one for one in names or (QUICK if quick else broken_scenes.BROKEN) if one != WHOLE)):
        broken_scenes.open_broken(stage.scene, name)
        yield "step", name, scene_calls.look_at_offered()

        def open_scene(name: str = name) -> None:
            broken_scenes.open_broken(stage.scene, name)
            dancing_scene.run_verb(stage.stand_in)

        for outcome in scene_calls.call_everything(open_scene, stage, only=MAIN if quick else ()):
            yield "scene", name, outcome
    for outcome in broken_jobs.outcomes(stage, QUICK_JOBS if quick else ()) if not names else ():
        yield "job", "", outcome


def main(arguments: list[str]) -> int:
    """Print what came of every call; 1 when one went wrong."""
    from .scene_calls import NO_REASON, Outcome

    lines = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Blender reports every file there
    names = tuple(word for word in arguments if not word.startswith("--"))
    count, wrong, effective = 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for kind, scene, outcome in outcomes(Path(folder), SHORT in arguments, names):
            assert isinstance(outcome, Outcome)
            if kind == "scene" and scene == WHOLE and outcome.effect:
                effective.add(outcome.call)
            found = {
                "tracebacks": outcome.tracebacks,
                "changed": outcome.changed,
                "ineffective": outcome.call in effective and not outcome.effect and not outcome.refused,
                "unexplained": NO_REASON in outcome.words,
                "dead end": kind == "step" and outcome.refused,
            }
            bad = any(found.values())
            count, wrong = count + 1, wrong + bad
            if QUIET in arguments:
                print(json.dumps({"kind": kind, "scene": scene, "call": outcome.call, **found}), file=lines)
            elif bad:
                flaws = ", ".join(name for name, value in found.items() if value)
                print(f"{scene}: {outcome.call}: {flaws}: {outcome.words[:200]}", file=lines)
                for words in (*outcome.tracebacks, *outcome.changed[:8]):
                    print(f"    {words[-1000:]}", file=lines)
    print(json.dumps({"ended": count}) if QUIET in arguments else f"{count} calls, {wrong} went wrong", file=lines)
    lines.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    os._exit(code)  # Blender's module sometimes never returns from its exit handlers
