"""Forces that cannot be a motion's: they push more than it allows, or act outside the hull of both feet."""

from __future__ import annotations

import numpy as np

from ...rig import GRAVITY
from .trial_wrenches import LOADED_FRACTION, ForceMotionPair, compute_residual, is_loaded

EXCESS_FORCE = 0.3
"""Share of the weight by which plates push the body more than its motion allows."""
MAX_DISTANCE = 0.1
"""[m] A centre of pressure farther than this from the hull of both feet is not under them: markers and soles are
wrong by up to half of it."""
RAISED_HEIGHT = 0.05
"""[m] What is higher than this above the lowest corner of both soles may be in the air."""
HULL_DIRECTIONS = 32
"""Directions in which the hull's edge is looked for: a distance is too small by half a per cent at most."""
MAX_IMPOSSIBLE_FRACTION = 0.3
"""Share of the loaded time in which the impossible must be seen: hard landings and a lost marker make less."""
MIN_EXPLAINED_FRACTION = 0.5
"""Share of the loaded time in which forces must fit the motion to be called its own."""
OTHER_RECORDING = "the forces are another recording's, or on another clock"


def find_impossible_forces(item: ForceMotionPair, mass: float) -> tuple[float, str]:
    """Share of the loaded time in which the forces cannot be the motion's, and why they may not."""
    measured, loaded = item.measured, is_loaded(item.measured, mass)
    if not loaded.any():
        return 0.0, ""
    beyond = excess_force_fraction(item, measured, mass)
    beside = float(_is_outside_feet(item, mass * GRAVITY)[loaded].mean())
    if beyond > MAX_IMPOSSIBLE_FRACTION or beside <= MAX_IMPOSSIBLE_FRACTION:
        return beyond, f"the plates push harder than the motion allows: {OTHER_RECORDING}"
    place = "the places of plates are exchanged, or they are not in the markers' axes"
    if float(compute_residual(item, measured, mass).is_explained[loaded].mean()) > MIN_EXPLAINED_FRACTION:
        return beside, f"the forces follow the motion, but act outside the hull of both feet: {place}"
    return (
        beside,
        "the forces act outside the hull of both feet and do not follow the motion: they are another recording's",
    )


def excess_force_fraction(item: ForceMotionPair, measured: np.ndarray, mass: float) -> float:
    """Share of the time in which forces (N, 6) carry the body that they push it harder than its motion allows.

    Support that nobody measured pushes too: it can explain what plates miss, never what they have too much.
    """
    loaded = is_loaded(measured, mass)
    beyond = measured[loaded, 2] - item.predicted[loaded, 2] > EXCESS_FORCE * mass * GRAVITY
    return float(beyond.mean()) if loaded.any() else 0.0


def _is_outside_feet(item: ForceMotionPair, weight: float) -> np.ndarray:
    """(N,) True where a loaded plate's centre of pressure is outside the hull of the feet, by more than `BESIDE`.

    Each foot has its own hull, and what is near the floor has one together: one plate may carry both feet, and its
    centre of pressure then lies between them.
    """
    if not item.sole_corners.shape[1] or not np.asarray(item.wrenches.measured).all(axis=0)[3:5].all():
        return np.zeros(len(item.times), bool)
    corners = item.sole_corners[..., :2]
    raised = item.sole_corners[..., 2] > item.sole_corners[..., 2].min(axis=(1, 2), keepdims=True) + RAISED_HEIGHT
    points = item.wrenches.centres_of_pressure()[:, :, :2]
    distance = np.zeros((*points.shape[:2], corners.shape[1] + 1))
    for angle in np.arange(0.0, 2.0 * np.pi, 2.0 * np.pi / HULL_DIRECTIONS):
        outwards = np.array([np.cos(angle), np.sin(angle)])
        along = corners @ outwards
        together = np.where(raised, -np.inf, along).max(axis=(1, 2))
        edges = np.column_stack([along.max(axis=2), together])
        distance = np.fmax(distance, (points @ outwards)[:, :, None] - edges[:, None])
    carries = item.wrenches.values[:, :, 2] > LOADED_FRACTION * weight
    return np.asarray((carries & (distance.min(axis=2) > MAX_DISTANCE)).any(axis=1))
