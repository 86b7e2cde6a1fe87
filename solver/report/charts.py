"""Two kinds of figures: panels of curves, and rows of values, each with titles of its axes, units and a legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .svg import Axis, Drawing, axis_limits

WIDTH, NARROW = 1000.0, 390.0
"""[px] of a page's figures, and of figures that stand alone: as wide as a telephone."""
COLUMN = 240.0
"""[px] Least width of a panel; a narrower figure has fewer beside each other."""
LEFT, RIGHT, GAP, HEADER, PANEL, BETWEEN, FOOT = 54.0, 12.0, 62.0, 26.0, 104.0, 26.0, 40.0
"""[px] Margins, space between columns, titles above a panel, its height, space below it, and below all."""
ROW, NAMES, NOTES = 20.0, 200.0, 60.0
"""[px] Height of a row, and width of the rows' names and notes beside it; names of a narrow figure are above."""
TICK = 60.0
"""[px] Least distance of ticks."""
Curve = tuple[np.ndarray, np.ndarray | None, str]
"""Values (N,), NaN where unknown; half the width (N,) of a band around them, or None; a class of the style sheet."""
Panel = tuple[str, Sequence[Curve], float]
"""Title of the vertical axis with its unit; curves; smallest range, so that noise does not look like a signal."""


def draw_panels(  # noqa: PLR0913 a figure and its words
    title: str,
    x: tuple[str, np.ndarray],
    panels: Sequence[Panel],
    legend: Sequence[tuple[str, str]],
    *,
    columns: int,
    width: float = WIDTH,
    left_out: Sequence[tuple[int, int, str]] = (),
) -> str:
    """Panels over the same horizontal axis, beside and below each other.

    Args:
        title: of the figure, for who cannot see it.
        x: title with unit, and values (N,), of the horizontal axis.
        panels: row by row.
        legend: styles and words.
        columns: at most.
        width: [px]
        left_out: first and last + 1 index of samples that are shaded and do not count for a panel's range, and why.
    """
    columns = max(1, min(columns, int(width / COLUMN)))
    across = (width - LEFT - RIGHT - (columns - 1) * GAP) / columns
    drawing = Drawing(width, 0.0, title)
    top = drawing.legend(legend) + HEADER
    drawing.height = top + -(-len(panels) // columns) * (PANEL + BETWEEN) - BETWEEN + FOOT
    counted = np.ones(len(x[1]), bool)
    for start, stop, _ in left_out:
        counted[start:stop] = False
    for k, (name, curves, min_range) in enumerate(panels):
        x0 = LEFT + k % columns * (across + GAP)
        y0 = top + k // columns * (PANEL + BETWEEN)
        horizontal = Axis(float(x[1][0]), float(x[1][-1]), x0, x0 + across)
        bands = [(values - (0.0 if half is None else half), values + (0.0 if half is None else half))
                 for values, half, _ in curves]  # fmt: skip
        shown = [np.where(counted | ~counted.any(), end, np.nan) for ends in bands for end in ends]
        vertical = Axis(*axis_limits(*shown, min_range=min_range), y0 + PANEL, y0)
        for start, stop, reason in left_out:
            first, last = float(horizontal(x[1][start])), float(horizontal(x[1][stop - 1]))
            hint = f"{reason}: {x[1][start]:.2f} to {x[1][stop - 1]:.2f} s"
            drawing.rect(first, y0, max(last - first, 1.0), PANEL, "left-out", hint)
        is_last = k + columns >= len(panels)
        drawing.frame(horizontal, vertical, horizontal.ticks(int(across / TICK)), vertical.ticks(3), times=is_last)
        if vertical.low < 0.0 < vertical.high:
            drawing.line(x0, float(vertical(0.0)), x0 + across, float(vertical(0.0)), "zero")
        drawing.text(x0 - LEFT + 2, y0 - 8, name, "panel")
        for (values, half, style), ends in zip(curves, bands):
            if half is not None:
                drawing.band(horizontal, vertical, x[1], ends, f"band {style}")
            inside = np.where((values >= vertical.low) & (values <= vertical.high), values, np.nan)
            drawing.curve(horizontal, vertical, x[1], inside, f"curve {style}")
        if is_last:
            drawing.text(x0 + across, y0 + PANEL + 34, x[0], "tick", "end")
    return drawing.markup()


@dataclass(frozen=True, slots=True)
class Dots:
    """A dot in every row.

    Attributes:
        values: (R,), NaN for none.
        style: class of the style sheet.
        hints: R texts under the pointer.
        radius, drop: [px] size, and distance below the middle of the row.
    """

    values: np.ndarray
    style: str
    hints: Sequence[str]
    radius: float = 4.5
    drop: float = 0.0


def draw_rows(  # noqa: PLR0913 a figure and its words
    title: str,
    x_title: str,
    names: Sequence[str],
    dots: Sequence[Dots],
    legend: Sequence[tuple[str, str]],
    *,
    bars: Sequence[tuple[np.ndarray, np.ndarray, str]] = (),
    notes: Sequence[str] = (),
    width: float = WIDTH,
) -> str:
    """Rows of values on the same horizontal axis, with names at the left and notes at the right.

    Args:
        title: of the figure, for who cannot see it.
        x_title: title of the horizontal axis, with its unit.
        names: R.
        dots: drawn in their order.
        legend: styles and words.
        bars: lines in every row: both ends (R,), and a class of the style sheet.
        notes: R, or none.
        width: [px]
    """
    is_narrow = width < NAMES + COLUMN + NOTES
    row, left = (2.0 * ROW, RIGHT) if is_narrow else (ROW, NAMES)
    right = width - (NOTES if notes else RIGHT)
    drawing = Drawing(width, 0.0, title)
    top = drawing.legend(legend) + RIGHT
    bottom = top + row * len(names)
    drawing.height = bottom + FOOT
    shown = [*(each.values for each in dots), *(end for bar in bars for end in bar[:2])]
    low, high = axis_limits(*shown, np.zeros(1), margin=0.03)
    x = Axis(min(low, 0.0), high, left, right)
    drawing.grid(x, x.ticks(int((right - left) / TICK)), top, bottom)
    drawing.line(float(x(0.0)), top, float(x(0.0)), bottom, "mark")
    drawing.text(right, bottom + 36, x_title, "tick", "end")
    for k, name in enumerate(names):
        y = top + row * (k + (0.7 if is_narrow else 0.5))
        drawing.text(*((left, y - 0.7 * ROW, name) if is_narrow else (left - 10, y + 4, name, "label", "end")))
        drawing.text(width - 4, y + 4, notes[k] if notes else "", "tick", "end")
        for low_ends, high_ends, style in bars:
            if np.isfinite(low_ends[k] + high_ends[k]):
                drawing.line(float(x(low_ends[k])), y, float(x(high_ends[k])), y, style)
        for each in dots:
            if np.isfinite(each.values[k]):
                drawing.dot(float(x(each.values[k])), y + each.drop, each.radius, each.style, each.hints[k])
    return drawing.markup()
