"""Figures to reach of the dances: ``python -m benchmarks dance [--quick]``.

Prints every figure of the dance: what was measured, on which data (simulated, but for recordings as dances), its must
and its aim. Exits 1 when a measured figure misses its must; a figure that could not be measured is listed as such and
does not count.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from benchmarks.papers.planar import PlanarProblem, optimise
from solver.base.threads import one_blas_thread
from solver.dance.design.dance import Dance
from solver.dance.workflows.design import design_dance
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.excitation import PLATE_NOISE, Excitation
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.rigs import hoap3, hrp2
from solver.skeleton.rig import Rig

from . import checks
from .figures import (
    dance_accuracy,
    dance_pipeline,
    fixed_base,
    foreign_humanoids,
    jump,
    named_dances,
    performed_dances,
    recorded_dances,
    repairs,
)
from .figures.figure import Bound, Figure, at_least, at_most, left_out, missing
from .figures.table import FigureTable, table_parser

SIMULATED = "simulated"
POSTURES, QUICK_POSTURES = 15, 1
"""Per foot configuration."""
RATE, ROBOT_RATE = 50.0, 500.0
"""[1/s] at which excitation is sampled; at which the robot's sensors are."""
PLATE = np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02])
"""[N, N m] assumed noise of the paper's plate: it names an AMTI AccuGait at 1000 Hz, and no noise."""
IDENTIFIED: dict[str, tuple[np.ndarray, Bound, Bound]] = {
    "plate": (PLATE, at_least(80.0), at_least(120.0)),
    "2 N, 1 N m": (PLATE_NOISE, at_least(25.0), at_least(40.0)),
}
"""By the name of the noise: it, and how many base parameters of HOAP-3 must be, and would well be, identified."""
QUICK_LEAVES_OUT = (
    "the 60 postures (4 instead, mostly steps between them: their rows are for information only), "
    "5 of 6 periods of the planar example, "
    "foreign humanoids, performed dances, "
    "jumps, recordings as dances, dances of named poses, what files of a dance identify, "
    "random motion, MuJoCo"
)

PARTS: dict[str, Callable[[argparse.Namespace], Iterable[Iterable[Figure]]]] = {
    "planar": lambda chosen: [planar_figures(1 if chosen.quick else 6)],
    "people": lambda _: performed_dances.figures(),
    "hoap3": lambda chosen: hoap3_figures(chosen),
    "random": lambda chosen: dance_accuracy.figures(chosen.workers),
    "fixed": lambda chosen: [fixed_base.figures(chosen.quick)],
    "repairs": lambda chosen: [repairs.figures(chosen.quick)],
    "jumps": lambda _: jump.figures(),
    "recordings": lambda chosen: recorded_dances.figures(chosen.data),
    "poses": lambda chosen: named_dances.figures(chosen.workers),
    "identified": lambda _: [dance_pipeline.figures()],
    "foreign": lambda chosen: [foreign_figures()],
    "engine": lambda chosen: [engine_figures(chosen)],
}
"""Rows, by the name that chooses them."""
SLOW = ("people", "random", "jumps", "recordings", "poses", "identified", "foreign")
"""Those that a quick look leaves out."""


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("dance", __doc__, data=True, quick="under one minute; lists what it leaves out")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--only", choices=PARTS, help="these rows alone")
    options = parser.parse_args(list(arguments))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; all is simulated but recordings")
    if options.quick:
        print(f"--quick leaves out: {QUICK_LEAVES_OUT}")
    table = FigureTable(["dance", *arguments], options.output)
    chosen = [options.only] if options.only else [name for name in PARTS if not (options.quick and name in SLOW)]
    with one_blas_thread():
        for name in chosen:
            for found in PARTS[name](options):
                table.add(found)
    return table.close()


def hoap3_figures(chosen: argparse.Namespace) -> Iterator[Iterable[Figure]]:
    """HOAP-3's dance, and what it identifies."""
    yield [scrubbing_figure(chosen.quick)]
    made, rig, dance, wanted = design_hoap3(chosen.quick, chosen.workers)
    yield made
    yield [violation_figure(rig, dance, wanted)]
    yield identified_figures(rig, dance, whole=not chosen.quick)


def planar_figures(rounds: int) -> list[Figure]:
    """III.C: from the paper's singular start, and the honest counter-example, a start a thousandth away."""
    problem = PlanarProblem()
    poor, near = problem.poor_start(), problem.near_start(0)
    data = "simulated, planar 3 DoF"
    criterion = optimise(problem, "criterion", rounds, poor)
    direct = optimise(problem, "total", 1, poor)[0].condition
    first = criterion[0].condition
    result = [
        Figure("cond(W_b) after 2 s by the criterion, paper's start", data, first, "", at_most(62.0)),
        Figure("  over cond(W_b) minimised itself, same start", data, first / direct, "", at_most(1.0),
               note=f"minimised itself it stays at its singular start: {direct:.3g} (paper: 105)"),
        Figure("  counter-example: log cond(W_b) minimised, nudged start", data,
               optimise(problem, "total", 1, near, logarithm=True)[0].condition,
               note=f"the criterion from that start: {optimise(problem, 'criterion', 1, near)[0].condition:.3g}; on "
               "this small model a better optimiser of cond(W_b) beats the criterion"),
    ]  # fmt: skip
    if rounds > 1:
        values = ", ".join(f"{r.condition:.3g}" for r in criterion)
        result.append(Figure("  by the criterion after the last period", data, criterion[-1].condition,
                             note=f"each 2 s: {values}"))  # fmt: skip
    return result


