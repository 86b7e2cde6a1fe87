"""Skin that moves over the skeleton: the markers of a link swing together."""

from __future__ import annotations

import numpy as np

SKIN = 4e-3
"""[m] standard deviation of the swinging of a link's markers, per axis."""
SKIN_TEMPO, SKIN_DAMPING = 6.0, 0.3
"""[Hz] and damping ratio of the swinging."""
FINER, SETTLING = 10, 1.0
"""Steps of the simulation a frame, and [s] before it is looked at."""


def moving_skin(frames: int, links: int, generator: np.random.Generator, rate: float, size: float) -> np.ndarray:
    """(frames, links, 3) [m] by which the markers of a link swing together, with a standard deviation ``size`` [m].

    A damped oscillator driven by white noise, sampled ``rate`` times a second.
    """
    turn, step = 2.0 * np.pi * SKIN_TEMPO, 1.0 / (rate * FINER)
    strength = size * np.sqrt(4.0 * SKIN_DAMPING * turn**3 / step)
    place, speed, found = np.zeros((links, 3)), np.zeros((links, 3)), []
    settled = round(SETTLING * rate)
    for count in range((frames + settled) * FINER):
        driven_by = strength * generator.standard_normal((links, 3))
        speed = speed + step * (driven_by - turn**2 * place - 2.0 * SKIN_DAMPING * turn * speed)
        place = place + step * speed
        if count % FINER == FINER - 1:
            found.append(place)
    return np.array(found[settled:])
