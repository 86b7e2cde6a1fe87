"""``report``: make the HTML page of an identification again."""

from __future__ import annotations

import argparse
import os

from ..base.errors import InputError
from ..base.progress import Progress
from .argument_types import path
from .options import add_output_file, add_verb

EXPLANATION = """
`identify` writes report.html by itself. This makes it again from the report.npz beside it, without the recordings:
after an update, under another title, or in another place.

Example:
  python -m solver report results --title "Squats, subject 7" --output squats.html
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "report", "make the HTML report of an identification again", EXPLANATION, run)
    parser.add_argument("folder", type=path, metavar="DIR", help="the --output of `identify`")
    parser.add_argument("--title", help="of the page (default: as before)")
    add_output_file(parser, "the page (default: DIR/report.html)")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Read, render, write."""
    from dataclasses import replace

    from ..report import CONTENT, render
    from ..scene.study_folder import CONTENT_FILE, PICTURE_FILE, REPORT_FILE, embed_picture
    from ..storage.atomic import write_atomically
    from ..storage.manifest import stored_file
    from ..storage.output_folder import write_folder

    content_file = stored_file(options.folder, CONTENT_FILE)
    if not os.path.exists(content_file):
        problem, remedy = "is not the folder of a study", "Give the folder that `identify --output` wrote"
        raise InputError(options.folder, problem, remedy=remedy)
    content = CONTENT.read(content_file)
    if options.title:
        content = replace(content, title=options.title)
    page = embed_picture(render(content), stored_file(options.folder, PICTURE_FILE))
    if options.output is None:
        with (
            write_folder(options.folder, keep_previous=True) as folder,
            write_atomically(folder / REPORT_FILE) as stream,
        ):
            stream.write(page)
    else:
        with write_atomically(options.output) as stream:
            stream.write(page)
    print(f"written: {options.output or options.folder / REPORT_FILE}")
