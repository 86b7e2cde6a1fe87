"""Real recordings as dances: what fails as they were tracked, whose doing that is, and what a repair makes of them.

The rival is what people do with a recording that trembles: filter it more strongly, here at 3 Hz, and check it in the
same way. Trials are those of one person on two flat soles; from the chair of one of them nothing was measured.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from solver.dance.authoring.repair import Repair
from solver.dance.workflows.answer import Answer
from solver.dance.workflows.check import Verdict, check
from solver.dance.workflows.repair import far, repair
from solver.filter_presets import FilterPreset
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION, MotionRecord, motion_record
from solver.scene.study_folder import MOTION_END
from solver.signals import filter_wrenches, preset_of, smooth_motion
from solver.study.following import track_all
from solver.study.preparation import prepare
from solver.study.recordings import load
from solver.study.subject import calibrate_subject

from .figure import Bound, Figure, at_most
from .subject import PRESET, SEX, STATIC, SUBJECT

TRIALS = ("squats1", "STS1")
"""Squats, and from a chair to one's feet and back."""
STRONGLY = FilterPreset("3 Hz", 3, 3.0)
JOINTS = {"squats1": (None, at_most(12.0))}
SECONDS = {"squats1": (None, at_most(27.0))}
"""Must and aim [deg], [s of one core] of a repair: what an earlier one reached on a recording, and is to be kept."""
NOTHING: tuple[Bound | None, Bound | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Danced:
    """A recording as a dance.

    Attributes:
        record: as tracked.
        before: its verdict.
        filtered: that of the recording filtered more strongly.
        answer: the repair's.
        after: verdict on what was repaired.
        seconds: [s of one core] that the repair took.
    """

    record: MotionRecord
    before: Verdict
    filtered: Verdict
    answer: Answer
    after: Verdict
    seconds: float


def figures(data: Path, trials: tuple[str, ...] = TRIALS) -> Iterator[list[Figure]]:
    """Rows of every trial, as they are found."""
    if not (data / SUBJECT).is_dir():
        for name in trials:
            none = Figure(WHAT["before"], _data(name), None, "%", note=f"no recordings in {data / SUBJECT}")
            yield [none]
        return
    records = records_of(data, trials)
    for name in trials:
        yield rows(danced(records[name]))


WHAT: Mapping[str, str] = {
    "before": "a recording as a dance: frames that fail as tracked",
    "filtered": f"  filtered at {STRONGLY.cutoff:g} Hz instead",
    "after": "  repaired",
    "joints": "  largest turn of a joint",
    "seconds": "  processor time of the repair",
}
"""Words of the rows."""


def records_of(data: Path, trials: tuple[str, ...]) -> dict[str, MotionRecord]:
    """Trials of the person, tracked with a body calibrated on standing alone, with their forces."""
    recordings = [r for r in load([data / SUBJECT]) if r.name in (STATIC, *trials)]
    calibration = calibrate_subject(recordings, sex=SEX, static=(STATIC,))
    prepared = prepare(calibration.rig, track_all(calibration, recordings), preset_of(PRESET))
    return {
        found.name: motion_record(found.name, prepared.rig, found.motion).with_trial(found.trial)
        for found in prepared.records
        if found.motion is not None
    }


def filtered(record: MotionRecord, preset: FilterPreset = STRONGLY) -> MotionRecord:
    """A recording filtered once more, its forces with it."""
    motion = smooth_motion(record.rig, record.motion.times, record.motion.q, preset)
    wrenches = None if record.wrenches is None else filter_wrenches(record.wrenches, preset)
    return replace(record, motion=motion, drawn=scene_motion(record.rig, motion), wrenches=wrenches)


def danced(record: MotionRecord) -> Danced:
    """Check, filter and check, repair and check."""
    before, after_filter = check(record), check(filtered(record))
    with tempfile.TemporaryDirectory() as folder:
        path = MOTION.write(Path(folder) / f"{record.name}{MOTION_END}", record)
        began = time.process_time()
        answer = repair(path)
        seconds = time.process_time() - began
    return Danced(record, before, after_filter, answer, check(answer.keyed), seconds)


def rows(found: Danced) -> list[Figure]:
    """Of one recording."""
    data, moved = _data(found.record.name), found.answer.details
    assert isinstance(moved, Repair)
    joints = moved.moved.largest[2:]
    worst = int(np.argmax(joints))
    still = "feasible" if found.after.feasible else f"NOT FEASIBLE: {found.after.message}"
    length = found.record.motion.times[-1] - found.record.motion.times[0]
    return [
        Figure(WHAT["before"], data, _failing(found.before), "%", note=f"{length:.1f} s; {_whose(found.before)}"),
        Figure(WHAT["filtered"], data, _failing(found.filtered), "%", note=_whose(found.filtered)),
        Figure(WHAT["after"], data, _failing(found.after), "%", None, at_most(0.0),
               note=f"{still}; {moved.iterations} programmes; moved at most {far(found.record.rig, moved.moved)}"),
        Figure(WHAT["joints"], data, float(np.degrees(joints[worst])), "deg", *JOINTS.get(found.record.name, NOTHING),
               note=f"{moved.moved.names[2 + worst]}; 12 degrees and 27 s were another build's"),
        Figure(WHAT["seconds"], data, found.seconds, "s", *SECONDS.get(found.record.name, NOTHING)),
    ]  # fmt: skip


def _failing(verdict: Verdict) -> float:
    """[%] of the frames."""
    return 100.0 * float(verdict.checks.failed.mean())


def _whose(verdict: Verdict) -> str:
    """Whose doing the failures are, with their share of all frames."""
    if verdict.feasible:
        return "every check holds"
    shares = {m.name: 100.0 * float(m.failed.mean()) for m in verdict.checks.margins}
    return "; ".join(f"{shares[doing.check.name]:.0f} % of the frames, {doing}" for doing in verdict.doings)


def _data(name: str) -> str:
    return f"real, {SUBJECT} {name}"
