"""Plates with one fault each, put into people's trials in software: named or not, and how far masses move.

`python -m benchmarks plate-faults` prints the table. A fault is silent if no warning and no correction names its cause
although a link's mass moves by more than `MOVED` kg; data are changed wrongly if a correction names another cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfiltfilt

from solver.base.errors import SolverError
from solver.base.threads import one_blas_thread
from solver.options.study import Settings
from solver.skeleton.rig import Rig
from solver.study.plates.finding import Action, Finding
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import StudyData, TrialRecord
from solver.values.wrenches import LEAST_LOAD, Wrenches
from solver.workflow.pipeline import identify_motions

from .figure import Figure, at_most, missing
from .mismatched import replace_forces, scale_free_moments, with_forces
from .table import FigureTable, table_parser

MOVED = 0.5
"""[kg]"""
Change = Callable[[Wrenches], Wrenches]
Records = Sequence[TrialRecord]
PEOPLE = {
    "subject_a": (
        [f"{kind}/{name}{end}" for name in ("static1", "squats1", "walking1")
         for kind, end in (("markers", ".trc"), ("forces", ".mot"))], "female", 1.75, 63.5),
    "subject_c": (
        ["subject01_static.trc", "subject01_walk1.trc", "subject01_walk1_grf.mot"], "male", None, 72.6),
}  # fmt: skip
"""Files, sex, height [m] and mass [kg] of each person."""


def add_matrix(entries: dict[tuple[int, int], float], plate: int | None = None) -> Change:
    """Add false forces in proportion to forces; centres of pressure and free moments stay."""

    def change(wrenches: Wrenches) -> Wrenches:
        force, chosen = wrenches.values[:, :, :3].copy(), slice(None) if plate is None else plate
        for (to, source), share in entries.items():
            force[:, chosen, to] += share * wrenches.values[:, chosen, source]
        return replace_forces(wrenches, force, np.nan_to_num(wrenches.centres_of_pressure()))

    return change


def add_drift(rate: Sequence[float]) -> Change:
    """Let the first plate drift by a rate (3,) [N/s] while it is loaded."""

    def change(wrenches: Wrenches) -> Wrenches:
        force = wrenches.values[:, :, :3].copy()
        seconds = (wrenches.times - wrenches.times[0]) * (force[:, 0, 2] > LEAST_LOAD)
        force[:, 0] += seconds[:, None] * np.array(rate)
        return replace_forces(wrenches, force, np.nan_to_num(wrenches.centres_of_pressure()))

    return change


def saturate(wrenches: Wrenches) -> Wrenches:
    """Clip each plate at the 85th percentile of its vertical force."""
    force = wrenches.values[:, :, :3].copy()
    force[:, :, 2] = np.minimum(force[:, :, 2], np.percentile(force[:, :, 2], 85.0, axis=0))
    return replace_forces(wrenches, force, np.nan_to_num(wrenches.centres_of_pressure()))


def hold_points(wrenches: Wrenches) -> Wrenches:
    """Keep each plate's centre of pressure at its mean."""
    points, loaded = np.nan_to_num(wrenches.centres_of_pressure()), wrenches.loaded[:, :, None]
    points = (points * loaded).sum(axis=0) / np.maximum(loaded.sum(axis=0), 1)
    return replace_forces(wrenches, wrenches.values[:, :, :3], np.tile(points, (len(wrenches), 1, 1)))


def delay(seconds: float) -> Change:
    """Give late forces the stamps of earlier ones."""

    def change(wrenches: Wrenches) -> Wrenches:
        flat = wrenches.values.reshape(len(wrenches), -1).T
        late = [np.interp(wrenches.times - seconds, wrenches.times, column) for column in flat]
        return replace(wrenches, values=np.stack(late, axis=1).reshape(wrenches.values.shape))

    return change


def smooth(wrenches: Wrenches) -> Wrenches:
    """Low-pass the forces at 3 Hz."""
    sections = butter(4, 3.0, fs=wrenches.rate, output="sos")
    return replace(wrenches, values=sosfiltfilt(sections, np.nan_to_num(wrenches.values), axis=0))


def _in_millimetres(wrenches: Wrenches) -> np.ndarray:
    """Factors (P, 6) that state the moments of the first plate in N mm."""
    return np.where((np.arange(6) >= 3) & (np.arange(len(wrenches.frames)) == 0)[:, None], 1e3, 1.0)


