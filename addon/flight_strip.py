"""Flights along the time axis of the Dope Sheet and the Timeline, and over each the momentum that it should keep.

The curves are the three components of the kinematic angular momentum less their mean over the flight: physics keeps
them at zero, and what they do instead is the error of motion and inertials.
"""

from __future__ import annotations

import bpy
import gpu
import numpy as np

from . import drawing
from .action import frames_at
from .drawing import Colour
from .estimates import estimate_file
from .overlays import ESTIMATES, Instead
from .properties import settings_of
from .scene_rigs import rig_in
from .typed import scene, there
from .values import SceneEstimate

AIR: Colour = (0.42, 0.66, 0.93, 0.30)
COMPONENTS: tuple[Colour, ...] = ((0.96, 0.36, 0.40, 1.0), (0.56, 0.84, 0.28, 1.0), (0.40, 0.62, 1.00, 1.0))
"""As Blender colours its axes."""
TALL, LOW, BOTTOM, LETTERS = 44.0, 8.0, 13.0, 10.0
"""[px] Of the strip with its curves, of the strip alone, of Blender's scroll bar below it, of its words."""
TALLEST = 0.55
"""Share of the region that the curves may take; in a lower one the strip stands alone at its bottom."""
LEAST = 1.0
"""[kg m^2/s] that the strip shows at least, so that small deviations stay small."""


def deviations(estimate: SceneEstimate) -> tuple[list[np.ndarray], float]:
    """Of each flight the kinematic momentum less its mean (n, 3) [kg m^2/s], and the largest that a strip shows."""
    momentum = estimate.source("kinematic", "momentum")
    found = [momentum[start:stop] - momentum[start:stop].mean(axis=0) for start, stop in estimate.flights]
    return found, max([LEAST, *(float(np.abs(values).max()) for values in found)])


def draw() -> None:
    """Draw the flights of the rig that is meant; in a Dope Sheet's POST_PIXEL."""
    context = bpy.context
    body = rig_in(context)
    if body is None or not settings_of(context).show_flights or any(shows(body) for shows in Instead.balance):
        return
    path, region, size = estimate_file(body), there(context.region, "region"), drawing.scale()
    estimate = None if path is None else ESTIMATES.get(path)
    if estimate is None:
        return
    room = region.height * TALLEST >= TALL * size
    origin, step = drawing.frame_axis(region)
    gpu.state.blend_set("ALPHA")
    values, most = deviations(estimate)
    for (start, stop), curves in zip(estimate.flights, values, strict=True):
        times = estimate.times[start:stop]
        x = origin + step * frames_at(scene(context), times)
        if x[-1] < 0.0 or x[0] > region.width:
            continue
        if room:
            _flight(x, curves / most, times, most)
        else:
            drawing.box(float(x[0]), 0.0, float(x[-1] - x[0]), LOW * size, AIR)
    gpu.state.blend_set("NONE")


def _flight(x: np.ndarray, curves: np.ndarray, times: np.ndarray, most: float) -> None:
    """One flight at places (n,) [px] with curves (n, 3) between -1 and 1."""
    size = drawing.scale()
    bottom, half = BOTTOM * size, 0.5 * TALL * size
    drawing.box(float(x[0]), bottom, float(x[-1] - x[0]), 2.0 * half, AIR)
    for colour, curve in zip(COMPONENTS, curves.T, strict=True):
        points = np.stack([x, bottom + half * (1.0 + curve), np.zeros(len(x))], axis=1)
        drawing.lines(np.repeat(points, 2, axis=0)[1:-1], colour, drawing.LINE)
    for words in (f"flight {times[-1] - times[0]:.2f} s, momentum ±{most:.2g} kg m²/s", "flight"):
        if drawing.extent(words, LETTERS * size) + 8.0 * size < x[-1] - x[0]:
            drawing.write(words, float(x[0]) + 4.0 * size, bottom + 2.0 * half + 3.0 * size, LETTERS * size)
            return
