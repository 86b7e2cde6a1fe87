"""Sides and handedness: where left is by the names, against what the toes, knees and face say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...rigs.anthropometry import MIRROR
from ..check_definition import InputCheck, InputProblem, InputToCheck, OtherReading, turn_motion

MIN_WIDTH = 0.02
"""Smallest distance of left from right, relative to the way from feet to head, that says which side is which.
Measured on the recordings of `body_points.SAMPLES`: half and twice as much find the same."""
WRONG_SHARE = 0.8
"""Share of the instants in which left must be on the right. Measured on the recordings of `body_points.SAMPLES`: with
.6 also the mirrored file of a sprint is refused, .9 finds the same; those that are right have less than .1."""


def _measure(inputs: InputToCheck) -> InputProblem | None:
    points = inputs.points
    if points is None or not points.pairs or not points.ahead:
        return None
    axis, right, ahead = points.body_axis, points.mean_way(points.pairs), points.mean_way(points.ahead)
    across = np.cross(ahead, axis)
    sizes = np.linalg.norm(across, axis=1) * np.linalg.norm(axis, axis=1)
    widths = (across * right).sum(axis=1) / np.where(sizes > 0.0, sizes, np.nan)
    known = np.abs(widths) > MIN_WIDTH
    if not known.any() or np.mean(widths[known] > 0.0) > 1.0 - WRONG_SHARE:
        return None
    return InputProblem(
        f"left and right are exchanged: in {100.0 * np.mean(widths[known] < 0.0):.0f} % of the time what is named left "
        "lies on the right of a body whose toes, knees or face point ahead",
        "Either a program with left-handed axes exported the file (mirror it: change the sign of one axis, or export "
        "right-handed axes), or its names are exchanged (rename left and right); the data cannot say which",
    )


def _readings(inputs: InputToCheck) -> Sequence[OtherReading]:
    """Left-handed axes, of markers with another vertical axis than z.

    Systems record in right-handed axes. Whoever makes y the vertical axis by exchanging the columns of y and z makes
    them left-handed, and names stay right. Markers with z up were not converted: there names may be exchanged as well.
    """
    recording = inputs.recording
    if recording.markers is None or (recording.up or "z") == "z":
        return ()
    overrule = "renaming left and right in the file"
    return [OtherReading("left-handed axes", overrule, lambda other: turn_motion(MIRROR, other.up, other))]


SIDES = InputCheck(
    name="sides",
    measures="left by the names against left by toes, knees and face; mirrored files and exchanged names look alike, "
    "but for markers whose vertical axis is not z the axes are taken as left-handed",
    measure=_measure,
    readings=_readings,
)
