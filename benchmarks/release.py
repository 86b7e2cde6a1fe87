"""``python -m benchmarks release``: the second engine's time over the first's, and whether the package installs.

Processor time of the same simulated work in processes with ENGINE=pinocchio and ENGINE=numpy, the least of several runs
each, since other work on a machine only adds to it; then the steps of `benchmarks.distribution`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from solver.contacts.schedule import Schedule
from solver.dynamics import integrate, wrench_regressor
from solver.feasibility.checker import FrameChecker
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.tracking import Attachment, Targets, Tracker
from solver.tracking.kinematics import Kinematics
from solver.values.motion import Markers, Motion

from .distribution import try_distribution
from .figures.figure import Figure, at_least, at_most
from .figures.table import FigureTable, table_parser

ROOT = Path(__file__).resolve().parents[1]
FRAMES = 4000
"""Of the regressor."""
SAMPLES = 200
"""Of the recording that is tracked."""
POSTURES = 200
"""That are checked one by one."""
RUNS = 5
GOALS = {
    "regressor, a frame": (1.5, 1.0),
    "tracking converged, a frame": (2.0, 1.0),
    "one posture repaired": (4.0, 2.0),
    "live check of a frame": (4.0, 2.0),
}
"""What must hold and what would be good, of the second engine's time over the first's."""


def main(arguments: list[str]) -> int:
    """Print both tables; 1 if a ratio is above what must hold or a step does not work."""
    parser = table_parser("release", __doc__)
    parser.add_argument("--measure", action="store_true", help="print this process' times as JSON")
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measure()))
        return 0
    table = FigureTable(["release", *arguments], options.output)
    first, second = (_measure_apart(engine) for engine in ("pinocchio", "numpy"))
    for what, (must, aim) in GOALS.items():
        note = f"{_text(second[what])} over {_text(first[what])} here"
        ratio = second[what] / first[what]
        words = f"{what}: over Pinocchio's"
        table.add([Figure(words, "simulated person", ratio, "x", at_most(must), at_most(aim), note)])
    with tempfile.TemporaryDirectory() as folder:
        for step in try_distribution(Path(folder)):
            works = Figure(
                f"works: {step.what}", "this machine", float(step.works), "", at_least(1.0), note=step.detail
            )
            table.add([works])
    return table.close()


def measure() -> dict[str, float]:
    """Processor time [s] of each row on the engine of this process."""
    rig = human(1.75, 70.0, "male")
    generator = np.random.default_rng(0)
    q = integrate(rig, rig.neutral, 0.3 * generator.standard_normal((FRAMES, rig.nv)))
    v, a = generator.standard_normal((2, FRAMES, rig.nv))
    motion = Motion(0.01 * np.arange(FRAMES), q, v, a)
    targets = swinging_targets(rig, SAMPLES, 0.25)

    def track() -> None:
        tracker = Tracker(rig, targets.tasks)
        for sample in range(len(targets)):
            tracker.step(targets.sample(sample), 0.01)

    checker = FrameChecker(rig, Schedule.constant((), 0.0, 1.0))
    still = np.zeros(rig.nv)

    def check() -> None:
        for row in q[:POSTURES]:
            checker.check(row, still, still, 0.5)

    return {
        "regressor, a frame": _cpu(lambda: wrench_regressor(rig, motion)) / FRAMES,
        "tracking converged, a frame": _cpu(track) / SAMPLES,
        "one posture repaired": _cpu(_repair(rig)),
        "live check of a frame": _cpu(check) / POSTURES,
    }


def _repair(rig: Rig) -> Callable[[], object]:
    from solver.dance.authoring.repair import repair_dance

    from .figures.repairs import QUICK_BEATS, changed_dance

    changed = changed_dance(rig, QUICK_BEATS)
    return lambda: repair_dance(changed)


def swinging_targets(rig: Rig, frames: int, amplitude: float) -> Targets:
    """Markers scattered about every link of a body whose joints swing with such a standard deviation [rad]."""
    generator = np.random.default_rng(1)
    markers = [Attachment(f"{link}_{k}", link, 0.12 * generator.normal(size=3)) for link in rig.links for k in range(3)]
    size, phase = amplitude * generator.normal(size=rig.nv).clip(-1.0, 1.0), generator.uniform(0.0, 6.0, rig.nv)
    times = 0.01 * np.arange(frames)
    kinematics = Kinematics(rig)
    links, offsets = np.array([rig.index(each.link) for each in markers]), np.array([each.position for each in markers])
    positions = []
    for row in integrate(rig, rig.neutral, size * np.sin(4.0 * times[:, None] + phase)):
        kinematics.update_kinematics(row)
        positions.append(kinematics.points(links, offsets))
    return Targets.from_markers(
        rig, markers, Markers(times, tuple(each.marker for each in markers), np.array(positions))
    )


def _cpu(work: Callable[[], object]) -> float:
    """Least processor time [s], after one run that warms up."""
    work()
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def _measure_apart(engine: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks", "release", "--measure"]
    environment = {**os.environ, "ENGINE": engine, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def _text(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"
