"""``report``: make the HTML page of an identification again."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..progress import Progress
from .options import add_verb

EXPLANATION = """
`identify` writes report.html by itself. This makes it again from the report.npz beside it, without the recordings:
after an update, under another title, or in another place.

Example:
  python -m solver report results --title "Squats, subject 7" --output squats.html
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "report", "make the HTML report of an identification again", EXPLANATION, run)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the --output of `identify`")
    parser.add_argument("--title", help="of the page (default: as before)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the page (default: DIR/report.html)")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Read, render, write."""
    from dataclasses import replace

    from ..formats.atomic import write_atomically
    from ..report import CONTENT, render
    from ..scene.study_folder import CONTENT_FILE, REPORT_FILE

    content = CONTENT.read(options.folder / CONTENT_FILE)
    if options.title:
        content = replace(content, title=options.title)
    target = options.output or options.folder / REPORT_FILE
    with write_atomically(target) as stream:
        stream.write(render(content))
    print(f"written: {target}")
