"""``track``: markers in, joint motion out."""

from __future__ import annotations

import argparse

from ..progress import Progress
from .options import add_calibration, add_output, add_recordings, add_subject, add_verb, read_options, subject

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
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Track, write, tell."""
    from .. import pipeline
    from ..io.calibration_file import read_calibration
    from ..outputs import write_study
    from .tables import table
    from .words import warn

    recordings = pipeline.load(options.files, read_options(options))
    known = None if options.calibration is None else read_calibration(options.calibration)
    told = None if known is not None else subject(options)
    study = pipeline.track_study(recordings, subject=told, calibration=known, progress=progress)
    write_study(study, options.output)
    warn(study.warnings)
    rows = [(r.name, str(len(r.tracked)), f"{1e3 * r.tracked.rmse:.1f}") for r in study.records if r.tracked]
    print(table(("trial", "frames", "marker RMSE [mm]"), rows))
    print(f"\nwritten: {options.output}")
