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
from ..solver_api import FlightArc, SceneFrame
from .check_colours import FAIL_COLOUR, PASS_COLOUR
from .check_results import AIR, CheckResults, contact_states

VISIBLE_TIME = 1.0
"""[s] before take-off and after landing in which a flight's arc is seen: so far a repair moves the body for it."""
LINE_POINTS = 48
"""Of the line."""
TICK_SIZE, MARK_SIZE = 0.008, 0.03
"""[m] Half of a frame's tick, and of the marks of apex and landing."""
SHADOW_COLOUR: Colour = (0.05, 0.05, 0.06, 0.9)
LABEL_WIDTH = 12.0
"""Lines' heights that a label is wide."""
FLIGHT_CHECK = "flight"
"""Name of the check that asks whether a body in the air falls freely."""


@dataclass(frozen=True, slots=True)
class DrawnArc:
    """One flight as it is drawn.

    Attributes:
        arc: its parabola.
        line: (2 P, 3) [m] pairs of points.
        ticks: (2 T, 3) [m] pairs of points, level ticks at the frames.
        follows_arc: the body as keyed falls freely, by the check.
        largest_distance: [m] by which its centre of mass misses the parabola at most.
    """

    arc: FlightArc
    line: np.ndarray
    ticks: np.ndarray
    follows_arc: bool
    largest_distance: float

    @property
    def colour(self) -> Colour:
        """As the check's verdict."""
        return PASS_COLOUR if self.follows_arc else FAIL_COLOUR

    @property
    def labels(self) -> list[tuple[str, np.ndarray]]:
        """Words and the places (3,) [m] that they stand at."""
        arc = self.arc
        missed = "" if self.follows_arc else f", keyed {100.0 * self.largest_distance:.0f} cm off"
        return [
            (f"take-off {arc.velocity[2]:.2f} m/s up", arc.take_off),
            (f"apex {100.0 * arc.rise:.0f} cm up{missed}", arc.apex),
            (f"landing after {arc.stop - arc.start:.2f} s", arc.landing),
        ]

    def is_visible_at(self, time: float) -> bool:
        """Whether the frame at a time [s] is near enough to the flight."""
        return self.arc.start - VISIBLE_TIME <= time <= self.arc.stop + VISIBLE_TIME


class ArcCache:
    """Those of the readings that were drawn last."""

    cached: ClassVar[tuple[tuple[int, int], list[DrawnArc]] | None] = None

    @classmethod
    def get_arcs(cls, readings: CheckResults) -> list[DrawnArc]:
        """All flights of which take-off, landing and what lies between are checked."""
        key = (readings.serial, readings.version)
        if cls.cached is None or cls.cached[0] != key:
            cls.cached = key, build_arcs(readings)
        return cls.cached[1]


def build_arcs(readings: CheckResults) -> list[DrawnArc]:
    """Every flight between two stances, as far as it is checked."""
    found = []
    spans = contact_states(readings.timeline, tuple(sole.name for sole in readings.timeline.rig.soles))
    for before, span in pairwise(spans):
        if span.state != AIR or before.state == AIR or span is spans[-1]:
            continue
        first, last = readings.index_at(span.start), readings.index_at(span.stop)
        frames = [] if first is None or last is None else readings.frames[first : last + 1]
        known = [frame for frame in frames if frame is not None]
        if len(known) > 1 and len(known) == len(frames):
            found.append(_build_arc(known))
    return found


def draw_arcs(readings: CheckResults, time: float) -> None:
    """Lines of the arcs that are seen at a time [s]."""
    for shown in ArcCache.get_arcs(readings):
        if not shown.is_visible_at(time):
            continue
        drawing.draw_lines(shown.line, SHADOW_COLOUR, 2.5 * drawing.LINE_WIDTH)
        drawing.draw_lines(shown.line, shown.colour, drawing.LINE_WIDTH)
        drawing.draw_lines(shown.ticks, shown.colour, drawing.LINE_WIDTH)
        landing = shown.arc.landing
        marks = [*drawing.cross_lines(shown.arc.apex, MARK_SIZE)[:4], *drawing.cross_lines(landing, MARK_SIZE)]
        marks += [landing, landing * (1.0, 1.0, 0.0), *drawing.cross_lines(landing * (1.0, 1.0, 0.0), MARK_SIZE)[:4]]
        drawing.draw_lines(marks, SHADOW_COLOUR, 2.0 * drawing.LINE_WIDTH)
        drawing.draw_lines(marks, shown.colour, drawing.LINE_WIDTH)


def visible_labels(readings: CheckResults, time: float) -> list[tuple[str, np.ndarray]]:
    """Words of the arcs that are seen at a time [s], and the places (3,) [m] that they stand at."""
    return [label for shown in ArcCache.get_arcs(readings) if shown.is_visible_at(time) for label in shown.labels]


def separate_labels(positions: Sequence[np.ndarray], line_height: float) -> list[tuple[float, float]]:
    """Places (2,) [px] of words, each set lower until it lies a line [px] from those before: a jump on the spot."""
    found: list[tuple[float, float]] = []
    for x, y in positions:
        low = float(y)
        while any(
            abs(low - other) < line_height and abs(float(x) - along) < LABEL_WIDTH * line_height
            for along, other in found
        ):
            low -= 0.5 * line_height
        found.append((float(x), low))
    return found


def _build_arc(frames: list[SceneFrame]) -> DrawnArc:
    """From the frames of one flight, take-off and landing first and last."""
    times = np.array([frame.time for frame in frames])
    places = np.array([frame.com for frame in frames])
    arc = FlightArc(float(times[0]), float(times[-1]), places[0], places[-1])
    curve = arc.at(np.linspace(arc.start, arc.stop, LINE_POINTS))
    on_arc = arc.at(times)
    side = np.array([*_level_normal(arc.velocity), 0.0]) * TICK_SIZE
    falls = not any(margin.failed for frame in frames for margin in frame.margins if margin.check == FLIGHT_CHECK)
    return DrawnArc(
        arc,
        np.repeat(curve, 2, axis=0)[1:-1],
        np.stack([on_arc - side, on_arc + side], axis=1).reshape(-1, 3),
        falls,
        float(arc.distances(times, places).max()),
    )


def _level_normal(velocity: np.ndarray) -> tuple[float, float]:
    """(2,) level, square to where a flight goes."""
    far = float(np.linalg.norm(velocity[:2]))
    return (0.0, 1.0) if far < 1e-6 else (-float(velocity[1]) / far, float(velocity[0]) / far)
