"""Names of the files in the folder of a study, for who writes it and for who reads it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..formats.manifest import read_manifest

RIG_FILE, URDF_FILE = "rig.json", "rig.urdf"
"""The rig as a scene draws it, and for other programs, with the identified inertials."""
CALIBRATION_FILE = "calibration.json"
RESULT_FILE, RESULT_TABLE = "result.json", "result.csv"
COVARIANCE_FILE = "covariance.npz"
"""What the result leaves open of all links' inertials together."""
REPORT_FILE, CONTENT_FILE = "report.html", "report.npz"
"""The page, and what makes it again."""
PROVENANCE_FILE = "provenance.json"
"""Program, options and inputs that the results come from."""
SCENE_FILE, PICTURE_FILE = "scene.blend", "body.png"
"""What Blender adds."""
MOTION_END, RECORDING_END = ".motion.npz", ".recording.npz"
"""After the name of a trial: how the rig moved, and what was measured."""
STORAGE_END, JOINTS_END, MARKERS_END = ".mot", ".csv", ".markers.csv"
"""After the name of a trial: its joint coordinates for other programs, and the errors of its markers."""
ESTIMATES_FOLDER = "centroidal"
"""Within a study's folder: what Blender has estimated of its trials."""
ESTIMATE_END, ESTIMATE_TABLE_END = ".centroidal.npz", ".centroidal.csv"
"""After the name of a trial: its centre of mass and momentum, for a scene and as a table."""


def trial_files(folder: Path, end: str = MOTION_END) -> dict[str, Path]:
    """The files of a folder that end so, by trial; where a run says which files it wrote, those alone."""
    written = read_manifest(folder)
    found = (path for path in sorted(folder.glob(f"*{end}")) if written is None or path.name in written.files)
    return {path.name.removesuffix(end): path for path in found}


def study_files(trials: Iterable[str]) -> tuple[str, ...]:
    """Names of all files that a study of these trials may write."""
    results = (RESULT_FILE, RESULT_TABLE, COVARIANCE_FILE, REPORT_FILE, CONTENT_FILE, PROVENANCE_FILE)
    fixed = (RIG_FILE, URDF_FILE, CALIBRATION_FILE, *results)
    ends = (MOTION_END, RECORDING_END, STORAGE_END, JOINTS_END, MARKERS_END)
    return (*fixed, *(f"{trial}{end}" for trial in trials for end in ends))
