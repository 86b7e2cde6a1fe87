"""``demo``: the whole chain on a labelled simulation."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..base.progress import Progress
from .argument_types import seed
from .options import add_output, add_verb

EXPLANATION = """
Simulates a person and HRP-2 whose inertials are known, records them as a laboratory would (markers with 2 mm of
noise, plates with 1 N and 1 N m), and identifies them from those files as if they came from elsewhere. A first picture,
from a short dance, comes after about half a minute. Ends with a Blender scene, a picture, a report, and the error
against the known truth. Everything in it is simulated.

Example:
  python -m solver demo --output out
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "demo", "the whole chain on a labelled simulation; needs no data", EXPLANATION, run)
    add_output(parser, required=False)
    parser.add_argument("--seed", type=seed, default=1, help="of the truth and the noise (default: 1)")
    parser.set_defaults(output=Path("out", "demo"))


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the demonstration."""
    from ..base.progress import halves
    from ..demo.run import identify_first, run_demo

    one, two = halves(progress)
    print(
        f"{identify_first(options.output, seed=options.seed, progress=one)}\nthe full demonstration continues\n",
        flush=True,
    )
    for line in run_demo(options.output, seed=options.seed, progress=two):
        print(line)
