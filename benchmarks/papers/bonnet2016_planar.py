"""bonnet2016 III.C, Fig. 4: the planar example, by the criterion and by the total condition number."""

from __future__ import annotations

import numpy as np

from .bonnet2016_tables import PLANAR_CRITERION, PLANAR_START, PLANAR_TOTAL
from .planar import PlanarProblem, optimise
from .rows import Row

DATA = "simulated, planar, 3 joints"
PERIODS = 6
"""Of 2 s each."""


def planar_rows(quick: bool = False) -> list[Row]:
    """From the paper's singular start, and from a start a thousandth of the ranges away."""
    problem = PlanarProblem()
    poor = problem.poor_start()
    criterion = optimise(problem, "criterion", 1 if quick else PERIODS, poor)
    direct = optimise(problem, "total", 1, poor)[0].condition
    first = criterion[0].condition
    near = optimise(problem, "total", 1, problem.near_start(0), logarithm=True)[0].condition
    start = float(np.linalg.cond(problem.regressor(poor)))
    return [
        Row("cond(W_b) at the start", DATA, start, PLANAR_START),
        Row("cond(W_b) after 2 s, criterion minimised", DATA, first, PLANAR_CRITERION,
            first <= PLANAR_CRITERION and first < direct),
        Row("cond(W_b) after 2 s, cond(W_b) minimised", DATA, direct, PLANAR_TOTAL,
            note="ours stays at its singular start"),
        *(
            Row(f"cond(W_b) after {2 * (k + 1)} s, criterion minimised", DATA, r.condition)
            for k, r in enumerate(criterion[1:], start=1)
        ),
        Row("cond(W_b) after 2 s, log cond(W_b) minimised from a nudged start", DATA, near,
            note="a start a thousandth of the joints' ranges away: the criterion's advantage is the start's"),
    ]  # fmt: skip
