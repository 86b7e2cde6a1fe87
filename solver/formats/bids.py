"""Markers of a BIDS-motion recording: ``*_motion.tsv`` with ``*_channels.tsv`` and ``*_motion.json`` beside it.

The table has no header; the rows of ``*_channels.tsv`` describe its columns in order. The channels of type POS of one
tracked point form a marker. LATENCY is the time of each sample; other channels are ignored. ``*_motion.json`` and
``*_channels.json`` may also be in a parent folder, in a file with fewer entities (BIDS inheritance principle).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arrays import find_repeated
from ..base.errors import InputError
from ..base.files import read_bytes
from ..storage.json_tree import parse_json_object
from ..values.motion import Markers
from .axes_and_units import length_in_metres
from .marker_positions import MarkerSource
from .text_files import Warn, check_times, ignore_warning, parse_rows, read_rows, require_cells, split_at_tabs
from .uniform_sampling import resample_rows

MOTION_SUFFIX, CHANNELS_SUFFIX, MOTION_JSON_SUFFIX, CHANNELS_JSON_SUFFIX = (
    "_motion.tsv",
    "_channels.tsv",
    "_motion.json",
    "_channels.json",
)
DATASET_FILE = "dataset_description.json"
"""File in the root folder of a dataset; nothing is inherited from above it."""
MAX_PARENT_FOLDERS = 5
"""Number of folders above a recording that are searched for its metadata: motion, session, subject, study."""
REQUIRED_COLUMNS = ("name", "component", "type", "tracked_point", "units")
POSITION, LATENCY = "POS", "LATENCY"
AXES = "xyz"
DIRECTIONS = {"A": (1, 0, 0), "P": (-1, 0, 0), "L": (0, 1, 0), "R": (0, -1, 0), "S": (0, 0, 1), "I": (0, 0, -1)}
"""Directions of the letters of SpatialAxes in a right-handed frame: anterior, left, superior. By the BIDS
specification."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A column of the table, described in ``line`` of the channels file."""

    line: int
    name: str
    component: str
    kind: str
    tracked_point: str
    units: str
    frame: str


def is_bids_motion(path: Path) -> bool:
    """Whether a file is named like BIDS motion data."""
    return path.name.lower().endswith(MOTION_SUFFIX)


def has_positions(path: Path) -> bool:
    """Whether a motion file has positions of points, not only accelerations and angles.

    Raises:
        InputError: its channels file is missing or malformed.
    """
    return any(channel.kind == POSITION for channel in _read_channels(path))


def metadata_files(path: Path) -> tuple[Path, ...]:
    """The metadata files of a motion file, beside and above it."""
    return tuple(
        file
        for end in (CHANNELS_SUFFIX, MOTION_JSON_SUFFIX, CHANNELS_JSON_SUFFIX)
        for file in _inherited_files(path, end)
    )


def read_bids_motion(
    path: str | Path, up: str = "auto", units: str | None = None, *, warn: Warn = ignore_warning
) -> tuple[Markers, str]:
    """Markers in metres, z up, and the file's vertical axis.

    Args:
        path: of the ``*_motion.tsv``.
        up: the file's vertical axis, or ``"auto"``: from SpatialAxes, else from the standing body.
        units: ``"mm"``, ``"cm"`` or ``"m"`` to override the channels' units.
        warn: receives messages about irregularities.

    Raises:
        InputError: no channels file or one that does not fit the table, no positions, a marker without all axes, no
            rate, a cell that is not a number, or an axis or unit that contradicts the data.
    """
    path = Path(path)
    channels = _read_channels(path)
    times, values = _read_samples(path, channels, warn)
    listed = _inherited_files(path, CHANNELS_SUFFIX)[0]
    if not (points := list(dict.fromkeys(c.tracked_point for c in channels if c.kind == POSITION))):
        remedy = "Name a recording of markers, or omit this one"
        raise InputError(listed, f"no channel is of type {POSITION}", remedy=remedy)
    columns = np.array([[_find_column(listed, channels, point, letter) for letter in AXES] for point in points])
    metres = np.array([[length_in_metres(units or channels[k].units, listed) for k in own] for own in columns])
    stated = _read_spatial_axes(path, channels)
    if stated and np.linalg.det([DIRECTIONS[letter] for letter in stated]) < 0.0:
        side = next(axis for axis, letter in enumerate(stated) if letter in "LR")
        metres[:, side] *= -1.0
        warn(f"{path.name}: SpatialAxes {stated} is a left-handed frame: the sign of {AXES[side]} was reversed")
    if up == "auto" and stated:
        axis = next(number for number, letter in enumerate(stated) if letter in "SI")
        up = f"{'-' if stated[axis] == 'I' else ''}{AXES[axis]}"
    unit = units or next(c.units for c in channels if c.kind == POSITION)
    source = MarkerSource(path, times, tuple(points), lambda own: metres * values[own][:, columns], 1.0, unit)
    return source.convert(up, warn)