LEAN = np.radians(2.0)
FAULTS: dict[str, tuple[Change, bool, tuple[str, ...]]] = {
    "5 % crosstalk along x": (add_matrix({(0, 2): 0.05}), True, ("crosstalk",)),
    "2 % crosstalk along y": (add_matrix({(1, 2): 0.02}), True, ("crosstalk",)),
    "4 % crosstalk of one plate": (add_matrix({(1, 2): 0.04}, 0), True, ("crosstalk",)),
    "plates 2 degrees off level": (add_matrix({(0, 2): -LEAN, (2, 0): LEAN}), True, ("not level",)),
    "one plate reads 15 % too much": (add_matrix({(i, i): 0.15 for i in range(3)}, 0), False, ("gain",)),
    "all plates read 5 % too much": (add_matrix({(i, i): 0.05 for i in range(3)}), True, ("gain", "the plates read")),
    "fore-aft drift": (add_drift((3.0, 0.0, 0.0)), False, ("drift",)),
    "vertical drift": (add_drift((0.0, 0.0, 4.0)), False, ("drift",)),
    "lateral sign of one plate": (add_matrix({(1, 1): -2.0}, 0), True, ("reversed along y", "wrong sign")),
    "saturation": (saturate, False, ("saturated",)),
    "constant centre of pressure": (hold_points, False, ("centre of pressure",)),
    "60 ms late": (delay(0.06), False, ("the plates lag",)),
    "80 ms late": (delay(0.08), True, ("the plates lag",)),
    "0.3 s late": (delay(0.3), False, ("too late",)),
    "70 ms early": (delay(-0.07), False, ("the plates lead", "the plates lag")),
    "clock 1 % slow": (lambda w: replace(w, times=w.times[0] + 1.01 * (w.times - w.times[0])), True, ("clock",)),
    "smoothed at 3 Hz": (smooth, True, ("smoothed",)),
    "plates 4 cm aside": (lambda w: w.displaced(np.array([0.0, 0.04, 0.0])), True, ("location",)),
    "moments of one plate in N mm": (lambda w: replace(w, values=w.values * _in_millimetres(w)), True, ("in N mm",)),
    "free moment reversed": (lambda w: scale_free_moments(w, -1.0), True, ("free moment",)),
}
"""By name: the change, whether it is in every trial or only in the longest that moves, and words that name it."""


def measure_person(name: str, rig: Rig, records: Records, mass: float) -> Iterator[Figure]:
    """Faults of one person's plates."""
    clean, notes, wrong, silent = _identify(rig, records, mass), [], [], []
    assert isinstance(clean, StudyData)
    before = {finding.sentence for finding in clean.findings}
    yield Figure("plates as they are: trials accused of crosstalk, drift or location", f"real, {name}",
                 sum(each.done is Action.UNDONE and "offset" not in each.text and "free moment" not in each.text
                     for each in clean.findings), "", at_most(0))  # fmt: skip
    forces = [record for record in records if record.recording.wrenches is not None]
    target = max(forces, key=lambda record: _count_frames(record) * ("static" not in record.name))
    for fault, (change, everywhere, words) in FAULTS.items():
        changed = [r if not everywhere and r is not target else with_forces(change)([r])[0] for r in records]
        found = _identify(rig, changed, mass)
        if isinstance(found, str):
            silent += [] if any(word in found for word in words) else [f"{fault}: refused as {found[:80]}"]
            continue
        new = [each for each in found.findings if each.sentence not in before and each.done is not Action.NOTHING]
        said = " ".join([*found.warnings, *(each.sentence for each in new)])
        moved = np.abs(found.identification.parameters.masses - clean.identification.parameters.masses).max()
        if not any(word in said for word in words) and moved > MOVED:
            silent.append(f"{fault} ({moved:.1f} kg)")
        wrong += [f"{fault}: {each.text[:60]}" for each in new if _is_wrong(each, words, clean)]
        notes.append(f"{fault} {moved:.1f} kg")
    data = f"real, {name}, {len(FAULTS)} faults put in"
    yield Figure(f"plate faults: silent with more than {MOVED:g} kg", data, len(silent), "", at_most(0),
                 note="; ".join(silent or notes))  # fmt: skip
    yield Figure("  data changed for a wrong cause", data, len(wrong), "", at_most(0), note="; ".join(wrong))


def _count_frames(record: TrialRecord) -> int:
    return 0 if record.poses is None else len(record.poses.times)


def _is_wrong(finding: Finding, words: Sequence[str], clean: StudyData) -> bool:
    """Whether forces were changed for another cause than the fault, or than one of the files as they are."""
    own = {each.text.split(":")[0] for each in clean.findings}
    named = any(word in finding.text for word in words)
    return finding.done is Action.UNDONE and not named and finding.text.split(":")[0] not in own


def _identify(rig: Rig, records: Records, mass: float) -> StudyData | str:
    try:
        return identify_motions(rig, records, stated_mass=mass, settings=Settings(no_cross_validation=True))
    except SolverError as error:
        return str(error)


def measure_people(data: Path) -> Iterator[Figure]:
    """The rows of each person."""
    for name, (files, sex, height, mass) in PEOPLE.items():
        paths = [data / name / file for file in files]
        if not all(path.exists() for path in paths):
            yield from missing([Figure("plate faults", f"real, {name}", None)], f"no data in {data}")
            continue
        recordings = [recording for recording in load(paths) if recording.markers is not None]
        person = calibrate(recordings, sex=sex, height=height, mass=mass)
        yield from measure_person(name, person.rig, track_all(person, recordings), mass)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("plate-faults", __doc__, data=True)
    options = parser.parse_args(list(arguments))
    table = FigureTable(["plate-faults", *arguments], options.output)
    with one_blas_thread():
        table.measure(lambda: measure_people(options.data))
    return table.close()
