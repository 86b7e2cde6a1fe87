"""A take: a live recording, converted to a study like a tracked recording.

The recording grows on disk, so that memory does not grow; a histogram counts its latencies.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from ..base.errors import InvalidValue
from ..calibration.calibration import Calibration
from ..options.study import Settings
from ..signals import require_rate, smooth_motion
from ..skeleton.rig import Rig
from ..study.values import Poses, TrialRecord
from ..tracking.track import TrackedMotion, manifold_velocities
from ..values.filter_presets import FilterPreset, preset_of
from ..workflow.study import Study
from .datagram import Layout, Sample
from .followers import Pose, build_recording

MIN_LATENCY, MAX_LATENCY, BINS = 1e-5, 10.0, 600
"""[s] Range and number of the histogram's bins, each 2.3 % wider than the previous one."""


@dataclass(frozen=True, slots=True)
class Take:
    """Recorded samples with their poses.

    Attributes:
        name: of the take.
        body: that moved.
        layout: of the samples.
        markers: P names of the tracked markers, whose errors are in the rows.
        rows: (N,) of a `TakeRows`.
        summary: numbers of samples by outcome.
    """

    name: str
    body: Calibration | Rig
    layout: Layout
    markers: tuple[str, ...]
    rows: np.ndarray
    summary: str

    def to_study(self, preset: str = "human_8hz") -> Study:
        """The take as a study of one trial: measured data unfiltered, the motion filtered, times from 0.

        Raises:
            InvalidValue: fewer than two samples were tracked.
        """
        rig = self.body.rig if isinstance(self.body, Calibration) else self.body
        times = self.rows["time"] - self.rows["time"][0]
        recording = build_recording(self.layout, self.name, times, self.rows["values"].astype(float))
        q, known = self.rows["q"], self.rows["tracked"]
        warnings = [self.summary]
        filtered: FilterPreset | None = preset_of(preset)
        try:
            require_rate(preset_of(preset), 1.0 / float(np.median(np.diff(times))))
        except InvalidValue as error:  # the recording is kept nevertheless
            filtered = None
            warnings.append(f"the motion is not filtered: {error}")
        record = TrialRecord(recording, motion=smooth_motion(rig, times, np.where(known[:, None], q, np.nan), filtered))
        if self.markers:
            errors = np.where(known[:, None], self.rows["errors"].astype(float), np.nan)
            tracked = TrackedMotion(times, q, manifold_velocities(rig, times, q), self.markers, errors, known,
                              converged=self.rows["settled"], warnings=tuple(warnings))  # fmt: skip
            record = replace(record, tracked=tracked)
        else:
            record = replace(record, given=Poses(times, q, known))
        calibration = self.body if isinstance(self.body, Calibration) else None
        return Study(rig, Settings(filter=preset), (record,), calibration, warnings=tuple(warnings))

    def write(self, folder: str | Path, preset: str = "human_8hz") -> tuple[str, ...]:
        """Write the study's folder atomically; the names of its files.

        Raises:
            InputError: the folder cannot be written.
            InvalidValue: fewer than two samples were tracked.
        """
        return self.to_study(preset).write(folder)


class TakeRows:
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
        row["time"], row["values"] = sample.time, sample.values
        fill_row(row, pose)
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


def fill_row(row: np.ndarray, pose: Pose) -> None:
    """Write a pose into a row of a `TakeRows`."""
    row["q"], row["tracked"], row["settled"] = pose.q, pose.tracked, pose.converged
    if len(pose.measured) == row["errors"].size:
        row["errors"] = np.linalg.norm(pose.measured - pose.modelled, axis=1)


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
