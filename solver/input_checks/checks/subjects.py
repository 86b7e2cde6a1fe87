"""Subjects: the same names under two prefixes are two bodies in one file."""

from __future__ import annotations

import re
from itertools import combinations

from ..check_definition import InputCheck, InputProblem, InputToCheck

PREFIX = re.compile(r"(.+?)[:_]+(.+)")
NO_SUBJECTS = re.compile("r|l|right|left|med(ial)?|lat(eral)?|m|a|p|ant|post", re.IGNORECASE)
"""Prefixes that state where on one body a marker is."""
LEAST_NAMES = 12
"""A body has at least so many markers or segments, by convention; an object has other names."""
SAME_SHARE = 0.8
"""Fraction of the smaller set of names that the other one must hold, too: labels that were lost differ."""


def _measure(inputs: InputToCheck) -> InputProblem | None:
    moving = inputs.recording.markers or inputs.recording.segments
    names: dict[str, set[str]] = {}
    for match in map(PREFIX.fullmatch, () if moving is None else moving.names):
        if match is not None and not NO_SUBJECTS.fullmatch(match[1]):
            names.setdefault(match[1], set()).add(match[2])
    bodies = {prefix: own for prefix, own in names.items() if len(own) >= LEAST_NAMES}
    for (one, own), (other, theirs) in combinations(bodies.items(), 2):
        if len(own & theirs) >= SAME_SHARE * min(len(own), len(theirs)):
            return InputProblem(
                f"two subjects are in this file: {one} ({len(own)} names) and {other} ({len(theirs)} of the same kind)",
                "Export one subject at a time; the file does not state which of them is meant",
            )
    return None


SUBJECTS = InputCheck(name="subjects", measures="names under one prefix against those under another", measure=_measure)
