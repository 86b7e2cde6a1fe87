"""Options of the verbs that read a dance: file, checks, limits of the search, output."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..options.authoring import MOST_PROGRAMS, RepairOptions
from ..options.checks import CheckOptions
from .argument_types import add_options, given, path, rate
from .exit_codes import INCOMPLETE, OK
from .options import EITHER

if TYPE_CHECKING:
    from ..dance.workflows.edited_dance import EditedDance
    from ..dance.workflows.loading import LoadedDance

CARRIED = "override the conditions that are stored with the dance"
RATES = "(default: {}; a motion in samples keeps its own)"
"""Words of --rate."""


def add_dance(parser: argparse.ArgumentParser) -> None:
    """The file of a dance, or a motion."""
    words = "authored dance (.json), timeline (.timeline.npz), designed dance (.npz), or motion (.motion.npz or folder)"
    parser.add_argument("dance", type=path, metavar="DANCE", help=words)
    _add_trial(parser)


def _add_trial(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trial", metavar="NAME", help="trial, if the folder holds several")


def dance_of(options: argparse.Namespace) -> LoadedDance:
    """The dance that `add_dance` names.

    Raises:
        InputError: no dance, or several trials and none named.
    """
    from ..dance.workflows.loading import load_dance

    return load_dance(options.dance, options.trial)


def add_authored(parser: argparse.ArgumentParser, *, recordings: bool = False) -> None:
    """The file of a dance with keys; or a recording, in a folder of several."""
    motion = "or a motion (.motion.npz or folder)" if recordings else "or a dance's motion (.motion.npz)"
    words = f"authored dance (.json), timeline of a scene (.timeline.npz), {motion}"
    parser.add_argument("dance", type=path, metavar="DANCE", help=words)
    if recordings:
        _add_trial(parser)


def add_answer(parser: argparse.ArgumentParser) -> None:
    """Add the output of a changed dance, and what it is checked against."""
    words = "folder for the dance (it appears complete or not at all), or a .json file for its keys alone"
    parser.add_argument("--output", type=path, required=True, metavar="DIR", help=words)
    parser.set_defaults(receives=EITHER)
    parser.add_argument(
        "--rate", type=rate, default=100.0, metavar="HZ", help="sampling rate of the written motion (default: 100)"
    )
    add_checks(parser)


def add_checks(parser: argparse.ArgumentParser, words: str = CARRIED) -> None:
    """What a dance is checked against."""
    add_options(parser.add_argument_group("checks", words), CheckOptions, usual=False)


def repair_options(options: argparse.Namespace) -> RepairOptions:
    """The repair that the options describe."""
    return RepairOptions(**{"programs": MOST_PROGRAMS, **given(options, RepairOptions)})


def check_options(options: argparse.Namespace, carried: CheckOptions) -> CheckOptions:
    """The checks stored with a dance, with the options that override them; prints the differences."""
    result = carried.changed(**given(options, CheckOptions))
    if others := carried.differences(result):
        print(f"Checks that differ from those stored with the dance: {', '.join(others)}", file=sys.stderr)
    return result


def write_answer(answer: EditedDance, options: argparse.Namespace) -> int:
    """Write the result, print its report and return the exit code."""
    from ..dance.workflows.repair import LIMIT_NOTE

    answer.write(options.output, options.rate)
    print(f"{answer.report}\n\nwritten: {options.output}")
    if LIMIT_NOTE in answer.summary.notes:
        print("a larger --programs continues the search")
    return OK if answer.summary.delivered else INCOMPLETE
