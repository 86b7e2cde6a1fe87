"""What the checks found, in sentences for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..contacts.schedule import Schedule
from .definition import Check
from .margins import Checks


def plural_names(checks: Iterable[Check]) -> list[str]:
    """What checks look at as people call it, in the plural or as what cannot be counted."""
    return [check.words.plural for check in checks]


def unsupported(schedule: Schedule, checks: Checks, but: Sequence[tuple[float, float]] = ()) -> tuple[str, ...]:
    """Spans in which no foot is planted though it is no jump: the body would have to hang there; a sentence each.

    Args:
        schedule, checks: of the motion.
        but: start and stop [s] of spans that are let pass.
    """
    spans: list[tuple[float, float]] = []
    for phase in schedule.phases:
        if not phase.airborne or not _hangs(phase.start, phase.stop, checks):
            continue
        if spans and abs(spans[-1][1] - phase.start) < 1e-9:
            spans[-1] = (spans[-1][0], phase.stop)
        else:
            spans.append((phase.start, phase.stop))
    return tuple(
        f"nothing carries the body from {start:.2f} to {stop:.2f} s, and it does not fall as in a jump: add a contact "
        "strip there for a foot that stands"
        for start, stop in spans
        if not any(a - 1e-9 <= start and stop <= b + 1e-9 for a, b in but)
    )


def _hangs(start: float, stop: float, checks: Checks) -> bool:
    inside = (checks.times >= start) & (checks.times < stop)
    falls = [margin.failed[inside].any() for margin in checks.margins if margin.check.when == "airborne"]
    return bool(np.any(falls))
