"""Noise of a recorded motion, estimated from the motion itself, and the cut-off that follows from it.

Bodies do not move at tens of hertz, but noise of cameras and encoders does. So the power of a motion there is a lower
bound of its noise at all frequencies.

Both sides of Y phi = f pass the same filter. A low cut-off costs information; a high one lets noise of the motion into
Y, which biases phi. A low-pass passes the noise below its cut-off and removes the signal above. The sum of both errors
is least where signal and noise are equally strong. There Wiener's filter has a gain of one half, and so do the two
passes of a Butterworth filter at their cut-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..dynamics import difference
from ..skeleton.rig import Rig
from ..values.filter_presets import FilterPreset
from .manifold import smooth_motion
from .resampling import rate_of_grid, uniform_times

ABOVE = 2.0
"""Multiple of the filter's cut-off above which the motion counts as noise. Measured on a simulated robot, whose masses
are 222 g off: half and twice the value give the same within 0.5 g."""
BELOW = 0.9
"""Fraction of half the frame rate up to which it does: filters of camera software cut off there. Measured on a
simulated robot, whose masses are 222 g off: half and twice the value give 222 and 226 g."""
BANDS = 4
"""Bands of that range, of which the one with the least power is used: filters and vibrations affect single bands.
Measured on simulated noise of 1 mrad on a smooth motion, which is found to be 0.975 mrad: half and twice the value find
0.981 and 0.969 mrad."""
SEGMENT = 64
"""Frames of a spectrum. The half of the segments with less power is used: a heel strike is not noise of a camera.
Measured on simulated noise of 1 mrad on a smooth motion, which is found to be 0.975 mrad: half and twice the value find
0.953 and 0.980 mrad."""
MIN_FRAMES = 24
"""Least number of frames of a spectrum, for recordings shorter than two segments, such as single jumps. Measured on
simulated noise of 1 mrad on a smooth motion, which is found to be 0.975 mrad: half and twice the value find the
same."""
LOWEST_CUTOFF = 3.5
"""[Hz] Lowest cut-off: harmonics above the cut-off are lost. On ten simulated volunteers with moving skin (0.2 to 0.9
Hz) the mean error of masses was 0.41 kg both at 3.5 Hz and at 2 Hz, the largest error 0.91 and 1.17 times that of the
tables."""
AVERAGED = 4.0
"""[s] Length of the segments whose spectra are averaged; shorter recordings are one segment. Measured on a simulated
robot, whose masses are 222 g off: half and twice the value give 222 and 223 g."""
SMOOTHED = 1.0
"""[Hz] Band over which a spectrum is averaged. Measured on simulated noise of 1 mrad on a smooth motion, which is found
to be 0.975 mrad: half and twice the value give a cut-off of 7 and 7.25 Hz, the value itself 7 Hz."""
EQUAL_POWERS = 2.0
"""Ratio of total power to noise power where signal and noise are equally strong. Derived: the sum of two equal
powers."""


def noise_floor(
    rig: Rig, times: np.ndarray, q: np.ndarray, preset: FilterPreset, usable: np.ndarray | None = None
) -> np.ndarray | None:
    """Lower bound of the covariance (nv, nv) of the white noise in each frame of a motion; units of v times seconds.

    Args:
        rig: of the motion.
        times: (N,) [s].
        q: (N, nq) as tracked, before any filter.
        preset: filter the motion will get.
        usable: (N,) False where the motion is not measured (gaps).

    Returns:
        None if it cannot be estimated: frames unevenly spaced, too few or at too low a rate.
    """
    grid, same = uniform_times(np.asarray(times, float))
    size = min(SEGMENT, len(grid) // 2)
    if not same or size < MIN_FRAMES:
        return None
    rate = rate_of_grid(grid)
    edges = np.linspace(ABOVE * preset.cutoff, 0.5 * BELOW * rate, BANDS + 1)
    frequencies = np.fft.rfftfreq(size, 1.0 / rate)
    bands = [(frequencies >= low) & (frequencies < high) for low, high in pairwise(edges)]
    if not all(band.any() for band in bands):
        return None
    smooth = smooth_motion(rig, grid, q, preset).q
    window = np.hanning(size)[:, None] / np.linalg.norm(np.hanning(size))
    starts = [
        start
        for start in range(0, len(q) - size + 1, size // 2)
        if usable is None or usable[start : start + size].all()
    ]
    if not starts:
        return None

    def spectrum(start: int) -> np.ndarray:
        own = slice(start, start + size)
        return np.asarray(np.fft.rfft(window * difference(rig, smooth[own], q[own]), axis=0))

    powers = [sum(float(np.mean(np.abs(found[band]) ** 2)) for band in bands) for found in map(spectrum, starts)]
    quiet = np.sort(np.argsort(powers)[: (len(powers) + 1) // 2])
    each = np.zeros((BANDS, rig.nv, rig.nv))
    for found in (spectrum(starts[index]) for index in quiet):
        each += [np.real(found[band].T @ found[band].conj()) / band.sum() for band in bands]
    each /= len(quiet)
    floor: np.ndarray = each[int(np.argmin(np.trace(each, axis1=1, axis2=2)))]
    return floor


def noise_frequency(rig: Rig, times: np.ndarray, q: np.ndarray, floor: np.ndarray) -> float:
    """Frequency [Hz] above which a motion is mostly noise: a low-pass there has the least mean square error.

    A band below the cut-off adds its noise N to the error, a band above adds its signal P - N. The frequency maximises
    the sum of P / N - `EQUAL_POWERS` up to it, so a single band with strong noise does not change it. P / N is the
    median over coordinates: a joint that is often at its limit has little noise there and jumps when it leaves it.

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
    size = min(len(q) - 1, round(AVERAGED * rate))
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
    benefit = np.cumsum(smooth - EQUAL_POWERS)
    best = int(np.argmax(benefit))
    return float(frequencies[1 + best + width // 2]) if benefit[best] > 0.0 else 0.0


def lower_cutoff(preset: FilterPreset, noisy: Sequence[float]) -> FilterPreset:
    """The preset, with a lower cut-off if all motions are mostly noise above one.

    Args:
        preset: the requested filter.
        noisy: [Hz] `noise_frequency` of each motion; infinity if unknown.
    """
    highest = max([LOWEST_CUTOFF, *noisy]) if len(noisy) else np.inf
    if highest >= preset.cutoff:
        return preset
    return replace(preset, cutoff=highest, note=f"{preset.note}; lowered to where the motion ends and its noise begins")
