"""Proof in an independent engine: ``python -m benchmarks.engine.proof [--quick]``.

For HOAP-3, HRP-2 and a person a dance is designed and played in MuJoCo by joint PD control with the plan's torques fed
forward: does it fall, do its feet slip, do the plates read what was planned? Then on bodies whose inertials are not
what the controller and the identification believe: what does the loop from simulated sensors find? All simulated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.figures.figure import Figure, at_most, heading, missing, passed, row, summary
from solver.dance.choreography import DanceOptions, design, human_options
from solver.dance.dance import Dance
from solver.dance.schedule import FOOT_CONFIGURATIONS
from solver.errors import SolverError
from solver.identification.comparison import AXES
from solver.inertials import InertialParameters
from solver.rig import Rig
from solver.rigs import hoap3, hrp2, human
from solver.threads import one_blas_thread

from .bodies import CHANGES, arm_load, arm_of, changed

if TYPE_CHECKING:
    from .loop import Found, Sensors
    from .measure import Measured
    from .performance import Plan

PLAN_RATE = 250.0
"""[1/s] at which a dance is handed to the controller."""
LONGEST_SLIP = 5.0
"""[mm], the issue's bound."""
BEFORE_FALL, SHORTEST = 1.0, 5.0
"""[s] left out before a fall; a shorter performance is not identified from."""
FULL, QUICK = 15, 1
"""Postures per foot configuration."""
QUICK_CONFIGURATIONS = ("both",)
ARM_ERROR = 0.5 / 2.4
"""The paper's own error of the arm's load, as a share of the load."""


@dataclass(frozen=True, slots=True)
class Case:
    """A rig to prove.

    Attributes:
        name: shown.
        rig: makes it.
        options: of its dance, from the postures per configuration.
        person: sensed by markers, not by encoders.
    """

    name: str
    rig: Callable[[], Rig]
    options: Callable[..., DanceOptions]
    person: bool = False


CASES = (
    Case("HOAP-3", lambda: hoap3(torque="peak"), DanceOptions),
    Case("HRP-2", hrp2, DanceOptions),
    Case("human", lambda: human(1.75, 65.0, "female"), human_options, person=True),
)


def dance_for(case: Case, rig: Rig, postures: int, configurations: Sequence[str] = FOOT_CONFIGURATIONS) -> Dance:
    """A dance of a few postures per foot configuration, or of the paper's fifteen."""
    wanted = {name: postures if name in configurations else 0 for name in FOOT_CONFIGURATIONS}
    effort = {} if postures >= FULL else {"pool": 60, "starts": 2, "search": 48, "rounds": 2, "workers": 1}
    return design(rig, case.options(postures=wanted, **effort))


def designed_figures(
    case: Case, postures: int, configurations: Sequence[str], say: Callable[[str], None]
) -> list[Figure]:
    """Every figure of one rig; the demanded rows, not measured, when no dance could be designed for it."""
    rig = case.rig()
    began = time.perf_counter()
    try:
        dance = dance_for(case, rig, postures, configurations)
    except SolverError as error:
        return missing(_demanded(case.name, "simulated"), f"no dance: {error}")
    say(
        f"{case.name}: a dance of {dance.duration:.0f} s and {len(dance.postures)} postures designed in "
        f"{time.perf_counter() - began:.0f} s"
    )
    return figures(case, rig, dance, say)


def figures(case: Case, rig: Rig, dance: Dance, say: Callable[[str], None] = lambda text: None) -> list[Figure]:
    """Every figure of one rig's dance: danced as designed, with other masses, and with a load on an arm."""
    from .measure import measure
    from .performance import plan
    from .simulate import play

    intended = plan(rig, dance.sample(rig, PLAN_RATE), dance.schedule)
    data = f"simulated, {dance.duration:.0f} s, {len(dance.postures)} postures"
    result = _dance_figures(case.name, data, measure(rig, intended, play(rig, intended)))
    say(f"{case.name}: danced in MuJoCo")
    for what, truth in (("other masses", changed(rig)), ("arm load", arm_load(rig)[0])):
        result += _loop_figures(case, rig, intended, truth, what, data)
        say(f"{case.name}: {what}: played and identified")
    return result


def _dance_figures(name: str, data: str, shown: Measured) -> list[Figure]:
    relative = shown.total.rmse / np.maximum(shown.span, 1e-12)
    strong = [
        f"{axis} {error:.2g} (CC {cc:.4f})" for axis, error, cc in zip(AXES, shown.total.rmse, shown.total.correlation)
    ]
    feet = ", ".join(f"{fit.correlation[2]:.4f}" for fit in shown.feet)
    falls, slip = _demanded(name, data)
    note = "" if shown.fell is None else f"fell after {shown.fell:.1f} s"
    return [
        Figure(falls.what, data, float(shown.fell is not None), "", falls.must, note=note),
        Figure(slip.what, data, 1e3 * shown.slip, "mm", slip.must,
               note=f"{len(shown.stands)} standings; soles lean by at most "
               f"{1e3 * max((s.tilt for s in shown.stands), default=np.nan):.2g} mrad"),
        Figure(f"{name}: plates against plan, total, worst RMSE / deviation of an axis", data, float(relative.max()),
               note="RMSE [N, N m]: " + ", ".join(strong)),
        Figure(f"{name}: plates against plan, lower CC of the feet's vertical forces", data,
               float(min(fit.correlation[2] for fit in shown.feet)), note=f"right, left: {feet}"),
        Figure(f"{name}: farthest of the root from its plan", data, 1e3 * shown.root, "mm",
               note=f"joints within {shown.angle:.2g} rad; a joint at its torque limit at most "
               f"{100 * shown.saturated:.2g} % of the time"),
    ]  # fmt: skip


