"""What joints are worth against a segment's own markers: plain figures, for the command line and Blender too."""

from __future__ import annotations

SOFT = 10.0
"""Markers' worth of soft joints of pelvis and trunk, where asked for: with n markers these give way by the sum of what
is left to them over n + this. Drop jumps and one run were explained better by it, another person's runs worse."""
SOFT_LINKS = 3.0
"""The same of every link in a motion smoothed as a whole: on the runs of subject_b and subject_e it predicts hidden
markers best, of 1, 3 and 10."""
RIGID = "rigid"
"""The word for joints that do not give way."""
