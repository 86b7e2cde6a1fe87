"""Real recordings as dances: what fails as they were tracked, to what the failures are attributed, and the result of
a repair.

Trials are those of people on two flat soles; from the chair of one of them nothing was measured.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.base.errors import SolverError
from solver.dance.authoring.repair import RepairedDance
from solver.dance.workflows.check import CheckResult, check
from solver.dance.workflows.edited_dance import EditedDance
from solver.dance.workflows.repair import describe_moves, repair
from solver.scene.motion_record import MOTION, MotionRecord, motion_record
from solver.scene.study_folder import MOTION_END
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.workflow.pipeline import track

from .figure import Figure, at_most
from .subject import SEX, STATIC, SUBJECT


@dataclass(frozen=True, slots=True)
class Source:
    """A recording and its source.

    Attributes:
        name: of the row.
        files: in the folder of the data.
        static, trial: recordings that calibrate and that are danced.
        sex, mass: [kg] of the person; None reads it off the plates.
    """

    name: str
    files: tuple[str, ...]
    static: str
    trial: str
    sex: str
    mass: float | None = None


SOURCES = (
    Source(f"{SUBJECT} squats1", (SUBJECT,), STATIC, "squats1", SEX),
    Source(f"{SUBJECT} STS1 (a chair)", (SUBJECT,), STATIC, "STS1", SEX),
    Source("subject_b standing", ("subject_b/markers/static_walk.trc",), "static_walk", "static_walk", "male", 75.0),
)


@dataclass(frozen=True, slots=True)
class DanceResult:
    """A recording as a dance.

    Attributes:
        source: whose.
        record: as tracked.
        before: its checks.
        answer: the repair's; the reason where none could be begun.
        after: checks of the repaired motion; None if nothing was repaired.
        seconds: [s of one core] that the repair took.
    """

    source: Source
    record: MotionRecord
    before: CheckResult
    answer: EditedDance | str
    after: CheckResult | None
    seconds: float


def figures(data: Path, sources: tuple[Source, ...] = SOURCES) -> Iterator[list[Figure]]:
    """Rows of every recording, as they are found."""
    for source in sources:
        missing = [file for file in source.files if not (data / file).exists()]
        if missing:
            note = f"no {', '.join(missing)} in {data}"
            yield [Figure(WHAT["before"], _data(source), None, "%", note=note)]
        else:
            yield rows(repair_recording(source, track_source(data, source)))


WHAT: Mapping[str, str] = {
    "before": "a recording as a dance: frames that fail as tracked",
    "after": "  repaired",
    "joints": "  largest turn of a joint",
    "seconds": "  processor time of the repair",
}
"""Words of the rows."""


def track_source(data: Path, source: Source) -> MotionRecord:
    """Track a recording with a body calibrated on standing alone; forces included where they were measured."""
    recordings = [r for r in load([data / file for file in source.files]) if r.name in (source.static, source.trial)]
    calibration = calibrate(recordings, sex=source.sex, mass=source.mass, static=(source.static,))
    if all(recording.wrenches is None for recording in recordings):
        study = track(recordings, calibration)
        motion = study.record(source.trial).motion
        assert motion is not None
        return motion_record(source.trial, study.rig, motion)
    prepared = prepare(calibration.rig, track_all(calibration, recordings))
    (found,) = (record for record in prepared.records if record.name == source.trial)
    assert found.motion is not None
    return motion_record(found.name, prepared.rig, found.motion).with_trial(found.trial)


def repair_recording(source: Source, record: MotionRecord) -> DanceResult:
    """Check a recording as it is, and repaired."""
    before = check(record)
    with tempfile.TemporaryDirectory() as folder:
        path = MOTION.write(Path(folder) / f"{record.name}{MOTION_END}", record)
        began = time.process_time()
        try:
            answer = repair(path)
        except SolverError as error:
            return DanceResult(source, record, before, str(error), None, 0.0)
        seconds = time.process_time() - began
    return DanceResult(source, record, before, answer, check(answer.dance), seconds)


def rows(found: DanceResult) -> list[Figure]:
    """Rows of one recording."""
    data = _data(found.source)
    length = found.record.motion.times[-1] - found.record.motion.times[0]
    result = [
        Figure(
            WHAT["before"],
            data,
            _failing(found.before),
            "%",
            note=f"{length:.1f} s; {_format_attribution(found.before)}",
        ),
    ]
    if isinstance(found.answer, str) or found.after is None:
        return [*result, Figure(WHAT["after"], data, None, "%", None, at_most(0.0), f"refused: {found.answer}")]
    moved = found.answer.details
    assert isinstance(moved, RepairedDance)
    joints = moved.moved.largest[2:]
    worst = int(np.argmax(joints))
    still = "feasible" if found.after.feasible else f"NOT FEASIBLE: {found.after.message}"
    return [
        *result,
        Figure(WHAT["after"], data, _failing(found.after), "%", None, at_most(0.0),
               note=f"{still}; {moved.iterations} programs; moved at most "
               f"{describe_moves(found.record.rig, moved.moved)}"),
        Figure(WHAT["joints"], data, float(np.degrees(joints[worst])), "deg",
               note=f"{moved.moved.names[2 + worst]}"),
        Figure(WHAT["seconds"], data, found.seconds, "s", timed=True),
    ]  # fmt: skip


def _failing(result: CheckResult) -> float:
    """[%] of the frames."""
    return 100.0 * float(result.checks.failed.mean())


def _format_attribution(result: CheckResult) -> str:
    """Attribution of the failures, with their share of all frames."""
    if result.feasible:
        return "every check holds"
    shares = {m.name: 100.0 * float(m.failed.mean()) for m in result.checks.margins}
    return "; ".join(
        f"{shares[attribution.check.name]:.0f} % of the frames, {attribution}" for attribution in result.attributions
    )


def _data(source: Source) -> str:
    return f"real, {source.name}"
