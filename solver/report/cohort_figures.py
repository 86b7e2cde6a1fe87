"""Figures of a cohort."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..scene.labels import display_name
from .cohort_content import CohortMember
from .figures import WIDTH
from .svg import MINUS, Axis, Drawing, axis_limits, format_tick
from .tables import relative_change

ROW_HEIGHT = 24.0
"""Height of a row."""


def mass_fractions(members: Sequence[CohortMember]) -> tuple[np.ndarray, np.ndarray]:
    """Identified and prior masses of members with the same links, as shares of each one's body mass, (S, L) each."""
    found, prior = (np.array([getattr(m, name) for m in members]) for name in ("identified", "prior"))
    return found / found.sum(axis=1, keepdims=True), prior / prior.sum(axis=1, keepdims=True)


def draw_masses(members: Sequence[CohortMember]) -> str:
    """Share of every link in the body mass: each subject with its prior, and the mean of all."""
    found, prior = (100.0 * shares for shares in mass_fractions(members))
    names = members[0].links
    left, right, top = 150.0, 84.0, 10.0
    bottom = top + ROW_HEIGHT * len(names)
    drawing = Drawing(WIDTH, bottom + 44.0, "Mass of every link as a share of the body mass")
    low, high = axis_limits(found, prior, np.zeros(1), margin=0.03)
    x = Axis(min(low, 0.0), high, left, WIDTH - right)
    for tick in x.ticks(8):
        drawing.line(float(x(tick)), top, float(x(tick)), bottom, "grid")
        drawing.text(float(x(tick)), bottom + 17, format_tick(tick), "tick", "middle")
    drawing.text(WIDTH - right, bottom + 36, "share of the body mass [%]", "tick", "end")
    for index, name in enumerate(names):
        y = top + ROW_HEIGHT * (index + 0.5)
        drawing.text(left - 10, y + 4, display_name(name), "label", "end")
        mean, scatter = float(found[:, index].mean()), float(found[:, index].std(ddof=1)) if len(members) > 1 else 0.0
        drawing.line(float(x(mean - scatter)), y, float(x(mean + scatter)), y, "interval")
        drawing.line(float(x(mean)), y - 8, float(x(mean)), y + 8, "interval")
        for member, share, before in zip(members, found[:, index], prior[:, index], strict=True):
            hint = f"{member.name}, {name}: identified {share:.2f} %, prior {before:.2f} %"
            drawing.dot(float(x(before)), y + 5, 3.2, "hollow prior", hint)
            drawing.dot(float(x(share)), y - 5, 3.2, "solid identified", hint)
        grown = 100.0 * relative_change(mean, float(prior[:, index].mean()))
        drawing.text(WIDTH - 4, y + 4, f"{grown:+.0f} %".replace("-", MINUS), "tick", "end")
    return drawing.markup()


def draw_subjects(members: Sequence[CohortMember]) -> str:
    """Three panels with a row for each subject: RMSE ratio unused and used, force in body weights, marker error."""
    panels = (
        ("RMSE identified / prior", [(m.mean_ratio, m.mean_ratio_used) for m in members], 1.0),
        ("force, not used [% BW]", [(100.0 * m.force_in_body_weights, np.nan) for m in members], np.nan),
        ("marker error [mm]", [(1e3 * m.marker_error, np.nan) for m in members], np.nan),
    )
    left, gap, top = 150.0, 36.0, 26.0
    width = (WIDTH - left - 12.0 - gap * (len(panels) - 1)) / len(panels)
    bottom = top + ROW_HEIGHT * len(members)
    drawing = Drawing(WIDTH, bottom + 26.0, "Errors of each subject")
    for row, member in enumerate(members):
        drawing.text(left - 10, top + ROW_HEIGHT * (row + 0.5) + 4, member.name, "label", "end")
    for place, (title, pairs, mark) in enumerate(panels):
        values = np.array(pairs, float)
        _, high = axis_limits(values, np.array([mark]), np.zeros(1))
        x = Axis(0.0, high, left + place * (width + gap), left + place * (width + gap) + width)
        drawing.text(x.start, top - 10, title, "panel")
        for tick in x.ticks(4):
            drawing.line(float(x(tick)), top, float(x(tick)), bottom, "grid")
            drawing.text(float(x(tick)), bottom + 17, format_tick(tick), "tick", "middle")
        if np.isfinite(mark):
            drawing.line(float(x(mark)), top, float(x(mark)), bottom, "mark")
        for row, (unused, used) in enumerate(values):
            y = top + ROW_HEIGHT * (row + 0.5)
            for value, style in ((used, "hollow prior"), (unused, "solid identified")):
                if np.isfinite(value):
                    drawing.dot(float(x(value)), y, 4.5, style, f"{members[row].name}: {value:.2f}")
    return drawing.markup()
