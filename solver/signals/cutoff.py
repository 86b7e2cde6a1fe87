"""Cut-off frequency from the signal-to-noise ratio of a motion.

Both sides of Y phi = f pass the same filter. A low cut-off costs information; a high one lets noise of the motion into
Y, which biases phi. A low-pass passes the noise below its cut-off and removes the signal above. The sum of both errors
is least where signal and noise are equally strong. There Wiener's filter has a gain of one half, and so do the two
passes of a Butterworth filter at their cut-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..dynamics import difference
from ..filter_presets import FilterPreset
from ..rig import Rig
from .resample import rate_of_grid

LEAST = 3.5
"""[Hz] Lowest cut-off: harmonics above the cut-off are lost. On ten simulated volunteers with moving skin (0.2 to 0.9
Hz) the mean error of masses was 0.41 kg both at 3.5 Hz and at 2 Hz, the largest error 0.91 and 1.17 times that of the
tables."""
SEGMENT = 4.0
"""[s] Length of the segments whose spectra are averaged; shorter recordings are one segment."""
SMOOTHED = 1.0
"""[Hz] Band over which a spectrum is averaged."""
ALIKE = 2.0
"""Ratio of total power to noise power where signal and noise are equally strong."""


def noise_frequency(rig: Rig, times: np.ndarray, q: np.ndarray, floor: np.ndarray) -> float:
    """Frequency [Hz] above which a motion is mostly noise: a low-pass there has the least mean square error.

    A band below the cut-off adds its noise N to the error, a band above adds its signal P - N. The frequency maximises
    the sum of P / N - `ALIKE` up to it, so a single band with strong noise does not change it. P / N is the median over
    coordinates: a joint that is often at its limit has little noise there and jumps when it leaves it.

    Args:
        rig: of the motion.
        times: (N,) [s], evenly spaced.
        q: (N, nq) before any filter.
        floor: (nv, nv) covariance of the white noise of each frame, see `noise_floor`.
    """
    rate = rate_of_grid(np.asarray(times))
    known = np.diag(floor) > 0.0
    if not known.any():
        return 0.5 * rate
    size = min(len(q) - 1, round(SEGMENT * rate))
    window = np.hanning(size)[:, None] / np.linalg.norm(np.hanning(size))
    starts, power = range(0, len(q) - size, max(size // 2, 1)), np.zeros((size // 2 + 1, int(known.sum())))
    for start in starts:
        steps = difference(rig, q[start : start + size], q[start + 1 : start + size + 1])
        power += np.abs(np.fft.rfft(window * steps[:, known], axis=0)) ** 2 / len(starts)
    frequencies = np.fft.rfftfreq(size, 1.0 / rate)
    # spectrum of the differences between successive frames of white noise
    noise = 4.0 * np.sin(np.pi * frequencies[1:] / rate) ** 2
    ratio = np.median(power[1:] / np.diag(floor)[known], axis=1) / noise
    width = max(1, round(SMOOTHED / frequencies[1]))
    smooth = np.convolve(ratio, np.ones(width) / width, mode="valid")
    benefit = np.cumsum(smooth - ALIKE)
    best = int(np.argmax(benefit))
    return float(frequencies[1 + best + width // 2]) if benefit[best] > 0.0 else 0.0


def lower_cutoff(preset: FilterPreset, noisy: Sequence[float]) -> FilterPreset:
    """The preset, with a lower cut-off if all motions are mostly noise above one.

    Args:
        preset: the requested filter.
        noisy: [Hz] `noise_frequency` of each motion; infinity if unknown.
    """
    highest = max([LEAST, *noisy]) if len(noisy) else np.inf
    if highest >= preset.cutoff:
        return preset
    return replace(preset, cutoff=highest, note=f"{preset.note}; lowered to where the motion ends and its noise begins")
