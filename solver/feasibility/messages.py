"""What the checks found, in sentences for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from ..contacts.schedule import Schedule
from ..rig import CONTRADICTING, Rig
from ..scene.labels import display_name
from .check_definition import Check
from .check_results import Checks


def plural_names(checks: Iterable[Check]) -> list[str]:
    """What checks look at as people call it, in the plural or as what cannot be counted."""
    return [check.messages.plural for check in checks]


def describe_unsupported(
    schedule: Schedule, checks: Checks, allowed: Sequence[tuple[float, float]] = ()
) -> tuple[str, ...]:
    """Spans in which no foot is planted though it is no jump: the body would have to hang there; a sentence each.

    Args:
        schedule, checks: of the motion.
        allowed: start and stop [s] of spans that are let pass.
    """
    spans: list[tuple[float, float]] = []
    for phase in schedule.phases:
        if not phase.airborne or not _is_unsupported(phase.start, phase.stop, checks):
            continue
        if spans and abs(spans[-1][1] - phase.start) < 1e-9:
            spans[-1] = (spans[-1][0], phase.stop)
        else:
            spans.append((phase.start, phase.stop))
    return tuple(
        f"nothing carries the body from {start:.2f} to {stop:.2f} s, and it does not fall as in a jump: add a contact "
        "strip there for a foot that stands"
        for start, stop in spans
        if not any(a - 1e-9 <= start and stop <= b + 1e-9 for a, b in allowed)
    )


def describe_unreachable(name: str, configurations: Sequence[str], notes: Sequence[str]) -> str:
    """Why no posture can be reached from where a rig stands, as far as is known, and what may help.

    Args:
        name: of the rig.
        configurations: of its feet, that were tried.
        notes: what stood in the way elsewhere, a sentence each.
    """
    met = dict.fromkeys(each.rpartition(": ")[2] for each in notes if "left out" in each)
    ways = "draw more postures (--effort 3), or ask less (--shrink, --clearance, --torque-reserve)"
    begun = f"rig {name!r}: no way leads from home to any feasible posture of {', '.join(configurations)}"
    return f"{begun}; where weight should shift, {'; '.join(met)}: {ways}" if met else f"{begun}: {ways}"


def find_overlapping(rig: Rig, sentences: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of a rig's links that sentences of the checks say overlap, each once, in the rig's order."""
    text = "\n".join(sentences)
    result = []
    for pair in combinations(rig.links, 2):
        both = " and ".join(pair)
        words = rf"(?:^|[:;] ){re.escape(display_name(both))} overlap|\({re.escape(both)}\) fails"
        if re.search(words, text, re.MULTILINE):
            result.append(pair)
    return tuple(result)


def suggest_allowed_pairs(rig: Rig, sentences: Iterable[str]) -> str:
    """What to add to what a rig cannot do where links overlap: the option that lets them; nothing where none do."""
    pairs = " ".join(f"{one}:{other}" for one, other in find_overlapping(rig, sentences))
    said = "Where shapes are larger than the links they stand for, let these overlap: --may-touch"
    return f". {said} {pairs}" if pairs else ""


def describe_contradictions(rig: Rig) -> str:
    """What to add to what a rig cannot do where its file gives its two sides ranges that no body has; else nothing."""
    notes = "; ".join(note for note in rig.notes if CONTRADICTING in note)
    return f". In its file {notes}: correct axes or limits there first" if notes else ""


def _is_unsupported(start: float, stop: float, checks: Checks) -> bool:
    inside = (checks.times >= start) & (checks.times < stop)
    falls = [margin.failed[inside].any() for margin in checks.margins if margin.check.applies_when == "airborne"]
    return bool(np.any(falls))
