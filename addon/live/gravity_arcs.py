"""The gravity arc in the 3D view: the path that the centre of mass must follow from take-off to landing.

For every flight between contact strips, the parabola through the centre of mass at take-off and landing is drawn, with
its apex, its landing point and a tick per frame. It is red if the keyed motion does not follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.solver_api import FlightArc, SceneFrame, flights_between_strips
from ..drawing import primitives as drawing
from ..drawing.primitives import Colour
from .check_colours import FAIL_COLOUR, PASS_COLOUR
from .check_results import CheckResults

VISIBLE_TIME = 1.0
"""[s] Time before take-off and after landing in which an arc is visible: a repair changes the motion this far."""
LINE_POINTS = 48
"""Number of points of the line."""
TICK_SIZE, MARK_SIZE = 0.008, 0.03
"""[m] Half the length of a frame's tick, and size of the crosses at apex and landing."""
SHADOW_COLOUR: Colour = (0.05, 0.05, 0.06, 0.9)
LABEL_WIDTH = 12.0
"""Width of a label in line heights."""
FLIGHT_CHECK = "flight"
"""Name of the check of free fall in flight."""


@dataclass(frozen=True, slots=True)
class DrawnArc:
    """The drawing of one flight.

    Attributes:
        arc: the parabola.
        line: (2 P, 3) [m] pairs of points.
        ticks: (2 T, 3) [m] pairs of points, horizontal ticks at the frames.
        follows_arc: whether the check of free fall passed.
        largest_distance: [m] largest distance of the centre of mass from the parabola.
    """

    arc: FlightArc
    line: np.ndarray
    ticks: np.ndarray
    follows_arc: bool
    largest_distance: float

    @property
    def colour(self) -> Colour:
        """Colour by the result of the check."""
        return PASS_COLOUR if self.follows_arc else FAIL_COLOUR

    @property
    def labels(self) -> list[tuple[str, np.ndarray]]:
        """Texts and their positions (3,) [m]."""
        arc = self.arc
        missed = "" if self.follows_arc else f", keyed path {100.0 * self.largest_distance:.0f} cm away"
        return [
            (f"take-off {arc.velocity[2]:.2f} m/s up", arc.take_off),
            (f"apex {100.0 * arc.rise:.0f} cm up{missed}", arc.apex),
            (f"landing after {arc.stop - arc.start:.2f} s", arc.landing),
        ]

    def is_visible_at(self, time: float) -> bool:
        """Whether the arc is visible at a time [s]."""
        return self.arc.start - VISIBLE_TIME <= time <= self.arc.stop + VISIBLE_TIME


class ArcCache:
    """Cache of the arcs of the results that were drawn last."""

    cached: ClassVar[tuple[tuple[int, int], list[DrawnArc]] | None] = None

    @classmethod
    def get_arcs(cls, readings: CheckResults) -> list[DrawnArc]:
        """Arcs of all flights that are completely checked."""
        key = (readings.serial, readings.version)
        if cls.cached is None or cls.cached[0] != key:
            cls.cached = key, build_arcs(readings)
        return cls.cached[1]


def build_arcs(readings: CheckResults) -> list[DrawnArc]:
    """Build the arcs of all flights between two contacts that are completely checked."""
    found = []
    for start, stop in flights_between_strips((strip.start, strip.stop) for strip in readings.timeline.strips):
        first, last = readings.index_at(start), readings.index_at(stop)
        frames = [] if first is None or last is None else readings.frames[first : last + 1]
        known = [frame for frame in frames if frame is not None]
        if len(known) > 1 and len(known) == len(frames):
            found.append(_build_arc(known))
    return found


def draw_arcs(readings: CheckResults, time: float) -> None:
    """Draw the arcs that are visible at a time [s]."""
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
    """Labels, and their positions (3,) [m], of the arcs that are visible at a time [s]."""
    return [label for shown in ArcCache.get_arcs(readings) if shown.is_visible_at(time) for label in shown.labels]


def separate_labels(positions: Sequence[np.ndarray], line_height: float) -> list[tuple[float, float]]:
    """Positions (2,) [px] of labels, each lowered until it overlaps none before it, as for a jump on the spot."""
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
    """Build an arc from the frames of one flight, from take-off to landing."""
    times = np.array([frame.time for frame in frames])
    places = np.array([frame.com for frame in frames])
    arc = FlightArc(float(times[0]), float(times[-1]), places[0], places[-1])
    curve = arc.at(np.linspace(arc.start, arc.stop, LINE_POINTS))
    on_arc = arc.at(times)
    side = np.array([*_horizontal_normal(arc.velocity), 0.0]) * TICK_SIZE
    falls = not any(margin.failed for frame in frames for margin in frame.margins if margin.check == FLIGHT_CHECK)
    return DrawnArc(
        arc,
        np.repeat(curve, 2, axis=0)[1:-1],
        np.stack([on_arc - side, on_arc + side], axis=1).reshape(-1, 3),
        falls,
        float(arc.distances(times, places).max()),
    )


def _horizontal_normal(velocity: np.ndarray) -> tuple[float, float]:
    """Horizontal unit vector (2,) perpendicular to a velocity."""
    far = float(np.linalg.norm(velocity[:2]))
    return (0.0, 1.0) if far < 1e-6 else (-float(velocity[1]) / far, float(velocity[0]) / far)
