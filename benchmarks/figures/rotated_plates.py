"""Plates rotated about the vertical in software, detected or not; false alarms on trials with other faults.

`python -m benchmarks rotated-plates` prints the table. A plate is turned in one trial that is looked at alone,
or in every trial of the person, as a laboratory would have it. The other faults are markers of another rate, a tilted
frame, and delays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from solver.base.errors import InvalidValue
from solver.base.so3 import exp, to_matrix, to_quaternion
from solver.base.threads import one_blas_thread
from solver.options.plates import MISMATCH, PlateOptions
from solver.signals import preset_of, resample, smooth_motion
from solver.skeleton.rig import GRAVITY, Rig
from solver.study.plates.checks import check_recordings
from solver.study.plates.trial_wrenches import LOADED_FRACTION
from solver.study.preparation import FilteredTrial
from solver.study.prepare import prepare
from solver.study.values import TrialRecord
from solver.values.wrenches import Wrenches

from .figure import Figure, at_most, missing
from .runs import OTHERS, RUNS, track_runs
from .subject import PRESET, SUBJECT
from .table import FigureTable, table_parser

FOREIGN = {
    "plates_tilted": tuple(f"foreign/plates_tilted_gait{name}.c3d" for name in ("fast_1", "normal_1", "normal_2")),
    "flywheel_standing": ("foreign/flywheel_standing.c3d",),
}
FALSE_ALARMS = ("trials as they are", "trials with another rate, tilted or late")
ROTATED = tuple(
    f"{plates}, {trials}" for plates in ("all plates", "one plate") for trials in ("one trial", "every trial")
)
QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])
WORDS = {1: ("90 degrees clockwise",), 2: ("rotated by 180 degrees", "both signs"), 3: ("90 degrees counterclockwise",)}
"""By the number of quarters, counterclockwise, by which plates were turned: what puts them right."""
AXES = ("level axes", "reversed", "columns of the two", "mirrored", "half a turn")
RATES, TILTS, DELAYS = (0.5, 0.6, 0.8333, 1.2, 1.6667, 2.0), (-10.0, -5.0, -2.0, 2.0, 5.0, 10.0), (-0.08, 0.08)
"""Factors of the markers' time; [degrees] about either level axis; [s]."""


def rotate_plates(wrenches: Wrenches, plates: Sequence[str], quarters: int) -> Wrenches:
    """Forces and centres of pressure of these plates turned about each plate's middle, counterclockwise."""
    turn, values = np.linalg.matrix_power(QUARTER, quarters), wrenches.values.copy()
    carries = values[:, :, 2] > LOADED_FRACTION * float(np.nanmax(wrenches.total[:, 2]))
    points, couples = wrenches.centres_of_pressure(carries), wrenches.free_moments
    for name in plates:
        k = wrenches.frames.index(name)
        values[:, k, :2] = values[:, k, :2] @ turn.T
        if not np.isfinite(points[:, k]).all(axis=1).any():
            continue
        middle = np.nanmedian(points[:, k, :2], axis=0)
        place = np.column_stack([middle + (points[:, k, :2] - middle) @ turn.T, np.zeros(len(wrenches))])
        values[:, k, 3:] = np.cross(np.nan_to_num(place), values[:, k, :3])
        values[:, k, 5] += np.nan_to_num(couples[:, k])
        values[~carries[:, k], k] = 0.0
    return replace(wrenches, values=values)


def modify_markers(record: TrialRecord) -> Iterator[TrialRecord]:
    """The trial with each fault that has nothing to do with its plates."""
    poses = record.poses
    assert poses is not None
    start = poses.times[0]
    for factor in RATES:
        yield _move_markers(record, start + factor * (poses.times - start), poses.q)
    for tilt in np.radians(TILTS):
        for axis in np.eye(3)[:2]:
            turn, q, middle = exp(tilt * axis), poses.q.copy(), poses.q[:, :3].mean(axis=0) * [1.0, 1.0, 0.0]
            q[:, :3] = (q[:, :3] - middle) @ turn.T + middle
            q[:, 3:7] = to_quaternion(turn @ to_matrix(q[:, 3:7]))
            yield _move_markers(record, poses.times, q)
    for delay in DELAYS:
        yield _move_markers(record, poses.times + delay, poses.q)


def _move_markers(record: TrialRecord, times: np.ndarray, q: np.ndarray) -> TrialRecord:
    poses = record.poses
    assert poses is not None
    return replace(record, tracked=None, given=replace(poses, times=times, q=q))


