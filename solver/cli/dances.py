"""What verbs read as a dance: an authored one (.json) or a designed one (.npz)."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from .options import number

if TYPE_CHECKING:
    from ..dance.checks import CheckOptions, Checks
    from ..dance.keys import Keyed
    from ..dance.schedule import Schedule
    from ..motion import Motion
    from ..rig import Rig

AUTHORED, DESIGNED = ".json", ".npz"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A dance read from a file: authored, or sampled from a designed one."""

    rig: Rig
    motion: Motion
    schedule: Schedule
    shrink: float
    keyed: Keyed | None


def add_dance(parser: argparse.ArgumentParser) -> None:
    """The file of a dance."""
    parser.add_argument("dance", type=Path, metavar="DANCE", help="authored (.json) or designed (.npz) dance")


def add_checks(parser: argparse.ArgumentParser) -> None:
    """What a dance is checked against."""
    group = parser.add_argument_group("checks")
    group.add_argument("--shrink", type=number, metavar="SHARE", help="of the support polygon (default: the dance's)")
    group.add_argument("--friction", type=number, default=0.5, metavar="MU", help="coefficient (default: 0.5)")
    group.add_argument("--pairs", choices=("all", "paper"), default="all", help="links that must not touch")


def load(path: Path, rate: float) -> Loaded:
    """Read a dance and sample it.

    Raises:
        InputError: neither kind of dance, or damaged.
    """
    from ..rigs import build

    suffix = path.suffix.lower()
    if suffix == AUTHORED:
        from ..io.keyed_file import read_keyed

        keyed = read_keyed(path)
        return Loaded(keyed.rig, keyed.motion(rate), keyed.schedule, 0.0, keyed)
    if suffix == DESIGNED:
        from ..io.dance_file import read_dance

        dance = read_dance(path)
        rig = build(dance.rig)
        return Loaded(rig, dance.sample(rig, rate), dance.schedule, dance.shrink, None)
    raise InputError(path, "is no dance", remedy=f"Name an authored {AUTHORED} or a designed {DESIGNED}")


def check_options(options: argparse.Namespace, shrink: float) -> CheckOptions:
    """The checks as asked for."""
    from ..dance.checks import CheckOptions

    wanted = shrink if options.shrink is None else options.shrink
    return CheckOptions(shrink=wanted, friction=options.friction, pairs=options.pairs)


def verdict(checks: Checks) -> str:
    """A table of every check, and one line that says whether all hold."""
    from .tables import table

    first = {f.check: f for f in checks.first_failures}
    rows = []
    for margin in checks.margins:
        frame = int(np.argmin(margin.smallest))
        worst = margin.values[frame].min()
        failure = first.get(margin.name)
        rows.append((
            margin.name,
            "fails" if failure else "holds",
            f"{failure.time:.3f}" if failure else "",
            failure.item if failure else "",
            f"{checks.times[frame]:.3f}",
            margin.items[int(margin.culprit[frame])],
            f"{worst:+.4g} {margin.unit}",
        ))  # fmt: skip
    head = ("check", "", "first [s]", "culprit", "worst [s]", "culprit", "margin")
    share = 100.0 * float(checks.failed.mean())
    said = "feasible: every check holds" if checks.feasible else f"not feasible: {share:.1f} % of the frames fail"
    return f"{table(head, rows)}\n{said}"
