"""``track``: markers in, joint motion out."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..progress import Progress
from .options import add_output, add_recordings, add_subject, add_verb, read_options

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
    parser.add_argument("--calibration", type=Path, metavar="FILE", help="calibration.json, instead of a new subject")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Track, write, tell."""
    raise NotImplementedError
