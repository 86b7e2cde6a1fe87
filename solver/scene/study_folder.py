"""Names of the files in the folder of a study."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypeVar

from ..storage.codec import FileKind
from ..storage.manifest import read_manifest, stored_file

T = TypeVar("T")

RIG_FILE, URDF_FILE = "rig.json", "rig.urdf"
"""The rig for scenes, and for other programs with the identified inertials."""
CALIBRATION_FILE = "calibration.json"
RESULT_FILE, RESULT_TABLE = "result.json", "result.csv"
STUDY_FILE, TRIAL_END = "study.npz", ".trial.npz"
"""The study without its trials, and, after the name of a trial, each of these, without loss."""
REPORT_FILE, CONTENT_FILE = "report.html", "report.npz"
"""The report page, and its content, from which it can be made again."""
PROVENANCE_FILE = "provenance.json"
"""Program, options and inputs of the results."""
SCENE_FILE, PICTURE_FILE = "scene.blend", "body.png"
"""Files that Blender adds."""
PICTURE_PLACE = re.compile(r'<figure id="body">.*?</figure>', re.DOTALL)
"""Place of the body's picture in the report page; empty without one."""
MOTION_END, RECORDING_END = ".motion.npz", ".recording.npz"
"""After the name of a trial: the rig's motion, and the measurements."""
STORAGE_END, JOINTS_END, BODIES_END = ".joints.mot", ".joints.csv", ".bodies.npz"
"""After the name of a trial: joint coordinates and states of all bodies, for other programs. No input has such a name:
``NAME.mot`` usually holds the forces of the trial."""
ANGLES_ENDS = ".angles.mot", ".angles.csv"
"""After the name of a trial: a person's anatomical joint angles."""
MARKERS_END = ".markers.csv"
"""After the name of a trial: errors of its markers."""
ESTIMATES_FOLDER = "centroidal"
"""Within a study's folder: Blender's centroidal estimates of its trials."""
ESTIMATE_END, ESTIMATE_TABLE_END = ".centroidal.npz", ".centroidal.csv"
"""After the name of a trial: its centre of mass and momentum, for a scene and as a table."""
MOMENTS_FOLDER = "moments"
"""Within a study's folder: Blender's joint moments of its trials."""
MOMENTS_END, MOMENTS_TABLE_END, MOMENTS_PAGE = ".moments.npz", ".moments.csv", "moments.html"
"""After the name of a trial: its joint moments, for a scene and as a table; and the page of all trials."""


def embed_picture(page: str, picture: Path) -> str:
    """A report page that contains a picture (PNG) of the body, if the file exists, in place of an earlier one."""
    if not picture.exists():
        return page
    source = f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"
    caption = "<figcaption>The body in the colours of the 3D view.</figcaption>"
    return PICTURE_PLACE.sub(f'<figure id="body"><img alt="the coloured body" src="{source}">{caption}</figure>', page)


def trial_files(folder: Path, end: str = MOTION_END) -> dict[str, Path]:
    """Files of a folder with a suffix, by trial, also missing ones; only those of its manifest if it has one.

    Read one with `stored_file`.
    """
    written = read_manifest(folder)
    names = [path.name for path in folder.glob(f"*{end}")] if written is None else written.files
    found = sorted(str(name) for name in names if name.endswith(end) and "/" not in name)
    return {name.removesuffix(end): folder / name for name in found}


def read_trial_files(folder: Path, end: str, kind: FileKind[T], trials: Collection[str] = ()) -> dict[str, T]:
    """Values of the files of a folder with a suffix, by trial; of some trials, or of all by default.

    Raises:
        InputError: a file is damaged, a link, or not the one that the folder's manifest lists.
    """
    names = [name for name in trial_files(folder, end) if not trials or name in trials]
    return {name: kind.read(stored_file(folder, f"{name}{end}")) for name in names}


def study_files(trials: Iterable[str]) -> tuple[str, ...]:
    """Names of all files that a study of these trials may write."""
    results = (RESULT_FILE, RESULT_TABLE, STUDY_FILE, REPORT_FILE, CONTENT_FILE, PROVENANCE_FILE)
    fixed = (RIG_FILE, URDF_FILE, CALIBRATION_FILE, *results)
    ends = (TRIAL_END, MOTION_END, RECORDING_END, STORAGE_END, JOINTS_END, *ANGLES_ENDS, MARKERS_END)
    return (*fixed, *(f"{trial}{end}" for trial in trials for end in ends))
