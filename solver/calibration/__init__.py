"""Calibration: a person's rig and marker places from recordings."""

from .calibrate import Calibration, calibrate
from .markerset import MarkerSet, Place
from .markerset_file import detect_marker_set, load_marker_set, marker_sets

__all__ = [
    "Calibration",
    "MarkerSet",
    "Place",
    "calibrate",
    "detect_marker_set",
    "load_marker_set",
    "marker_sets",
]
