"""``check``: is a dance feasible."""

from __future__ import annotations

import argparse

from ..progress import Progress
from .dances import add_checks, add_dance, check_options, load, verdict
from .options import add_verb, number

RATE = 500.0
EXPLANATION = """
Checks joint angles, speeds and torques, balance, friction, feet and collisions at every sample, and prints for each
check where it first fails, what fails, and by how much.

Examples:
  python -m solver check dance.json
  python -m solver check dance.npz --shrink 0.2 --rate 200
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "check", "say whether a dance is feasible, and what fails", EXPLANATION, run)
    add_dance(parser)
    parser.add_argument("--rate", type=number, default=RATE, metavar="HZ", help="samples a second (default: 500)")
    add_checks(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Sample, check, tell."""
    from ..dance.checks import check_motion
    from .words import warn

    progress(0.0, "sampling the dance")
    found = load(options.dance, options.rate)
    progress(0.2, f"checking {len(found.motion)} frames")
    checks = check_motion(found.rig, found.motion, found.schedule, check_options(options, found.shrink))
    progress(1.0, "checked")
    warn(checks.notes)
    print(verdict(checks))
