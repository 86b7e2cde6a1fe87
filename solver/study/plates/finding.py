"""One thing that was looked at in the plates: the number that tells, what was done about it, and a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...errors import InvalidValue
from ...plate_options import FINDINGS

CERTAIN_STDS = 3.0
"""Standard deviations beyond which a finding is certain; nothing is changed for less."""
TWO_SIDED_STDS = 1.96
"""Standard deviations to either side of an interval of 95 %."""


class Action(Enum):
    """What became of a finding."""

    NOTHING = "as it should be"
    UNCERTAIN = "not certain, nothing was changed"
    UNDONE = "undone"
    TAKEN_OFF = "taken off"
    LEFT_OUT = "left out"
    REPORTED = "told only"
    OVERRIDDEN = "overruled, nothing was changed"
    AS_SPECIFIED = "done as stated"

    @property
    def is_silent(self) -> bool:
        """Whether there is nothing to warn of; of an offset that was taken off the weighing warns."""
        return self in (Action.NOTHING, Action.UNCERTAIN, Action.TAKEN_OFF)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        kind: a key of `FINDINGS`.
        trials: names of the trials that it concerns.
        evidence: the number that tells; what it is says `text`.
        interval: 95 %, of the evidence; NaN where there is none.
        unit: of both; empty for factors.
        done: what became of it.
        text: a sentence for people, with the likely cause.
    """

    kind: str
    trials: tuple[str, ...]
    evidence: float
    interval: tuple[float, float]
    unit: str
    done: Action
    text: str

    def __post_init__(self) -> None:
        if self.kind not in FINDINGS:
            raise InvalidValue(f"{self.kind!r} is no kind of finding: {', '.join(FINDINGS)}")
        object.__setattr__(self, "trials", tuple(self.trials))
        object.__setattr__(self, "interval", tuple(float(end) for end in self.interval))
        if not self.text.strip():
            raise InvalidValue(f"the finding {self.kind!r} says nothing")

    @property
    def sentence(self) -> str:
        """The sentence with its trials and what was done."""
        return f"{', '.join(self.trials)}: {self.text} ({self.done.value})"


UNKNOWN_INTERVAL = (float("nan"), float("nan"))


def compute_interval(value: float, std: float) -> tuple[float, float]:
    """95 % interval of a value with this standard deviation."""
    return (value - TWO_SIDED_STDS * std, value + TWO_SIDED_STDS * std) if np.isfinite(std) else UNKNOWN_INTERVAL


def format_warnings(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The sentences that a reader must be warned of."""
    return tuple(finding.sentence for finding in findings if not finding.done.is_silent)
