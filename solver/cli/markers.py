"""``markers``: which marker sits where, found out from names and motion, for approval."""

from __future__ import annotations

import argparse

from ..progress import Progress
from .options import KEYS, add_output_file, add_recordings, add_verb, read_options

EXPLANATION = """
Prints for every recorded marker the landmark or link it is taken to sit on, how sure that is, and what tells it: its
name, in any of the usual conventions, or which link it moves with. A static trial and one that moves serve best. Look
at what is not sure, correct the file that --output writes, and name it with --marker-set. `calibrate`, `track` and
`identify` do the same by themselves where no built-in set fits.

Example:
  python -m solver markers static.trc walk.trc --output mine.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "markers", "find out which marker sits where", EXPLANATION, run)
    add_recordings(parser)
    add_output_file(parser, "the set, a .json file", KEYS)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Recognise, tell, write."""
    from ..calibration.recognise import LOWEST, recognise
    from ..formats.text_table import table
    from ..study import pipeline

    recordings = pipeline.load(options.files, read_options(options))
    progress(0.1, "calibrating on the markers that are known by their names")
    found = recognise(recordings)
    progress(1.0, "recognised")
    rows = [
        (p.marker, p.place or "-", f"{100.0 * p.confidence:.0f}", p.because, "look" if p.confidence < LOWEST else "")
        for p in found.proposals
    ]
    print(table(("marker", "place", "sure [%]", "because of", ""), rows))
    print(f"\n{found.sentence}; RMSE {1e3 * found.calibration.rmse:.1f} mm")
    if options.output is not None:
        print(f"written: {found.write(options.output)}")
