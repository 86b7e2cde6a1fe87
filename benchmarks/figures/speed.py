"""Speed: hierarchical QP, cones, regressor, memory, and the whole job from files to report."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import regressor, solvers
from benchmarks.peak import ROOT, measure_alone
from solver.base.threads import one_blas_thread
from solver.identification.accumulate import accumulate_regression
from solver.identification.constraints import PAPER_FLOOR
from solver.rigs import hrp2
from solver.scene.result import RESULT
from solver.scene.study_folder import RESULT_FILE

from .figure import Figure, at_least, at_most
from .subject import SEX, SUBJECT

HRP2 = "simulated, HRP-2 stand-in"
WHOLE = "squats1"


def solver_figures() -> list[Figure]:
    """The hierarchical QP against Clarabel with every row, and the cone programs, in the same run."""
    figures: list[Figure] = []
    with one_blas_thread():
        rig = hrp2()
        trial = solvers.simulate_trial(rig, solvers.other_body(rig))
        regression = accumulate_regression(rig, [trial]).with_weights(1.0 / solvers.NOISE)
        links, count = regression.factor.shape[1] // 10, regression.factor.shape[1]
        for floor in (None, PAPER_FLOOR):
            wall, speedup, difference, worsening = solvers.compare(regression, rig, floor)
            label = "eps by link" if floor is None else f"eps {floor:g} kg m^2"
            what = f"hierarchical QP, {links} links x 10242 directions, {count} parameters, {label}"
            relative = at_most(solvers.MUST_RELATIVE)
            figures += [
                Figure(what, HRP2, wall, "s", None, at_most(solvers.AIM_SECONDS), timed=True),
                Figure("  times faster than Clarabel with all rows, same run", HRP2, speedup, "",
                       at_least(solvers.MUST_SPEEDUP)),
                Figure("  optimal cost against that solver's, relative difference", HRP2, difference, "", relative),
                Figure("  worst relative worsening of an upper level", HRP2, worsening, "", relative),
            ]  # fmt: skip
        method, seconds = solvers.cones(regression, rig)
        must, aim = at_most(solvers.MUST_CONES), at_most(solvers.AIM_CONES)
        figures.append(Figure(f"{method}, 31 cones", HRP2, seconds, "s", must, aim, timed=True))
    return figures


def regressor_figures() -> list[Figure]:
    """Regressor and accumulation against the plain loop, and peak memory over length."""
    frames = regressor.SPEED_FRAMES
    with one_blas_thread():
        rig = hrp2()
        trial = solvers.simulate_trial(rig, rig.prior)
        accumulate_regression(rig, [trial])
        ours, peers, processor = [], [], []
        for _ in range(regressor.REPEATS):
            began = time.process_time()
            ours.append(regressor.time_accumulation(rig, trial, frames, rig.links[0])[0])
            processor.append(time.process_time() - began)
            peers.append(regressor.time_peer(rig, trial, frames)[0])
    each, peer = 1e6 * min(ours) / frames, 1e6 * min(peers) / frames
    minutes = regressor.MINUTES
    peaks = [measure_alone("regressor", length)[0] for length in minutes]
    listed = ", ".join(f"{length} min {peak:.0f} MB" for length, peak in zip(minutes, peaks))
    return [
        Figure(
            f"regressor and triangular factor, per frame, {frames} frames", HRP2, each, "us",
            at_most(regressor.MUST_MICROSECONDS), at_most(regressor.AIM_MICROSECONDS),
            f"wall clock, best of {len(ours)}; processor time {1e6 * min(processor) / frames:.0f} us",
            timed=True,
        ),
        Figure(
            f"  frames per second over the plain loop's ({peer:.0f} us), same run", HRP2, peer / each, "",
            at_least(regressor.MUST_SPEEDUP),
        ),
        Figure(
            f"  peak memory, {minutes[-1]} over {minutes[0]} min of motion", HRP2, peaks[-1] / peaks[0], "",
            at_most(regressor.FLAT), note=listed,
        ),
    ]  # fmt: skip


def _children() -> float:
    """Processor time of finished child processes [s]; 0 on systems that do not report it."""
    times = os.times()
    return times.children_user + times.children_system


def whole_figure(data: Path, runs: int) -> Figure:
    """Median processor time of `python -m solver identify` on all trials, start of Python and report included."""
    must, aim = at_most(15.0), at_most(8.0)
    what = f"whole identify on all trials, files to report, processor time, median of {runs}"
    source = f"real, {SUBJECT} all trials"
    files = [*(data / SUBJECT / "markers").glob("*.trc"), *(data / SUBJECT / "forces").glob("*.mot")]
    if not files:
        return Figure(what, source, None, "s", must, aim, "no data")
    seconds, processor, note = [], [], ""
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "study"
            command = [sys.executable, "-m", "solver", "identify", *map(str, files), "--sex", SEX]
            began, spent = time.perf_counter(), _children()
            run = subprocess.run(
                [*command, "--progress", "none", "--output", str(output)],
                cwd=ROOT, check=False, text=True, capture_output=True,
            )  # fmt: skip
            seconds.append(time.perf_counter() - began)
            processor.append(_children() - spent)
            if run.returncode or not (output / "report.html").is_file():
                last = (run.stderr.strip().splitlines() or ["no message"])[-1]
                note = f"FAILED with exit code {run.returncode}: {last}"
                return Figure(what, source, float("nan"), "s", must, aim, note)
            stages = RESULT.read(output / RESULT_FILE).details["seconds"]
            listed = ", ".join(f"{stage} {spent:.1f}" for stage, spent in stages.items())
            note = f"default options; wall clock {statistics.median(seconds):.1f} s, of the last: {listed}"
    return Figure(what, source, statistics.median(processor), "s", must, aim, note, timed=True)
