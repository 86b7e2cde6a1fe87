"""Why a frame counts or does not, and the thresholds that decide."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Reason(IntEnum):
    """What holds in a frame; the first two count, the others do not."""

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
        """In words, for the report."""
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
    """Force missing on average over ``seconds`` that proves unmeasured support.

    Attributes:
        seconds: averaging time [s].
        of_weight: share of the body weight, and ...
        of_force: ... share of the acting force (landings of several body weights have larger errors) that it exceeds.
    """

    seconds: float
    of_weight: float
    of_force: float


@dataclass(frozen=True, slots=True)
class WindowRules:
    """Thresholds, in physical units relative to the body weight, the same for every trial.

    Errors of a kinematic acceleration are oscillations: their integral is a velocity error of a few cm/s at most, so
    averaged over a time T they shrink like 1/T, while a support that lasts stays. Hence large shares prove a short
    support and small ones only a long one: 30 % over a brief step beside the plates, 15 % over 0.2 s, 10 % over 0.8 s
    (more than a step). The smallest is above what wrong segment masses or a plate offset of 6 % leave.

    Attributes:
        missing_forces: any of them proves unmeasured support.
        released_weight: smaller share of the body weight (plus ``released_of_force``) that must still be missing
            locally, over ``released_seconds``; down to it a proven support is followed in time, both ways, ...
        follow: [s] ... but no further than this: a sitting person takes about 0.2 s to leave a chair.
        released_of_force: see ``released``.
        released_seconds: see ``released``.
        shortest: [s] counted stretches between excluded frames must last this long to be judged.
        unloaded: vertical force below this share of the body weight means that nothing is touched.
        raised: [m] feet higher than this above their measured floor contact stand on something.
        seat_drop: [m] a root link lower than this below its highest measured place may sit ...
        seat_speed: [m/s] ... if it hardly moves.
        slow: [m/s] a foot slower than this stands.
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
