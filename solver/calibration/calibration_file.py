"""The file of a calibrated subject: the rig by value, and where the markers sit on it."""

from __future__ import annotations

from ..formats.codec import FileKind
from .calibration import Calibration

CALIBRATION = FileKind(
    Calibration,
    "exciting dance calibration",
    remedy="Name the calibration.json that `python -m solver calibrate` wrote",
)
"""JSON."""
