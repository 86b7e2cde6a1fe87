"""Draws measured markers in the 3D view, each with a line to its modelled position; the line's length is the error.

The markers' locations on the links come from the study's calibration, the poses of the links from the bones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from ..base import bpy_access, convert
from ..base.file_cache import FileCache
from ..base.solver_api import SceneRecording, errors, read_json
from ..drawing.primitives import BOLD_WIDTH, LINE_WIDTH, Colour, draw_lines
from ..scene.armature import bone_axes, rig_of

MEASURED_COLOUR: Colour = (0.95, 0.95, 0.98, 1.0)
ERROR_COLOUR: Colour = (1.00, 0.30, 0.20, 1.0)
STAR_SIZE = 0.008
"""[m] Arm length of the cross at a marker."""


@dataclass(frozen=True, slots=True)
class MarkerLocations:
    """Locations of markers on links.

    Attributes:
        markers: names of P markers.
        links: name of each marker's link.
        locations: (P, 3) [m] in link frames.
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
"""Marker locations by calibration file."""


def model_positions(body: bpy.types.Object, markers: MarkerLocations) -> np.ndarray:
    """Modelled marker positions (P, 3) [m] in the world for the displayed pose; NaN for links that the rig lacks.

    Raises:
        InvalidValue: the armature no longer matches its rig.
    """
    rig = rig_of(body)
    axes, bones = bone_axes(body, rig), bpy_access.pose_bones(body)
    result = np.full((len(markers.markers), 3), np.nan)
    for link in set(markers.links) & set(rig.links):
        on_link = np.array([name == link for name in markers.links])
        world = convert.to_array(body.matrix_world @ bones[link].matrix)
        rotation = world[:3, :3] @ axes[rig.index(link)].T
        result[on_link] = markers.locations[on_link] @ rotation.T + world[:3, 3]
    return result


def measured_positions(recording: SceneRecording, markers: tuple[str, ...], time: float) -> np.ndarray:
    """Measured marker positions (P, 3) [m] in the world in the sample nearest to a time [s]; NaN where missing."""
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
    """Draw measured markers (P, 3) [m], NaN where missing, with lines to their modelled positions."""
    both = np.isfinite(measured).all(axis=1) & np.isfinite(modelled).all(axis=1)
    arms = STAR_SIZE * np.concatenate([np.eye(3), -np.eye(3)])[[0, 3, 1, 4, 2, 5]]
    draw_lines((measured[both, None] + arms).reshape(-1, 3), MEASURED_COLOUR, LINE_WIDTH)
    draw_lines(np.stack([measured[both], modelled[both]], axis=1).reshape(-1, 3), ERROR_COLOUR, BOLD_WIDTH)
