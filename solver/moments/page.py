"""The page of joint moments: of each trial the residual, the moments over time with their intervals, and the peaks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from ..report.document import Numbering, build_document, render_card, render_cards
from ..report.figures import WIDTH
from ..report.svg import Axis, Drawing, axis_limits, find_runs
from ..report.tables import format_number, render_table
from .values import JointMoments

COLUMNS = 3
LEFT, GAP, TOP, PANEL, BETWEEN = 44.0, 52.0, 26.0, 84.0, 40.0
"""Pixels: margin, space between columns, header, height of a panel and space below it."""
MIN_RANGE = 0.05
"""[N m/kg] Smallest range of a panel, so that noise does not look like a signal."""
DIGITS = 3


def render_moments(found: Sequence[JointMoments]) -> str:
    """The whole page."""
    numbering = Numbering()
    sections = [(moments.trial, _render_trial(moments, numbering)) for moments in found]
    trials = f"{len(found)} trial{'s' * (len(found) != 1)}"
    head = f"<header><h1>Joint moments</h1><p>{trials}, {found[0].mass:.2f} kg</p></header>"
    return build_document("Joint moments", head, sections, "residual moment about the root link's origin")


def peaks(found: JointMoments) -> np.ndarray:
    """Least and greatest value per kg of each coordinate and half the 95 % interval at the larger one, (C, 3).

    NaN where there is no value.
    """
    result = np.full((len(found.names), 3), np.nan)
    half = found.half_width / found.mass
    for k, values in enumerate(found.per_kg.T):
        known = np.flatnonzero(np.isfinite(values))
        if len(known):
            own = values[known]
            largest = known[int(np.argmax(np.abs(own)))]
            result[k] = own.min(), own.max(), half[largest, k]
    return result


def _render_trial(found: JointMoments, numbering: Numbering) -> str:
    (force, moment), (peak_force, peak_moment) = found.residual_rms, found.residual_peak
    frames = int(np.isfinite(found.residual).all(axis=1).sum())
    cards = [
        render_card("residual force", f"{format_number(force, 1)} N", f"RMS; peak {format_number(peak_force, 1)} N"),
        render_card(
            "residual moment", f"{format_number(moment, 1)} N m", f"RMS; peak {format_number(peak_moment, 1)} N m"
        ),
        render_card("frames", f"{frames} of {len(found)}", "in which every contact is measured"),
    ]
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    figure = numbering.add_caption(
        "Figure",
        _draw(found),
        "Moment per kilogram of every coordinate [N m/kg] (forces of sliding joints [N/kg]): positive drives the "
        "coordinate to increase. The band is the 95 % interval due to the inertial parameters alone; frames with "
        "unmeasured contacts are left out.",
    )
    rows = [
        [escape(name), escape(meaning), *(format_number(value, DIGITS) for value in row)]
        for name, meaning, row in zip(found.names, found.meanings, peaks(found))
    ]
    table = numbering.add_caption(
        "Table",
        render_table(
            ["coordinate", "positive", "least", "greatest", "± 95 %"], rows, has_text_column=any(found.meanings)
        ),
        "Least and greatest moment per kilogram [N m/kg], and half the 95 % interval at the larger one.",
    )
    listed = f'<ul class="warnings">{notes}</ul>' if notes else ""
    return render_cards(cards) + listed + figure + table


def _draw(found: JointMoments) -> str:
    """A panel for every coordinate."""
    rows = -(-len(found.names) // COLUMNS)
    column = (WIDTH - LEFT - 12.0 - (COLUMNS - 1) * GAP) / COLUMNS
    drawing = Drawing(WIDTH, TOP + rows * (PANEL + BETWEEN), f"Joint moments during {found.trial}")
    half = found.half_width / found.mass
    for k, name in enumerate(found.names):
        row, side = divmod(k, COLUMNS)
        x0, y0 = LEFT + side * (column + GAP), TOP + row * (PANEL + BETWEEN)
        values = found.per_kg[:, k]
        x = Axis(float(found.times[0]), float(found.times[-1]), x0, x0 + column)
        reach = np.nan_to_num(half[:, k])
        y = Axis(*axis_limits(values - reach, values + reach, min_range=MIN_RANGE), y0 + PANEL, y0)
        drawing.frame(x, y, x.ticks(4), y.ticks(3))
        if y.low < 0.0 < y.high:
            drawing.line(x0, float(y(0.0)), x0 + column, float(y(0.0)), "zero")
        drawing.text(x0 - LEFT + 4, y0 - 8, found.meanings[k] or name, "panel")
        for start, stop in find_runs(np.isfinite(values) & np.isfinite(half[:, k])):
            own = slice(start, stop)
            upper = zip(x(found.times[own]), y(values[own] + reach[own]))
            lower = zip(x(found.times[own]), y(values[own] - reach[own]))
            points = "L".join(f"{a:.1f} {b:.1f}" for a, b in [*upper, *reversed(list(lower))])
            drawing.add(f'<path class="bar" d="M{points}Z"/>')
        drawing.curve(x, y, found.times, values, "curve identified")
    return drawing.markup()
