"""The sections of flight: what was identified from it, and how well gravity alone explains it."""

from __future__ import annotations

from html import escape

from ..content import Content, FlightIdentification
from ..document import Numbering
from ..tables import format_number, format_ratio, render_table


def render_flight_identification(content: Content, numbering: Numbering) -> str:
    found = content.from_flight
    if found is None:
        return ""
    caption = (
        "Flights detected from the motion, by the free fall of the centre of mass; no forces were used. The equations "
        f"of a body without contact have a null space, here of dimension {found.dimension}"
        + (f" (gap {found.gap:.3g})" if found.gap < float("inf") else "")
        + ". The body's parameters lie in it, scaled by the total mass."
    )
    return f"<p>{escape(found.summary)}.</p>" + numbering.add_caption("Table", flight_intervals_table(found), caption)


def flight_intervals_table(found: FlightIdentification) -> str:
    """Flights of an identification without forces."""
    rows = [
        [escape(trial), format_number(first, 2), format_number(last, 2), "used" if used else "too short"]
        for trial, first, last, used in found.spans
    ]
    return render_table(["trial", "from [s]", "to [s]", ""], rows)


def render_flight(content: Content, numbering: Numbering) -> str:
    if not content.flights:
        return ""
    caption = "In flight only gravity acts: both quantities should be zero. RMS over the flight frames."
    return numbering.add_caption("Table", flight_table(content), caption)


def flight_table(content: Content) -> str:
    """Checks in flight, where gravity alone acts."""
    rows = [
        [
            escape(row.trial),
            str(row.frames),
            format_number(row.identified_acceleration, 3),
            format_number(row.prior_acceleration, 3),
            format_ratio(row.identified_acceleration / row.prior_acceleration),
            format_number(row.identified_momentum_rate, 2),
            format_number(row.prior_momentum_rate, 2),
            format_ratio(row.identified_momentum_rate / row.prior_momentum_rate),
        ]
        for row in content.flights
    ]
    head = ["trial", "frames", "identified", "prior", "ratio", "identified", "prior", "ratio"]
    above = [("", 2), ("CoM acceleration without gravity [m/s²]", 3), ("rate of angular momentum [N m]", 3)]
    return render_table(head, rows, spanning_titles=above)
