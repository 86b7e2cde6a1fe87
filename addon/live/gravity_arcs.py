"""The gravity arc over the 3D view: where a body that jumps must have its centre of mass from take-off to landing.

Where the contact strips leave a body in the air, the parabola through its centre of mass at take-off and at landing is
drawn with its apex and its landing point, and a tick for every frame. It is red while the body as keyed does not fall
as it does; a repair makes it follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from .. import drawing
from ..drawing import Colour
from ..values import FlightArc, SceneFrame
from .marks import FAILS, HOLDS
from .readings import AIR, Readings, stands

SEEN = 1.0
"""[s] before take-off and after landing in which a flight's arc is seen: so far a repair moves the body for it."""
POINTS = 48
"""Of the line."""
TICK, MARK = 0.008, 0.03
"""[m] Half of a frame's tick, and of the marks of apex and landing."""
SHADOW: Colour = (0.05, 0.05, 0.06, 0.9)
WORDS = 12.0
"""Lines' heights that a label is wide."""
FLIGHT = "flight"
"""Name of the check that asks whether a body in the air falls freely."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One flight as it is drawn.

    Attributes:
        arc: its parabola.
        line: (2 P, 3) [m] pairs of points.
        ticks: (2 T, 3) [m] pairs of points, level ticks at the frames.
        falls: the body as keyed falls freely, by the check.
        off: [m] by which its centre of mass misses the parabola at most.
    """

    arc: FlightArc
    line: np.ndarray
    ticks: np.ndarray
    falls: bool
    off: float

    @property
    def colour(self) -> Colour:
        """As the check's verdict."""
        return HOLDS if self.falls else FAILS

    @property
    def labels(self) -> list[tuple[str, np.ndarray]]:
        """Words and the places (3,) [m] that they stand at."""
        arc = self.arc
        missed = "" if self.falls else f", keyed {100.0 * self.off:.0f} cm off"
        return [
            (f"take-off {arc.velocity[2]:.2f} m/s up", arc.take_off),
            (f"apex {100.0 * arc.rise:.0f} cm up{missed}", arc.apex),
            (f"landing after {arc.stop - arc.start:.2f} s", arc.landing),
        ]

    def seen_at(self, time: float) -> bool:
        """Whether the frame at a time [s] is near enough to the flight."""
        return self.arc.start - SEEN <= time <= self.arc.stop + SEEN


class Arcs:
    """Those of the readings that were drawn last."""

    known: ClassVar[tuple[tuple[int, int], list[Drawn]] | None] = None

    @classmethod
    def of(cls, readings: Readings) -> list[Drawn]:
        """All flights of which take-off, landing and what lies between are checked."""
        key = (readings.serial, readings.version)
        if cls.known is None or cls.known[0] != key:
            cls.known = key, arcs(readings)
        return cls.known[1]


def arcs(readings: Readings) -> list[Drawn]:
    """Every flight between two stances, as far as it is checked."""
    found = []
    spans = stands(readings.timeline, tuple(sole.name for sole in readings.timeline.rig.soles))
    for before, span in pairwise(spans):
        if span.state != AIR or before.state == AIR or span is spans[-1]:
            continue
        first, last = readings.index_at(span.start), readings.index_at(span.stop)
        frames = [] if first is None or last is None else readings.frames[first : last + 1]
        known = [frame for frame in frames if frame is not None]
        if len(known) > 1 and len(known) == len(frames):
            found.append(_drawn(known))
    return found


def draw_space(readings: Readings, time: float) -> None:
    """Lines of the arcs that are seen at a time [s]."""
    for shown in Arcs.of(readings):
        if not shown.seen_at(time):
            continue
        drawing.lines(shown.line, SHADOW, 2.5 * drawing.LINE)
        drawing.lines(shown.line, shown.colour, drawing.LINE)
        drawing.lines(shown.ticks, shown.colour, drawing.LINE)
        landing = shown.arc.landing
        marks = [*drawing.cross(shown.arc.apex, MARK)[:4], *drawing.cross(landing, MARK)]
        marks += [landing, landing * (1.0, 1.0, 0.0), *drawing.cross(landing * (1.0, 1.0, 0.0), MARK)[:4]]
        drawing.lines(marks, SHADOW, 2.0 * drawing.LINE)
        drawing.lines(marks, shown.colour, drawing.LINE)


def labels(readings: Readings, time: float) -> list[tuple[str, np.ndarray]]:
    """Words of the arcs that are seen at a time [s], and the places (3,) [m] that they stand at."""
    return [label for shown in Arcs.of(readings) if shown.seen_at(time) for label in shown.labels]


def apart(places: Sequence[np.ndarray], line: float) -> list[tuple[float, float]]:
    """Places (2,) [px] of words, each set lower until it lies a line [px] from those before: a jump on the spot."""
    found: list[tuple[float, float]] = []
    for x, y in places:
        low = float(y)
        while any(abs(low - other) < line and abs(float(x) - along) < WORDS * line for along, other in found):
            low -= 0.5 * line
        found.append((float(x), low))
    return found


def _drawn(frames: list[SceneFrame]) -> Drawn:
    """From the frames of one flight, take-off and landing first and last."""
    times = np.array([frame.time for frame in frames])
    places = np.array([frame.com for frame in frames])
    arc = FlightArc(float(times[0]), float(times[-1]), places[0], places[-1])
    curve = arc.at(np.linspace(arc.start, arc.stop, POINTS))
    on_arc = arc.at(times)
    side = np.array([*_across(arc.velocity), 0.0]) * TICK
    falls = not any(margin.failed for frame in frames for margin in frame.margins if margin.check == FLIGHT)
    return Drawn(
        arc,
        np.repeat(curve, 2, axis=0)[1:-1],
        np.stack([on_arc - side, on_arc + side], axis=1).reshape(-1, 3),
        falls,
        float(arc.distances(times, places).max()),
    )


def _across(velocity: np.ndarray) -> tuple[float, float]:
    """(2,) level, square to where a flight goes."""
    far = float(np.linalg.norm(velocity[:2]))
    return (0.0, 1.0) if far < 1e-6 else (-float(velocity[1]) / far, float(velocity[0]) / far)
