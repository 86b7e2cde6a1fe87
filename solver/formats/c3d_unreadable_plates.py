"""Force plates of a C3D file that cannot be read: while they carry load, the total force is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InvalidValue
from .c3d_channels import read_plate_channels, read_raw_channels, widen_samples
from .c3d_format import C3dData
from .force_plates import CHANNEL_COUNTS
from .text_files import Warn, ignore_warning

CONTACT_FORCE = 20.0
"""[N] A plate with a smaller force is unloaded, as is usual in gait analysis; offset and noise stay below it."""


@dataclass(frozen=True, slots=True)
class UnreadablePlate:
    """A plate that cannot be read.

    Attributes:
        index: among the plates that the file names, from 0.
        kind: C3D type; None if it is unknown or its channels cannot be read.
        problem: what is wrong with it.
        calibration: (6, 6) matrix of type 4, if present.
    """

    index: int
    kind: int | None
    problem: str
    calibration: np.ndarray | None = None


def plate_name(number: int) -> str:
    """Name of a plate by its index in the file, from 0."""
    return f"plate_{number + 1}"


def find_lost_samples(
    path: str | Path,
    content: C3dData,
    unreadable: Sequence[UnreadablePlate],
    unit_in_metres: float,
    rate: float,
    warn: Warn,
) -> np.ndarray | None:
    """Samples (N,) during or close to which unreadable plates carry load; None if that cannot be determined.

    The size of a force does not depend on the position of its plate, so that no geometry is needed to detect a load.
    """
    result = np.zeros(len(content.analogs), bool)
    for plate in unreadable:
        said = f"{Path(path).name}: {plate_name(plate.index)} cannot be read ({plate.problem})"
        loaded = _find_loaded_samples(path, content, plate, unit_in_metres)
        if loaded is None:
            more = f", nor {len(unreadable) - 1} other(s)" if len(unreadable) > 1 else ""
            warn(f"{said}{more}, and whether it carried load is unknown: no forces are read from this file")
            return None
        if loaded.any():
            loaded = widen_samples(loaded, rate)
            warn(f"{said}; the {int(loaded.sum())} of {len(loaded)} samples around its loads are left out")
        else:
            warn(f"{said} and is left out; it never carried {CONTACT_FORCE:g} N, so the others give the total force")
        result |= loaded
    return result


def _find_loaded_samples(
    path: str | Path, content: C3dData, plate: UnreadablePlate, unit_in_metres: float
) -> np.ndarray | None:
    """Samples (N,) in which a plate carries load; None if its channels do not determine it."""
    if plate.kind not in CHANNEL_COUNTS or (plate.kind == 4 and plate.calibration is None):
        return None if _has_signal(content, plate.index) else np.zeros(len(content.analogs), bool)
    try:
        channels = read_plate_channels(path, content, plate.index, plate.kind, unit_in_metres, ignore_warning)
    except InvalidValue:
        return None if _has_signal(content, plate.index) else np.zeros(len(content.analogs), bool)
    if plate.calibration is not None:
        channels = channels @ plate.calibration.T
    if plate.kind == 3:
        force = np.column_stack(
            [channels[:, :2].sum(axis=1), channels[:, 2:4].sum(axis=1), channels[:, 4:].sum(axis=1)]
        )
    else:
        force = channels[:, :3]
    return ~(np.linalg.norm(force, axis=1) < CONTACT_FORCE)  # NaN counts as load


def _has_signal(content: C3dData, number: int) -> bool:
    """Whether any channel of a plate differs from zero; True if its channels cannot be found."""
    try:
        samples, _ = read_raw_channels(content, number)
    except InvalidValue:
        return True
    return bool((samples != 0.0).any())
