"""Recorded markers: time of a frame over mink's step on 66 degrees of freedom, at an equally good fit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from solver.calibration import Calibration, fit_calibration
from solver.formats.recording import read_recording
from solver.options.reading import ReadOptions
from solver.tracking import Targets, Tracker, TrackingOptions, track_markers
from solver.tracking.tasks import fade_weights

from ..figures.figure import Bound, Figure, at_most, missing, within
from ..marker_errors import SUBJECTS
from ..models import HUMANS, model_file
from . import peers
from .bodies import human
from .motions import motion
from .passes import Step, Times, alternate, peer_steps

SUBJECT = SUBJECTS[0]
TRIAL = "squats1"
RMSE, SAME = 7.66, 0.02
"""[mm] Mean over the subject's trials that the tracker had before, and what counts as the same."""


def marker_figures(data: Path, quick: bool) -> list[Figure]:
    """Times of one pass and of a converged frame; the error over all of the subject's trials."""
    paths = [data / file for file in SUBJECT.files]
    seen = motion(data, "run")
    ready = seen is not None and peers.available() and model_file(HUMANS[66]) is not None
    if not all(path.exists() for path in paths):
        return missing(_rows(None, None, None), "no recordings")
    recordings = [read_recording(path, ReadOptions(ragged=True)) for path in paths]
    found = fit_calibration(recordings[:2] if quick else recordings, mass=SUBJECT.mass, sex=SUBJECT.sex)
    alike = [replace(each, weight=1.0) for each in found.attachments]
    errors = []
    for recording in recordings:
        assert recording.markers is not None
        if not quick:
            ways = (alike, found.attachments)
            errors.append([1e3 * track_markers(found.rig, way, recording.markers).rmse for way in ways])
    times: list[Times | None] = [None, None]
    markers = next(recording.markers for recording in recordings if recording.name == TRIAL)
    if seen is not None and ready and markers is not None:
        wanted = Targets.from_markers(found.rig, found.attachments, markers)
        for place, options in enumerate((TrackingOptions.one_pass(), TrackingOptions())):
            times[place] = alternate(_steps(found, wanted, options), peer_steps(human(66), seen), quick)
    return _rows(times[0], times[1], np.mean(errors, axis=0) if errors else None)


def _steps(found: Calibration, wanted: Targets, options: TrackingOptions) -> list[Step]:
    assert wanted.positions is not None
    tracker = Tracker(found.rig, wanted.tasks, options)
    shares = fade_weights(wanted.times, wanted.positions.positions, options.fade_time)
    samples = [wanted.sample(k, shares[k] if options.fade_time else None) for k in range(len(wanted))]
    tracker.start(samples[0], 0.01)
    return [partial(tracker.step, sample, 0.01) for sample in samples[1:]]


def _rows(one: Times | None, settled: Times | None, rmse: np.ndarray | None) -> list[Figure]:
    def timed(times: Times | None, what: str, must: Bound, aim: Bound) -> Figure:
        value = None if times is None else times.median
        note = "" if times is None else times.note
        return Figure(
            f"markers, 34 DoF, 47 markers, {what}, over mink's 66", f"real, {TRIAL}", value, "", must, aim, note
        )

    return [
        timed(one, "one pass", at_most(0.27), at_most(0.16)),
        timed(settled, "converged", at_most(1.35), at_most(0.7)),
        Figure("marker error, calibrated on all trials, mean of 8", "real, subject_a", None if rmse is None else
               float(rmse[0]), "mm", within(RMSE, SAME), None, "left out by --quick" if rmse is None else
               f"every marker counting alike, as the best fit does; weighed as calibrated {rmse[1]:.2f} mm",
               left_out=rmse is None),
    ]  # fmt: skip
