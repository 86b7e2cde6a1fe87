"""Markers as they were seen, with a line to where the body has them, over the 3D view; the length of it is the error.

Where a marker sits on the body stands in the study's calibration; where the body is, on the bones as they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from . import bpy_access as typed
from . import convert
from .armature import bone_axes, rig_of
from .drawing import BOLD_WIDTH, LINE_WIDTH, Colour, draw_lines
from .file_cache import FileCache
from .solver_api import SceneRecording, errors, read_json

MEASURED_COLOUR: Colour = (0.95, 0.95, 0.98, 1.0)
ERROR_COLOUR: Colour = (1.00, 0.30, 0.20, 1.0)
STAR_SIZE = 0.008
"""[m] Arm of the star at a marker."""


@dataclass(frozen=True, slots=True)
class MarkerLocations:
    """Where markers sit.

    Attributes:
        markers: P names.
        links: P names of the links that carry them.
        locations: (P, 3) [m] link frames.
    """

    markers: tuple[str, ...]
    links: tuple[str, ...]
    locations: np.ndarray


def _read_calibration(path: Path) -> MarkerLocations | None:
    try:
        rows = read_json(path, "Calibrate again")["attachments"]
        offsets = np.array([row["position"] for row in rows], float).reshape(len(rows), 3)
        return MarkerLocations(tuple(row["marker"] for row in rows), tuple(row["link"] for row in rows), offsets)
    except (errors.SolverError, KeyError, TypeError, ValueError):
        return None


CALIBRATIONS: FileCache[MarkerLocations] = FileCache(_read_calibration)
"""Places of markers by the file that tells them."""


def model_positions(body: bpy.types.Object, markers: MarkerLocations) -> np.ndarray:
    """Where the bones as they are shown have the markers (P, 3) [m], world; NaN of links that the body lacks.

    Raises:
        InvalidValue: the armature is no longer its rig's.
    """
    rig = rig_of(body)
    axes, bones = bone_axes(body, rig), typed.pose_bones(body)
    result = np.full((len(markers.markers), 3), np.nan)
    for link in set(markers.links) & set(rig.links):
        own = np.array([name == link for name in markers.links])
        world = convert.to_array(body.matrix_world @ bones[link].matrix)
        turn = world[:3, :3] @ axes[rig.index(link)].T
        result[own] = markers.locations[own] @ turn.T + world[:3, 3]
    return result


def measured_positions(recording: SceneRecording, markers: tuple[str, ...], time: float) -> np.ndarray:
    """Where the markers were seen (P, 3) [m], world, in the sample nearest to a time [s]; NaN where not."""
    result = np.full((len(markers), 3), np.nan)
    if not len(recording.marker_times):
        return result
    frame = int(np.argmin(np.abs(recording.marker_times - time)))
    columns = {name: column for column, name in enumerate(recording.markers)}
    for row, name in enumerate(markers):
        if name in columns:
            result[row] = recording.positions[frame, columns[name]]
    return result


def draw(measured: np.ndarray, modelled: np.ndarray) -> None:
    """Draw markers (P, 3) [m] as seen, NaN where not, and a line each to where the body has them."""
    both = np.isfinite(measured).all(axis=1) & np.isfinite(modelled).all(axis=1)
    arms = STAR_SIZE * np.concatenate([np.eye(3), -np.eye(3)])[[0, 3, 1, 4, 2, 5]]
    draw_lines((measured[both, None] + arms).reshape(-1, 3), MEASURED_COLOUR, LINE_WIDTH)
    draw_lines(np.stack([measured[both], modelled[both]], axis=1).reshape(-1, 3), ERROR_COLOUR, BOLD_WIDTH)
