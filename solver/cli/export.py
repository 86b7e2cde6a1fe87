"""``export``: a dance for a robot (.csv, .npz) or for OpenSim and viewers (.mot)."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .argument_types import rate
from .dances import RATES, add_dance, dance_of
from .options import add_output_file, add_verb

EXPLANATION = """
.csv holds time, then the angle [rad] of every joint in the rig's order, then their speeds [rad/s], then their torques
[N m] if the contacts are known; a spherical joint has three: its rotation vector and its angular velocity in its own
axes. .npz holds the same and the root in arrays of NumPy. .mot also holds the root; its rotations are in degrees.

Examples:
  python -m solver export dance.npz --rate 100 --output dance.csv
  python -m solver export dance.json --output dance.mot
  python -m solver export tracked --trial squats --output squats.csv
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "export", "write a dance as joint angles and speeds over time", EXPLANATION, run)
    add_dance(parser)
    parser.add_argument("--rate", type=rate, metavar="HZ", help=f"samples a second {RATES.format(100)}")
    add_output_file(parser, ".csv, .npz or .mot", ".csv", ".npz", ".mot", required=True)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..dance.workflows.export import export

    motion = export(dance_of(options), options.output, options.rate)
    print(f"written: {options.output}, {len(motion)} samples at {motion.rate:g} Hz")
