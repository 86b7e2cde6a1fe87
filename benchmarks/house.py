"""Figures of the code base: ``python -m benchmarks house [--quick]``.

Statements and files by concept, and the time of operations that a user waits for. ``--quick`` leaves out the person's
dance and the coverage and ends within a minute.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from .extension import enabling_rows
from .figures import structure
from .figures.figure import Figure, at_least, at_most, left_out, missing
from .figures.reading_paths import trace_in_process
from .figures.table import FigureTable, table_parser
from .figures.vocabulary import quaint_words
from .peak import ONE_THREAD

SOURCES = "the sources"
ADDITIONS = ("option", "check with an option")
"""What is added to a copy of the program by `tests.test_extension_points`."""
DANCE = ("dance", "human", "--height", "1.75", "--mass", "70", "--sex", "male", "--postures", "12", "--workers", "1")
SIZES = {"solver": (46.4, 45.0), "addon": (12.2, 12.0), "tests": (36.0, 34.0), "benchmarks": (13.0, 11.0)}
"""Thousands of statements of a folder: at most, and the aim."""
PATHS = {
    "report": ("markers to report", (190, 150), (470, 380)),
    "repair": ("repair of a dance", (85, 70), (200, 160)),
}
"""Job of `reading_paths`, its name, and at most and the aim for files entered and for returns."""
FIRST_OPTIONS = """
import time
import solver
began = time.process_time()
solver.DanceOptions()
print(time.process_time() - began)
"""
COVERED = ("solver/report", "solver/scene", "solver/identification/comparison.py", "solver/cli/compare.py")
"""What the coverage is of: report and study folder, comparison, readers of scenes."""
COVERING = ("tests/report", "tests/scene", "tests/identification", "tests/cli", "tests/study")


def main(arguments: list[str]) -> int:
    """Print the table; 1 when a must is missed."""
    parser = table_parser("house", __doc__, quick="without the person's dance and the coverage")
    options = parser.parse_args(arguments)
    table = FigureTable(["house", *arguments], options.output)
    parts: tuple[Callable[[], list[Figure]], ...] = (
        _structure,
        _reading,
        _interface,
        _panel,
        enabling_rows,
        lambda: _dance(options.quick),
        lambda: _coverage(options.quick),
    )
    for part in parts:
        table.measure(part)
    return table.close()


def _structure() -> list[Figure]:
    from tests.test_extension_points import EDITS

    engine, converting, codecs = structure.engine_files(), structure.converting_files(), structure.codec_files()
    return [
        *(Figure(f"statements of {folder}", SOURCES, structure.statements(folder) / 1e3, "thousand", at_most(must),
                 at_most(aim)) for folder, (must, aim) in SIZES.items()),
        Figure("numeric constants of solver whose documentation names no data", SOURCES,
               structure.constants_without_data(), "", at_most(950)),
        *(Figure(f"files to touch for a new {name}", SOURCES, len({path for path, *_ in EDITS[name]}), "", at_most(2),
                 note="a test adds it to a copy") for name in ADDITIONS),
        Figure("files that name the dynamics or collision library", SOURCES, len(engine), "", at_most(14), at_most(8),
               ", ".join(engine)),
        Figure("files of solver that convert rotations, other than so3", SOURCES, len(converting), "", at_most(0),
               note=", ".join(converting)),
        Figure("files that write archives or JSON by themselves", SOURCES, len(codecs), "", at_most(1),
               note=", ".join(codecs)),
        Figure("imports that run upward or in a circle, solver and add-on", SOURCES, len(upward()), "",
               at_most(0)),
    ]  # fmt: skip


def _reading() -> list[Figure]:
    """Length of two main paths through the source, and the words that a reader meets there."""
    rows = []
    for job, (name, *goals) in PATHS.items():
        counted = zip(("files entered", "returns to a file"), trace_in_process(job), goals, strict=True)
        rows += [
            Figure(f"{name}: {what}", SOURCES, count, "", at_most(must), at_most(aim))
            for what, count, (must, aim) in counted
        ]
    for place, found in quaint_words().items():
        most = ", ".join(f"{word} {count}" for word, count in found.most_common(5))
        rows.append(
            Figure(f"words outside the field's vocabulary: {place}", SOURCES, found.total(), "", at_most(0), note=most)
        )
    return rows


def _interface() -> list[Figure]:
    """Public names of the package, and the options that the help of two verbs lists."""
    import solver
    from solver.cli import parser

    done = subprocess.run([sys.executable, "-c", FIRST_OPTIONS], capture_output=True, text=True, check=True)
    rows = [
        Figure("names in solver.__all__", SOURCES, len(solver.__all__), "", at_most(60)),
        Figure("first DanceOptions() of a process, its imports included", SOURCES, 1e3 * float(done.stdout), "CPU ms",
               at_most(30.0), at_most(12.0), timed=True),
    ]  # fmt: skip
    for verb in ("identify", "dance"):
        listed = _verb(parser(), verb).format_help()
        options = set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", listed, re.M)) - {"--help", "--help-all"}
        rows.append(Figure(f"options in {verb} --help", SOURCES, len(options), "", at_most(20)))
    return rows


def _verb(parser: argparse.ArgumentParser, verb: str) -> argparse.ArgumentParser:
    choices = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return choices[verb]


def _panel() -> list[Figure]:
    rows = [
        Figure(
            "Author panel, one redraw, dance of 82 s", "simulated, bpy module", None, "ms", at_most(2.0), timed=True
        ),
        Figure(
            "Author panel, one redraw, recording of 10 min",
            "simulated, bpy module",
            None,
            "ms",
            at_most(2.0),
            timed=True,
        ),
    ]
    if find_spec("bpy") is None:
        return missing(rows, "Blender's module is not installed")
    done = subprocess.run([sys.executable, "-m", "benchmarks.panel"], capture_output=True, text=True, check=True)
    values = [float(value) for value in re.findall(r": ([0-9.]+) ms CPU", done.stdout)]
    notes = re.findall(r"\((first after a change .*)\)", done.stdout)
    return [replace(f, value=value, note=note) for f, value, note in zip(rows, values, notes, strict=True)]


def _dance(quick: bool) -> list[Figure]:
    """Processor seconds of a person's dance of 12 postures, in one process of its own."""
    row = Figure(
        "a person's dance of 12 postures", "simulated", None, "CPU s", at_most(24.0), at_most(18.0), timed=True
    )
    if quick:
        return left_out([row], "left out by --quick")
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [
            sys.executable,
            "-m",
            "solver",
            *DANCE,
            "--progress",
            "none",
            "--output",
            str(Path(folder) / "dance"),
        ]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **ONE_THREAD})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [replace(row, value=seconds)]


