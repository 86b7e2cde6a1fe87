"""Count of source files that a reader enters while following a job, and of returns to a file entered before.

A reader follows the calls in the order in which they happen and reads each function once, at its first call; what runs
while a module is imported does not count. A path *enters* a file when the next new function lies in it, and *returns*
when that file was entered before and left since.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from ..reference import reference_line
from .structure import ROOT


def trace_path(job: Callable[[], object]) -> tuple[int, int]:
    """Files of solver that a job enters, and returns to a file entered before.

    Args:
        job: runs in this thread alone.
    """
    functions: dict[tuple[str, int], None] = {}
    sources, importing = str(ROOT / "solver"), 0

    def record(frame: FrameType, event: str, _: Any) -> None:
        nonlocal importing
        code = frame.f_code
        if code.co_name == "<module>":
            importing += {"call": 1, "return": -1}.get(event, 0)
            return
        is_function = code.co_filename.startswith(sources) and not code.co_name.startswith("<")
        if event == "call" and is_function and not importing:
            functions.setdefault((code.co_filename, code.co_firstlineno))

    sys.setprofile(record)
    try:
        job()
    finally:
        sys.setprofile(None)
    entered: set[str] = set()
    returns, current = 0, ""
    for file, _ in functions:
        if file != current:
            returns += file in entered
            entered.add(file)
            current = file
    return len(entered), returns


def trace_in_process(job: str) -> tuple[int, int]:
    """Files and returns of "report", from markers to the report, or of "repair" of a dance.

    A process of its own traces it, since a function counts once.
    """
    run = [sys.executable, "-m", "benchmarks.figures.reading_paths", job]
    done = subprocess.run(run, check=True, capture_output=True, text=True, cwd=ROOT)
    files, returns = json.loads(done.stdout.splitlines()[-1])
    return files, returns


def _prepare(name: str, folder: Path) -> list[str]:
    """Write the input of a job; the words of its command."""
    if name == "repair":
        return ["repair", str(_write_dragged_dance(folder))]
    import solver
    from solver.demo.laboratory import write_forces, write_trc

    for recording in solver.demo.simulated_person().recordings:
        assert recording.markers is not None
        write_trc(folder / f"{recording.name}.trc", recording.markers)
        if recording.wrenches is not None:
            write_forces(folder / f"{recording.name}.mot", recording.wrenches)
    return ["identify", str(folder), "--sex", "male", "--mass", "71", "--jobs", "1"]


def _write_dragged_dance(folder: Path) -> Path:
    """A robot whose root was moved by 1 cm without its feet."""
    import solver
    from solver.contacts.schedule import Schedule
    from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
    from tests.dance.example_dances import home, shift_root

    robot = solver.hoap3(torque="peak")
    q, anchors = home(robot)
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(1.0, shift_root(q, 0.01)), Keyframe(2.0, q, "fixed"))
    return AUTHORED_DANCE.write(
        folder / "dragged.json", AuthoredDance(robot, keys, Schedule.constant(anchors, 0.0, 2.0))
    )


def main(arguments: list[str]) -> int:
    """Trace one job of `trace_in_process` and print its files and returns as JSON."""
    import joblib

    from solver.cli import main as run

    with tempfile.TemporaryDirectory() as folder, joblib.parallel_config(backend="sequential"):
        command = [*_prepare(arguments[0], Path(folder)), "--progress", "none", "--output", f"{folder}/output"]
        with contextlib.redirect_stdout(io.StringIO()):
            found = trace_path(lambda: run(command))
    print(reference_line())
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
