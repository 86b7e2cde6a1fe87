"""Resamples a motion of the solver to the frames of the scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.solver_api import SceneMotion


def resample(motion: SceneMotion, times: np.ndarray) -> SceneMotion:
    """The motion at other times (T,) [s], by cubic interpolation; constant before the first and after the last sample.

    At the times of samples nothing changes. Centre of mass, momentum and contact corners are the nearest sample's.
    """
    samples = motion.times
    if len(samples) < 2:
        nearest = np.zeros(len(times), int)
        parts = {name: getattr(motion, name)[nearest] for name in ("root", "rotations", "translations")}
    else:
        nearest = np.abs(np.searchsorted(0.5 * (samples[1:] + samples[:-1]), times))
        parts = {
            name: _interpolate_cubic(samples, getattr(motion, name), times)
            for name in ("root", "rotations", "translations")
        }
        parts["rotations"] /= np.linalg.norm(parts["rotations"], axis=2, keepdims=True)
    nearest_values = {name: getattr(motion, name)[nearest] for name in ("com", "momentum", "standing")}
    return replace(motion, times=times, **parts, **nearest_values)


def _interpolate_cubic(samples: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Cubic Hermite interpolation with derivatives from central differences."""
    slopes = np.gradient(values, samples, axis=0)
    inside = np.clip(times, samples[0], samples[-1])
    index = np.clip(np.searchsorted(samples, inside, side="right") - 1, 0, len(samples) - 2)
    length = samples[index + 1] - samples[index]
    fraction = (inside - samples[index]) / length
    wide = (slice(None), *(None,) * (values.ndim - 1))
    s, h = fraction[wide], length[wide]
    before, after = values[index], values[index + 1]
    rest = (3.0 - 2.0 * s) * s**2
    return (
        (1.0 - rest) * before
        + rest * after
        + h * s * (1.0 - s) ** 2 * slopes[index]
        - h * s**2 * (1.0 - s) * slopes[index + 1]
    )
