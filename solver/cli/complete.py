"""``complete``: fill the free keys of an authored dance."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from ..options.authoring import CompleteOptions, RepairOptions
from .argument_types import add_options, given
from .dances import (
    add_answer,
    add_authored,
    check_options,
    repair_options,
    write_answer,
)
from .options import add_verb

EXPLANATION = """
Gives every free key a posture that excites masses and inertias (with --interpolate: the posture between its
neighbours), then repairs the dance. Fixed keys stay, preferred ones move as little as possible. The first and the
last key must not be free. The same seed gives the same result.

Written to DIR: dance.motion.npz (for Blender, at --rate), keyed.json (read by the other verbs), summary.json (status,
message, keys and contact strips) and report.txt. A DIR that ends in .json is a file and receives the keys alone.

Exit codes: 0 every check holds where keys were filled, 1 something fails there (the result is written all the same),
2 wrong input, 130 stopped.

Examples:
  python -m solver complete dance.timeline.npz --output completed
  python -m solver complete dance.json --share 0.5 --seed 3 --output completed
  python -m solver complete dance.json --interpolate --output completed
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "complete", "fill the free keys of an authored dance", EXPLANATION, run)
    add_authored(parser)
    add_options(parser.add_argument_group("filling"), CompleteOptions)
    add_options(parser, RepairOptions)
    add_answer(parser)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.complete import complete
    from ..dance.workflows.loading import load_authored_dance

    wanted = CompleteOptions(**given(options, CompleteOptions))
    keyed = load_authored_dance(options.dance)
    answer = complete(keyed, wanted, check_options(options, keyed.checks), repair_options(options), rate=options.rate,
                      progress=progress)  # fmt: skip
    return write_answer(answer, options)
