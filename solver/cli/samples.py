"""``samples``: simulated recordings to try the program on."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..base.progress import Progress
from .argument_types import path, seed
from .options import add_verb

EXPLANATION = """
Writes a small simulated study: a person's markers and forces, a further trial to test the result on, a robot's joint
coordinates and wrenches, and a motion-capture clip. README.txt in the folder lists commands to try on them.

Example:
  python -m solver samples samples
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "samples", "write simulated recordings to try the program on", EXPLANATION, run)
    parser.add_argument("output", type=path, metavar="DIR", help="folder to write")
    parser.add_argument("--seed", type=seed, default=1, help="of bodies, motions and noise (default: 1)")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Write the samples."""
    from ..demo.samples import write_samples

    folder = write_samples(Path(options.output), options.seed)
    print((folder / "README.txt").read_text(encoding="utf-8"))
    print(f"written: {options.output}")