def scrubbing_figure(quick: bool) -> Figure:
    """All checks of one frame on HRP-2."""
    milliseconds = checks.measure(hrp2(), 200 if quick else checks.FRAMES)
    what = "checks while scrubbing, HRP-2, all of them, one frame"
    return Figure(what, SIMULATED, milliseconds, "ms", at_most(15.0), at_most(5.0), timed=True)


@cache
def design_hoap3(quick: bool, workers: int) -> tuple[list[Figure], Rig, Dance, DanceOptions]:
    """What the dance cost, the robot, the dance and its options."""
    rig = hoap3("middle", torque="peak")
    each = QUICK_POSTURES if quick else POSTURES
    options = DanceOptions(postures=dict.fromkeys(FOOT_CONFIGURATIONS, each), workers=workers, seed=1)
    if quick:
        options = replace(options, pool=40, rounds=2)
    began, before = time.perf_counter(), os.times()
    dance = design_dance(rig, options)
    seconds, after = time.perf_counter() - began, os.times()
    processor = sum(after[:4]) - sum(before[:4])
    data = f"simulated, HOAP-3, {4 * each} postures"
    must, aim = (None, None) if quick else (at_most(40.0), at_most(20.0))
    kinds = [s.kind for s in dance.trace]
    return [
        Figure("whole dance, processor of all processes", data, processor, "s", must, aim, timed=True,
               note=f"every segment verified at 500 Hz in that time; {seconds:.0f} s on {workers} processes; paper: "
               f"15 min; the dance lasts {dance.duration:.0f} s, {kinds.count('exciting')} of {len(kinds)} phrases "
               "exciting"),
        Figure("postures reached", data, float(len(dance.postures)), "", at_least(4.0 * each)),
    ], rig, dance, options  # fmt: skip


def violation_figure(rig: Rig, dance: Dance, options: DanceOptions) -> Figure:
    """The worst margin of every check at ten times the search's sampling."""
    found = [
        (float(margin.smallest.min()), margin.name, margin.unit)
        for result in dance.check(rig, ROBOT_RATE, options.checks)
        for margin in result.margins
    ]
    worst, name, unit = min(found)
    return Figure("largest violation of any constraint at 500 Hz", "simulated, HOAP-3", max(0.0, -worst), "",
                  at_most(1e-4), note=f"smallest margin: {name} {worst:+.2g} {unit}")  # fmt: skip


def identified_figures(rig: Rig, dance: Dance, whole: bool) -> list[Figure]:
    """IV.D: base parameters with a predicted relative deviation below 10 %, in the time that the dance takes."""
    structure = base_parameters(rig)
    motion = dance.sample(rig, RATE)
    result = []
    for name, (noise, *bounds) in IDENTIFIED.items():
        found = Excitation.before_motion(structure, noise).with_motion(rig, motion)
        share = np.sqrt(RATE / ROBOT_RATE)
        relative = found.relative_deviations(rig.prior) * share
        well, (must, aim) = relative < 0.1, bounds
        # bounds of Cramer and Rao: no estimator is better, with all parameters unknown or with one alone
        alone = share / np.linalg.norm(found.factor, axis=0) < 0.1 * np.abs(structure.project(rig.prior))
        longer = (np.sort(relative)[int(must.low) - 1] / 0.1) ** 2
        still = structure.static
        note = (
            f"static {well[still].sum()} of {still.sum()}, dynamic {well[~still].sum()} of {(~still).sum()}; "
            f"{must.low:g} would need {longer:.2f} times as long a dance; {alone.sum()} if each alone were unknown"
        )
        if name == "plate":
            note += (
                "; assumed: the plate's own noise is 0.2 N and 0.02 N m a sample at 500 Hz (the paper names the plate, "
                "not its noise), no other error; the rows below take the fit's residuals for noise"
            )
        what = f"of {len(structure)} base parameters, sigma < 10 %, noise: {name}"
        figure = Figure(what, f"simulated, HOAP-3, {dance.duration:.0f} s", float(well.sum()), "", must, aim, note=note)
        result.append(figure if whole else replace(figure, must=None, aim=None))
    return result


def foreign_figures() -> Iterator[Figure]:
    """Humanoids of other authors: danced, checked by the independent judge, played in MuJoCo."""
    yield from foreign_humanoids.dance_figures()
    yield from foreign_humanoids.play_figures()


def engine_figures(chosen: argparse.Namespace) -> list[Figure]:
    """Falls and slips in MuJoCo, three rigs, and the loop from simulated sensors; HOAP-3 plays the dance above."""
    rows = [Figure(f"{name}: falls in MuJoCo over the whole dance", SIMULATED, None, "", at_most(0.0))
            for name in ("HOAP-3", "HRP-2", "human")]  # fmt: skip
    if chosen.quick:
        return left_out(rows, "left out; python -m benchmarks dance --only engine measures it")
    try:
        import mujoco  # noqa: F401

        from .engine.cases import CASES
        from .engine.proof import design_and_measure, figures
    except ImportError as error:
        return missing(rows, f"{error}; it is in the benchmarks extra")

    def say(text: str) -> None:
        print(text, file=sys.stderr)

    own, *others = CASES
    _, rig, dance, _ = design_hoap3(False, chosen.workers)
    found = figures(own, rig, dance, say)
    for case in others:
        found += design_and_measure(case, POSTURES, say)
    return found
