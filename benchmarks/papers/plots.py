"""Figures as self-contained SVG files: the report's drawing with a few colours of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solver.formats.atomic import write_atomically
from solver.report.svg import Axis, Drawing

STYLE = """
svg { background: #ffffff; font: 12px sans-serif; }
.title { font-weight: bold; fill: #202124; } .label, .tick { fill: #444746; } .tick { font-size: 11px; }
.grid { stroke: #e3e5e8; } .mark { stroke: #80868b; }
.ours, .plain, .still { fill: none; stroke-width: 1.6; }
.ours { stroke: #1e8e3e; } .plain { stroke: #e8a33d; } .still { stroke: #d93025; }
.paper { fill: #1a73e8; } .support, .shrunk { fill: none; stroke: #202124; } .shrunk { stroke-dasharray: 4 3; }
"""


def save(drawing: Drawing, path: Path) -> Path:
    """Write a drawing as a file of its own; returns the path."""
    markup = drawing.markup().replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    markup = markup.replace("</title>", f"</title><style>{STYLE}</style>", 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as stream:
        stream.write(markup + "\n")
    return path


def polygon(drawing: Drawing, x: Axis, y: Axis, corners: np.ndarray, style: str) -> None:
    """A closed polygon (V, 2)."""
    points = " ".join(f"{float(x(a)):.1f},{float(y(b)):.1f}" for a, b in corners)
    drawing.add(f'<polygon class="{style}" points="{points}"/>')


def path(drawing: Drawing, x: Axis, y: Axis, points: np.ndarray, style: str) -> None:
    """A line through points (N, 2)."""
    line = "L".join(f"{float(x(a)):.1f} {float(y(b)):.1f}" for a, b in points)
    drawing.add(f'<path class="{style}" d="M{line}"/>')


def decades(drawing: Drawing, x: Axis, y: Axis, count: int) -> None:
    """Grid of a logarithmic vertical axis (of log10) over so many transitions."""
    powers = range(int(np.floor(y.low)), int(np.ceil(y.high)) + 1)
    steps = (1, 2, 5) if y.high - y.low < 2.0 else (1,)
    for value in (step * 10.0**power for power in powers for step in steps):
        if y.low <= np.log10(value) <= y.high:
            level = float(y(np.log10(value)))
            drawing.line(x.start, level, x.stop, level, "grid")
            drawing.text(x.start - 6, level + 4, f"{value:g}", "tick", "end")
    for tick in range(0, count + 1, 5):
        place = float(x(tick))
        drawing.line(place, y.start, place, y.start + 4, "mark")
        drawing.text(place, y.start + 16, str(tick), "tick", "middle")
    drawing.line(x.start, y.start, x.stop, y.start, "mark")
