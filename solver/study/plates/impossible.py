"""Forces that cannot be a motion's: they push more than it allows, or act outside the hull of both feet."""

from __future__ import annotations

import numpy as np

from ...rig import GRAVITY
from .trial_wrenches import LOADED_FRACTION, ForceMotionPair, compute_residual, is_loaded

EXCESS_FORCE = 0.3
"""Fraction of the weight by which the plates' force exceeds what the motion allows."""
MAX_DISTANCE = 0.1
"""[m] A centre of pressure farther than this from the convex hull of both feet is not under them. Markers and soles are
wrong by up to half of it."""
RAISED_HEIGHT = 0.05
"""[m] A sole corner that is higher than this above the lowest one may be in the air."""
HULL_DIRECTIONS = 32
"""Directions in which the distance from the hull is evaluated: it is too small by at most half a per cent."""
MAX_IMPOSSIBLE_FRACTION = 0.3
"""Fraction of the loaded time above which forces count as impossible: hard landings and lost markers cause less."""
MIN_EXPLAINED_FRACTION = 0.5
"""Fraction of the loaded time in which forces must fit the motion to be attributed to it."""
OTHER_RECORDING = "the forces are from another recording, or not synchronised"


def find_impossible_forces(item: ForceMotionPair, mass: float) -> tuple[float, str]:
    """Fraction of the loaded time in which the forces cannot belong to the motion, and the reason."""
    measured, loaded = item.measured, is_loaded(item.measured, mass)
    if not loaded.any():
        return 0.0, ""
    beyond = excess_force_fraction(item, measured, mass)
    beside = float(_is_outside_feet(item, mass * GRAVITY)[loaded].mean())
    if beyond > MAX_IMPOSSIBLE_FRACTION or beside <= MAX_IMPOSSIBLE_FRACTION:
        return beyond, f"the plates push harder than the motion allows: {OTHER_RECORDING}"
    place = "the locations of plates are exchanged, or not in the markers' axes"
    if float(compute_residual(item, measured, mass).is_explained[loaded].mean()) > MIN_EXPLAINED_FRACTION:
        return beside, f"the forces follow the motion, but act outside the hull of both feet: {place}"
    return (
        beside,
        "the forces act outside the hull of both feet and do not follow the motion: they are from another recording",
    )


def excess_force_fraction(item: ForceMotionPair, measured: np.ndarray, mass: float) -> float:
    """Fraction of the loaded time in which wrenches (N, 6) push harder than the motion allows.

    Support that was not measured can explain a missing force, but never an excess.
    """
    loaded = is_loaded(measured, mass)
    beyond = measured[loaded, 2] - item.predicted[loaded, 2] > EXCESS_FORCE * mass * GRAVITY
    return float(beyond.mean()) if loaded.any() else 0.0


def _is_outside_feet(item: ForceMotionPair, weight: float) -> np.ndarray:
    """(N,) True where a loaded plate's centre of pressure is outside the hull of the feet, by more than `BESIDE`.

    Each foot has its own hull, and all corners near the floor have a common one: if one plate carries both feet, its
    centre of pressure lies between them.
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