def _coverage(quick: bool) -> list[Figure]:
    """Share of the lines of `COVERED` that the tests in `COVERING` run."""
    rows = [Figure("lines of report, comparison and scene that tests run", "tests", None, "%", at_least(90.0))]
    if quick:
        return left_out(rows, "left out by --quick")
    if find_spec("coverage") is None:
        return missing(rows, "the package coverage is not installed")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **ONE_THREAD, "COVERAGE_FILE": str(Path(folder) / "coverage")}
        measure = [sys.executable, "-m", "coverage"]
        include = ",".join(f"{path}/*" if not path.endswith(".py") else path for path in COVERED)
        subprocess.run([*measure, "run", f"--include={include}", "-m", "pytest", "-q", *COVERING], check=True,
                       capture_output=True, env=environment, cwd=structure.ROOT)  # fmt: skip
        done = subprocess.run([*measure, "report", "--format=total"], check=True, capture_output=True, text=True,
                              env=environment, cwd=structure.ROOT)  # fmt: skip
    return [Figure(rows[0].what, rows[0].data, float(done.stdout), "%", rows[0].must)]


def upward() -> list[str]:
    """Imports that run upward or in a circle, by the layers that the tests hold."""
    from tests.test_layers import ROWS, upward_imports

    return [found for name in ROWS for found in upward_imports(name)]
