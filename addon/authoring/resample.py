"""A motion at other times: a solver's samples onto the frames of the user's clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..solver_api import SceneMotion


def resample(motion: SceneMotion, times: np.ndarray) -> SceneMotion:
    """The motion at other times (T,) [s] by cubics through its samples; before and after it, its ends.

    At the samples' own times nothing changes. Centre of mass, momentum and standing corners are the nearest sample's.
    """
    own = motion.times
    if len(own) < 2:
        nearest = np.zeros(len(times), int)
        parts = {name: getattr(motion, name)[nearest] for name in ("root", "rotations", "translations")}
    else:
        nearest = np.abs(np.searchsorted(0.5 * (own[1:] + own[:-1]), times))
        parts = {
            name: _interpolate_cubic(own, getattr(motion, name), times)
            for name in ("root", "rotations", "translations")
        }
        parts["rotations"] /= np.linalg.norm(parts["rotations"], axis=2, keepdims=True)
    others = {name: getattr(motion, name)[nearest] for name in ("com", "momentum", "standing")}
    return replace(motion, times=times, **parts, **others)


def _interpolate_cubic(own: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Hermite cubics with the slopes of central differences."""
    slopes = np.gradient(values, own, axis=0)
    inside = np.clip(times, own[0], own[-1])
    place = np.clip(np.searchsorted(own, inside, side="right") - 1, 0, len(own) - 2)
    length = own[place + 1] - own[place]
    share = (inside - own[place]) / length
    wide = (slice(None), *(None,) * (values.ndim - 1))
    s, h = share[wide], length[wide]
    before, after = values[place], values[place + 1]
    rest = (3.0 - 2.0 * s) * s**2
    return (
        (1.0 - rest) * before
        + rest * after
        + h * s * (1.0 - s) ** 2 * slopes[place]
        - h * s**2 * (1.0 - s) * slopes[place + 1]
    )
