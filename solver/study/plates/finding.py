"""Findings of plate checks (evidence, action taken, and a sentence), and the correction that follows from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated

import numpy as np

from ...arrays import Array, ArrayValue, list_names
from ...errors import InvalidValue
from ...options.plates import FINDINGS
from ...signals.pooling import TWO_SIDED_STDS
from ...wrenches import Wrenches

VERTICAL_MOMENT = 5
"""Index of the vertical moment in a wrench."""
CERTAIN_STDS = 3.0
"""Number of standard deviations beyond which a finding is certain; nothing is corrected for less."""


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


@dataclass(frozen=True, slots=True)
class PlateCorrection(ArrayValue):
    """Correction of wrenches before they enter the equations.

    Attributes:
        free_moment: factor of the free moments; None: the vertical moment counts as not measured.
        shift: (3,) [m] displacement of all plates from their location in the file, world.
        shifts: (K, 3) [m] additional displacement of each plate; (0, 3) if there is none.
        gains: (K,) factors of each plate's readings; (0,) if all are right.
        couple: [m] vertical moment that the plates read per newton of load.
    """

    free_moment: float | None = 1.0
    shift: Annotated[np.ndarray, Array(3)] = field(default_factory=lambda: np.zeros(3))
    shifts: Annotated[np.ndarray, Array(None, 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    gains: Annotated[np.ndarray, Array(None)] = field(default_factory=lambda: np.zeros(0))
    couple: float = 0.0

    def apply(self, wrenches: Wrenches) -> Wrenches:
        """The corrected wrenches."""
        if self.free_moment is None:
            wrenches = wrenches.without_axes((VERTICAL_MOMENT,))
        elif self.free_moment != 1.0:
            wrenches = wrenches.with_free_moments(self.free_moment)
        if len(self.gains):
            wrenches = wrenches.scaled(self.gains)
        if len(self.shifts):
            wrenches = wrenches.displaced(self.shifts)
        if self.couple:
            wrenches = wrenches.without_couple(self.couple)
        return wrenches.displaced(self.shift) if np.any(self.shift) else wrenches


NO_CORRECTION = PlateCorrection()
