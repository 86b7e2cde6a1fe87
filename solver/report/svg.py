"""Small vector figures written as inline SVG: colours and type come from the page's style sheet, so that a figure
follows light, dark and print. Lengths are CSS pixels, y grows downwards on the page and upwards on an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files

import numpy as np

from ..base.arrays import true_runs

MINUS, DASH = "\N{MINUS SIGN}", "\N{EN DASH}"
"""Typeset signs."""
KEY, LETTER, LINE = 30.0, 6.6, 20.0
"""[px] Width of a legend's key and of a letter of its words, and height of its lines."""
POINTS_PER_PIXEL = 2
"""A line is thinned to this many extremes per pixel of width; more cannot be seen. Derived: the least and the greatest
value of its samples."""


@dataclass(frozen=True)
class Axis:
    """A linear map from data to pixels."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, values: np.ndarray | float) -> np.ndarray:
        """Pixels of data values."""
        return self.start + (np.asarray(values, float) - self.low) * (self.stop - self.start) / (self.high - self.low)

    def ticks(self, count: int = 4) -> list[float]:
        """Round values inside the axis, about ``count`` of them."""
        return round_ticks(self.low, self.high, count)


def round_ticks(low: float, high: float, count: int = 4) -> list[float]:
    """About ``count`` multiples of 1, 2 or 5 times a power of ten in [low, high]."""
    span = high - low
    if not span > 0.0 or not math.isfinite(span):
        return [low]
    raw = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / raw)))
    return [index * step for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def format_tick(value: float) -> str:
    """A tick's text, with a true minus sign."""
    text = f"{value:.10g}" if abs(value) < 1e5 else f"{value:.2g}"
    return "0" if float(text) == 0.0 else text.replace("-", MINUS)


def axis_limits(*arrays: np.ndarray, min_range: float = 0.0, margin: float = 0.06) -> tuple[float, float]:
    """Limits that contain all finite values with a margin, at least ``min_range`` apart."""
    finite = [a[np.isfinite(a)] for a in map(np.asarray, arrays)]
    finite = [a for a in finite if a.size]
    if not finite:
        return -1.0, 1.0
    low, high = min(float(a.min()) for a in finite), max(float(a.max()) for a in finite)
    short = max(min_range - (high - low), 0.0) / 2.0
    low, high = low - short, high + short
    if not high > low:
        low, high = low - 1.0, high + 1.0
    pad = margin * (high - low)
    return low - pad, high + pad


