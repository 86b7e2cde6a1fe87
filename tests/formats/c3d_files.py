"""C3D files in every layout that the format allows, and longer than its counters reach."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from tests.formats.recording_files import RATE, c3d_bytes

INTEL, DEC, MIPS = 84, 85, 86
LONG = 70_000
"""Frames; a counter of 16 bits ends at 65,535."""
WORDS = np.array([LONG & 0xFFFF, LONG >> 16])
ACTUAL: dict[str, object] = {"ACTUAL_START_FIELD": np.array([1, 0]), "ACTUAL_END_FIELD": WORDS}
COUNTERS: dict[str, tuple[int, dict[str, dict[str, object]]]] = {
    "exhausted, TRIAL": (0xFFFF, {"TRIAL": ACTUAL}),
    "wrapped around, TRIAL": (int(WORDS[0]), {"TRIAL": ACTUAL}),
    "exhausted, LONG_FRAMES": (0xFFFF, {"POINT": {"LONG_FRAMES": np.array([float(LONG)]), "FRAMES": np.array([-1])}}),
    "wrapped around, LONG_FRAMES": (int(WORDS[0]), {"POINT": {"LONG_FRAMES": np.array([float(LONG)])}}),
    "exhausted, FRAMES as a real number": (0xFFFF, {"POINT": {"FRAMES": np.array([float(LONG)])}}),
    "exhausted, nothing else": (0xFFFF, {}),
}
"""Last frame in the header and further counters, by how a trial of `LONG` frames may be counted."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to store a trial.

    Attributes:
        processor: Intel, DEC or MIPS.
        integers: data of 16 bits instead of reals.
        per_frame: analog samples a frame.
        unsigned: analog integers count from 0, with an offset in the middle.
        first: number of the first frame.
    """

    processor: int
    integers: bool
    per_frame: int
    unsigned: bool
    first: int

    def __str__(self) -> str:
        numbers = "integers" if self.integers else "reals"
        samples = f"{self.per_frame} samples" + " unsigned" * self.unsigned
        return f"processor {self.processor}, {numbers}, {samples} a frame, from frame {self.first}"


LAYOUTS = tuple(
    Layout(processor, integers, *samples, first)
    for processor, integers, samples, first in product(
        (INTEL, DEC, MIPS),
        (False, True),
        ((0, False), (1, False), (4, False), (10, False), (1, True), (4, True), (10, True)),
        (1, 705),
    )
)
"""84 of them."""
POINTS, SCALES, GENERAL = 7, np.array([1.0, 0.02, -3.0]), 0.5


def _stored(layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (N, M, 4) and samples (N, r, C) as stored, and the channels' offsets.

    Left out is what the common library reads otherwise than the format says: negative offsets, unsigned samples of
    more than 15 bits, and zero as DEC writes it.
    """
    generator, frames = np.random.default_rng(5), 12
    points = np.ceil(generator.uniform(1.0, 3000.0, (frames, POINTS, 4))) * generator.choice(
        [-1, 1], (frames, POINTS, 4)
    )
    points[:, :, 3] = np.where(generator.random((frames, POINTS)) < 0.1, -1.0, 0.0)
    channels = len(SCALES) * (layout.per_frame > 0)
    offsets = (np.array([2048, 2000, 20_000]) if layout.unsigned else np.array([0, 7, 12]))[:channels]
    samples = np.round(generator.uniform(-2000.0, 2000.0, (frames, layout.per_frame, channels)))
    return points, samples + (offsets if layout.unsigned else 0), offsets


def laid_out(layout: Layout) -> bytes:
    """A file in that layout: seven points, some of them unseen, and three channels."""
    points, samples, offsets = _stored(layout)
    channels = len(offsets)
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": np.array([POINTS]), "SCALE": np.array([0.1 if layout.integers else -0.1]),
                  "RATE": np.array([RATE]), "UNITS": "mm", "LABELS": [f"M{k}" for k in range(POINTS)],
                  "DESCRIPTIONS": [""] * POINTS, "FRAMES": np.array([len(points)])},
        "ANALOG": {"USED": np.array([channels]), "LABELS": [f"A{k}" for k in range(channels)],
                   "DESCRIPTIONS": [""] * channels, "GEN_SCALE": np.array([GENERAL]), "UNITS": ["N"] * channels,
                   "SCALE": SCALES[:channels], "OFFSET": offsets,
                   "RATE": np.array([max(layout.per_frame, 1) * RATE]),
                   "FORMAT": "UNSIGNED" if layout.unsigned else "SIGNED"},
    }  # fmt: skip
    return c3d_bytes(groups, points, samples, layout.processor, layout.first)


def meant(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Points (N, M, 3) [mm], NaN where unseen, and samples (N r, C) [N] of that file, by the format's formulas."""
    points, samples, offsets = _stored(layout)
    positions = np.where(points[:, :, 3:] < 0.0, np.nan, points[:, :, :3] * (0.1 if layout.integers else 1.0))
    channels = samples.reshape(-1, len(offsets)) if len(offsets) else np.zeros((0, 0))
    return positions, (channels - offsets) * SCALES[: len(offsets)] * GENERAL


def long_file(path: Path, kind: str) -> Path:
    """A trial of `LONG` frames of one marker at x = frame number, counted in one of the ways of `COUNTERS`."""
    return counted_file(path, *COUNTERS[kind])


def counted_file(path: Path, last: int, counters: Mapping[str, Mapping[str, object]], processor: int = INTEL) -> Path:
    """A trial of `LONG` frames of one marker at x = frame number, with these counters."""
    points = np.zeros((LONG, 1, 4))
    points[:, 0, 0] = np.arange(LONG)
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": np.array([1]), "SCALE": np.array([-1.0]), "RATE": np.array([RATE]), "UNITS": "mm",
                  "LABELS": ["A"]},
        "ANALOG": {"USED": np.array([0])},
    }  # fmt: skip
    for group, parameters in counters.items():
        groups.setdefault(group, {}).update(parameters)
    content = bytearray(c3d_bytes(groups, points, np.zeros((LONG, 1, 0)), processor))
    content[8:10] = struct.pack(">H" if processor == MIPS else "<H", last)
    path.write_bytes(bytes(content) + bytes(-len(content) % 512))
    return path
