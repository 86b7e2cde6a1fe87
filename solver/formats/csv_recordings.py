"""Recordings in CSV files: markers, wrenches, joint coordinates or orientations, by the column titles."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..options.reading import ReadOptions
from ..trial import Recording
from .csv_tables import read_markers_csv_with_up, read_wrenches_csv_with_up, table_kind
from .file_formats import JOINTS, MARKERS, SEGMENTS
from .humanoid_motions import is_humanoid_table, read_humanoid_table
from .joint_coordinates_reader import read_joints_csv
from .orientations import read_orientations_csv
from .text_files import Warn
from .trial_names import printable_name
from .wrench_checks import ForceConvention


def find_kind(path: Path, searching: bool) -> str | None:
    """Kind of data of a CSV file.

    Args:
        path: of the file.
        searching: a folder is searched; None for a file of another kind instead of an error.

    Raises:
        InputError: a named file holds none of the kinds.
    """
    kind = JOINTS if is_humanoid_table(path) else table_kind(path)
    if kind is None and not searching:
        problem = "no column is titled NAME.x [m] (markers), NAME [rad] (joints), NAME.qw [1] (orientations) or "
        problem += "NAME.fx [N] (forces)"
        remedy = "Use the documented header; a humanoid's table without header has the root's position, its quaternion "
        raise InputError(path, problem, place="line 1", remedy=f"{remedy}x y z w and the joints in each row")
    return kind


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a CSV file; see `file_formats.FileFormat`."""
    kind, name = find_kind(path, False), printable_name(path.stem)
    if kind == MARKERS:
        markers, up = read_markers_csv_with_up(path, options.up, warn=warn)
        return Recording(name, markers), up
    if kind == JOINTS:
        if is_humanoid_table(path):
            joints = read_humanoid_table(path, options.frame_rate, options.angle_units)
        else:
            joints = read_joints_csv(path, warn=warn)
        return Recording(name, joints=joints), "z"
    if kind == SEGMENTS:
        segments, up = read_orientations_csv(path, options.up, warn=warn)
        return Recording(name, segments=segments), up
    convention = ForceConvention(options.force_up or options.up, motion_up, sign=options.sign or 1)
    wrenches, up = read_wrenches_csv_with_up(path, convention, missing=options.missing, warn=warn)
    return Recording(name, None, wrenches), up
