"""``check``: is a dance feasible."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .argument_types import rate
from .dances import RATES, add_checks, add_dance, check_options, dance_of
from .exit_codes import INCOMPLETE, OK
from .options import add_output, add_verb

EXPLANATION = """
Checks joint angles, speeds and torques, balance, friction, feet and collisions at every sample, and prints for each
check where it first fails, what fails, and by how much.

The foot contacts of a recording are found from its motion and forces. Each failed check is attributed to the tracking
(a planted sole slides, hands pass through thighs, the motion breaks a limit that the measured forces keep) or to the
performer. Without forces most failures cannot be attributed.

With --output the result is written to summary.json for Blender and for scripts.
Exit codes: 0 feasible, 1 not feasible, 2 wrong input.

Examples:
  python -m solver check dance.json
  python -m solver check dance.npz --shrink 0.2 --rate 200
  python -m solver check dance.timeline.npz --output checked
  python -m solver check tracked --trial squats
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "check", "check whether a dance is feasible, and what fails", EXPLANATION, run)
    add_dance(parser)
    parser.add_argument("--rate", type=rate, metavar="HZ", help=f"samples a second {RATES.format(500)}")
    add_checks(parser)
    add_output(parser, required=False)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.check import check
    from ..storage.json_tree import to_json_values
    from .printed import warn

    dance = dance_of(options)
    verdict = check(dance, check_options(options, dance.checks), rate=options.rate, progress=progress)
    if options.output is not None:
        verdict.write(options.output)
    warn(verdict.checks.notes)
    print(verdict.report)
    options.found = {"summary": to_json_values(verdict.summary())}
    return OK if verdict.feasible else INCOMPLETE
