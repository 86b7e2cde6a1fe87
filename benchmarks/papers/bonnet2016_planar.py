"""bonnet2016 III.C, Fig. 4: the planar example, by the criterion and by the total condition number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.report.svg import Drawing

from . import plots
from .bonnet2016_tables import PLANAR_CRITERION, PLANAR_START, PLANAR_TOTAL
from .planar import PlanarProblem, Round, optimise
from .rows import Row

DATA = "simulated, planar, 3 joints"
PERIODS = 6
"""Of 2 s each."""


@dataclass(frozen=True, slots=True)
class Periods:
    """Periods of the example, one after the other.

    Attributes:
        start: cond(W_b) at the paper's singular start.
        criterion: the criterion minimised, from there.
        total: cond(W_b) minimised, from there: its slope is infinite, so it stays there.
        near: log cond(W_b) minimised, from a start a thousandth of the ranges away.
    """

    start: float
    criterion: Sequence[Round]
    total: Sequence[Round]
    near: Sequence[Round]


def planar_periods(quick: bool = False) -> Periods:
    """From the paper's singular start, and from a start a thousandth of the ranges away."""
    problem = PlanarProblem()
    poor, rounds = problem.poor_start(), 2 if quick else PERIODS
    return Periods(
        float(np.linalg.cond(problem.regressor(poor))),
        optimise(problem, "criterion", rounds, poor),
        optimise(problem, "total", 1, poor),
        optimise(problem, "total", rounds, problem.near_start(0), logarithm=True),
    )


def planar_rows(found: Periods) -> list[Row]:
    """Fig. 4 as numbers."""
    first, direct = found.criterion[0].condition, found.total[0].condition
    return [
        Row("cond(W_b) at the start", DATA, found.start, PLANAR_START),
        Row("cond(W_b) after 2 s, criterion minimised (paper's program)", DATA, first, PLANAR_CRITERION,
            first <= PLANAR_CRITERION and first < direct),
        Row("cond(W_b) after 2 s, cond(W_b) minimised (paper's program)", DATA, direct, PLANAR_TOTAL,
            note="ours stays at its singular start"),
        *(
            Row(f"cond(W_b) after {2 * (k + 1)} s, criterion minimised (paper's program)", DATA, r.condition)
            for k, r in enumerate(found.criterion[1:], start=1)
        ),
        Row("cond(W_b) after 2 s, log cond(W_b) minimised from a nudged start (ours)", DATA, found.near[0].condition,
            note="a start a thousandth of the joints' ranges away: the criterion's advantage is the start's"),
    ]  # fmt: skip


def planar_drawing(found: Periods) -> Drawing:
    """Fig. 4: log10 cond(W_b) over the periods."""
    curves = {
        "criterion, the paper's start": found.criterion,
        "log of the condition, near it": found.near,
    }
    times = 2.0 * np.arange(1, len(found.criterion) + 1)
    values = {name: np.log10([each.condition for each in rounds]) for name, rounds in curves.items()}
    return plots.curves_over_time(times, [("log10 cond(W_b) over time [s]", values)], "Fig. 4: planar example", rows=1)
