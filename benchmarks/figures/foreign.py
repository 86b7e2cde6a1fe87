"""Forces that come late or early, belong to another trial, run backwards or are frozen: detected or not, by trial.

`python -m benchmarks exchanged-forces` prints the table. Every trial is modified and checked by itself, so
that no other trial can explain its forces. Quiet standing has no clock and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from solver.base.errors import SolverError
from solver.base.threads import one_blas_thread
from solver.formats.npz import write_recording_npz
from solver.identification.accumulate import NO_COUNTED_FRAME
from solver.input_checks import check_recording
from solver.options.plates import FROZEN, MISMATCH
from solver.signals import shift_wrenches
from solver.skeleton.rig import Rig
from solver.study.plates.finding import Action, Finding
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.values import TrialRecord
from solver.values.wrenches import Wrenches

from .figure import Figure, at_least, at_most, missing
from .mismatched import freeze_forces, scale_horizontal_forces
from .runs import OTHERS, RUNS, track_runs
from .subject import STATIC, SUBJECT
from .table import FigureTable, table_parser

SECONDS = (0.3, 0.5, 1.0, 2.0)
"""Shifts of late and early forces, with shifted time stamps (samples beyond them are missing) and with the original
ones."""
WHAT = "forces late, early, exchanged, reversed, frozen: share detected"
Bodies = Mapping[str, tuple[Rig, Sequence[TrialRecord]]]


def freeze(wrenches: Wrenches, seconds: float) -> Wrenches:
    """Forces so late on the stamps as they were, the first (or last) sample repeated."""
    steps = round(abs(seconds) * wrenches.rate)
    source = np.arange(len(wrenches)) - (steps if seconds > 0.0 else -steps)
    return replace(wrenches, values=wrenches.values[np.clip(source, 0, len(wrenches) - 1)])


def modify_forces(own: Wrenches, others: Mapping[str, Wrenches]) -> dict[str, Wrenches]:
    """Modify forces in every way, by name."""
    cases = {f"{n}'s": replace(w, times=w.times - w.times[0] + own.times[0]) for n, w in others.items()}
    for seconds in (sign * second for second in SECONDS for sign in (1.0, -1.0)):
        cases[f"{seconds:+g} s"] = shift_wrenches(own, -seconds)
        if abs(seconds) < own.times[-1] - own.times[0]:
            cases[f"{seconds:+g} s, original stamps"] = freeze(own, seconds)
    cases["level reversed"] = scale_horizontal_forces(-1.0, -1.0)(own)
    cases["backwards"] = replace(own, values=own.values[::-1])
    cases["frozen"] = freeze_forces(own)
    return cases


def check_trials(rig: Rig, records: Sequence[TrialRecord]) -> dict[tuple[str, str], list[Finding] | str]:
    """Warnings about each trial by itself, or its refusal, unmodified (case "") and modified, by trial and case.

    Each case is written to a file and read, checked and prepared as `identify` does it, for a body of known mass.
    """
    weighed = prepare(rig, records).mass
    mass = rig.prior.total_mass if weighed is None else weighed.mass
    own = {r.name: r for r in records if r.recording.wrenches is not None and r.poses is not None and r.name != STATIC}
    forces = {name: record.recording.wrenches for name, record in own.items() if record.recording.wrenches is not None}
    found: dict[tuple[str, str], list[Finding] | str] = {}
    with TemporaryDirectory() as folder:
        for name, record in own.items():
            others = {other: wrenches for other, wrenches in forces.items() if other != name}
            path = Path(folder) / f"{name}.npz"
            for case, wrenches in {"": forces[name], **modify_forces(forces[name], others)}.items():
                write_recording_npz(path, replace(record.recording, wrenches=wrenches))
                try:
                    (recording,) = load(path)
                    checked = replace(record, recording=check_recording(recording, rig))
                    study = prepare(rig, [checked], stated_mass=mass)
                    found[name, case] = (
                        [finding for finding in study.findings if not finding.done.is_silent]
                        if any(trial.counted.any() for trial in study.trials)
                        else NO_COUNTED_FRAME
                    )
                except SolverError as error:
                    found[name, case] = str(error)
    return found


def is_detected(case: str, said: Sequence[Finding] | str, usual: Sequence[Finding] | str) -> bool:
    """Whether a modified trial is refused, or warned of as the unmodified one is not, without a correction of another
    cause."""
    if isinstance(said, str) or isinstance(usual, str):
        return isinstance(said, str)
    known = {(finding.kind, finding.done) for finding in usual}
    new = [finding for finding in said if (finding.kind, finding.done) not in known]
    return bool(new) and all(
        finding.done is not Action.UNDONE or ("reversed" in case and "sign" in finding.text) for finding in new
    )


def foreign_figures(bodies: Bodies) -> list[Figure]:
    """Share of modified trials that are detected, and unmodified trials whose forces are reported as wrong."""
    every = {(name, *key): said for name, body in bodies.items() for key, said in check_trials(*body).items()}
    wrong = [key for key in every if key[-1]]
    missed = [key for key in wrong if not is_detected(key[-1], every[key], every[*key[:-1], ""])]
    accused = [
        f"{key[1]}: {text}" for key, said in every.items() if not key[-1]
        for text in ([said] if isinstance(said, str) else [f.text for f in said if f.kind in (MISMATCH, FROZEN)])
    ]  # fmt: skip
    data = f"real, {', '.join(bodies)}"
    listed = ", ".join(f"{key[1]} with {key[2]}" for key in missed) or "none"
    return [
        Figure(WHAT, f"{data}, modified in software", 1.0 - len(missed) / max(len(wrong), 1), "", at_least(0.95),
               at_least(1.0), f"of {len(wrong)}; not detected: {listed}"),
        Figure("  the same trials unmodified: forces reported as wrong", data, len(accused), "", at_most(0), None,
               f"of {len(every) - len(wrong)}; {'; '.join(accused)}"),
    ]  # fmt: skip


def measure_laboratories(data: Path) -> Iterator[Figure]:
    """The rows of each person by itself."""
    for name, files in {SUBJECT: (SUBJECT,), **RUNS, **OTHERS}.items():
        paths = tuple(data / file for file in files)
        if all(path.exists() for path in paths):
            yield from foreign_figures({name: track_runs(paths)})
        else:
            yield from missing([Figure(WHAT, f"real, {name}", None, "", at_least(0.95))], f"no data in {data}")


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("exchanged-forces", __doc__, data=True)
    options = parser.parse_args(list(arguments))
    table = FigureTable(["exchanged-forces", *arguments], options.output)
    with one_blas_thread():
        table.measure(lambda: measure_laboratories(options.data))
    return table.close()
