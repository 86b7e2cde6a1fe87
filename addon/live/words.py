"""The live check's readings in words: margins with units that animators use."""

from __future__ import annotations

import math

from ..values import SceneFrame, SceneMargin
from .readings import Readings

WORST = 3
"""Margins in the read-out."""
EXACT = ("slip", "placement", "flight")
"""Checks that hold or do not: what is left of them says nothing."""
LOW = 0.01
"""[m] Links higher over the floor than this are no news."""
LARGE = 1.0
"""[m] from which metres read better than millimetres."""


def plain(name: str) -> str:
    """A link's name as people say it."""
    return name.replace("_", " ")


def told(margin: SceneMargin) -> str:
    """One margin: ``"right ankle torque: 12 % to spare"``."""
    item, left = plain(margin.item), margin.value >= 0.0
    size = abs(margin.value)
    if margin.check == "joint torque":
        return f"{item} torque: {percent(size)} {'to spare' if left else 'too much'}"
    if margin.check == "joint angle":
        return f"{item} angle: {math.degrees(size):.1f}\N{DEGREE SIGN} {'to spare' if left else 'beyond its limit'}"
    if margin.check == "joint speed":
        return f"{item} speed: {math.degrees(size):.0f}\N{DEGREE SIGN}/s {'to spare' if left else 'too fast'}"
    if margin.check == "zmp":
        return f"balance: ZMP {length(size)} {'inside' if left else 'outside'}"
    if margin.check == "friction":
        return f"{item} friction: {percent(size)} of the weight {'to spare' if left else 'too much'}"
    if margin.check == "twist":
        grip = f"friction for {percent(size)} of the weight"
        return f"{item} {'keeps its heading' if left else 'turns'}: {grip} {'to spare' if left else 'lacking'}"
    if margin.check == "unilateral":
        return f"{item} {'presses' if left else 'would have to pull'}: {percent(size)} of the weight"
    if margin.check == "slip":
        return f"{item}: stays in place" if not margin.failed else f"{item}: slips {length(size)}"
    if margin.check == "placement":
        return "feet: keep their distance" if not margin.failed else f"feet: drift apart by {length(size)}"
    if margin.check == "flight":
        return "flight: ballistic" if not margin.failed else f"flight: {percent(size)} of the weight off a free fall"
    if margin.check == "self-collision":
        return f"{item}: {length(size)} {'apart' if left else 'into each other'}"
    if margin.check == "floor":
        return f"{item}: {length(size)} {'above' if left else 'into'} the floor"
    return f"{plain(margin.check)}, {item}: {margin.value:.3g} {margin.unit}"


def readout(frame: SceneFrame) -> list[tuple[str, SceneMargin]]:
    """The worst margins of a frame, worst first, in words."""
    meant = [margin for margin in frame.margins if margin.failed or _says_something(margin)]
    return [(told(margin), margin) for margin in sorted(meant, key=lambda margin: margin.comfort)[:WORST]]


def _says_something(margin: SceneMargin) -> bool:
    return margin.check not in EXACT and not (margin.check == "floor" and margin.value > LOW)


def progress(readings: Readings | None) -> str:
    """How far the check is."""
    if readings is None:
        return "starting"
    if readings.message:
        return readings.message
    total = len(readings.frames)
    if readings.checked < total:
        return f"checked {readings.checked} of {total} frames" if readings.checked else f"sent {total} frames"
    spans = len(readings.failing())
    if not spans:
        return f"all {total} frames hold"
    return f"all {total} frames checked, {spans} failing span{'s' if spans > 1 else ''}"


def percent(share: float) -> str:
    """A share in percent, with a digit more where it is small."""
    return f"{100.0 * share:.1f} %" if share < 0.0995 else f"{100.0 * share:.0f} %"


def length(metres: float) -> str:
    """A length in millimetres, or metres where it is long."""
    if metres >= LARGE:
        return f"{metres:.2f} m"
    return f"{1e3 * metres:.1f} mm" if metres < 0.00995 else f"{1e3 * metres:.0f} mm"
