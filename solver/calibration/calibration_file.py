"""The file of a calibrated subject: the rig by value, and the marker locations on it."""

from __future__ import annotations

from ..storage.codec import FileKind
from .calibration import Calibration

CALIBRATION = FileKind(
    Calibration,
    "exciting dance calibration",
    remedy="Give the calibration.json written by `python -m solver calibrate`",
)
"""JSON."""
