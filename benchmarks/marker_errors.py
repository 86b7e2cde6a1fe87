"""Marker errors on the real recordings: `python -m benchmarks.marker_errors [--data DIR] [--details]`.

Each subject is calibrated twice: on its static trial alone, and on every trial given. The error is the root mean square
over markers and frames of the distance between measured and modelled marker; virtual markers (joint centres computed by
the recording software) are neither tracked nor counted. Beside it, where the data hold one, the error of the public
pipeline's own inverse kinematics over the markers it tracked, virtual ones left out too.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.calibration import Calibration, fit_calibration
from solver.errors import SolverError
from solver.formats.read_options import ReadOptions
from solver.formats.recording import read_recording
from solver.tracking import track_markers
from solver.trial import Recording

from .reference import reference_line

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
READ = ReadOptions(ragged=True)
WORST = 4


@dataclass(frozen=True, slots=True)
class Subject:
    """Files of one person with one marker set, the static trial first (or none)."""

    name: str
    files: tuple[str, ...]
    mass: float
    sex: str
    static: bool = True
    reference: str = ""


SUBJECTS = (
    Subject(
        "subject_a",
        tuple(
            f"subject_a/markers/{trial}.trc"
            for trial in ("static1", "squats1", "DJ1", "DJ2", "DJAsym1", "STS1", "walking1", "walkingTI1")
        ),
        63.5,
        "female",
        reference="subject_a/reference_ik",
    ),
    Subject("subject_b run", ("subject_b/markers/static_run.trc", "subject_b/markers/run.trc"), 75.0, "male"),
    Subject("subject_b walk", ("subject_b/markers/static_walk.trc", "subject_b/markers/walk.trc"), 75.0, "male"),
    Subject("subject_c", ("subject_c/subject01_static.trc", "subject_c/subject01_walk1.trc"), 72.6, "male"),
    Subject("walk_d", ("walk_d/walk_d.npz",), 60.8, "male", static=False),
    Subject("plug-in gait", ("c3d/plugin_gait_static.c3d", "c3d/plugin_gait_motion.c3d"), 47.5, "female"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if a subject could not be read or tracked."""
    parser = argparse.ArgumentParser(description="marker errors on the real recordings")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the recordings")
    parser.add_argument("--details", action="store_true", help="also the worst markers of every trial")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"the real recordings are not at {options.data}; name their folder with --data", file=sys.stderr)
        return 1
    print(reference_line())
    failed = False
    for subject in SUBJECTS:
        try:
            report(subject, options.data, details=options.details)
        except SolverError as error:
            print(f"\n{subject.name}: {error}")
            failed = True
    return int(failed)


def report(subject: Subject, data: Path, *, details: bool) -> None:
    """Print one subject's table."""
    recordings = [read_recording(data / file, READ) for file in subject.files]
    columns: list[tuple[str, Calibration, float]] = []
    if subject.static:
        columns.append(("static only", *time_calibration(subject, recordings[:1])))
    if not subject.static or len(recordings) > 1:
        columns.append(("all trials", *time_calibration(subject, recordings)))
    first = columns[0][1]
    print(f"\n{subject.name} (real data): {first.marker_set}, stature {first.height:.2f} m (estimated)")
    for name, found, seconds in columns:
        print(f"  calibrated on {name}: {seconds:.2f} s; {sum(found.frame_counts.values())} frames")
    titles = "".join(f"{name:>14}{'s':>7}" for name, _, _ in columns)
    print(f"  {'RMSE [mm]':<24}{'frames':>7}{titles}{'reference':>12}")
    totals: list[list[float]] = [[] for _ in columns]
    for recording in recordings:
        assert recording.markers is not None
        cells, notes = "", []
        for column, (name, found, _) in enumerate(columns):
            start = time.perf_counter()
            tracked = track_markers(found.rig, found.attachments, recording.markers)
            totals[column].append(1e3 * tracked.rmse)
            cells += f"{1e3 * tracked.rmse:14.2f}{time.perf_counter() - start:7.2f}"
            worst = sorted(tracked.marker_rmse.items(), key=lambda item: -np.nan_to_num(item[1]))[:WORST]
            notes.append(f"    {name}: " + ", ".join(f"{marker} {1e3 * error:.0f}" for marker, error in worst))
            notes += [f"    {name}: {warning}" for warning in tracked.warnings]
        reference = reference_error(data, subject, recording.name)
        print(f"  {recording.name:<24}{len(recording.markers):>7}{cells}{reference}")
        if details:
            print("\n".join(notes))
    means = "".join(f"{np.mean(values):14.2f}{'':7}" for values in totals)
    print(f"  {'mean over trials':<31}{means}")


def time_calibration(subject: Subject, recordings: Sequence[Recording]) -> tuple[Calibration, float]:
    """Calibration and its wall-clock time [s]."""
    start = time.perf_counter()
    found = fit_calibration(recordings, mass=subject.mass, sex=subject.sex)
    return found, time.perf_counter() - start


def reference_error(data: Path, subject: Subject, trial: str) -> str:
    """The public pipeline's RMSE [mm] over the real markers it tracked, as a table cell."""
    path = data / subject.reference / f"{trial}_marker_errors.csv"
    if not subject.reference or not path.is_file():
        return ""
    with path.open(newline="", encoding="utf-8") as file:
        names, errors = (row[1:] for row in list(csv.reader(file))[:2])
    used = [float(e) for n, e in zip(names, errors) if e and float(e) > 0.0 and "HJC" not in n]
    return f"{1e3 * np.sqrt(np.mean(np.square(used))):12.2f}"


if __name__ == "__main__":
    sys.exit(main())
