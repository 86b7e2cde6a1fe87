"""bonnet2016: the paper's numerical results beside ours. Everything here is simulated.

python -m benchmarks.papers.bonnet2016            # the planar example and the whole HOAP-3 dance
python -m benchmarks.papers.bonnet2016 --quick    # the planar example and a dance of eight postures
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

from solver.dance.choreography import DanceOptions, design
from solver.dance.dance import Dance
from solver.dance.excitation import PLATE_NOISE, Excitation
from solver.dance.planar import PlanarProblem, optimise
from solver.dance.schedule import FOOT_CONFIGURATIONS
from solver.identification.base_parameters import base_parameters
from solver.progress import Console
from solver.rigs import hoap3

PAPER_TOTAL, PAPER_CRITERION = 105.0, 62.0
"""cond(W_b) after the first 2 s in Fig. 4: minimised itself, and by way of the criterion."""
PAPER_HAT = 13.0
"""Criterion of head, arms and trunk after 28 transitions (Fig. 5)."""
PAPER_IDENTIFIED = 42
"""Base parameters of HOAP-3 with a relative standard deviation below 10 % (IV.D)."""
TABLE_II = np.array([1.1, 0.5, 0.9, 0.2, 0.7, 0.4])
"""Residuals [N, N m] of HOAP-3's identified model in Table II, taken as the noise."""
PLATE = np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02])
"""Noise [N, N m] of a good small force plate without any error of model or tracking: a choice, not the paper's."""
ROBOT_RATE = 500.0


@dataclass(frozen=True, slots=True)
class Line:
    """One figure: what, measured, what the paper has, and whether a must is met (None: no must)."""

    what: str
    measured: float
    paper: float
    met: bool | None = None

    def __str__(self) -> str:
        verdict = {None: "", True: "must met", False: "MUST MISSED"}[self.met]
        return f"{self.what:88s} {self.measured:10.4g} {self.paper:10.4g}  {verdict}"


def planar_lines() -> list[Line]:
    """III.C, Fig. 4: from the paper's singular start, and from a start a thousandth of the ranges away."""
    problem = PlanarProblem()
    lines = []
    poor = problem.poor_start()
    criterion, total = (optimise(problem, name, 6, poor) for name in ("criterion", "total"))
    first, direct = criterion[0].condition, total[0].condition
    lines.append(Line("planar, cond(W_b) at the start", float(np.linalg.cond(problem.regressor(poor))), 5e16))
    met = first <= PAPER_CRITERION and first < direct
    lines.append(Line("planar, cond(W_b) after 2 s, criterion minimised", first, PAPER_CRITERION, met))
    lines.append(Line("planar, cond(W_b) after 2 s, cond(W_b) minimised (stays at the start)", direct, PAPER_TOTAL))
    lines += [
        Line(f"planar, cond(W_b) after {2 * (k + 1)} s, criterion minimised", r.condition, np.nan)
        for k, r in enumerate(criterion[1:], start=1)
    ]
    near = optimise(problem, "total", 1, problem.near_start(0), logarithm=True)[0].condition
    lines.append(Line("planar, cond(W_b) after 2 s, log cond(W_b) minimised from a nudged start", near, np.nan))
    return lines


def dance_lines(postures: int, workers: int) -> tuple[list[Line], Dance]:
    """Fig. 5 and IV.D for HOAP-3, and what the design cost."""
    rig = hoap3("middle", torque="peak")
    options = DanceOptions(postures=dict.fromkeys(FOOT_CONFIGURATIONS, postures), workers=workers)
    began = time.perf_counter()
    dance = design(rig, options, Console())
    seconds = time.perf_counter() - began
    whole = postures == 15
    lines = [
        Line(f"HOAP-3, {4 * postures} postures, design and its checks [s]", seconds, 900.0, seconds < 300.0),
        Line("HOAP-3, postures reached", len(dance.postures), 60.0, len(dance.postures) == 4 * postures),
        Line("HOAP-3, duration of the dance [s]", dance.duration, np.nan),
    ]
    worst = min(
        float(margin.smallest.min())
        for checks in dance.check(rig, ROBOT_RATE, options.checks)
        for margin in checks.margins
    )
    lines.append(Line("HOAP-3, worst margin of any check at 500 Hz (negative: violated)", worst, 0.0, worst >= -1e-4))
    trunk = [step.criterion for step in dance.trace if step.group in ("both", "right_forward")]
    leg = [step.criterion for step in dance.trace if step.group in ("right", "left")]
    at = min(28, len(trunk)) - 1
    lines.append(Line("HOAP-3, J_exc head-arms-trunk after the first transition", trunk[0], 1702.0))
    lines.append(
        Line(f"HOAP-3, J_exc head-arms-trunk after {at + 1} transitions", trunk[at], PAPER_HAT, trunk[at] <= PAPER_HAT)
    )
    lines.append(Line("HOAP-3, J_exc of the free leg after the last transition", leg[-1], np.nan))
    lines += identification_lines(dance, whole)
    return lines, dance


def identification_lines(dance: Dance, whole: bool) -> list[Line]:
    """Predicted relative standard deviations of the base parameters from the dance recorded at 500 Hz."""
    rig = hoap3("middle", torque="peak")
    structure = base_parameters(rig)
    rate = 50.0
    motion = dance.sample(rig, rate)
    lines = []
    for name, noise in (("residuals of Table II", TABLE_II), ("2 N, 1 N m", PLATE_NOISE), ("0.2 N, 0.02 N m", PLATE)):
        found = Excitation.none(structure, noise).with_motion(rig, motion)
        sigma = found.relative_deviations(rig.prior) * np.sqrt(rate / ROBOT_RATE)
        count = int((sigma < 0.1).sum())
        what = f"HOAP-3, of {len(structure)} base parameters with sigma < 10 %, noise {name}"
        lines.append(Line(what, count, PAPER_IDENTIFIED, None))
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; 1 if a must is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a dance of eight postures")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)
    lines = planar_lines() + dance_lines(2 if options.quick else 15, options.workers)[0]
    print(f"{'simulated':88s} {'ours':>10s} {'paper':>10s}")
    for line in lines:
        print(line)
    return int(any(line.met is False for line in lines))


if __name__ == "__main__":
    sys.exit(main())
