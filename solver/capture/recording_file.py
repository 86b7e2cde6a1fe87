"""A growing recording on disk, so that memory does not grow, and a histogram of latencies."""

from __future__ import annotations

import math
import tempfile
from typing import IO

import numpy as np

from .datagram import Sample
from .followers import Pose

MIN_LATENCY, MAX_LATENCY, BINS = 1e-5, 10.0, 600
"""[s] Range and number of the histogram's bins, each 2.3 % wider than the previous one."""


class RecordingFile:
    """Rows of numbers in an unnamed temporary file, which is deleted when it is closed or the process ends.

    Args:
        q: count of numbers of a configuration.
        values: count of numbers of a sample.
        errors: count of markers whose distances are stored.
    """

    def __init__(self, q: int, values: int, errors: int) -> None:
        self._type = np.dtype([
            ("time", "f8"), ("q", "f8", (q,)), ("tracked", "?"), ("settled", "?"),
            ("values", "f4", (values,)), ("errors", "f4", (errors,)),
        ])  # fmt: skip
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 it lives as long as the recording
        self._row = np.zeros((), self._type)
        self.count = 0

    def append(self, sample: Sample, pose: Pose) -> None:
        """Append a sample and its pose.

        Raises:
            OSError: the disk is full.
        """
        row = self._row
        row["time"], row["q"], row["values"] = sample.time, pose.q, sample.values
        row["errors"] = np.linalg.norm(pose.measured - pose.modelled, axis=1)
        row["tracked"], row["settled"] = pose.tracked, pose.converged
        self._file.write(row.tobytes())
        self.count += 1

    def rows(self) -> np.ndarray:
        """All rows as a structured array."""
        self._file.flush()
        self._file.seek(0)
        return np.frombuffer(self._file.read(self.count * self._type.itemsize), self._type)

    def close(self) -> None:
        """Delete the rows."""
        self._file.close()


class LatencyHistogram:
    """A histogram of times from datagram to pose, of constant memory."""

    def __init__(self) -> None:
        self._counts = np.zeros(BINS, int)
        self._width = math.log(MAX_LATENCY / MIN_LATENCY) / BINS
        self.count, self.largest = 0, 0.0

    def add(self, seconds: float) -> None:
        """Add a latency."""
        place = int(math.log(max(seconds, MIN_LATENCY) / MIN_LATENCY) / self._width)
        self._counts[min(place, BINS - 1)] += 1
        self.count += 1
        self.largest = max(self.largest, seconds)

    def percentile(self, fraction: float) -> float:
        """[s] Latency that a fraction (0 to 1) of all do not exceed; 0 without any."""
        if not self.count:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self._counts), fraction * self.count))
        return min(MIN_LATENCY * math.exp((min(place, BINS - 1) + 1) * self._width), self.largest)
