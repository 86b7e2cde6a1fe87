"""``track``: markers in, joint motion out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..progress import Progress
from .options import add_calibration, add_output, add_recordings, add_subject, add_verb, read_options, subject

if TYPE_CHECKING:
    from ..calibration.calibrate import Calibration
    from ..study.values import Study, TrialRecord

EXPLANATION = """
Writes the motion of every trial (.mot, .csv, and .motion.npz for Blender) with the error of every marker.

Examples:
  python -m solver track walk.trc --calibration subject/calibration.json --output tracked
  python -m solver track static.trc walk.trc --height 1.75 --mass 70 --sex male --output tracked
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "track", "turn markers into joint motion", EXPLANATION, run)
    add_recordings(parser)
    add_subject(parser, required=False)
    add_calibration(parser)
    parser.add_argument("--filter", default="human_8hz", metavar="PRESET", help="a named filter (default: human_8hz)")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes at once (default: joblib's)")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Track, write, tell."""
    from ..calibration.calibration_file import read_calibration
    from ..formats.text_table import table
    from ..progress import Part
    from ..report.study_folder import write_study
    from ..study import pipeline
    from .words import warn

    recordings = pipeline.load(options.files, read_options(options))
    if options.calibration is not None:
        calibration = read_calibration(options.calibration)
    else:
        calibration = pipeline.calibrate_subject(recordings, **subject(options), progress=Part(progress, 0.0, 0.4))
    records = pipeline.track_all(calibration, recordings, jobs=options.jobs, progress=Part(progress, 0.4, 1.0))
    study = _study(calibration, records, options.filter)
    write_study(study, options.output)
    warn(study.warnings)
    rows = [(r.name, str(len(r.tracked)), f"{1e3 * r.tracked.rmse:.1f}") for r in study.records if r.tracked]
    print(table(("trial", "frames", "marker RMSE [mm]"), rows))
    print(f"\nwritten: {options.output}")


def _study(calibration: Calibration, records: Sequence[TrialRecord], preset: str) -> Study:
    """A study of motions alone."""
    from ..signals import preset_of, smooth_motion
    from ..study.values import Settings, Study

    model, chosen = calibration.rig.model, preset_of(preset)
    moved = [
        r if r.tracked is None else replace(r, motion=smooth_motion(model, r.tracked.times, r.tracked.q, chosen))
        for r in records
    ]
    told = [text for r in records for text in (*r.recording.warnings, *(r.tracked.warnings if r.tracked else ()))]
    warnings = tuple(dict.fromkeys((*calibration.warnings, *told)))
    return Study(calibration.rig, Settings(preset=preset), tuple(moved), calibration, warnings=warnings)
