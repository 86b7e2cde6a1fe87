"""The table of file formats that hold recordings.

Readers, the command line, Blender's file picker and drop handler, and the documentation use this one table. A new
format is one module with a reader and one row here. Readers are imported when a file of theirs is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

MARKERS, JOINTS, SEGMENTS, FORCES, BOTH = "markers", "joints", "segments", "forces", "both"
"""Kinds of data; the last one is the kind of a file that may hold several of the others."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of recordings.

    Attributes:
        name: for menus and documentation.
        suffixes: in lower case, with the dot; no other row may have one of them.
        holds: kinds of data that a file may hold.
        reader: ``"module:function"``; a leading dot is relative to ``solver.formats``. The function takes a path,
            `ReadOptions`, the vertical axis of the same trial's motion (None if unknown) and a function that receives
            warnings. It returns a `Recording` in metres, z up, and the file's vertical axis.
        kind: ``"module:function"`` that takes a path and whether a folder is searched, and returns the file's kind;
            None for a file that holds nothing of a trial. By default all files of the format are of one kind.
        description: what the reader expects, for the documentation.
    """

    name: str
    suffixes: tuple[str, ...]
    holds: tuple[str, ...]
    reader: str
    kind: str = ""
    description: str = ""

    @property
    def default_kind(self) -> str:
        """Kind of the files if no function finds it."""
        return self.holds[0] if len(self.holds) == 1 else BOTH

    def load_reader(self) -> Callable[..., Any]:
        """Import the reader."""
        return _load(self.reader)

    def load_kind(self) -> Callable[..., Any] | None:
        """Import the function that finds the kind of a file; None if the format has only one."""
        return _load(self.kind) if self.kind else None


FILE_FORMATS: list[FileFormat] = [
    FileFormat(
        "TRC", (".trc",), (MARKERS,), ".trc:read_recording_file",
        description="unit from the header; the vertical axis is found from the body, or stated with `--up`",
    ),
    FileFormat(
        "OpenSim storage", (".mot", ".sto"), (FORCES, JOINTS, SEGMENTS), ".table_recordings:read_storage",
        kind=".table_recordings:find_storage_kind",
        description="plate forces (force, centre of pressure, free moment) act on the body unless stated otherwise; "
        "angles of joints are in the unit that `inDegrees` states; orientations have `DataType=Quaternion`",
    ),
    FileFormat(
        "CSV", (".csv",), (MARKERS, FORCES, JOINTS, SEGMENTS), ".table_recordings:read_csv",
        kind=".table_recordings:find_csv_kind",
        description="the header names each column with its unit, see below",
    ),
    FileFormat(
        "BIDS motion, QTM", (".tsv",), (MARKERS, FORCES), ".table_recordings:read_tsv",
        kind=".table_recordings:find_tsv_kind",
        description="BIDS `*_motion.tsv`: the channels of type POS in `*_channels.tsv` beside it; the rate from "
        "`*_motion.json`, beside it or above; the handedness from `SpatialAxes`. Qualisys Track Manager: 3D data, "
        "and forces of all plates `NAME_f_1.tsv`, `NAME_f_2.tsv`, exported with the header",
    ),
    FileFormat(
        "BVH", (".bvh",), (SEGMENTS,), ".bvh:read_recording_file",
        description="a skeleton; the unit of length is found from its height, or stated with `--units`",
    ),
    FileFormat(
        "Acclaim", (".amc",), (SEGMENTS,), ".acclaim:read_recording_file",
        description="the skeleton is the .asf beside it that begins the file's name, or the only one; without "
        "`--frame-rate` 120 Hz are assumed, as in most of the CMU database",
    ),
    FileFormat(
        "Xsens MVN", (".mvnx",), (SEGMENTS,), ".mvnx:read_recording_file",
        description="orientations and positions of the segments; the T-pose or N-pose is the rest pose",
    ),
    FileFormat(
        "C3D", (".c3d",), (MARKERS, FORCES), ".c3d:read_recording_file",
        description="force plates of type 1 to 4, the subject's data",
    ),
    FileFormat(
        "NumPy archive", (".npz",), (MARKERS, FORCES, JOINTS, SEGMENTS), ".npz:read_recording_file",
        kind=".npz:find_kind",
        description="named arrays, see below; AMASS and SMPL-X motions; body states of humanoid trackers",
    ),
]  # fmt: skip
"""One row a format."""


def recording_suffixes() -> tuple[str, ...]:
    """All suffixes of recordings, in lower case."""
    return tuple(suffix for row in FILE_FORMATS for suffix in row.suffixes)


def find_format(suffix: str) -> FileFormat | None:
    """The format of files with a suffix; None for a suffix of no recording."""
    return next((row for row in FILE_FORMATS if suffix.lower() in row.suffixes), None)


def _load(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module, __package__), function)
    return found
