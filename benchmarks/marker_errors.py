"""Recorded people with their markers, and the marker errors of a public pipeline on one of them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.options.reading import ReadOptions

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
READ = ReadOptions(ragged=True)
REFERENCE = "subject_a/reference_ik"


@dataclass(frozen=True, slots=True)
class Subject:
    """Files of one person with one marker set, the static trial first (or none)."""

    name: str
    files: tuple[str, ...]
    mass: float
    sex: str
    static: bool = True


SUBJECTS = (
    Subject(
        "subject_a",
        tuple(
            f"subject_a/markers/{trial}.trc"
            for trial in ("static1", "squats1", "DJ1", "DJ2", "DJAsym1", "STS1", "walking1", "walkingTI1")
        ),
        63.5,
        "female",
    ),
    Subject("subject_b run", ("subject_b/markers/static_run.trc", "subject_b/markers/run.trc"), 75.0, "male"),
    Subject("subject_b walk", ("subject_b/markers/static_walk.trc", "subject_b/markers/walk.trc"), 75.0, "male"),
    Subject("subject_c", ("subject_c/subject01_static.trc", "subject_c/subject01_walk1.trc"), 72.6, "male"),
    Subject("walk_d", ("walk_d/walk_d.npz",), 60.8, "male", static=False),
    Subject("plug-in gait", ("c3d/plugin_gait_static.c3d", "c3d/plugin_gait_motion.c3d"), 47.5, "female"),
)


def reference_error(data: Path, trial: str) -> float | None:
    """RMSE [mm] of a public pipeline's own inverse kinematics over the real markers that it tracked, of subject_a."""
    path = data / REFERENCE / f"{trial}_marker_errors.csv"
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        names, errors = (row[1:] for row in list(csv.reader(file))[:2])
    used = [float(e) for n, e in zip(names, errors) if e and float(e) > 0.0 and "HJC" not in n]
    return float(1e3 * np.sqrt(np.mean(np.square(used))))
