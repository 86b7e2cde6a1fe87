"""Lines that show a centroidal estimate at one frame, with their colours and meanings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..base.solver_api import CentroidalEstimate
from ..drawing.primitives import BOLD_WIDTH, LINE_WIDTH, Colour, arrow_lines, cross_lines
from .properties import SceneSettings

COM_COLOUR: Colour = (1.00, 0.86, 0.30, 1.0)
AXIS_COLOUR: Colour = (1.00, 0.56, 0.08, 1.0)
MOMENTUM_COLOUR: Colour = (0.79, 0.05, 0.77, 1.0)
RATE_COLOUR: Colour = (0.08, 0.73, 0.63, 1.0)
WRENCH_COLOUR: Colour = (0.05, 0.45, 1.00, 1.0)
FLIGHT_COLOUR: Colour = (0.97, 0.97, 1.00, 1.0)
"""Chosen so that colours shown together stay distinct, faint ones too, for people with colour vision deficiency."""
FAINT_ALPHA = 0.45
"""Alpha of the estimate from motion alone and of the path after the current frame."""
METRES_PER_ANGULAR_MOMENTUM, METRES_PER_MOMENT = 0.05, 0.01
"""Length of an arrow for 1 kg m^2/s, and for 1 N m."""
CROSS_SIZE, SMALL_CROSS_SIZE = 0.05, 0.025
"""[m] Arm length of the crosses at the estimate and at the value of one source."""
PATH_DURATION = 1.0
"""[s] Duration of the path that is drawn before and after the current time."""
AXIS_EXTENSION = 0.5
"""[m] Length of the central axis that is drawn beyond the centre of mass."""
SMALLEST_AXIS_SLOPE = 0.2
"""The central axis is drawn only if its vertical component is larger; otherwise it meets the floor too far away."""


@dataclass(frozen=True, slots=True)
class LineSet:
    """Lines of one colour.

    Attributes:
        meaning: legend text; empty if other lines of this colour have it.
        points: pairs of points (3,) [m], world.
        colour: sRGB with alpha.
        width: [px].
    """

    meaning: str
    points: list[np.ndarray]
    colour: Colour
    width: float


def estimate_lines(estimate: CentroidalEstimate, frame: int, settings: SceneSettings) -> list[LineSet]:
    """All lines for one frame of the estimate."""
    found: list[LineSet] = []
    if settings.show_estimate:
        found += _com_lines(estimate, frame)
    if settings.show_axis:
        found += _axis_lines(estimate, frame)
    if settings.show_spin:
        found += _momentum_lines(estimate, frame)
    if settings.show_sources:
        found += _source_lines(estimate, frame, settings)
    return [mark for mark in found if mark.points]


def _com_lines(estimate: CentroidalEstimate, frame: int) -> Iterator[LineSet]:
    com = estimate.com[frame]
    foot = com * (1.0, 1.0, 0.0)
    first, last = np.searchsorted(estimate.times, estimate.times[frame] + np.array([-PATH_DURATION, PATH_DURATION]))
    yield LineSet("centre of mass, estimated", cross_lines(com, CROSS_SIZE), COM_COLOUR, BOLD_WIDTH)
    yield LineSet("", [com, foot, *cross_lines(foot, CROSS_SIZE)[:4]], COM_COLOUR, LINE_WIDTH)
    yield LineSet("", _path_lines(estimate.com[first : frame + 1]), COM_COLOUR, LINE_WIDTH)
    yield LineSet("", _path_lines(estimate.com[frame:last]), _with_faint_alpha(COM_COLOUR), LINE_WIDTH)


def _axis_lines(estimate: CentroidalEstimate, frame: int) -> Iterator[LineSet]:
    points, along = estimate.central_axis
    at, way = points[frame], along[frame]
    if abs(way[2]) > SMALLEST_AXIS_SLOPE:  # NaN is not
        yield LineSet(
            "central axis of the contact wrench",
            [at - way * at[2] / way[2], at + AXIS_EXTENSION * way],
            AXIS_COLOUR,
            LINE_WIDTH,
        )


def _momentum_lines(estimate: CentroidalEstimate, frame: int) -> Iterator[LineSet]:
    com = estimate.com[frame]
    yield LineSet(
        "angular momentum",
        arrow_lines(com, METRES_PER_ANGULAR_MOMENTUM * estimate.momentum[frame]),
        MOMENTUM_COLOUR,
        BOLD_WIDTH,
    )
    yield LineSet(
        "rate of angular momentum",
        arrow_lines(com, METRES_PER_MOMENT * estimate.momentum_rate[frame]),
        RATE_COLOUR,
        BOLD_WIDTH,
    )
    constant = estimate.mean_flight_momentum[frame]
    if np.isfinite(constant).all():
        yield LineSet(
            "mean angular momentum of this flight",
            arrow_lines(com, METRES_PER_ANGULAR_MOMENTUM * constant),
            FLIGHT_COLOUR,
            LINE_WIDTH,
        )


def _source_lines(estimate: CentroidalEstimate, frame: int, settings: SceneSettings) -> Iterator[LineSet]:
    com = estimate.com[frame]
    for source, colour, shade, origin in (
        ("kinematic", _with_faint_alpha(COM_COLOUR), _with_faint_alpha(RATE_COLOUR), "from motion alone"),
        ("wrench", WRENCH_COLOUR, WRENCH_COLOUR, "from the wrench alone"),
    ):
        position = estimate.source(source, "com")[frame]
        if settings.show_estimate and np.isfinite(position).all():
            yield LineSet(
                f"centre of mass {origin}",
                [com, position, *cross_lines(position, SMALL_CROSS_SIZE)],
                colour,
                LINE_WIDTH,
            )
        rate = estimate.source(source, "momentum_rate")[frame]
        if settings.show_spin and np.isfinite(rate).all():
            yield LineSet(f"rate {origin}", arrow_lines(com, METRES_PER_MOMENT * rate), shade, LINE_WIDTH)
    spin = estimate.source("kinematic", "momentum")[frame]
    if settings.show_spin and np.isfinite(spin).all():
        yield LineSet(
            "angular momentum from motion alone",
            arrow_lines(com, METRES_PER_ANGULAR_MOMENTUM * spin),
            _with_faint_alpha(MOMENTUM_COLOUR),
            LINE_WIDTH,
        )


def _path_lines(points: np.ndarray) -> list[np.ndarray]:
    """Pairs of consecutive points (N, 3)."""
    return list(np.repeat(points, 2, axis=0)[1:-1])


def _with_faint_alpha(colour: Colour) -> Colour:
    return (*colour[:3], FAINT_ALPHA)