def _demanded(name: str, data: str) -> list[Figure]:
    return [
        Figure(f"{name}: falls in MuJoCo over the whole dance", data, None, "", at_most(0.0)),
        Figure(f"{name}: farthest slip of a planted foot", data, None, "mm", at_most(LONGEST_SLIP)),
    ]


def _loop_figures(
    case: Case, rig: Rig, intended: Plan, truth: InertialParameters, what: str, data: str
) -> list[Figure]:
    from .loop import PERSON, ROBOT, close_loop
    from .measure import measure
    from .simulate import play

    performance = play(rig, intended, truth=truth)
    shown = measure(rig, intended, performance)
    name = f"{case.name}, {what}"
    seconds = intended.schedule.stop - intended.schedule.start
    note = f"slip {1e3 * shown.slip:.2g} mm"
    if shown.fell is not None:
        note += f"; fell after {shown.fell:.0f} of {seconds:.0f} s: its controller knows nothing of the change"
    fall = Figure(f"{name}: falls", data, float(shown.fell is not None), "", note=note)
    if shown.fell is not None and shown.fell < SHORTEST:
        return [fall]
    performance = performance.before_fall(BEFORE_FALL)
    sensors: Sensors = PERSON if case.person else ROBOT
    found = close_loop(rig, performance, truth, sensors)
    return [fall, *_found_figures(case, rig, found, name, what, data, sensors)]


def _found_figures(
    case: Case, rig: Rig, found: Found, name: str, what: str, data: str, sensors: Sensors
) -> list[Figure]:
    engine = float((found.engine / found.deviation).max())
    noise = f"noise {sensors.angle:g} rad, {1e3 * sensors.position:g} mm, {100 * sensors.force:g} % of the weight"
    result = [
        Figure(f"{name}: MuJoCo's plates against our dynamics, worst RMSE / deviation", data, engine, "",
               note="our wrench of MuJoCo's motion with the true inertials"),
        Figure(f"{name}: true wrench, RMSE identified / prior", data, found.exact, "", at_most(1.0), at_most(0.2),
               note=f"against noisy plates {found.used:.3f} (used), {found.unused:.3f} (unused halves); {noise}"),
        Figure(f"{name}: sum of the links' mass errors", data, 100.0 * found.mass_error(found.parameters),
               "% of body", note=f"the prior at the measured mass: {100.0 * found.mass_error(found.prior):.3g} %"),
    ]  # fmt: skip
    if what == "arm load":
        _, load, link = arm_load(rig)
        arm = arm_of(rig, link)
        error = found.mass_of(found.parameters, arm) - found.mass_of(found.truth, arm)
        result.append(
            Figure(f"{name}: error of the loaded arm's mass / load", data, abs(error) / load, "", at_most(ARM_ERROR),
                   note=f"{error:+.3f} kg of {load:.3f} kg; paper, a real person: 0.5 kg of 2.4 kg")
        )  # fmt: skip
    else:
        listed = [link for link in rig.links if link in CHANGES]
        before, after, true = (
            [p.masses[p.index(link)] for link in listed] for p in (rig.prior, found.parameters, found.truth)
        )
        share = np.dot(np.subtract(after, before), np.subtract(true, before)) / np.sum(np.subtract(true, before) ** 2)
        each = ", ".join(
            f"{n} {a:.3f} (true {t:.3f}, prior {b:.3f})" for n, a, t, b in zip(listed, after, true, before)
        )
        result.append(Figure(f"{name}: share of the changes of mass found", data, float(share), note=f"kg: {each}"))
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a must is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one posture on two feet")
    parser.add_argument("--postures", type=int, default=FULL, help="per foot configuration (15)")
    parser.add_argument("--rig", choices=[case.name for case in CASES], action="append", help="only this; repeatable")
    chosen = parser.parse_args(arguments)
    chosen_cases = [case for case in CASES if not chosen.rig or case.name in chosen.rig]
    result = proof_figures(chosen_cases, chosen.quick, chosen.postures, lambda text: print(text, file=sys.stderr))
    print(heading())
    for figure in result:
        print(row(figure))
    print(summary(result))
    return 0 if passed(result) else 1


def proof_figures(
    cases: Sequence[Case] = CASES,
    quick: bool = False,
    postures: int = FULL,
    say: Callable[[str], None] = lambda text: None,
) -> list[Figure]:
    """Every figure of the proof; not measured, and why, where MuJoCo is not installed."""
    try:
        import mujoco  # noqa: F401
    except ImportError:
        rows = [figure for case in cases for figure in _demanded(case.name, "simulated")]
        return missing(rows, "MuJoCo is not installed: pip install mujoco (the benchmarks extra)")
    configurations = QUICK_CONFIGURATIONS if quick else FOOT_CONFIGURATIONS
    with one_blas_thread():
        return [f for case in cases for f in designed_figures(case, QUICK if quick else postures, configurations, say)]


if __name__ == "__main__":
    raise SystemExit(main())
