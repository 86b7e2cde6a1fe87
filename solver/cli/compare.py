"""``compare``: identified inertials on trials that were not used."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..progress import Progress
from .options import add_recordings, add_verb, read_options

EXPLANATION = """
Reconstructs the forces and moments of further trials with the identified parameters and with the prior, and prints root
mean square error and correlation per axis for both.

Example:
  python -m solver compare results walk2.trc walk2.mot
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "compare", "test identified inertials on further trials", EXPLANATION, run)
    parser.add_argument("result", type=Path, metavar="DIR", help="the --output of `identify`")
    add_recordings(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there as CSV")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Compare and tell."""
    raise NotImplementedError
