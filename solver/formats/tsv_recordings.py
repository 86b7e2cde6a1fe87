"""Recordings in tables separated by tabs: BIDS motion, by the file's name, or an export of Qualisys Track Manager."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..trial import Recording
from .bids import MOTION_SUFFIX, has_positions, is_bids_motion, read_bids_motion
from .file_formats import MARKERS
from .qtm import FIRST_KEYS, has_markers, is_qtm, read_qtm
from .read_options import ReadOptions
from .text_files import Warn
from .trial_names import printable_name


def find_kind(path: Path, searching: bool) -> str | None:
    """Markers; None in a folder that is searched for a file without positions.

    Raises:
        InputError: a named file is neither.
    """
    is_bids = is_bids_motion(path)
    if searching:
        has_any = has_positions(path) if is_bids else is_qtm(path) and has_markers(path)
        return MARKERS if has_any else None
    if not is_bids and not is_qtm(path):
        problem = f"holds no motion: its name does not end on {MOTION_SUFFIX} (BIDS), and it does not start with "
        remedy = "Name the file of the recording, exported with its header"
        raise InputError(path, f"{problem}{' or '.join(FIRST_KEYS[:2])} (QTM)", remedy=remedy)
    return MARKERS


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a table; see `read_options.Reader`."""
    read = read_bids_motion if is_bids_motion(path) else read_qtm
    markers, up = read(path, options.up, options.units, warn=warn)
    return Recording(printable_name(path.stem), markers), up
