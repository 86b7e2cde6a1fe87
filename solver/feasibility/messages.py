"""Messages about check results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from ..contacts.schedule import Schedule, join_spans
from ..formats.text_table import format_table
from ..scene.labels import display_name
from ..skeleton.rig import CONTRADICTING, Rig
from .check_definition import Check
from .check_results import Checks


def plural_names(checks: Iterable[Check]) -> list[str]:
    """Display names of what the checks evaluate, in the plural."""
    return [check.messages.plural for check in checks]


def describe_unsupported(
    schedule: Schedule, checks: Checks, allowed: Sequence[tuple[float, float]] = ()
) -> tuple[str, ...]:
    """One message for every interval without contact in which the body does not fall freely.

    Args:
        schedule, checks: of the motion.
        allowed: start and stop [s] of intervals that are not reported.
    """
    airborne = (phase for phase in schedule.phases if phase.airborne)
    spans = join_spans(phase for phase in airborne if _is_unsupported(phase.start, phase.stop, checks))
    return tuple(
        f"nothing carries the body from {start:.2f} to {stop:.2f} s, and it does not fall as in a jump: add a contact "
        "strip there for a foot on the floor"
        for start, stop in spans
        if not any(a - 1e-9 <= start and stop <= b + 1e-9 for a, b in allowed)
    )


def describe_unreachable(name: str, configurations: Sequence[str], notes: Sequence[str]) -> str:
    """Why no posture can be reached from the home posture, as far as is known, and what to do.

    Args:
        name: of the rig.
        configurations: foot configurations that were tried.
        notes: messages of failed weight shifts.
    """
    reasons = dict.fromkeys(each.rpartition(": ")[2] for each in notes if "left out" in each)
    remedy = "draw more postures (--effort 3), or relax the limits (--shrink, --clearance, --torque-reserve)"
    problem = f"rig {name!r}: no path leads from home to any feasible posture of {', '.join(configurations)}"
    if reasons:
        return f"{problem}; weight shifts fail because {'; '.join(reasons)}: {remedy}"
    return f"{problem}: {remedy}"


def find_overlapping(rig: Rig, sentences: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of a rig's links that overlap according to messages of the checks, each once, in the rig's order."""
    text = "\n".join(sentences)
    result = []
    for pair in combinations(rig.links, 2):
        both = " and ".join(pair)
        pattern = rf"(?:^|[:;] ){re.escape(display_name(both))} overlap|\({re.escape(both)}\) fails"
        if re.search(pattern, text, re.MULTILINE):
            result.append(pair)
    return tuple(result)


def suggest_allowed_pairs(rig: Rig, sentences: Iterable[str]) -> str:
    """The option that allows the overlaps named in messages, to be appended to an error; empty if none overlap."""
    pairs = " ".join(f"{one}:{other}" for one, other in find_overlapping(rig, sentences))
    advice = "If shapes are larger than the links they represent, allow these overlaps: --may-touch"
    return f". {advice} {pairs}" if pairs else ""


def describe_contradictions(rig: Rig) -> str:
    """Contradictory joint ranges of the two sides in the rig's file, to be appended to an error; empty if none."""
    notes = "; ".join(note for note in rig.notes if CONTRADICTING in note)
    return f". In its file {notes}: correct axes or limits there first" if notes else ""


def _is_unsupported(start: float, stop: float, checks: Checks) -> bool:
    inside = (checks.times >= start) & (checks.times < stop)
    falls = [margin.failed[inside].any() for margin in checks.margins if margin.check.applies_when == "airborne"]
    return bool(np.any(falls))


def format_check_table(checks: Checks) -> str:
    """A table with one row for each check: where it first fails, and its worst margin."""
    first = {failure.check.name: failure for failure in checks.first_failures}
    rows = []
    for margin in checks.margins:
        frame = int(np.argmin(margin.smallest))
        worst = margin.values[frame].min()
        failure = first.get(margin.name)
        rows.append((
            margin.name,
            "fails" if failure else "holds",
            f"{failure.time:.3f}" if failure else "",
            display_name(failure.item) if failure else "",
            f"{checks.times[frame]:.3f}",
            display_name(margin.items[int(margin.worst_items[frame])]),
            f"{worst:+.4g} {margin.unit}",
        ))  # fmt: skip
    return format_table(("check", "", "first [s]", "item", "worst [s]", "item", "margin"), rows)
