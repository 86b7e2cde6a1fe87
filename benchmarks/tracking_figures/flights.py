"""Flights that are found in the motion alone, against force plates, or against the fall of the body in public clips."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.signal import savgol_filter

from solver.base.arrays import true_runs
from solver.contacts.contact_detection import FALL_WINDOW, TOUCH, contacts_by_motion
from solver.formats.recording import read_recording
from solver.options.reading import ReadOptions
from solver.tracking.retargeting.performer import Performer
from solver.values.person import SIDES

from ..figures.figure import Figure, at_least, missing
from .retargeting import performer

PLATES = {
    "jump a": "subject_a/forces/DJ1.mot",
    "jump a, again": "subject_a/forces/DJ2.mot",
    "run b": "subject_b/forces/run.mot",
    "run e": "subject_e/run200.mot",
    "run e, faster": "subject_e/run300.mot",
}
SHORTEST, FALLS = 0.05, -4.0
"""[s] Shortest gap that counts, and [m/s^2] median acceleration of the centre of mass below which it is a flight."""


def flight_figures(data: Path, quick: bool) -> list[Figure]:
    """Shares of true flights that are found, and of other gaps between stances that are none."""
    rows = [
        _row("drop jumps of a, runs of b and e; plates", list(_on_plates(data))),
        _row("nine public clips; fall of the body", list(_in_clips(data))),
    ]
    return [row for pair in rows for row in pair]


def _row(what: str, gaps: list[tuple[bool, bool]]) -> list[Figure]:
    """Rows for gaps, each a flight in truth or not, and found as one or not."""
    rows = []
    for label, kind, must, aim in (("true kept", True, 95.0, 100.0), ("false gone", False, 75.0, 95.0)):
        own = [found == truth for truth, found in gaps if truth == kind]
        row = Figure(f"flights, {label}", f"real, {what}", None, "%", at_least(must), at_least(aim))
        note = f"{sum(own)} of {len(own)}"
        rows += (
            missing([row], "no recording, or none in it")
            if not own
            else [Figure(row.what, row.data, 100.0 * float(np.mean(own)), "%", row.must, row.aim, note=note)]
        )
    return rows


def _on_plates(data: Path) -> Iterator[tuple[bool, bool]]:
    """Each flight on plates, and each gap of the motion in which they are loaded."""
    for clip, file in PLATES.items():
        source = performer(data, clip)
        if source is None or not (data / file).exists():
            continue
        source, plates = source.remove_belt_motion(), read_recording(data / file, ReadOptions()).wrenches
        assert plates is not None
        load = np.interp(source.times, plates.times, plates.total[:, 2], left=np.nan, right=np.nan)
        free = load < TOUCH
        free[: int(np.argmax(load > TOUCH))] = False  # on a box without a plate, or before the first step
        for start, stop in _gaps(source.times, free):
            yield True, bool(_air(source)[start:stop].mean() > 0.5)
        for start, stop in _gaps(source.times, ~_stands(source)):
            if not free[start:stop].any() and np.nanmin(load[start:stop]) > TOUCH:
                yield False, bool(_air(source)[start:stop].any())


def _in_clips(data: Path) -> Iterator[tuple[bool, bool]]:
    """Each gap between the stances of low and slow feet."""
    for file in sorted((data / "clips").glob("*.bvh")):
        segments = read_recording(file, ReadOptions()).segments
        assert segments is not None
        source = Performer.from_segments(segments, file.stem).leave_out_first_pose().remove_belt_motion()
        step = float(np.median(np.diff(source.times)))
        window = 2 * max(2, round(0.5 * FALL_WINDOW / step)) + 1
        falls = savgol_filter(source.com_height(), window, 2, deriv=2, delta=step)
        for start, stop in _gaps(source.times, ~_stands(source)):
            yield bool(np.median(falls[start:stop]) < FALLS), bool(_air(source)[start:stop].mean() > 0.5)


def _gaps(times: np.ndarray, free: np.ndarray) -> list[tuple[int, int]]:
    """Runs within a recording that last long enough."""
    inner = [(a, b) for a, b in true_runs(free) if a and b < len(times)]
    return [(a, b) for a, b in inner if times[b - 1] - times[a] >= SHORTEST]


def _stands(source: Performer) -> np.ndarray:
    """(N,) True where a foot is low and slow."""
    return np.any([contacts_by_motion(source.times, source.sole_points(side)) for side in SIDES], axis=0)


def _air(source: Performer) -> np.ndarray:
    """(N,) True in flights that are found."""
    return ~(np.any(list(source.stances().values()), axis=0) | source.rests_on_other_parts())
