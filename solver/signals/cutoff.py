"""Up to which frequency a motion is more than its own noise.

Both sides of Y phi = f pass the same filter, so a low cut-off costs information and a high one lets noise of the motion
into Y, which biases phi. A low-pass leaves the noise below its cut-off and loses the signal above. The sum of both is
least where signal and noise are equally strong. There Wiener's filter has a gain of one half, as the two passes of a
Butterworth filter have at their cut-off.
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
"""[Hz] No lower. The equations are calibrated for white noise that passes, but harmonics that a filter takes away are
lost. On ten simulated volunteers with moving skin (0.2 to 0.9 Hz) masses were on average 0.41 kg off at 3.5 Hz and at
2 Hz, in the worst case 0.91 and 1.17 times as far as the tables'."""
SEGMENT = 4.0
"""[s] of the pieces whose spectra are averaged; shorter recordings are one piece."""
SMOOTHED = 1.0
"""[Hz] over which a spectrum is averaged."""
ALIKE = 2.0
"""Power over the noise's alone where signal and noise are equally strong."""


def noise_frequency(rig: Rig, times: np.ndarray, q: np.ndarray, floor: np.ndarray) -> float:
    """Frequency [Hz] above which a motion is mostly noise: up to it a low-pass leaves the least mean square error.

    A band that passes adds its noise N to the error, one that does not adds its signal P - N. The frequency is the one
    up to which the sum of P / N - `ALIKE` is largest: a single band with strong noise does not move it.

    Args:
        rig: that moved.
        times: (N,) [s], even.
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
    # steps between frames of white noise have this spectrum
    noise = 4.0 * np.sin(np.pi * frequencies[1:] / rate) ** 2
    ratio = np.mean(power[1:] / np.diag(floor)[known], axis=1) / noise
    width = max(1, round(SMOOTHED / frequencies[1]))
    smooth = np.convolve(ratio, np.ones(width) / width, mode="valid")
    spared = np.cumsum(smooth - ALIKE)
    best = int(np.argmax(spared))
    return float(frequencies[1 + best + width // 2]) if spared[best] > 0.0 else 0.0


def lower_cutoff(preset: FilterPreset, noisy: Sequence[float]) -> FilterPreset:
    """The preset, or one of a lower cut-off where every motion is mostly noise above it.

    Args:
        preset: asked for.
        noisy: [Hz] of each motion, see `noise_frequency`; of a motion about which nothing is known, infinity.
    """
    highest = max([LEAST, *noisy]) if len(noisy) else np.inf
    if highest >= preset.cutoff:
        return preset
    return replace(preset, cutoff=highest, note=f"{preset.note}; lowered to where the motion ends and its noise begins")
