"""Copies of a motion with its noise once more: their effect on any quantity computed from the motion, without a model
of the error propagation (SIMEX; Cook and Stefanski, 1994)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..base.file_arrays import FileRows, cut_frames
from ..skeleton.rig import Rig
from ..values.filter_presets import FilterPreset
from ..values.motion import Motion

REPLICAS = 4
"""Largest number of replicas of a motion: their mean effect must be more accurate than the equations it corrects."""
REPLICA_SAMPLES = 4 * 12_000
"""Frames of all replicas together, which limits their number. Derived: four of a minute at 200 frames per second."""


@dataclass(frozen=True, slots=True)
class NoiseReplicas:
    """Filtered motions from configurations with added noise, each an independent, reproducible draw.

    They are computed one at a time on iteration. Long recordings have fewer replicas: the accuracy of the noise's
    effect depends on replicas times frames.

    Attributes:
        rig, times, q, preset: see `noise_floor`.
        floor: (nv, nv) covariance of a frame's noise.
        name: of the trial; seeds the random draws.
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
        return False  # replicas are not stored

    def __iter__(self) -> Iterator[Motion]:
        from ..dynamics import integrate  # values of trials are read where no dynamics library is loaded
        from .manifold import smooth_motion

        values, vectors = np.linalg.eigh(self.floor)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        generator = np.random.default_rng(zlib.crc32(self.name.encode()))
        for _ in range(len(self)):
            moved = FileRows()
            for frames in cut_frames(len(self.q)):
                part = self.q[frames]
                moved.add(integrate(self.rig, part, generator.standard_normal((len(part), len(root))) @ root.T))
            yield smooth_motion(self.rig, self.times, moved.finish(), self.preset)
