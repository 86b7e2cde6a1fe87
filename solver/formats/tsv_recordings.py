"""Recordings in tables separated by tabs: BIDS motion, by the file's name, or an export of Qualisys Track Manager."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..options.reading import ReadOptions
from ..trial import Recording
from .bids import MOTION_SUFFIX, has_positions, is_bids_motion, read_bids_motion
from .file_formats import FORCES, MARKERS
from .qtm import FIRST_KEYS, has_markers, is_qtm, read_qtm
from .qtm_forces import is_forces, read_qtm_forces
from .text_files import Warn
from .trial_names import printable_name
from .wrench_checks import ForceConvention


def find_kind(path: Path, searching: bool) -> str | None:
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


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a table; see `file_formats.FileFormat`."""
    if find_kind(path, False) == FORCES:
        convention = ForceConvention(options.force_up or options.up, motion_up)
        wrenches, up = read_qtm_forces(path, convention, options.sign, missing=options.missing, warn=warn)
        return Recording(printable_name(path.stem), None, wrenches), up
    read = read_bids_motion if is_bids_motion(path) else read_qtm
    markers, up = read(path, options.up, options.units, warn=warn)
    return Recording(printable_name(path.stem), markers), up
