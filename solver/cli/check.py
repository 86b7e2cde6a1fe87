"""``check``: is a dance feasible."""

from __future__ import annotations

import argparse

from ..progress import Progress
from .argument_types import rate
from .dances import RATES, add_checks, add_dance, check_options, dance_of
from .exit_codes import INCOMPLETE, OK
from .options import add_output, add_verb

EXPLANATION = """
Checks joint angles, speeds and torques, balance, friction, feet and collisions at every sample, and prints for each
check where it first fails, what fails, and by how much.

Which foot of a recording stands when is found from its motion and its forces, and of every check that fails it is told
whose doing that is: the tracking's (a sole that stands slides, hands pass through thighs, only the motion breaks a
limit and the measured forces keep it) or the person's. Without forces most of it stays open.

With --output, summary.json says the same to Blender and to scripts.
Exit codes: 0 feasible, 1 not feasible, 2 wrong input.

Examples:
  python -m solver check dance.json
  python -m solver check dance.npz --shrink 0.2 --rate 200
  python -m solver check dance.timeline.npz --output checked
  python -m solver check tracked --trial squats
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "check", "say whether a dance is feasible, and what fails", EXPLANATION, run)
    add_dance(parser)
    parser.add_argument("--rate", type=rate, metavar="HZ", help=f"samples a second {RATES.format(500)}")
    add_checks(parser)
    add_output(parser, required=False)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Sample, check, tell; the exit code."""
    from ..dance.workflows.check import check
    from .words import warn

    dance = dance_of(options)
    verdict = check(dance, check_options(options, dance.checks), rate=options.rate, progress=progress)
    if options.output is not None:
        progress(0.9, "writing")
        verdict.write(options.output)
    progress(1.0, "checked")
    warn(verdict.checks.notes)
    print(verdict.report)
    return OK if verdict.feasible else INCOMPLETE
