"""``repair``: balance an authored dance by moving it as little as possible."""

from __future__ import annotations

import argparse

from ..progress import Progress
from .dances import add_answer, add_authored, add_checks, add_patience, answering, check_options, repair_options, tell
from .options import add_verb

EXPLANATION = """
Keeps planted feet planted, brings the zero-moment point and every joint within limits, and leaves fixed keys alone.
A timeline that leaves its first posture too abruptly to stand there is begun more gently. The result is verified at
500 samples a second before it is called feasible. What cannot be repaired is told: which fixed key stands in the way,
why, and by how much. Where the feet of a recording stand is found from its motion and its forces.

Written to DIR: dance.motion.npz (for Blender, at --rate), keyed.json (read by the other verbs), summary.json (what it
says, keys and contact strips) and report.txt. A DIR that ends in .json is a file and receives the keys alone.

Exit codes: 0 every check holds, 1 something still fails (the result is written all the same), 2 wrong input,
130 stopped.

Examples:
  python -m solver repair dance.timeline.npz --output repaired
  python -m solver repair dance.json --slow-down --output repaired.json
  python -m solver repair tracked --trial squats --output repaired
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    summary = "balance an authored dance by moving it as little as possible"
    parser = add_verb(verbs, "repair", summary, EXPLANATION, run)
    add_authored(parser, recordings=True)
    parser.add_argument("--slow-down", action="store_true", help="first make it as slow as the joints' speeds need")
    add_patience(parser)
    add_answer(parser)
    add_checks(parser)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Read, repair, write, tell; the exit code."""
    from ..dance.workflows.reading import read_keyed
    from ..dance.workflows.repair import repair
    from .words import warn

    progress(0.0, "reading the dance")
    keyed, told = read_keyed(options.dance, options.trial)
    warn(told)
    answer = repair(keyed, check_options(options, keyed.checks), repair_options(options), slow_down=options.slow_down,
                    rate=options.rate, told=told, progress=answering(progress))  # fmt: skip
    return tell(answer, options, progress)
