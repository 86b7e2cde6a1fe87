"""Proof in an independent engine: ``python -m benchmarks dance --only engine``.

For HOAP-3, HRP-2 and a person a dance is designed and played in MuJoCo by joint PD control with the plan's torques fed
forward: does it fall, do its feet slip, do the plates read what was planned? Then on bodies whose inertials are not
the identification's prior: what does the loop from simulated sensors find? Other masses are unknown to the
controller as well. A load on an arm is known to the dance's designer and to the controller: a dance within reach of a
body's joint torques need not be so with the load, and what falls then is too weak, not out of balance. All simulated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.figures.figure import Figure, at_most, missing
from solver.base.errors import SolverError
from solver.dance.design.dance import Dance
from solver.skeleton.rig import Rig

from .cases import Case, dance_for

if TYPE_CHECKING:
    from .measure import Measurement

LONGEST_SLIP = 5.0
"""[mm], must."""


def design_and_measure(case: Case, postures: int, say: Callable[[str], None], workers: int = 2) -> list[Figure]:
    """Every figure of one rig; the demanded rows, not measured, when no dance could be designed for it."""
    rig = case.rig()
    began = time.perf_counter()
    try:
        dance = dance_for(case, rig, postures, workers)
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
    from .exported import exported_plan
    from .loop_figures import PLAN_RATE, changed_figures, load_figures
    from .measure import measure
    from .simulate import play

    intended = exported_plan(dance, PLAN_RATE)
    data = f"simulated, {dance.duration:.0f} s, {len(dance.postures)} postures"
    result = _dance_figures(case.name, data, measure(rig, intended, play(rig, intended)))
    say(f"{case.name}: danced in MuJoCo")
    result += changed_figures(case, rig, intended, data)
    say(f"{case.name}: other masses: played and identified")
    result += load_figures(case, rig, workers)
    say(f"{case.name}: arm load: played and identified")
    return result


def _dance_figures(name: str, data: str, shown: Measurement) -> list[Figure]:
    falls, slip = _required_rows(name, data)
    note = "" if shown.fell is None else f"fell after {shown.fell:.1f} s"
    return [
        Figure(falls.what, data, float(shown.fell is not None), "", falls.must, note=note),
        Figure(slip.what, data, 1e3 * shown.slip, "mm", slip.must,
               note=f"{len(shown.stances)} stances"),
    ]  # fmt: skip


def _required_rows(name: str, data: str) -> list[Figure]:
    return [
        Figure(f"{name}: falls in MuJoCo over the whole dance", data, None, "", at_most(0.0)),
        Figure(f"{name}: farthest slip of a planted foot", data, None, "mm", at_most(LONGEST_SLIP)),
    ]
