"""``perform``: how closely a dance was performed, and what its performance determines."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .argument_types import path
from .exit_codes import INCOMPLETE, OK
from .options import add_output, add_verb

EXPLANATION = """
Aligns the performance with the plan in time (when it began, and at what pace), then compares every joint: root mean
square error, constant offset, correlation and gain (performed over planned amplitude); and what both
determine of the performer's body (widths of 95 % intervals over the prior's).

PLAN is a dance (.npz), an authored dance (.json), a timeline (.timeline.npz) or another recording's .motion.npz.
PERFORMED is the folder written by `track` or `identify`, or a .motion.npz in it. A recorded person is calibrated and
so has other lengths than the planned rig: joint angles are compared by the links' names.

Written to DIR: performance.json (SI, with a row for each joint) and report.txt.

Exit codes: 0 compared, 1 compared, but it probably is another movement, 2 wrong input, 130 stopped.

Examples:
  python -m solver perform dance/dance.npz tracked --trial squats --output performance
  python -m solver perform first/squats.motion.npz second/squats.motion.npz --output repeated
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "perform", "compare a performance with its dance", EXPLANATION, run)
    parser.add_argument("plan", type=path, metavar="PLAN", help="dance, timeline or .motion.npz")
    parser.add_argument("performed", type=path, metavar="PERFORMED", help="folder of a study, or a .motion.npz")
    parser.add_argument("--trial", metavar="NAME", help="of the folder, where it holds several")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.perform import perform

    found = perform(options.plan, options.performed, trial=options.trial, progress=progress)
    found.write(options.output)
    print(f"{found.report}\n\nwritten: {options.output}")
    return OK if found.is_performance else INCOMPLETE
