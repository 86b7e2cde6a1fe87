"""Names of the files in the folder of a study, for who writes it and for who reads it."""

from __future__ import annotations

from pathlib import Path

RIG_FILE, URDF_FILE = "rig.json", "rig.urdf"
"""The rig as a scene draws it, and for other programs, with the identified inertials."""
CALIBRATION_FILE = "calibration.json"
RESULT_FILE, RESULT_TABLE = "result.json", "result.csv"
REPORT_FILE, CONTENT_FILE = "report.html", "report.npz"
"""The page, and what makes it again."""
SCENE_FILE, PICTURE_FILE = "scene.blend", "body.png"
"""What Blender adds."""
MOTION_END, RECORDING_END = ".motion.npz", ".recording.npz"
"""After the name of a trial: how the rig moved, and what was measured."""
STORAGE_END, JOINTS_END, MARKERS_END = ".mot", ".csv", ".markers.csv"
"""After the name of a trial: its joint coordinates for other programs, and the errors of its markers."""


def trials_in(folder: Path, end: str = MOTION_END) -> dict[str, Path]:
    """The files of a folder that end so, by trial."""
    return {path.name.removesuffix(end): path for path in sorted(folder.glob(f"*{end}"))}