def find_sync_errors(rig: Rig, records: Sequence[TrialRecord], mass: float) -> dict[str, str]:
    """Findings on whether forces belong to their motion, by trial."""
    preset, seen = preset_of(PRESET), []
    for record in records:
        wrenches, poses = record.recording.wrenches, record.poses
        if wrenches is not None and poses is not None:
            motion = smooth_motion(rig, poses.times, poses.q, preset)
            filtered = resample(wrenches, motion.times, preset)
            usable = np.ones(len(motion), bool)
            seen.append(FilteredTrial(record, motion, motion, usable, filtered, recorded_wrenches=wrenches))
    try:
        found = check_recordings(rig, seen, preset, mass, PlateOptions())[1]
    except InvalidValue as error:  # every trial is left out: the error lists what is said of each
        return dict.fromkeys((trial.name for trial in seen), str(error))
    return {name: finding.text for finding in found if finding.kind == MISMATCH for name in finding.trials}


def table(rig: Rig, records: Sequence[TrialRecord]) -> Counter[str]:
    """How many of each kind there are ("of ..."), and how many are found by their cause or accused of turned plates."""
    estimate = prepare(rig, records).mass
    assert estimate is not None
    mass, count = estimate.mass, Counter[str]()
    forces = {r.name: r.recording.wrenches for r in records if r.recording.wrenches is not None and r.poses is not None}

    def enter(kind: str, right: bool) -> None:
        count[f"of {kind}"] += 1
        count[kind] += right

    as_it_is = find_sync_errors(rig, records, mass)
    by_name = {record.name: record for record in records if record.name in forces}
    for name, record in by_name.items():
        enter(FALSE_ALARMS[0], any(word in as_it_is.get(name, "") for word in AXES))
        for changed in modify_markers(record):
            messages = find_sync_errors(rig, [changed], mass).get(name, "")
            enter(FALSE_ALARMS[1], any(word in messages for word in AXES))
    for quarters, words in WORDS.items():
        turned: dict[tuple[str, ...], dict[str, TrialRecord]] = {}
        for name, record in by_name.items():
            for plates in _plates(forces[name], mass):
                recording = replace(record.recording, wrenches=rotate_plates(forces[name], plates, quarters))
                turned.setdefault(plates, {})[name] = replace(record, recording=recording)
        for plates, trials in turned.items():
            everywhere = find_sync_errors(rig, [trials.get(record.name, record) for record in records], mass)
            for name, changed in trials.items():
                alone = find_sync_errors(rig, [changed], mass)
                every = plates == _plates(forces[name], mass)[-1]
                which = ("axes of the plates", "both signs") if every else (f"plate {plates[0]} ",)
                for where, texts in (("one trial", alone), ("every trial", everywhere)):
                    text = texts.get(name, "")
                    right = any(word in text for word in words) and any(word in text for word in which)
                    enter(f"{'all plates' if every else 'one plate'}, {where}", right)
    return count


def _plates(wrenches: Wrenches, mass: float) -> list[tuple[str, ...]]:
    """Each plate that carries the body, where others do too, and last all of them."""
    loaded = np.nanmax(wrenches.values[:, :, 2], axis=0) > LOADED_FRACTION * mass * GRAVITY
    names = tuple(name for name, own in zip(wrenches.frames, loaded) if own)
    return [*((name,) for name in names if len(names) > 1), names]


def measure_rotations(data: Path) -> Iterator[Figure]:
    """All people's trials together."""
    total: Counter[str] = Counter()
    for name, files in {SUBJECT: (SUBJECT,), **RUNS, **OTHERS, **FOREIGN}.items():
        paths = tuple(data / file for file in files)
        if not all(path.exists() for path in paths):
            yield from missing([Figure("plates rotated in software", f"real, {name}", None)], f"no data in {data}")
            continue
        total.update(table(*track_runs(paths)))
    where = "real, all of them"
    for kind, must in zip(FALSE_ALARMS, (at_most(0), None), strict=True):
        what, note = f"reported as rotated or mirrored: {kind}", f"of {total[f'of {kind}']}"
        yield Figure(what, where, total[kind], "", must, note=note)
    for kind in ROTATED:
        if whole := total[f"of {kind}"]:
            what = f"plates rotated in software, reported with their cause: {kind}"
            yield Figure(what, where, total[kind] / whole, note=f"of {whole}")


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("rotated-plates", __doc__, data=True)
    options = parser.parse_args(list(arguments))
    shown = FigureTable(["rotated-plates", *arguments], options.output)
    with one_blas_thread():
        shown.measure(lambda: measure_rotations(options.data))
    return shown.close()
