"""Findings of plate checks (evidence, action taken, and a sentence), and the correction that follows from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...base.arrays import list_names
from ...base.errors import InvalidValue
from ...options.plates import FINDINGS
from ...signals.pooling import TWO_SIDED_STDS


class Action(Enum):
    """What was done about a finding."""

    NOTHING = "correct, nothing was changed"
    UNCERTAIN = "not certain, nothing was changed"
    UNDONE = "corrected"
    TAKEN_OFF = "removed"
    LEFT_OUT = "left out"
    REPORTED = "reported only"
    OVERRIDDEN = "overridden, nothing was changed"
    AS_SPECIFIED = "done as specified"

    @property
    def is_silent(self) -> bool:
        """Whether no warning is needed; the weighing warns of removed offsets itself."""
        return self in (Action.NOTHING, Action.UNCERTAIN, Action.TAKEN_OFF)

    def unless(self, overridden: bool) -> Action:
        """The action, or none if the user overrode the finding."""
        return Action.OVERRIDDEN if overridden else self


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one plate check.

    Attributes:
        kind: a key of `FINDINGS`.
        trials: names of the trials that it concerns.
        evidence: the number that decides; `text` says what it is.
        interval: 95 % interval of the evidence; NaN if there is none.
        unit: of both; empty for factors.
        done: what was done about it.
        text: a sentence with the likely cause.
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
            raise InvalidValue(f"unknown kind of finding {self.kind!r}; known: {', '.join(FINDINGS)}")
        object.__setattr__(self, "trials", tuple(self.trials))
        object.__setattr__(self, "interval", tuple(float(end) for end in self.interval))
        if not self.text.strip():
            raise InvalidValue(f"the finding {self.kind!r} has no text")

    @property
    def sentence(self) -> str:
        """The sentence with its trials and what was done."""
        return f"{list_names(self.trials)}: {self.text} ({self.done.value})"


UNKNOWN_INTERVAL = (float("nan"), float("nan"))


def compute_interval(value: float, std: float) -> tuple[float, float]:
    """95 % interval of a value with this standard deviation."""
    return (value - TWO_SIDED_STDS * std, value + TWO_SIDED_STDS * std) if np.isfinite(std) else UNKNOWN_INTERVAL


def format_warnings(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The sentences of findings that need a warning."""
    return tuple(finding.sentence for finding in findings if not finding.done.is_silent)
