"""``complete``: fill the free keys of an authored dance."""

from __future__ import annotations

import argparse

from ..progress import Progress
from .argument_types import count, seed, share
from .dances import (
    add_answer,
    add_authored,
    add_checks,
    add_patience,
    check_options,
    repair_options,
    search_progress,
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
    group = parser.add_argument_group("filling")
    group.add_argument("--interpolate", action="store_true", help="interpolate between the other keys")
    group.add_argument(
        "--share",
        type=share,
        default=1.0,
        metavar="SHARE",
        help=("fraction of the way from the interpolated to the exciting posture, up to 1 (default: 1)"),
    )
    group.add_argument("--seed", type=seed, default=0, help="of every random choice (default: 0)")
    group.add_argument("--pool", type=count, default=60, metavar="N",
                       help="random postures to choose from per foot configuration (default: 60)")  # fmt: skip
    add_patience(parser)
    add_answer(parser)
    add_checks(parser)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.authoring.complete import CompleteOptions
    from ..dance.workflows.complete import complete
    from ..dance.workflows.loading import load_authored_dance

    progress(0.0, "reading the dance")
    wanted = CompleteOptions(not options.interpolate, options.pool, fraction=options.share, seed=options.seed)
    keyed = load_authored_dance(options.dance)
    answer = complete(keyed, wanted, check_options(options, keyed.checks), repair_options(options), rate=options.rate,
                      progress=search_progress(progress))  # fmt: skip
    return write_answer(answer, options, progress)
