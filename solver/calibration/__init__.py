"""Recordings of a person in, lengths of the rig and places of its markers out."""

from ..base.assets import marker_sets
from .calibrate import fit_calibration
from .calibration import Calibration
from .marker_set import MarkerLocation, MarkerSet, detect_marker_set, load_marker_set
from .recognise import Proposal, Recognition, recognise

__all__ = [
    "Calibration",
    "MarkerLocation",
    "MarkerSet",
    "Proposal",
    "Recognition",
    "detect_marker_set",
    "fit_calibration",
    "load_marker_set",
    "marker_sets",
    "recognise",
]
