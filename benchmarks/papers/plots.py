"""Figures as self-contained SVG files: the report's drawing with a few colours of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from solver.identification.equations import measured_wrench, reconstructed_wrench
from solver.report.svg import Axis, Drawing, axis_limits
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.storage.atomic import write_atomically
from solver.values.inertials import InertialParameters
from solver.values.wrenches import WRENCH_AXES

STYLE = """
svg { background: #ffffff; font: 12px sans-serif; }
.title { font-weight: bold; fill: #202124; } .label, .tick { fill: #444746; } .tick { font-size: 11px; }
.grid { stroke: #e3e5e8; } .mark { stroke: #80868b; }
.ours, .plain, .still { fill: none; stroke-width: 1.6; }
.measured { fill: none; stroke: #202124; }
.ours { stroke: #1e8e3e; } .plain { stroke: #e8a33d; } .still { stroke: #d93025; }
rect.measured { fill: #202124; } rect.ours { fill: #1e8e3e; }
rect.plain { fill: #e8a33d; } rect.still { fill: #d93025; }
.paper { fill: #1a73e8; } .support, .shrunk { fill: none; stroke: #202124; } .shrunk { stroke-dasharray: 4 3; }
"""


PANEL_WIDTH = 330
"""[px] of a panel of curves, and the most points of a curve."""


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


MEASURED = "measured"
STYLES = ("measured", "ours", "still", "plain")
"""Of the first, second ... curve or bar of a drawing."""


def wrenches(
    rig: Rig, trial: Trial, sets: Mapping[str, InertialParameters], title: str, base: int | str = 0
) -> Drawing:
    """The measured wrench of a trial's counted frames over time, and what sets of parameters make of its motion."""
    values = {MEASURED: measured_wrench(rig, trial, base)}
    values |= {name: reconstructed_wrench(rig, trial, parameters, base) for name, parameters in sets.items()}
    curves = {name: np.where(trial.counted[:, None], each, np.nan) for name, each in values.items()}
    panels = [(f"{axis} [{'N' if k < 3 else 'N m'}]", {name: each[:, k] for name, each in curves.items()})
              for k, axis in enumerate(WRENCH_AXES)]  # fmt: skip
    return curves_over_time(trial.motion.times, panels, title)


def curves_over_time(
    times: np.ndarray, panels: Sequence[tuple[str, Mapping[str, np.ndarray]]], title: str, rows: int = 3
) -> Drawing:
    """Panels of named curves (N,) over times (N,) [s], filled column by column; names get the same style in each."""
    columns, each = -(-len(panels) // rows), -(-len(times) // PANEL_WIDTH)
    drawing = Drawing(400.0 * columns, 70.0 + 150.0 * rows, title)
    drawing.text(10.0, 18.0, title, "title")
    for number, (name, curves) in enumerate(panels):
        column, line = divmod(number, rows)
        x = Axis(float(times[0]), float(times[-1]), 60.0 + 400.0 * column, 60.0 + PANEL_WIDTH + 400.0 * column)
        low, high = axis_limits(*curves.values())
        y = Axis(low, high, 160.0 + 150.0 * line, 50.0 + 150.0 * line)
        drawing.frame(x, y, x.ticks(), y.ticks(), times=line == rows - 1 or number == len(panels) - 1)
        drawing.text(x.start, y.stop - 6.0, name, "label")
        for style, values in zip(STYLES, curves.values()):
            drawing.curve(x, y, times[::each], values[::each], style)
    _legend(drawing, list(dict.fromkeys(name for _, curves in panels for name in curves)))
    return drawing


def bars(names: Sequence[str], panels: Sequence[tuple[str, Mapping[str, np.ndarray]]], title: str) -> Drawing:
    """Panels of bars side by side: for each name (L,) one bar of every named set (L,)."""
    tall = 8.0 * max(len(sets) for _, sets in panels) + 6.0
    bottom, wide = 46.0 + tall * len(names), 190.0 if len(panels) > 1 else 400.0
    drawing = Drawing(140.0 + wide * len(panels), bottom + 50.0, title)
    drawing.text(10.0, 18.0, title, "title")
    for line, name in enumerate(names):
        drawing.text(130.0, 46.0 + tall * (line + 0.6), name, "tick", "end")
    for number, (heading, sets) in enumerate(panels):
        low, high = axis_limits(np.zeros(1), *sets.values())
        x = Axis(low, high, 140.0 + wide * number, 125.0 + wide * (number + 1))
        drawing.text(x.start, 40.0, heading, "label")
        drawing.line(float(x(0.0)), 46.0, float(x(0.0)), bottom, "grid")
        for tick in x.ticks(3):
            drawing.text(float(x(tick)), bottom + 14.0, f"{tick:g}", "tick", "middle")
        for place, (style, values) in enumerate(zip(STYLES, sets.values())):
            for line, value in enumerate(values):
                ends = sorted(float(x(end)) for end in (0.0, value))
                drawing.rect(ends[0], 49.0 + tall * line + 8.0 * place, ends[1] - ends[0], 7.0, style, f"{value:.4g}")
    _legend(drawing, list(panels[0][1]))
    return drawing


def parameters(rig: Rig, sets: Mapping[str, InertialParameters], title: str) -> Drawing:
    """Masses, centres of mass and diagonal entries of the inertia about the centre of mass of named sets."""

    def panel(heading: str, values: Mapping[str, np.ndarray]) -> tuple[str, Mapping[str, np.ndarray]]:
        return heading, values

    panels = [panel("mass [kg]", {name: each.masses for name, each in sets.items()})]
    for k, axis in enumerate("xyz"):
        panels.append(panel(f"centre of mass {axis} [m]", {n: np.nan_to_num(p.coms[:, k]) for n, p in sets.items()}))
    for k, axis in enumerate("xyz"):
        panels.append(panel(f"I{axis}{axis} [kg m²]", {n: p.inertias_at_com[:, k, k] for n, p in sets.items()}))
    return bars(rig.links, panels, title)


def _legend(drawing: Drawing, names: Sequence[str]) -> None:
    for number, (style, name) in enumerate(zip(STYLES, names)):
        left = 10.0 + number * min(210.0, (drawing.width - 20.0) / len(names))
        drawing.line(left, drawing.height - 10.0, left + 20.0, drawing.height - 10.0, style)
        drawing.text(left + 25.0, drawing.height - 6.0, name, "tick")