@dataclass
class Drawing:
    """A figure under construction."""

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list)

    def add(self, markup: str) -> None:
        """Append markup that is already escaped."""
        self.parts.append(markup)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A straight line."""
        self.add(f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def rect(self, x: float, y: float, width: float, height: float, style: str, tooltip: str = "") -> None:
        """A rectangle; ``hint`` shows under the pointer."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{max(height, 0.0):.1f}"'
        self.add(f'<rect class="{style}" {place}>{_render_tooltip(tooltip)}</rect>')

    def dot(self, x: float, y: float, radius: float, style: str, tooltip: str = "") -> None:
        """A disc."""
        self.add(
            f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">{_render_tooltip(tooltip)}</circle>'
        )

    def text(self, x: float, y: float, text: str, style: str = "label", anchor: str = "start") -> None:
        """A line of text whose baseline starts, ends or is centred at the point."""
        self.add(f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')

    def curve(self, x: Axis, y: Axis, times: np.ndarray, values: np.ndarray, style: str) -> None:
        """A line through samples; NaN breaks it."""
        pieces = []
        for start, stop in true_runs(np.isfinite(values)):
            xs, ys = thin_line(
                np.asarray(x(times[start:stop])), np.asarray(y(values[start:stop])), abs(x.stop - x.start)
            )
            pieces.append("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(xs, ys, strict=True)))
        if pieces:
            self.add(f'<path class="{style}" d="{"".join(pieces)}"/>')

    def band(self, x: Axis, y: Axis, places: np.ndarray, ends: tuple[np.ndarray, np.ndarray], style: str) -> None:
        """The area between two lines; NaN breaks it."""
        low, high = ends
        for start, stop in true_runs(np.isfinite(low) & np.isfinite(high)):
            own, back = slice(start, stop), slice(stop - 1, start - 1 if start else None, -1)
            across = np.concatenate([x(places[own]), x(places[back])])
            up = np.concatenate([y(high[own]), y(low[back])])
            self.add(f'<path class="{style}" d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, up))}Z"/>')

    def legend(self, entries: Sequence[tuple[str, str]]) -> float:
        """Keys, by their styles, with words in lines at the top; the height [px] of these lines."""
        x, y = 0.0, 14.0
        for style, words in entries:
            room = 1.5 * KEY + LETTER * len(words)
            if x > 0.0 and x + room > self.width:
                x, y = 0.0, y + LINE
            if style.startswith(("solid", "hollow")):
                self.dot(x + 0.4 * KEY, y - 4.0, 4.5, style)
            elif style.startswith(("band", "left-out")):
                self.rect(x, y - 10.0, 0.8 * KEY, 12.0, style)
            else:
                self.line(x, y - 4.0, x + 0.8 * KEY, y - 4.0, style)
            self.text(x + KEY, y, words, "tick")
            x += room
        return y if entries else 0.0

    def frame(self, x: Axis, y: Axis, xticks: Sequence[float], yticks: Sequence[float], *, times: bool = True) -> None:
        """Grid lines and tick labels; the time labels only where ``times``."""
        for tick in yticks:
            level = float(y(tick))
            self.line(x.start, level, x.stop, level, "grid")
            self.text(x.start - 6, level + 3.5, format_tick(tick), "tick", "end")
        for tick in xticks if times else ():
            place = float(x(tick))
            self.line(place, y.start, place, y.start + 4, "mark")
            self.text(place, y.start + 16, format_tick(tick), "tick", "middle")
        self.line(x.start, y.start, x.stop, y.start, "mark")

    def grid(self, x: Axis, ticks: Sequence[float], top: float, bottom: float) -> None:
        """Vertical grid lines with labels below them."""
        for tick in ticks:
            self.line(float(x(tick)), top, float(x(tick)), bottom, "grid")
            self.text(float(x(tick)), bottom + 17, format_tick(tick), "tick", "middle")

    def markup(self) -> str:
        """The finished figure."""
        box = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        return f'<svg {box} role="img"><title>{escape(self.title)}</title>{"".join(self.parts)}</svg>'


def make_standalone(markup: str) -> str:
    """An SVG document that carries the colours and strokes of the report's style sheet, for files and notebooks."""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    palette = style[style.index("{") + 1 : style.index("}")]
    rules = [line for line in style.splitlines() if line.startswith("svg .") or line.startswith("svg text")]
    text = f"svg {{ {' '.join(palette.split())} font-family: sans-serif; }} {' '.join(rules)}"
    head, _, rest = markup.removeprefix("<svg").partition(">")
    return f'<svg xmlns="http://www.w3.org/2000/svg"{head}><style>{text}</style>{rest}'


def thin_line(xs: np.ndarray, ys: np.ndarray, pixels: float) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and largest sample of every group of neighbours, so that no peak is lost."""
    count, groups = len(xs), max(int(pixels * POINTS_PER_PIXEL / 2), 2)
    if count <= 2 * groups:
        return xs, ys
    group = np.arange(count) * groups // count
    by_size = np.lexsort((ys, group))  # within each group
    ends = np.append(np.flatnonzero(np.diff(group)), count - 1)
    kept = np.unique([0, count - 1, *by_size[ends], *by_size[np.append(0, ends[:-1] + 1)]])
    return xs[kept], ys[kept]


def _render_tooltip(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
