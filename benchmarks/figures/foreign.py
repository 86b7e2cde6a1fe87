"""Forces that come late or early, belong to another trial, run backwards or are frozen: detected or not, by trial.

`python -m benchmarks exchanged-forces` prints the table. Every trial is modified and checked by itself, so
that no other trial can explain its forces. Quiet standing has no clock and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from solver.base.errors import InvalidValue
from solver.base.threads import one_blas_thread
from solver.options.plates import PlateOptions
from solver.signals import preset_of, resample, shift_wrenches, smooth_motion
from solver.skeleton.rig import Rig
from solver.study.plates.checks import check_recordings
from solver.study.plates.finding import format_warnings
from solver.study.preparation import FilteredTrial
from solver.study.rough_mass import compute_mass_readings
from solver.study.values import TrialRecord
from solver.values.wrenches import Wrenches

from .figure import Figure, at_least, at_most, missing
from .mismatched import freeze_forces, scale_horizontal_forces
from .runs import OTHERS, RUNS, track_runs
from .subject import PRESET, STATIC, SUBJECT
from .table import FigureTable, table_parser

SECONDS = (0.3, 0.5, 1.0, 2.0)
"""Shifts of late and early forces, with shifted time stamps (samples beyond them are missing) and with the original
ones."""
WHAT = "forces late, early, exchanged, reversed, frozen: share detected"
MUST = 0.95
"""Share of modified trials."""
Bodies = Mapping[str, tuple[Rig, Sequence[TrialRecord]]]


def freeze(wrenches: Wrenches, seconds: float) -> Wrenches | None:
    """Forces so late on the stamps as they were, the first (or last) sample repeated; None of a shorter trial."""
    steps = round(abs(seconds) * wrenches.rate)
    if steps + 1 >= len(wrenches):
        return None
    source = np.arange(len(wrenches)) - (steps if seconds > 0.0 else -steps)
    return replace(wrenches, values=wrenches.values[np.clip(source, 0, len(wrenches) - 1)])


def restamp(stamps: Wrenches, other: Wrenches) -> Wrenches:
    """Another trial's forces, from this trial's first stamp on."""
    return replace(other, times=other.times - other.times[0] + stamps.times[0])


def modify_forces(own: Wrenches, others: Mapping[str, Wrenches]) -> dict[str, Wrenches]:
    """Modify forces in every way, by name."""
    cases = {f"{name}'s": restamp(own, other) for name, other in others.items()}
    for seconds in (sign * second for second in SECONDS for sign in (1.0, -1.0)):
        cases[f"{seconds:+g} s"] = shift_wrenches(own, -seconds)
        if (same := freeze(own, seconds)) is not None:
            cases[f"{seconds:+g} s, original stamps"] = same
    cases["level reversed"] = scale_horizontal_forces(-1.0, -1.0)(own)
    cases["backwards"] = replace(own, values=own.values[::-1])
    cases["frozen"] = freeze_forces(own)
    return cases


def check_trials(rig: Rig, records: Sequence[TrialRecord]) -> dict[tuple[str, str], str]:
    """Warnings about each trial, unmodified (case "") and modified, by trial and case."""
    preset, seen, readable = preset_of(PRESET), [], []
    for record in records:
        native, poses = record.recording.wrenches, record.poses
        if native is None or poses is None or record.name == STATIC:
            continue
        motion = smooth_motion(rig, poses.times, poses.q, preset)
        usable = np.ones(len(motion), bool)
        filtered = resample(native, motion.times, preset)
        readable.append((record.name, motion, filtered))
        seen.append(FilteredTrial(record, motion, motion, usable, filtered, recorded_wrenches=native))
    mass = compute_mass_readings(rig, readable)[0].mass
    forces = {record.name: record.recording.wrenches for record in records if record.recording.wrenches is not None}
    found = {}
    for trial in seen:
        others = {name: other for name, other in forces.items() if name != trial.name}
        for case, native in {"": forces[trial.name], **modify_forces(forces[trial.name], others)}.items():
            try:
                changed = replace(
                    trial, recorded_wrenches=native, wrenches=resample(native, trial.motion.times, preset)
                )
                findings = check_recordings(rig, [changed], preset, mass, PlateOptions())[1]
                found[trial.name, case] = "; ".join(format_warnings(findings))
            except InvalidValue as error:
                found[trial.name, case] = str(error)
    return found


def foreign_figures(bodies: Bodies) -> list[Figure]:
    """Share of modified trials that are detected, and unmodified trials with a warning."""
    every = {(name, *key): said for name, body in bodies.items() for key, said in check_trials(*body).items()}
    wrong = {key: said for key, said in every.items() if key[-1]}
    missed = ", ".join(f"{key[1]} with {key[2]}" for key, said in wrong.items() if not said)
    alarms = {key: said for key, said in every.items() if not key[-1] and said}
    data = f"real, {', '.join(bodies)}"
    share = sum(map(bool, wrong.values())) / max(len(wrong), 1)
    return [
        Figure(WHAT, f"{data}, modified in software", share, "", at_least(MUST), at_least(1.0),
               f"of {len(wrong)}; not detected: {missed or 'none'}"),
        Figure("  the same trials unmodified: warnings", data, len(alarms), "", at_most(0), None,
               f"of {len(every) - len(wrong)}; {'; '.join(alarms.values())}"),
    ]  # fmt: skip


def measure_laboratories(data: Path) -> Iterator[Figure]:
    """The rows of each person by itself."""
    for name, files in {SUBJECT: (SUBJECT,), **RUNS, **OTHERS}.items():
        paths = tuple(data / file for file in files)
        if all(path.exists() for path in paths):
            yield from foreign_figures({name: track_runs(paths)})
        else:
            yield from missing([Figure(WHAT, f"real, {name}", None, "", at_least(MUST))], f"no data in {data}")


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("exchanged-forces", __doc__, data=True)
    options = parser.parse_args(list(arguments))
    table = FigureTable(["exchanged-forces", *arguments], options.output)
    with one_blas_thread():
        table.measure(lambda: measure_laboratories(options.data))
    return table.close()
