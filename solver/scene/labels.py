"""Names and numbers as text for reports, panels and the live check."""

from __future__ import annotations

import math
from collections.abc import Sequence

MAX_NAMED = 3
"""Most names in a list before it gives the number of others."""

MAX_SHOWN_SIZE = 10.0
"""[m] and multiple above which a size says only that something is far beyond its limit: where hardly any force acts,
the zero-moment point is 900 m away."""


def display_name(name: str) -> str:
    """A link, joint or patch for people: ``right_ankle`` becomes ``"right ankle"``."""
    return name.replace("_", " ")


def format_length(metres: float) -> str:
    """``"1.20 m"``, below a metre ``"4.1 cm"``, below a centimetre ``"4.1 mm"``, below a millimetre two digits, and
    ``"more than 10 m"``."""
    size = abs(metres)
    if size > MAX_SHOWN_SIZE:
        return f"more than {MAX_SHOWN_SIZE:.0f} m"
    if size >= 0.9995:
        return f"{metres:.2f} m"
    if size >= 0.00995:
        return f"{100.0 * metres:.1f} cm"
    return f"{1000.0 * metres:.1f} mm" if size >= 0.001 else f"{1000.0 * metres:.2g} mm"


def format_angle(radians: float) -> str:
    """``"12 deg"``, below ten degrees ``"4.1 deg"``, below a tenth three decimals, or ``"under 0.001 deg"``."""
    degrees = math.degrees(radians)
    if abs(degrees) < 0.0005:
        return "under 0.001 deg" if degrees else "0 deg"
    return f"{degrees:.0f} deg" if abs(degrees) >= 10.0 else f"{degrees:.{1 if abs(degrees) >= 0.1 else 3}f} deg"


def format_angular_speed(speed: float) -> str:
    """An angle a second, formatted as by `format_angle`."""
    return f"{format_angle(speed)}/s"


def format_percent(share: float) -> str:
    """A fraction as a percentage with three digits: ``"12.5 %"``; above ten times, ``"more than 1000 %"``."""
    return f"{100.0 * share:.3g} %" if abs(share) < MAX_SHOWN_SIZE else f"more than {100.0 * MAX_SHOWN_SIZE:.0f} %"


def append_time(sentence: str, time: float) -> str:
    """A sentence about a time [s]."""
    return f"{sentence} at {time:.2f} s"


def join_names(words: Sequence[str], shown: int = MAX_NAMED) -> str:
    """``"a, b and c"``; for many names the first ones and the number of others."""
    if len(words) > shown + 1:
        return f"{', '.join(words[:shown])} and {len(words) - shown} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
