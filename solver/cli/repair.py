"""``repair``: balance an authored dance by moving it as little as possible."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from ..options.authoring import RepairOptions
from .argument_types import add_options
from .dances import (
    add_answer,
    add_authored,
    check_options,
    repair_options,
    write_answer,
)
from .options import add_verb

EXPLANATION = """
Keeps planted feet planted, brings the zero-moment point and every joint within limits, and leaves fixed keys alone. A
timeline that leaves its first posture too abruptly gets a gentler start. The result is verified at 500 samples a
second before it is called feasible. If the repair fails, the report names the fixed key that prevents it, the reason
and the amount. The foot contacts of a recording are found from its motion and forces.

Written to DIR: dance.motion.npz (for Blender, at --rate), keyed.json (read by the other verbs), summary.json (status,
message, keys and contact strips) and report.txt. A DIR that ends in .json is a file and receives the keys alone.

Exit codes: 0 every check holds, 1 something still fails (the result is written all the same), 2 wrong input,
130 stopped.

Examples:
  python -m solver repair dance.timeline.npz --output repaired
  python -m solver repair dance.json --output repaired.json
  python -m solver repair tracked --trial squats --output repaired
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "repair", "balance an authored dance by moving it as little as possible", EXPLANATION, run)
    add_authored(parser, recordings=True)
    add_options(parser, RepairOptions)
    add_answer(parser)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.loading import load_authored_with_notes
    from ..dance.workflows.repair import repair
    from .printed import warn

    keyed, notes = load_authored_with_notes(options.dance, options.trial)
    warn(notes)
    answer = repair(keyed, check_options(options, keyed.checks), repair_options(options),
                    rate=options.rate, progress=progress)  # fmt: skip
    return write_answer(answer, options)
