"""Recordings that may not decide the masses: `python -m benchmarks weak-recordings`.

Simulated people of `posture_skin`, who hardly move, or whose plates are not level: the centre of mass of links on the
midline must not move sideways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from solver.identification.identify import IdentifyOptions, identify_trials
from solver.inertials import FIRST_MOMENT, MASS
from solver.rig import Rig
from solver.so3 import exp
from solver.threads import one_blas_thread
from solver.trial import Trial

from .coverage import Case, compute_coverage, simulate_study
from .figure import Figure, at_most
from .posture_skin import KINDS, dance, draw_person
from .table import FigureTable, table_parser

PEOPLE = 5
STILL = 0.04
"""Amplitudes of people who hardly move over those of a dance."""
TILT = np.radians(1.2)
"""Angle of the plates, about the forward axis."""
MIDLINE = ("pelvis", "torso", "head")


def move_little(rig: Rig, times: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A dance with `STILL` of its amplitudes."""
    return STILL * dance(rig, times, generator)


def measure_stillness() -> Iterator[Figure]:
    """People who hardly move."""
    ratios = []
    for seed in range(PEOPLE):
        case = _simulate(seed, "hardly moving")
        found = compute_coverage(case, identify_trials(case.rig, case.trials, _options(case)))
        ratios.append(float(found.error[0] / found.prior[0]))
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    what = "RMS error of link masses, identified / tables"
    data = f"simulated, {PEOPLE} people, {100.0 * STILL:g} % of a dance's amplitudes"
    yield Figure(what, data, float(np.mean(ratios)), "", at_most(1.1), at_most(1.0), f"by person {listed}")


def measure_tilt() -> Iterator[Figure]:
    """People on plates that are not level."""
    farthest = dict.fromkeys(MIDLINE, 0.0)
    for seed in range(PEOPLE):
        for kind in ("dance", "squats with raises"):
            case = _simulate(seed, kind)
            tilted = [_tilt_plates(trial) for trial in case.trials]
            values = identify_trials(case.rig, tilted, _options(case)).parameters
            for link in MIDLINE:
                row = values.values[values.links.index(link)]
                lateral = 1e3 * abs(row[FIRST_MOMENT][1] / row[MASS])
                farthest[link] = max(farthest[link], float(lateral))
    data = f"simulated, {2 * PEOPLE} recordings, plates tilted by {np.degrees(TILT):.1f} degrees"
    for link, distance in farthest.items():
        yield Figure(f"farthest centre of mass from the midline: {link}", data, distance, "mm")


def _simulate(seed: int, kind: str) -> Case:
    steps = {**KINDS, "hardly moving": move_little}[kind]
    return simulate_study(draw_person(seed, kind, 1.0, steps), np.random.default_rng((seed, 98)))


def _options(case: Case) -> IdentifyOptions:
    return IdentifyOptions(total_mass=case.truth.total_mass, cross_validate=False, jobs=1)


def _tilt_plates(trial: Trial) -> Trial:
    """The forces and moments about the origin as plates give them that are turned about the x axis."""
    turn = exp(TILT * np.eye(3)[0])
    wrenches = trial.wrenches
    values = np.concatenate([wrenches.values[..., :3] @ turn.T, wrenches.values[..., 3:] @ turn.T], axis=-1)
    return replace(trial, wrenches=replace(wrenches, values=values))


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("weak-recordings", __doc__)
    options = parser.parse_args(list(arguments))
    table = FigureTable(["weak-recordings", *arguments], options.output)
    with one_blas_thread():
        for part in (measure_stillness, measure_tilt):
            table.measure(part)
    return table.close()
