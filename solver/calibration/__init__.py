"""Calibration: a person's rig and marker places from recordings."""

from ..assets import marker_sets
from .calibrate import calibrate
from .calibrated import Calibration
from .markerset import MarkerSet, Place
from .markerset_file import detect_marker_set, load_marker_set
from .recognise import Proposal, Recognition, recognise

__all__ = [
    "Calibration",
    "MarkerSet",
    "Place",
    "Proposal",
    "Recognition",
    "calibrate",
    "detect_marker_set",
    "load_marker_set",
    "marker_sets",
    "recognise",
]
