"""Number of frames in a C3D file: the header's counters have 16 bits, and longer trials are counted in several ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError

COUNTER_MAX = 0xFFFF
"""Largest value of a 16-bit counter; a counter with this value is exhausted and ignored."""
BLOCK_BYTES = 512
REMEDY = "The file is damaged: export or copy it again"
LONG_REMEDY = "Export the trial again, split into parts if it is very long"

Group = Mapping[str, np.ndarray | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class FrameRange:
    """Range of a file's frames.

    Attributes:
        first: number of the first one, from 1.
        count: how many.
        warnings: harmless violations of the format.
    """

    first: int
    count: int
    warnings: tuple[str, ...] = ()


def count_frames(
    path: str | Path, header: tuple[int, int], trial: Group, point: Group, byte_counts: tuple[int, int]
) -> FrameRange:
    """The frames that the counters and the file's size agree on.

    A counter may be exhausted (65535), may have wrapped around, or may be missing. A counter that agrees with the size
    of the data to the last block is used; otherwise the file must be large enough for the largest count.

    Args:
        path: the file.
        header: first and last frame in the header.
        trial, point: parameters of TRIAL and POINT.
        byte_counts: [bytes] from the start of the data to the end of the file, and of one frame.

    Raises:
        InputError: the counters contradict each other and the file's size, or the data are cut short.
    """
    room, size = byte_counts
    stated, first = _stated_counts(header, trial, point)
    held = room // size
    exact = _exact_counts(stated, room, size)
    if exact:
        return FrameRange(first, exact[0])
    if not stated and held:
        return FrameRange(first, held, ("its frames are counted from the file size: no counter is valid",))
    counts = set(stated.values())
    most = max(counts, default=0)
    said = ", ".join(f"{source} {count}" for source, count in stated.items()) or "no counter is valid"
    if most > held or min(counts, default=0) < 0:
        problem = f"{most} frames need {most * size} bytes, but only {room} are present ({said})"
        raise InputError(path, problem, place="data section", remedy=REMEDY)
    if len(counts) > 1 or most + COUNTER_MAX < held:
        problem = f"its counters and its size disagree on the number of frames ({said}; by size {held})"
        raise InputError(path, problem, place="header", remedy=LONG_REMEDY)
    return FrameRange(first, most)


def is_exact_size(header: tuple[int, int], trial: Group, point: Group, byte_counts: tuple[int, int]) -> bool:
    """Whether a counter agrees with the size of the data to the last block, for frames of this size; see above."""
    return bool(_exact_counts(_stated_counts(header, trial, point)[0], *byte_counts))


def _stated_counts(header: tuple[int, int], trial: Group, point: Group) -> tuple[dict[str, int], int]:
    """Numbers of frames by the counter that states them, and the number of the first frame."""
    first, last = header
    stated = {"the header": last - first + 1} if last != COUNTER_MAX else {}
    start, end = (_read_long_count(trial.get(f"ACTUAL_{which}_FIELD")) for which in ("START", "END"))
    if end is not None:
        begin = first if start is None else start
        stated["TRIAL"] = end - begin + 1
        first = begin
    for name in ("LONG_FRAMES", "FRAMES"):
        number = _read_count(point.get(name))
        if number is not None and number != COUNTER_MAX:
            stated[f"POINT:{name}"] = number
    return stated, max(first, 1)  # some software counts from 0


def _exact_counts(stated: Mapping[str, int], room: int, size: int) -> list[int]:
    """Counts that fill the data to the last block."""
    return [count for count in stated.values() if 0 <= count <= room // size and room - count * size < BLOCK_BYTES]


def _read_long_count(value: np.ndarray | tuple[str, ...] | None) -> int | None:
    """A count as low and high word, or as one number."""
    if not isinstance(value, np.ndarray) or not np.isfinite(value).all():
        return None
    words = np.ravel(value)
    if len(words) == 2 and words.dtype.kind == "i":
        low, high = (int(word) & COUNTER_MAX for word in words)
        return low + (high << 16)
    return int(words[0]) if len(words) == 1 else None


def _read_count(value: np.ndarray | tuple[str, ...] | None) -> int | None:
    """A count: integers are unsigned, real numbers may exceed 16 bits."""
    if not isinstance(value, np.ndarray) or value.size != 1 or not np.isfinite(value).all():
        return None
    number = np.ravel(value)[0]
    count = int(number) & COUNTER_MAX if value.dtype.kind == "i" else round(float(number))
    return count or None
