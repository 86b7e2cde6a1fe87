"""How noisy a recorded motion is, told by the motion itself, and the same motion shaken by as much again.

Bodies do not move at tens of hertz, noise of cameras and encoders does. What is left of a motion there is a floor
under its noise at all frequencies. Shaking the motion by it once more shows what the noise does to anything computed
from the motion (SIMEX; Cook and Stefanski, 1994), without a formula for how it gets there.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..dynamics import difference, integrate
from ..file_arrays import FileRows
from ..filter_presets import FilterPreset
from ..motion import Motion
from ..rig import Rig
from .manifold import smooth_motion
from .resample import rate_of_grid, uniform_times

REPLICAS = 4
"""Shaken copies of a motion: their noise must be known better than the equations that it is taken off from."""
REPLICA_SAMPLES = 4 * 12_000
"""Frames of all copies together beyond which there are fewer of them: four of a minute at 200 frames a second."""
ABOVE = 2.0
"""Multiple of the filter's cut-off from which on a motion is taken for noise."""
BELOW = 0.9
"""Share of half the frame rate up to which it is: other filters, of cameras' software, end there."""
BANDS = 4
"""Parts of that range, of which the quietest counts: what a filter or a vibration left in one is no white noise."""
PIECE = 4096
"""Frames shaken at once."""
SEGMENT = 64
"""Frames judged at once, of which the quieter half counts: a heel strike is no noise of a camera."""
SHORTEST = 24
"""The same of a recording too short for two of them: a jump that was cut out."""


def noise_floor(
    rig: Rig, times: np.ndarray, q: np.ndarray, preset: FilterPreset, usable: np.ndarray | None = None
) -> np.ndarray | None:
    """Covariance (nv, nv) of the white noise in each frame of a motion, at least; units of v times seconds.

    Args:
        rig: that moved.
        times: (N,) [s].
        q: (N, nq) as tracked, before any filter.
        preset: filter the motion will get.
        usable: (N,) False where the motion is made up (gaps).

    Returns:
        None where nothing can be said: uneven or slow frames, or too few.
    """
    grid, same = uniform_times(np.asarray(times, float))
    size = min(SEGMENT, len(grid) // 2)
    if not same or size < SHORTEST:
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

    loud = [sum(float(np.mean(np.abs(found[band]) ** 2)) for band in bands) for found in map(spectrum, starts)]
    quiet = np.sort(np.argsort(loud)[: (len(loud) + 1) // 2])
    each = np.zeros((BANDS, rig.nv, rig.nv))
    for found in (spectrum(starts[place]) for place in quiet):
        each += [np.real(found[band].T @ found[band].conj()) / band.sum() for band in bands]
    each /= len(quiet)
    floor: np.ndarray = each[int(np.argmin(np.trace(each, axis1=1, axis2=2)))]
    return floor


@dataclass(frozen=True, slots=True)
class NoiseReplicas:
    """Filtered motions from configurations that got their own noise once more, each a new draw, the same every time.

    They are made one at a time when they are asked for, fewer of a long recording: what noise does is known by
    copies times frames.

    Attributes:
        rig, times, q, preset: see `noise_floor`.
        floor: (nv, nv) covariance of a frame's noise.
        name: of the trial, from which the draws follow.
    """

    rig: Rig
    times: np.ndarray
    q: np.ndarray
    preset: FilterPreset
    floor: np.ndarray
    name: str = ""

    def __len__(self) -> int:
        return int(np.clip(-(-REPLICA_SAMPLES // len(self.times)), 1, REPLICAS))

    def __contains__(self, motion: object) -> bool:
        return False  # no motion is one of draws that nobody kept

    def __iter__(self) -> Iterator[Motion]:
        values, vectors = np.linalg.eigh(self.floor)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        generator = np.random.default_rng(zlib.crc32(self.name.encode()))
        for _ in range(len(self)):
            moved = FileRows()
            for start in range(0, len(self.q), PIECE):
                part = self.q[start : start + PIECE]
                steps = generator.standard_normal((len(part), len(root))) @ root.T
                moved.add(integrate(self.rig, part, steps))
            yield smooth_motion(self.rig, self.times, moved.finish(), self.preset)
