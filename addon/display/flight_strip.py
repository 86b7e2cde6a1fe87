"""Flights along the time axis of Dope Sheet and Timeline, with the error of their angular momentum.

The curves are the three components of the kinematic angular momentum minus their mean over the flight. Angular
momentum is conserved in flight, so deviations from zero are errors of motion and inertial parameters.
"""

from __future__ import annotations

import bpy
import gpu
import numpy as np

from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig
from ..base.solver_api import CentroidalEstimate
from ..drawing import primitives as drawing
from ..drawing.primitives import Colour
from ..scene.action import frames_at
from .centroidal_estimates import find_estimate_file
from .overlays import ESTIMATES, Overrides
from .properties import study_settings

FLIGHT_COLOUR: Colour = (0.42, 0.66, 0.93, 0.30)
COMPONENT_COLOURS: tuple[Colour, ...] = ((0.96, 0.36, 0.40, 1.0), (0.56, 0.84, 0.28, 1.0), (0.40, 0.62, 1.00, 1.0))
"""Blender's colours of the axes."""
STRIP_HEIGHT, LOW_STRIP_HEIGHT, SCROLL_BAR_HEIGHT, LETTER_HEIGHT = 44.0, 8.0, 13.0, 10.0
"""[px] Heights of the strip with curves, of the strip alone, of Blender's scroll bar below, and of letters."""
LARGEST_REGION_FRACTION = 0.55
"""Largest fraction of the region that the curves may take; if they do not fit, only the low strip is drawn."""
SMALLEST_SCALE = 1.0
"""[kg m^2/s] Smallest range of the strip, so that small deviations look small."""


def momentum_deviations(estimate: CentroidalEstimate) -> tuple[list[np.ndarray], float]:
    """Kinematic momentum minus its mean (n, 3) [kg m^2/s] of each flight, and the range of the strip."""
    momentum = estimate.source("kinematic", "momentum")
    found = [momentum[start:stop] - momentum[start:stop].mean(axis=0) for start, stop in estimate.flights]
    return found, max([SMALLEST_SCALE, *(float(np.abs(values).max()) for values in found)])


def draw() -> None:
    """Draw the flights of the active rig; called in a Dope Sheet's POST_PIXEL."""
    context = bpy.context
    body = active_rig(context)
    if body is None or not study_settings(context).show_flights or any(shows(body) for shows in Overrides.balance):
        return
    path, region, size = find_estimate_file(body), require(context.region, "region"), drawing.interface_scale()
    estimate = None if path is None else ESTIMATES.get(path)
    if estimate is None:
        return
    room = region.height * LARGEST_REGION_FRACTION >= STRIP_HEIGHT * size
    origin, step = drawing.frame_axis(region)
    gpu.state.blend_set("ALPHA")
    values, most = momentum_deviations(estimate)
    for (start, stop), curves in zip(estimate.flights, values, strict=True):
        times = estimate.times[start:stop]
        x = origin + step * frames_at(scene(context), times)
        if x[-1] < 0.0 or x[0] > region.width:
            continue
        if room:
            _draw_flight(x, curves / most, times, most)
        else:
            drawing.fill_box(float(x[0]), 0.0, float(x[-1] - x[0]), LOW_STRIP_HEIGHT * size, FLIGHT_COLOUR)
    gpu.state.blend_set("NONE")


def _draw_flight(x: np.ndarray, curves: np.ndarray, times: np.ndarray, largest: float) -> None:
    """Draw one flight at positions (n,) [px] with curves (n, 3) between -1 and 1."""
    size = drawing.interface_scale()
    bottom, half = SCROLL_BAR_HEIGHT * size, 0.5 * STRIP_HEIGHT * size
    drawing.fill_box(float(x[0]), bottom, float(x[-1] - x[0]), 2.0 * half, FLIGHT_COLOUR)
    for colour, curve in zip(COMPONENT_COLOURS, curves.T, strict=True):
        points = np.stack([x, bottom + half * (1.0 + curve), np.zeros(len(x))], axis=1)
        drawing.draw_lines(np.repeat(points, 2, axis=0)[1:-1], colour, drawing.LINE_WIDTH)
    for label in (f"flight {times[-1] - times[0]:.2f} s, momentum ±{largest:.2g} kg m²/s", "flight"):
        if drawing.text_width(label, LETTER_HEIGHT * size) + 8.0 * size < x[-1] - x[0]:
            drawing.draw_text(label, float(x[0]) + 4.0 * size, bottom + 2.0 * half + 3.0 * size, LETTER_HEIGHT * size)
            return
