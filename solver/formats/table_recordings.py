"""Recordings in tables: CSV files, OpenSim storage files (.mot, .sto), and tables separated by tabs (BIDS motion, QTM).

Titles of columns, headers and names of files say whether they hold markers, forces, joint coordinates or orientations.
"""

from __future__ import annotations

from pathlib import Path

from ..base.errors import InputError
from ..options.reading import ReadOptions
from ..signals.trial import Recording
from ..values.wrenches import Wrenches
from .bids import MOTION_SUFFIX, has_positions, is_bids_motion, read_bids_motion
from .csv_tables import read_markers_csv, read_wrenches_csv, table_kind
from .file_formats import FORCES, JOINTS, MARKERS, SEGMENTS
from .humanoid_motions import is_humanoid_table, read_humanoid_table
from .joint_coordinates import read_joints_csv, read_joints_storage
from .opensim_storage import read_forces, storage_kinds
from .orientations import read_orientations_csv, read_orientations_storage
from .qtm import FIRST_KEYS, has_markers, is_qtm, read_qtm
from .qtm_forces import is_forces, read_qtm_forces
from .text_files import Warn
from .trial_names import printable_name
from .wrench_checks import ForceConvention


def find_csv_kind(path: Path, searching: bool) -> str | None:
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


def read_csv(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a CSV file; see `file_formats.FileFormat`."""
    kind, name = find_csv_kind(path, False), printable_name(path.stem)
    if kind == MARKERS:
        markers, up = read_markers_csv(path, options.up, warn=warn)
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
    wrenches, up = read_wrenches_csv(path, convention, missing=options.missing, warn=warn)
    return Recording(name, None, wrenches), up


def find_storage_kind(path: Path, searching: bool) -> str | None:
    """Kind of data of a storage file; None in a folder that is searched for a file that is not of a trial."""
    kinds = storage_kinds(path)
    return kinds[0] if kinds else None if searching else JOINTS


def read_storage(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a storage file; see `file_formats.FileFormat`. Joint angles without a pose of the root have no up axis."""
    kinds, name = storage_kinds(path) or (JOINTS,), printable_name(path.stem)
    if JOINTS in kinds:
        joints = read_joints_storage(path, options.angle_units, warn=warn)
        up = "" if joints.root is None else "z"
        if FORCES not in kinds:
            return Recording(name, joints=joints), up
        return Recording(name, wrenches=_read_forces(path, options, motion_up, warn)[0], joints=joints), up
    if SEGMENTS in kinds:
        segments, up = read_orientations_storage(path, options.up, warn=warn)
        return Recording(name, segments=segments), up
    wrenches, up = _read_forces(path, options, motion_up, warn)
    return Recording(name, None, wrenches), up


def _read_forces(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Wrenches, str]:
    convention = ForceConvention(options.force_up or options.up, motion_up, options.force_units, options.sign or 1)
    return read_forces(path, convention, missing=options.missing, warn=warn)


def find_tsv_kind(path: Path, searching: bool) -> str | None:
    """Markers or forces; None in a folder that is searched for a file that holds neither.

    Raises:
        InputError: a named file is neither.
    """
    if is_bids_motion(path):
        return MARKERS if not searching or has_positions(path) else None
    if is_qtm(path):
        if is_forces(path):
            return FORCES
        return MARKERS if not searching or has_markers(path) else None
    if searching:
        return None
    problem = f"holds no motion: its name does not end on {MOTION_SUFFIX} (BIDS), and it does not start with "
    remedy = "Name the file of the recording, exported with its header"
    raise InputError(path, f"{problem}{' or '.join(FIRST_KEYS[:2])} (QTM)", remedy=remedy)


def read_tsv(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a table; see `file_formats.FileFormat`."""
    if find_tsv_kind(path, False) == FORCES:
        convention = ForceConvention(options.force_up or options.up, motion_up)
        wrenches, up = read_qtm_forces(path, convention, options.sign, missing=options.missing, warn=warn)
        return Recording(printable_name(path.stem), None, wrenches), up
    read = read_bids_motion if is_bids_motion(path) else read_qtm
    markers, up = read(path, options.up, options.units, warn=warn)
    return Recording(printable_name(path.stem), markers), up
