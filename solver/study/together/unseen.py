"""Joint estimates judged by what they did not use: every trial with its plates hidden in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...identification.comparison import Comparison, FlightCheck, check_flight, compare
from ...identification.identify import LEAST_FLIGHT, halves
from ...progress import Progress, silent
from ...trial import Trial
from ..preparation import Prepared
from .leading import learnt, led
from .rounds import Work


@dataclass(frozen=True, slots=True)
class Hidden:
    """One trial, or half of the only one, whose plates neither the map nor the parameters were fitted to.

    Attributes:
        comparison: of its wrenches.
        flight: None without one.
        led: whether the other trials agreed on a map.
    """

    comparison: Comparison
    flight: FlightCheck | None
    led: bool


def hidden(work: Work, before: Prepared | None = None, progress: Progress = silent) -> Iterator[Hidden]:
    """Every trial in turn, its motion led by what the others' plates tell of their markers.

    Args:
        work: of one person.
        before: its records prepared as they are; done here by default.
        progress: told before each trial; may cancel.
    """
    before = work.prepared(work.records) if before is None else before
    followed = work.followed({name for name, _ in sources(before)})
    every = sources(before)
    for count, (_, left_out) in enumerate(every):
        progress(count / len(every), f"explaining {left_out.name} by the others")
        others = [(record, trial) for record, trial in every if trial.name != left_out.name]
        if not others:
            continue
        first = work.identified(before, [trial for _, trial in others])
        slopes = learnt(work, before.rig.with_prior(first.parameters), others, followed)
        after = before
        if slopes is not None:
            after = work.prepared(led(work.calibration, work.records, slopes, work.preset))
        trials = {trial.name: (record, trial) for record, trial in sources(after)}
        if left_out.name not in trials:
            continue
        record, trial = trials.pop(left_out.name)
        found = first if slopes is None else work.identified(after, [other for _, other in trials.values()])
        comparison = compare(
            after.rig, trial, found.parameters, found.prior, base=work.options.base, believed=found.believed
        )
        windows = next(r.windows for r in after.records if r.name == record)
        flight = np.zeros(len(trial.counted), bool) if windows is None else windows.flight & trial.counted
        check = None
        if flight.sum() >= LEAST_FLIGHT:
            check = check_flight(after.rig, trial, flight, found.parameters, found.prior)
        yield Hidden(comparison, check, slopes is not None)


def sources(prepared: Prepared) -> list[tuple[str, Trial]]:
    """The trials that count, each with the name of its record; of the only one its halves."""
    found = [(r.name, r.trial) for r in prepared.records if r.trial is not None and r.trial.counted.any()]
    return [(name, half) for name, trial in found for half in halves(trial)] if len(found) == 1 else found
