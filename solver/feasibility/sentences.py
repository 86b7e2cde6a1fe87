"""What the checks found, in sentences for people: centimetres, degrees and per cent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..contacts.schedule import Schedule
from .margins import Checks, Failure

PLAIN = {
    "joint angle": "joint angles",
    "joint speed": "joint speeds",
    "joint torque": "joint torques",
    "zmp": "balance",
    "twist": "turning feet",
    "unilateral": "weight on each foot",
    "slip": "planted feet",
    "placement": "feet's distance",
    "self-collision": "collisions",
    "floor": "height above the floor",
}
"""Checks as people call them, where the check's own name is not plain enough."""
SHOWN = 3
"""Things named in a sentence before it says how many more there are."""


def length(metres: float) -> str:
    """``"4.1 cm"``, below a millimetre ``"0.4 mm"``."""
    return f"{100.0 * metres:.1f} cm" if abs(metres) >= 0.001 else f"{1000.0 * metres:.2g} mm"


def angle(radians: float) -> str:
    """``"12 deg"``, below ten degrees ``"4.1 deg"``, below a tenth two digits."""
    degrees = float(np.degrees(radians))
    return f"{degrees:.0f} deg" if abs(degrees) >= 10.0 else f"{degrees:.{1 if abs(degrees) >= 0.1 else 3}f} deg"


def beyond(failure: Failure) -> str:
    """What fails and by how much: ``"joint torque of right_ankle is 12 % beyond its limit"``."""
    item, far = failure.item, -failure.margin
    percent = f"{100.0 * far:.3g} %"
    told = {
        "joint angle": f"{item} is turned {angle(far)} beyond its limit",
        "joint speed": f"{item} is {angle(far)}/s faster than it can",
        "joint torque": f"joint torque of {item} is {percent} beyond its limit",
        "zmp": f"the zero-moment point is {length(far)} outside the support polygon",
        "friction": f"{item} lacks friction for {percent} of the weight",
        "twist": f"{item} would turn on the floor: friction for {percent} of the weight is missing",
        "unilateral": f"{item} would have to pull on the floor with {percent} of the weight",
        "slip": f"{item} slides {length(far)} from where it is planted",
        "placement": f"the planted feet are {length(far)} too near or too far from each other",
        "flight": f"nothing carries the body ({percent} of its weight missing)",
        "self-collision": f"{item} overlap by {length(far)}",
        "floor": f"{item} is {length(far)} below the floor",
    }
    return told.get(failure.check, f"{failure.check} of {item} is {far:.3g} {failure.unit} beyond its limit")


def fails(failure: Failure) -> str:
    """`beyond`, with the time."""
    return f"{beyond(failure)} at {failure.time:.2f} s"


def plain_names(checks: Iterable[str]) -> list[str]:
    """Checks as people call them, in the plural or as what cannot be counted."""
    return [PLAIN.get(name, name) for name in checks]


def listed(words: Sequence[str], shown: int = SHOWN) -> str:
    """``"a, b and c"``; of many the first ones and how many more."""
    if len(words) > shown + 1:
        return f"{', '.join(words[:shown])} and {len(words) - shown} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def unsupported(schedule: Schedule, checks: Checks) -> tuple[str, ...]:
    """Spans in which no foot is planted though it is no jump: the body would have to hang there; a sentence each."""
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
    )


def _hangs(start: float, stop: float, checks: Checks) -> bool:
    inside = (checks.times >= start) & (checks.times < stop)
    return bool(checks.margin("flight").failed[inside].any())
