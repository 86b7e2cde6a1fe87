"""Figures of the whole loop: bodies that differ from the identification's prior, played, sensed and identified.

Needs MuJoCo.
"""

from __future__ import annotations

from benchmarks.figures.figure import Figure, at_most, missing
from solver.base.errors import SolverError
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters

from .bodies import arm_load, change_inertials, find_arm_links
from .cases import FULL, Case, dance_for
from .loop import PERSON, ROBOT, LoopResult, Sensors, close_loop
from .measure import measure
from .performance import Performance, Plan, plan
from .simulate import play

PLAN_RATE = 250.0
"""[1/s] at which a dance is handed to the controller."""
BEFORE_FALL, SHORTEST = 1.0, 5.0
"""[s] left out before a fall; a shorter performance is not identified from."""
ARM_ERROR = 0.5 / 2.4
"""The paper's own error of the arm's load, as a share of the load."""


def changed_figures(case: Case, rig: Rig, intended: Plan, data: str) -> list[Figure]:
    """Link masses that differ from those of controller and identification."""
    truth = change_inertials(rig)
    played = play(rig, intended, truth=truth)
    return _loop_figures(case, rig, rig, intended, played, truth, "other masses", data)


def load_figures(case: Case, rig: Rig, workers: int) -> list[Figure]:
    """A load that designer and controller know and the identification does not."""
    truth, _, _ = arm_load(rig)
    loaded = rig.with_prior(truth)
    what = f"{case.name}, arm load"
    try:
        own = dance_for(case, loaded, FULL, workers)
    except SolverError as error:
        rows = [Figure(f"{what}: falls", "simulated", None)]
        return missing(rows, f"no dance for the loaded body: {error}")
    intended = plan(loaded, own.sample(loaded, PLAN_RATE), own.schedule)
    data = f"simulated, {own.duration:.0f} s, {len(own.postures)} postures"
    return _loop_figures(case, rig, loaded, intended, play(loaded, intended), truth, "arm load", data)


def _loop_figures(
    case: Case, rig: Rig, control_rig: Rig, intended: Plan, performance: Performance, truth: InertialParameters,
        what: str,
    data: str,
) -> list[Figure]:  # fmt: skip
    """What the loop finds: `control_rig` is the rig as the controller has it, `rig` as the identification has it."""
    shown = measure(control_rig, intended, performance)
    name = f"{case.name}, {what}"
    seconds = intended.schedule.stop - intended.schedule.start
    note = (
        f"slip {1e3 * shown.slip:.2g} mm; a joint at its torque limit at most {100 * shown.saturated:.2g} % of the time"
    )
    if shown.fell is not None:
        note += f"; fell after {shown.fell:.0f} of {seconds:.0f} s"
    must = at_most(0.0) if control_rig is not rig else None  # a controller with the true inertials must not fall
    fall = Figure(f"{name}: falls", data, float(shown.fell is not None), "", must, note=note)
    if shown.fell is not None and shown.fell < SHORTEST:
        return [fall]
    performance = performance.before_fall(BEFORE_FALL)
    sensors: Sensors = PERSON if case.person else ROBOT
    found = close_loop(rig, performance, truth, sensors)
    return [fall, *_found_figures(case, rig, found, name, what, data, sensors)]


def _found_figures(
    case: Case, rig: Rig, found: LoopResult, name: str, what: str, data: str, sensors: Sensors
) -> list[Figure]:
    noise = f"noise {sensors.angle:g} rad, {1e3 * sensors.position:g} mm, {100 * sensors.force:g} % of the weight"
    result = [
        Figure(f"{name}: true wrench, RMSE identified / prior", data, found.exact, "", at_most(1.0), at_most(0.2),
               note=f"against noisy plates {found.used:.3f} (used), {found.unused:.3f} (unused halves); {noise}"),
    ]  # fmt: skip
    if what == "arm load":
        _, load, link = arm_load(rig)
        arm = find_arm_links(rig, link)
        error = found.mass_of(found.parameters, arm) - found.mass_of(found.truth, arm)
        result.append(
            Figure(f"{name}: error of the loaded arm's mass / load", data, abs(error) / load, "", at_most(ARM_ERROR),
                   note=f"{error:+.3f} kg of {load:.3f} kg; paper, a real person: 0.5 kg of 2.4 kg")
        )  # fmt: skip
    return result
