"""``slow``: make an authored dance as slow as its joints need."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .dances import add_answer, add_authored, check_options, write_answer
from .options import add_verb

EXPLANATION = """
Slows down every span between two moments of rest as far as the speed limits of the joints require, and never speeds up;
keys and contact strips move along. With --dynamics torques, balance and friction count too, unless the static posture
already fails them.

Written to DIR: dance.motion.npz (for Blender, at --rate), keyed.json (read by the other verbs), summary.json (status,
message, keys and contact strips) and report.txt. A DIR that ends in .json is a file and receives the keys alone.

Examples:
  python -m solver slow dance.timeline.npz --output slowed
  python -m solver slow dance.json --dynamics --output slowed
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "slow", "make an authored dance as slow as its joints need", EXPLANATION, run)
    add_authored(parser)
    parser.add_argument("--dynamics", action="store_true", help="slow down for torques, balance and friction too")
    add_answer(parser)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.loading import load_authored_dance
    from ..dance.workflows.slow import slow

    keyed = load_authored_dance(options.dance)
    answer = slow(keyed, check_options(options, keyed.checks), dynamics=options.dynamics, progress=progress)
    return write_answer(answer, options)
