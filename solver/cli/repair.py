"""``repair``: balance an authored dance by moving it as little as possible."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..progress import Progress
from .dances import add_checks, add_dance, check_options, load, verdict
from .options import add_verb, number

SHOWN = 8
EXPLANATION = """
Keeps planted feet planted, brings the zero-moment point and every joint within limits, and leaves fixed keys alone.
The result is verified at ten times the sampling of the search before it is called feasible. What cannot be repaired
is told: which fixed key stands in the way, why, and by how much.

Examples:
  python -m solver repair dance.json --output repaired.json
  python -m solver repair dance.json --slow-down --output repaired.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    summary = "balance an authored dance by moving it as little as possible"
    parser = add_verb(verbs, "repair", summary, EXPLANATION, run)
    add_dance(parser)
    parser.add_argument("--slow-down", action="store_true", help="first make it as slow as the joints' speeds need")
    parser.add_argument(
        "--rate", type=number, default=100.0, metavar="HZ", help="of the samples written (default: 100)"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the repaired dance, .json")
    add_checks(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Read, repair, write, tell."""
    from ..dance.repair import repair
    from ..dance.retime import retimed, retimed_keys
    from ..io.keyed_file import write_keyed
    from .tables import table

    keyed = load(options.dance, options.rate).keyed
    if keyed is None:
        raise InputError(options.dance, "is a designed dance, not an authored one", remedy="Name a .json with keys")
    if options.slow_down:
        paced = retimed(keyed.rig, keyed.motion(10.0 * options.rate))
        keyed = retimed_keys(keyed, paced.pace)
        print(f"lasts {keyed.stop - keyed.start:.2f} s at the pace of its slowest joints")
    result = repair(keyed, check_options(options, 0.0), rate=options.rate, progress=progress)
    write_keyed(options.output, result.keyed)
    moved = result.moved
    order = np.argsort(-moved.rms)[:SHOWN]
    rows = [(moved.names[k], f"{moved.largest[k]:.4f}", f"{moved.rms[k]:.4f}") for k in order]
    print(verdict(result.after))
    print(f"\n{result.status} in {result.iterations} steps; moved most [m, rad]:")
    print(table(("", "at most", "rms"), rows))
    for trouble in result.troubles:
        print(f"stands in the way: {trouble}")
    print(f"\nwritten: {options.output}")