def _read_samples(path: Path, channels: tuple[Channel, ...], warn: Warn) -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) [s] and values (N, C), NaN where missing."""
    names = [channel.name for channel in channels]
    line, first = next(read_rows(path, 0, split_at_tabs), (0, []))
    if first == names:
        remedy = "Remove the line: BIDS motion tables have no header"
        raise InputError(path, "starts with a header", place=f"line {line}", remedy=remedy)
    cells = require_cells(path, read_rows(path, 0, split_at_tabs), len(names), "the channels need")
    rows = parse_rows(path, cells, names, 0)
    kinds = [channel.kind for channel in channels]
    times = rows.values[:, kinds.index(LATENCY)] if LATENCY in kinds else np.arange(len(rows.lines)) / _read_rate(path)
    check_times(times, rows.lines, path)
    return resample_rows(path, times, rows.values, rows.lines, warn)[:2]


def _read_rate(path: Path) -> float:
    """[1/s] The effective sampling rate, else the nominal one."""
    stated = _merge_metadata(path, MOTION_JSON_SUFFIX)
    for key in ("SamplingFrequencyEffective", "SamplingFrequency"):
        value = stated.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0.0:
            return float(value)
    beside = path.with_name(path.name[: -len(MOTION_SUFFIX)] + MOTION_JSON_SUFFIX)
    remedy = "State it in Hz, or add a LATENCY channel"
    raise InputError(beside, "has no SamplingFrequency, so the times of the samples are unknown", remedy=remedy)


def _read_channels(path: Path) -> tuple[Channel, ...]:
    if not (files := _inherited_files(path, CHANNELS_SUFFIX)):
        beside = path.with_name(path.name[: -len(MOTION_SUFFIX)] + CHANNELS_SUFFIX)
        raise InputError(
            beside, f"is missing: it describes the columns of {path.name}", remedy="Add it, as BIDS requires"
        )
    listed = files[0]
    (first, titles), *rest = read_rows(listed, 0, split_at_tabs)
    if lacking := [name for name in REQUIRED_COLUMNS if name not in titles]:
        raise InputError(listed, f"lacks the columns {', '.join(lacking)}", place=f"line {first}", remedy="Add them")
    found = []
    for line, cells in require_cells(listed, rest, len(titles)):
        word = dict(zip(titles, cells, strict=True))
        name, component, kind, point, unit = (word[title] for title in REQUIRED_COLUMNS)
        frame = word.get("reference_frame", "")
        found.append(Channel(line, name, component.lower(), kind.upper(), point, unit, frame))
    if twice := find_repeated([channel.name for channel in found]):
        remedy = "Give each channel its own name"
        raise InputError(listed, f"channel names occur twice: {', '.join(twice)}", remedy=remedy)
    return tuple(found)


def _find_column(listed: Path, channels: tuple[Channel, ...], point: str, letter: str) -> int:
    """Index of the column of one axis of one tracked point."""
    found = [k for k, c in enumerate(channels) if (c.kind, c.tracked_point, c.component) == (POSITION, point, letter)]
    if len(found) != 1:
        place = f"line {channels[found[1]].line}" if found else None
        problem = f"the tracked point {point!r} has {len(found)} channels of component {letter}"
        raise InputError(listed, problem, place=place, remedy="Give each marker x, y and z, once")
    return found[0]


def _read_spatial_axes(path: Path, channels: tuple[Channel, ...]) -> str:
    """SpatialAxes of the positions' reference frame; empty if not all three axes are stated."""
    described = _merge_metadata(path, CHANNELS_JSON_SUFFIX).get("reference_frame")
    levels = described.get("Levels") if isinstance(described, dict) else None
    frames = list(dict.fromkeys(c.frame for c in channels if c.kind == POSITION))
    if len(frames) > 1:
        problem = f"the positions are given in several reference frames: {', '.join(frames)}"
        listed = _inherited_files(path, CHANNELS_SUFFIX)[0]
        raise InputError(listed, problem, remedy="Export all markers in one frame")
    frame = levels.get(frames[0]) if isinstance(levels, dict) and frames else None
    axes = frame.get("SpatialAxes") if isinstance(frame, dict) else None
    if not isinstance(axes, str) or len(axes) != 3 or not set(axes) <= set(DIRECTIONS):
        return ""
    return axes if abs(np.linalg.det([DIRECTIONS[letter] for letter in axes])) > 0.5 else ""


def _merge_metadata(path: Path, end: str) -> dict[str, Any]:
    """Entries of a metadata file and of those it inherits from; the nearest file takes precedence."""
    tree: dict[str, Any] = {}
    for file in reversed(_inherited_files(path, end)):
        tree |= parse_json_object(file, read_bytes(file), "Correct the JSON")
    return tree


def _inherited_files(path: Path, end: str) -> list[Path]:
    """Metadata files that apply to a motion file, the nearest and most specific first."""
    own = _entities(path.name[: -len(MOTION_SUFFIX)])
    return [
        file
        for place in _parent_folders(path)
        for file in sorted(place.glob(f"*{end}"), key=lambda file: -len(file.name))
        if _entities(file.name[: -len(end)]) <= own
    ]


def _parent_folders(path: Path) -> Iterator[Path]:
    for place in list(path.absolute().parents)[:MAX_PARENT_FOLDERS]:
        yield place
        if os.path.exists(place / DATASET_FILE):
            return


def _entities(stem: str) -> set[str]:
    """``{"sub-01", "task-walk"}``."""
    return set(stem.split("_")) - {""}
