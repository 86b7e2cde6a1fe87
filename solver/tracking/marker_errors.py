"""How far every marker was from the tracked body, frame by frame."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ..formats.atomic import write_atomically
from .track import TrackedMotion


def write_marker_errors(path: str | Path, tracked: TrackedMotion) -> None:
    """CSV of distances [m]: a column per marker, a row per frame, empty where the marker was not seen; whole or not."""
    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["time [s]", *(f"{name} [m]" for name in tracked.names)])
        for time, row in zip(tracked.times, tracked.errors, strict=True):
            writer.writerow([f"{time:.6f}", *(f"{error:.6f}" if np.isfinite(error) else "" for error in row)])
