"""A take: a live recording, converted to a study like a tracked recording."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..calibration.calibration import Calibration
from ..errors import InvalidValue
from ..filter_presets import FilterPreset, preset_of
from ..options.study import Settings
from ..report.study_folder import write_study
from ..rig import Rig
from ..signals import require_rate, smooth_motion
from ..study.values import Poses, Study, TrialRecord
from ..tracking.track import TrackedMotion, manifold_velocities
from .datagram import Layout
from .followers import build_recording


@dataclass(frozen=True, slots=True)
class Take:
    """Recorded samples with their poses.

    Attributes:
        name: of the take.
        body: that moved.
        layout: of the samples.
        markers: P names of the tracked markers, whose errors are in the rows.
        rows: (N,) of a `RecordingFile`.
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
        return write_study(folder, self.to_study(preset))
