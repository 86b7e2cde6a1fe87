"""Proof in an independent engine: ``python -m benchmarks.engine.proof [--quick]``.

For HOAP-3, HRP-2 and a person a dance is designed and played in MuJoCo by joint PD control with the plan's torques fed
forward: does it fall, do its feet slip, do the plates read what was planned? Then on bodies whose inertials are not
the identification's prior: what does the loop from simulated sensors find? Other masses are unknown to the
controller as well. A load on an arm is known to the dance's designer and to the controller: a dance within reach of a
body's joint torques need not be so with the load, and what falls then is too weak, not out of balance. All simulated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.figures.figure import Figure, at_most, exit_code, heading, missing, row, summary
from solver.dance.design.dance import Dance
from solver.errors import SolverError
from solver.identification.comparison import AXES
from solver.options.dances import FOOT_CONFIGURATIONS
from solver.rig import Rig
from solver.threads import one_blas_thread

from .cases import CASES, FULL, QUICK, Case, dance_for

if TYPE_CHECKING:
    from .measure import Measurement

LONGEST_SLIP = 5.0
"""[mm], the issue's bound."""
QUICK_CONFIGURATIONS = ("both",)


def design_and_measure(
    case: Case, postures: int, configurations: Sequence[str], say: Callable[[str], None], workers: int = 2
) -> list[Figure]:
    """Every figure of one rig; the demanded rows, not measured, when no dance could be designed for it."""
    rig = case.rig()
    began = time.perf_counter()
    try:
        dance = dance_for(case, rig, postures, configurations, workers)
    except SolverError as error:
        return missing(_required_rows(case.name, "simulated"), f"no dance: {error}")
    say(
        f"{case.name}: a dance of {dance.duration:.0f} s and {len(dance.postures)} postures designed in "
        f"{time.perf_counter() - began:.0f} s"
    )
    return figures(case, rig, dance, say, workers)


def figures(
    case: Case, rig: Rig, dance: Dance, say: Callable[[str], None] = lambda text: None, workers: int = 2
) -> list[Figure]:
    """Every figure of one rig: its dance as designed, with other masses, and one more designed with a load on an arm.

    Args:
        case: the rig's.
        rig: the dancer.
        dance: designed for it.
        say: called with each line of progress.
        workers: processes that design the dance with the load.
    """
    from .loop_figures import PLAN_RATE, changed_figures, load_figures
    from .measure import measure
    from .performance import plan
    from .simulate import play

    intended = plan(rig, dance.sample(rig, PLAN_RATE), dance.schedule)
    data = f"simulated, {dance.duration:.0f} s, {len(dance.postures)} postures"
    result = _dance_figures(case.name, data, measure(rig, intended, play(rig, intended)))
    say(f"{case.name}: danced in MuJoCo")
    result += changed_figures(case, rig, intended, data)
    say(f"{case.name}: other masses: played and identified")
    result += load_figures(case, rig, dance, workers)
    say(f"{case.name}: arm load: played and identified")
    return result


def _dance_figures(name: str, data: str, shown: Measurement) -> list[Figure]:
    relative = shown.total.rmse / np.maximum(shown.span, 1e-12)
    strong = [
        f"{axis} {error:.2g} (CC {cc:.4f})" for axis, error, cc in zip(AXES, shown.total.rmse, shown.total.correlation)
    ]
    feet = ", ".join(f"{fit.correlation[2]:.4f}" for fit in shown.feet)
    falls, slip = _required_rows(name, data)
    note = "" if shown.fell is None else f"fell after {shown.fell:.1f} s"
    return [
        Figure(falls.what, data, float(shown.fell is not None), "", falls.must, note=note),
        Figure(slip.what, data, 1e3 * shown.slip, "mm", slip.must,
               note=f"{len(shown.stances)} stances; soles tilt by at most "
               f"{1e3 * max((s.tilt for s in shown.stances), default=np.nan):.2g} mrad"),
        Figure(f"{name}: plates against plan, total, worst RMSE / deviation of an axis", data, float(relative.max()),
               note="RMSE [N, N m]: " + ", ".join(strong)),
        Figure(f"{name}: plates against plan, lower CC of the feet's vertical forces", data,
               float(min(fit.correlation[2] for fit in shown.feet)), note=f"right, left: {feet}"),
        Figure(f"{name}: farthest of the root from its plan", data, 1e3 * shown.root, "mm",
               note=f"joints within {shown.angle:.2g} rad; a joint at its torque limit at most "
               f"{100 * shown.saturated:.2g} % of the time"),
    ]  # fmt: skip


def _required_rows(name: str, data: str) -> list[Figure]:
    return [
        Figure(f"{name}: falls in MuJoCo over the whole dance", data, None, "", at_most(0.0)),
        Figure(f"{name}: farthest slip of a planted foot", data, None, "mm", at_most(LONGEST_SLIP)),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a must is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one posture on two feet")
    parser.add_argument("--postures", type=int, default=FULL, help="per foot configuration (15)")
    parser.add_argument("--rig", choices=[case.name for case in CASES], action="append", help="only this; repeatable")
    parser.add_argument("--workers", type=int, default=2, help="processes that design the dances (2)")
    chosen = parser.parse_args(arguments)
    chosen_cases = [case for case in CASES if not chosen.rig or case.name in chosen.rig]
    result = proof_figures(
        chosen_cases, chosen.quick, chosen.postures, lambda text: print(text, file=sys.stderr), chosen.workers
    )
    print(heading())
    for figure in result:
        print(row(figure))
    print(summary(result))
    return exit_code(result)


def proof_figures(
    cases: Sequence[Case] = CASES,
    quick: bool = False,
    postures: int = FULL,
    say: Callable[[str], None] = lambda text: None,
    workers: int = 2,
) -> list[Figure]:
    """Every figure of the proof; not measured, and why, where MuJoCo is not installed."""
    try:
        import mujoco  # noqa: F401
    except ImportError:
        rows = [figure for case in cases for figure in _required_rows(case.name, "simulated")]
        return missing(rows, "MuJoCo is not installed: pip install mujoco (the benchmarks extra)")
    configurations = QUICK_CONFIGURATIONS if quick else FOOT_CONFIGURATIONS
    with one_blas_thread():
        each = QUICK if quick else postures
        return [f for case in cases for f in design_and_measure(case, each, configurations, say, workers)]


if __name__ == "__main__":
    raise SystemExit(main())
