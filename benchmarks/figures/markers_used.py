"""Markers used, of those that sit on the body, for every laboratory at hand."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from solver.base.errors import SolverError
from solver.calibration import fit_calibration
from solver.study.recordings import load_recordings

from .figure import Figure, at_least, missing

WHAT = "markers used, of those that sit on the body"
MUST = 95.0
"""[%]"""
LABORATORIES = {
    "subject_a": ("subject_a/markers/static1.trc", "subject_a/markers/squats1.trc", "subject_a/markers/walking1.trc"),
    "subject_b": ("subject_b/markers/static_run.trc", "subject_b/markers/run.trc"),
    "subject_c": ("subject_c/subject01_static.trc", "subject_c/subject01_walk1.trc"),
    "subject_e": ("subject_e/run200.trc", "subject_e/run300.trc"),
    "walk_d": ("walk_d/walk_d.npz",),
    "bmc_gait": ("brought/bmc_gait.c3d",),
    "flywheel": ("foreign/flywheel_standing.c3d", "foreign/flywheel_squat.c3d"),
    "plates_tilted": ("foreign/plates_tilted_gaitnormal_1.c3d", "foreign/plates_tilted_gaitnormal_2.c3d"),
    "plugin_gait": ("c3d/plugin_gait_static.c3d", "c3d/plugin_gait_motion.c3d"),
    "cmu_waist": ("foreign/cmu_waist_markers.c3d",),
    "gait2392": ("../models/opensim/gait2392_static.trc", "../models/opensim/gait2392_walk1.trc"),
    "gait10dof": ("brought/gait10dof/subject01_walk.trc",),
    "keypoints_halpe26": ("brought/keypoints_halpe26.trc",),
}
"""Recordings by laboratory, below the folder of data."""
BESIDE_THE_BODY = ("*JC", "*JC_reg", "CentreOfMass*", "TRAC")
"""Names of what is no marker on the body: computed points, and the tether of the flywheel."""


def markers_used_figures(data: Path) -> list[Figure]:
    """One row a laboratory: share of the markers on its body that the calibration attaches; the note names the rest."""
    return list(_measure_laboratories(data))


def _measure_laboratories(data: Path) -> Iterator[Figure]:
    for name, places in LABORATORIES.items():
        row = Figure(WHAT, f"real, {name}", None, "%", at_least(MUST))
        files = [data / place for place in places]
        if not all(file.exists() for file in files):
            yield from missing([row], f"no recordings of {name} in {data}")
            continue
        try:
            value, note = _measure(files)
        except SolverError as error:
            value, note = 0.0, str(error)
        yield Figure(row.what, row.data, value, row.unit, row.must, note=note)


def _measure(files: list[Path]) -> tuple[float, str]:
    """Percentage of markers that are used, and those that are not."""
    recordings = load_recordings(files)
    names = {name for recording in recordings if recording.markers is not None for name in recording.markers.names}
    body = {name for name in names if not any(fnmatchcase(name, pattern) for pattern in BESIDE_THE_BODY)}
    used = {each.marker for each in fit_calibration(recordings, mass=70.0, sex="unknown").attachments}
    wrong = f"; beside the body, but used: {', '.join(sorted(used - body))}" if used - body else ""
    return 100.0 * len(used & body) / len(body), f"not used: {', '.join(sorted(body - used)) or 'none'}{wrong}"
