"""Reasons why frames are counted or excluded, and the thresholds for them."""

from __future__ import annotations

from dataclasses import dataclass
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

    @property
    def text(self) -> str:
        """Text for the report."""
        return _TEXT[self]


_TEXT = {
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
COUNTED = (Reason.MEASURED, Reason.FLIGHT)


@dataclass(frozen=True, slots=True)
class MissingForce:
    """Mean missing force that proves unmeasured support: more than `of_weight` body weight + `of_force` acting force.

    Attributes:
        seconds: averaging time [s].
        of_weight: fraction of the body weight.
        of_force: fraction of the acting force: landings with several body weights have larger errors.
    """

    seconds: float
    of_weight: float
    of_force: float


@dataclass(frozen=True, slots=True)
class WindowRules:
    """Thresholds, in physical units relative to the body weight, the same for every trial.

    Errors of a kinematic acceleration oscillate, and their integral is a velocity error of a few cm/s at most. So their
    mean over a time T decreases with 1/T, while a lasting support remains. A large missing fraction therefore proves a
    short support, a small one only a long support: 30 % over a brief step beside the plates, 15 % over 0.2 s, 10 % over
    0.8 s (more than a step). The smallest exceeds the effect of wrong segment masses or of a plate offset of 6 %.

    Attributes:
        missing_forces: any of them proves unmeasured support.
        released_weight: smaller fraction of the body weight (plus ``released_of_force`` of the acting force) missing
            over ``released_seconds``; a proven support extends to neighbouring frames that exceed it.
        follow: [s] largest extension: a sitting person takes about 0.2 s to leave a chair.
        released_of_force: see ``released_weight``.
        released_seconds: see ``released_weight``.
        shortest: [s] least duration of a counted interval between excluded frames.
        unloaded: vertical force, as a fraction of the body weight, below which there is no contact.
        raised: [m] height above their floor contact on the plates from which feet are on a raised support.
        seat_drop: [m] drop of the root link below its highest position on the plates from which the body may sit ...
        seat_speed: [m/s] ... if the root is slower than this.
        slow: [m/s] speed below which a foot is in stance.
    """

    missing_forces: tuple[MissingForce, ...] = (
        MissingForce(0.1, 0.30, 0.20),
        MissingForce(0.2, 0.15, 0.10),
        MissingForce(0.8, 0.10, 0.03),
    )
    released_weight: float = 0.10
    released_of_force: float = 0.05
    released_seconds: float = 0.05
    follow: float = 0.2
    shortest: float = 0.2
    unloaded: float = 0.03
    raised: float = 0.06
    seat_drop: float = 0.15
    seat_speed: float = 0.3
    slow: float = 0.3
