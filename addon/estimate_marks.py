"""What a centroidal estimate looks like in space at one moment: lines, their colours, and what the colours mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .drawing import BOLD, LINE, Colour, arrow, cross
from .properties import Settings
from .values import SceneEstimate

CENTRE: Colour = (1.00, 0.86, 0.30, 1.0)
AXIS: Colour = (1.00, 0.56, 0.08, 1.0)
SPIN: Colour = (0.79, 0.05, 0.77, 1.0)
RATE: Colour = (0.08, 0.73, 0.63, 1.0)
WRENCH: Colour = (0.05, 0.45, 1.00, 1.0)
FREE: Colour = (0.97, 0.97, 1.00, 1.0)
"""Searched for: what is seen at once stays apart, faint shades too, for those who see no red, green or blue."""
FAINT = 0.45
"""Alpha of what the motion says alone, and of the path that is still to come."""
METRES_PER_SPIN, METRES_PER_RATE = 0.05, 0.01
"""Length of an arrow for 1 kg m^2/s, and for 1 N m."""
CROSS, SMALL = 0.05, 0.025
"""[m] Arms of the cross at the estimate, and at what a source says."""
AROUND = 1.0
"""[s] of the path that is drawn before and after now."""
OVER = 0.5
"""[m] that the central axis is drawn on beyond the centre of mass."""
STEEPEST = 0.2
"""Rise of the central axis below which its crossing with the floor lies too far off to be drawn."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Lines of one colour.

    Attributes:
        meaning: in words; empty where another mark of this colour says it.
        points: pairs of points (3,) [m], world.
        colour: sRGB with alpha.
        width: [px].
    """

    meaning: str
    points: list[np.ndarray]
    colour: Colour
    width: float


def marks(estimate: SceneEstimate, frame: int, settings: Settings) -> list[Mark]:
    """All that there is to see at a frame of the estimate."""
    found: list[Mark] = []
    if settings.show_estimate:
        found += _place(estimate, frame)
    if settings.show_axis:
        found += _axis(estimate, frame)
    if settings.show_spin:
        found += _spin(estimate, frame)
    if settings.show_sources:
        found += _sources(estimate, frame, settings)
    return [mark for mark in found if mark.points]


def _place(estimate: SceneEstimate, frame: int) -> Iterator[Mark]:
    com = estimate.com[frame]
    foot = com * (1.0, 1.0, 0.0)
    first, last = np.searchsorted(estimate.times, estimate.times[frame] + np.array([-AROUND, AROUND]))
    yield Mark("centre of mass, estimated", cross(com, CROSS), CENTRE, BOLD)
    yield Mark("", [com, foot, *cross(foot, CROSS)[:4]], CENTRE, LINE)
    yield Mark("", _joined(estimate.com[first : frame + 1]), CENTRE, LINE)
    yield Mark("", _joined(estimate.com[frame:last]), _faint(CENTRE), LINE)


def _axis(estimate: SceneEstimate, frame: int) -> Iterator[Mark]:
    points, along = estimate.axis
    at, way = points[frame], along[frame]
    if np.isfinite(at).all() and abs(way[2]) > STEEPEST:
        yield Mark("central axis of the contact wrench", [at - way * at[2] / way[2], at + OVER * way], AXIS, LINE)


def _spin(estimate: SceneEstimate, frame: int) -> Iterator[Mark]:
    com = estimate.com[frame]
    yield Mark("angular momentum", arrow(com, METRES_PER_SPIN * estimate.momentum[frame]), SPIN, BOLD)
    yield Mark("its rate", arrow(com, METRES_PER_RATE * estimate.momentum_rate[frame]), RATE, BOLD)
    constant = estimate.constant[frame]
    if np.isfinite(constant).all():
        yield Mark("angular momentum of this flight", arrow(com, METRES_PER_SPIN * constant), FREE, LINE)


def _sources(estimate: SceneEstimate, frame: int, settings: Settings) -> Iterator[Mark]:
    com = estimate.com[frame]
    for who, colour, shade, words in (
        ("kinematic", _faint(CENTRE), _faint(RATE), "by motion alone"),
        ("wrench", WRENCH, WRENCH, "by the wrench alone"),
    ):
        place = estimate.source(who, "com")[frame]
        if settings.show_estimate and np.isfinite(place).all():
            yield Mark(f"centre of mass {words}", [com, place, *cross(place, SMALL)], colour, LINE)
        rate = estimate.source(who, "momentum_rate")[frame]
        if settings.show_spin and np.isfinite(rate).all():
            yield Mark(f"rate {words}", arrow(com, METRES_PER_RATE * rate), shade, LINE)
    spin = estimate.source("kinematic", "momentum")[frame]
    if settings.show_spin and np.isfinite(spin).all():
        yield Mark("angular momentum by motion alone", arrow(com, METRES_PER_SPIN * spin), _faint(SPIN), LINE)


def _joined(points: np.ndarray) -> list[np.ndarray]:
    """Pairs of neighbours (N, 3)."""
    return list(np.repeat(points, 2, axis=0)[1:-1])


def _faint(colour: Colour) -> Colour:
    return (*colour[:3], FAINT)
