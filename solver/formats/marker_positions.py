"""Marker positions of a file in metres, z up, converted a few frames at a time, so that an hour needs little memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.file_arrays import FileRows, iterate_slices
from ..values.motion import Markers
from .axes_and_units import check_extent, resolve_up, spread_frames, to_z_up, up_from_markers
from .text_files import Warn

MAX_SHOWN = 3
"""Placeholders that a warning lists."""


@dataclass(frozen=True, slots=True)
class MarkerSource:
    """Markers as a file holds them.

    Attributes:
        path: of the file.
        times: (N,) [s].
        names: M markers.
        read: positions (n, M, 3) of some of the frames as stored, NaN where missing.
        metre: [m] the file's unit of length.
        unit: its name, for messages.
    """

    path: str | Path
    times: np.ndarray
    names: tuple[str, ...]
    read: Callable[[slice], np.ndarray]
    metre: float
    unit: str

    def sample(self) -> np.ndarray:
        """Positions (n, M, 3) [m] in some frames all over the file, in its axes.

        Raises:
            InputError: no marker is visible in any frame, or the unit contradicts the data.
        """
        sample = self.metre * remove_placeholders(self.read(spread_frames(len(self.times))))[0]
        pieces = map(self.read, iterate_slices(len(self.times)))
        if not np.isfinite(sample).any() and all(np.isnan(remove_placeholders(piece)[0]).all() for piece in pieces):
            remedy = "Check the export: all positions are empty or zero"
            raise InputError(self.path, "no marker is visible in any frame", remedy=remedy)
        check_extent(sample, self.path, self.unit)
        return sample

    def convert(self, up: str, warn: Warn) -> tuple[Markers, str]:
        """The markers, and the file's vertical axis; ``up`` may be ``"auto"``.

        Raises:
            InputError: see `sample`; or an axis that contradicts the data.
        """
        axis = resolve_up(up, up_from_markers(self.names, self.sample()), self.path)
        return self.rotate(axis, warn), axis

    def rotate(self, axis: str, warn: Warn) -> Markers:
        """The markers, where ``axis`` of the file is up.

        A sample whose three coordinates are one number is missing: programs write 0 0 0, 9999999 9999999 9999999 or
        -9999 -9999 -9999 for a marker that was not seen.
        """
        rows, turn, count, placeholders = FileRows(), to_z_up(axis).T, 0, set[float]()
        for own in iterate_slices(len(self.times)):
            positions, lost = remove_placeholders(self.read(own))
            rows.add(self.metre * positions @ turn)
            count += len(lost)
            placeholders = set(sorted({*placeholders, *np.unique(lost)[:MAX_SHOWN]})[:MAX_SHOWN])
        if count:
            shown = ", ".join(f"({n:.9g}, {n:.9g}, {n:.9g})" for n in sorted(placeholders))
            warn(f"{Path(self.path).name}: {count} marker samples at exactly {shown} are treated as missing")
        try:
            return Markers(self.times, self.names, rows.finish())
        except InvalidValue as error:
            raise InputError(self.path, str(error), remedy="Correct the marker names or the rows") from error


def remove_placeholders(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, M, 3) with NaN where all three are one number, and these numbers."""
    lost = (positions[:, :, 0] == positions[:, :, 1]) & (positions[:, :, 1] == positions[:, :, 2])
    return np.where(lost[:, :, None], np.nan, positions), positions[lost][:, 0]
