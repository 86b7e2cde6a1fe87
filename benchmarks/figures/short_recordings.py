"""Memory of identification on many short recordings of one person: `python -m benchmarks.figures.short_recordings DATA
COUNT`.

The recordings of subject_a are cut in pieces of 0.6 s, which overlap so that there are enough of them. Each count is
identified in a process of its own, whose peak memory is what the system says.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from solver.options.plates import FINDINGS, PlateOptions
from solver.options.study import Settings
from solver.signals.trial import Recording
from solver.study.subject_calibration import calibrate
from solver.workflow.pipeline import identify

from ..peak import measure_alone, peak_memory
from .figure import Figure, at_most
from .subject import SEX, STATIC, read_recordings

SECONDS, STEP = 0.6, 0.08
"""[s] Length of a piece, and from one start to the next."""
LEFT_OUT = STATIC, "STS1"
"""Not cut in pieces: standing, and rising from a chair, which carries an unknown part of the weight."""
MUST_MEGABYTES = {8: 600.0, 50: 800.0, 200: 1200.0}
"""By number of recordings."""


def cut(recording: Recording) -> list[Recording]:
    """Pieces of a recording."""
    markers, wrenches = recording.markers, recording.wrenches
    assert markers is not None
    assert wrenches is not None
    result = []
    for start in np.arange(markers.times[0], markers.times[-1] - SECONDS, STEP):
        own, forces = (slice(*np.searchsorted(each.times, [start, start + SECONDS])) for each in (markers, wrenches))
        piece = markers.part(own.start, own.stop), wrenches.part(forces.start, forces.stop)
        result.append(replace(recording, name=f"{recording.name}_{start:.2f}", markers=piece[0], wrenches=piece[1]))
    return result


def measure(data: Path, count: int) -> None:
    """Identify once and print the peak [MB]."""
    whole = read_recordings(data)
    pieces = [piece for recording in whole if recording.name not in LEFT_OUT for piece in cut(recording)]
    chosen = [pieces[index] for index in np.linspace(0, len(pieces) - 1, count).round().astype(int)]
    # the plates are not corrected: pieces are too short to judge them by
    settings = Settings(jobs=1, plates=PlateOptions(report_only=tuple(FINDINGS)))
    identify(chosen, calibration=calibrate(whole, sex=SEX), settings=settings)
    print(f"{peak_memory():.0f}")


def short_figures(data: Path) -> list[Figure]:
    """Peak memory by number of recordings."""
    figures = []
    for count, must in MUST_MEGABYTES.items():
        what = f"memory, whole identify, {count} recordings of {SECONDS:g} s"
        (peak,) = measure_alone("figures.short_recordings", data, count)
        figures.append(Figure(what, "real, subject_a in pieces", peak, "MB", at_most(must)))
    return figures


if __name__ == "__main__":
    measure(Path(sys.argv[1]), int(sys.argv[2]))
