"""Reasons why frames are counted or excluded."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """State of a frame; the first two are counted, the others excluded."""

    MEASURED = 0
    FLIGHT = 1
    RAISED_SUPPORT = 2
    SEAT = 3
    OFF_PLATES = 4
    OTHER_SUPPORT = 5
    NEAR_UNMEASURED = 6
    TRIAL_END = 7
    NO_FORCES = 8
    NO_MOTION = 9
    TOO_SHORT = 10


TEXTS = {
    Reason.MEASURED: "every contact measured",
    Reason.FLIGHT: "flight",
    Reason.RAISED_SUPPORT: "standing on something unmeasured above the floor (a box, a step)",
    Reason.SEAT: "sitting on something unmeasured",
    Reason.OFF_PLATES: "a foot on the floor beside the plates",
    Reason.OTHER_SUPPORT: "unmeasured support",
    Reason.NEAR_UNMEASURED: "within the filter's reach of excluded frames",
    Reason.TRIAL_END: "within the filter's reach of the trial's ends",
    Reason.NO_FORCES: "forces missing",
    Reason.NO_MOTION: "motion missing",
    Reason.TOO_SHORT: "too short between excluded frames to judge",
}
"""Of the reasons, for the report."""
COUNTED = (Reason.MEASURED, Reason.FLIGHT)
