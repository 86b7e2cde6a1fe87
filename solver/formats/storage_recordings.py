"""Recordings in OpenSim storage files (.mot, .sto): plate forces, joint coordinates or orientations."""

from __future__ import annotations

from pathlib import Path

from ..options.reading import ReadOptions
from ..trial import Recording
from ..wrenches import Wrenches
from .file_formats import FORCES, JOINTS, SEGMENTS
from .joint_coordinates_reader import read_joints_storage
from .opensim_storage import has_forces, has_forces_beside_angles, has_orientations, has_trial, read_forces_with_up
from .orientations import read_orientations_storage
from .text_files import Warn
from .trial_names import printable_name
from .wrench_checks import ForceConvention


def find_kind(path: Path, searching: bool) -> str | None:
    """Kind of data of a storage file; None in a folder that is searched for a file that is not of a trial."""
    if searching and not has_trial(path):
        return None
    return SEGMENTS if has_orientations(path) else FORCES if has_forces(path) else JOINTS


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a storage file; see `file_formats.FileFormat`. Joint angles without a pose of the root have no up axis."""
    kind, name = find_kind(path, False), printable_name(path.stem)
    if kind == JOINTS:
        joints = read_joints_storage(path, options.angle_units, warn=warn)
        up = "" if joints.root is None else "z"
        if not has_forces_beside_angles(path):
            return Recording(name, joints=joints), up
        return Recording(name, wrenches=_read_forces(path, options, motion_up, warn)[0], joints=joints), up
    if kind == SEGMENTS:
        segments, up = read_orientations_storage(path, options.up, warn=warn)
        return Recording(name, segments=segments), up
    wrenches, up = _read_forces(path, options, motion_up, warn)
    return Recording(name, None, wrenches), up


def _read_forces(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Wrenches, str]:
    convention = ForceConvention(options.force_up or options.up, motion_up, options.force_units, options.sign or 1)
    return read_forces_with_up(path, convention, missing=options.missing, warn=warn)
