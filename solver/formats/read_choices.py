"""Choices of reading options, for the library and the command line."""

from __future__ import annotations

UP_AXES = ("auto", "x", "y", "z", "-x", "-y", "-z")
FORCE_UNITS = ("m", "mm", "cm")
LENGTH_UNITS = (*FORCE_UNITS, "inch", "cmu")
ANGLE_UNITS = ("deg", "rad")
MISSING = ("error", "keep")
