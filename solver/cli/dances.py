"""What verbs read as a dance: an authored one (.json), a scene's timeline (.timeline.npz) or a designed one (.npz)."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError, InvalidValue
from .options import number

if TYPE_CHECKING:
    from ..contacts.schedule import Schedule
    from ..dance.authoring.keys import Keyed
    from ..dance.authoring.repair import RepairOptions
    from ..feasibility import CheckOptions, Checks
    from ..motion import Motion
    from ..rig import Rig

AUTHORED, ARCHIVE = ".json", ".npz"
PATIENCE = 120.0
"""[s] of a repair's search: an animator waits for it."""
JUMPS = 50.0
"""[1/s] at which spans without a planted foot are looked at."""
REMEDY = f"Name an authored dance ({AUTHORED}), a timeline (.timeline.npz) or a designed dance ({ARCHIVE})"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A dance read from a file.

    Attributes:
        rig: that dances.
        motion: sampled.
        schedule: of the contacts.
        shrink: of the support polygon, as the dance was designed.
        keyed: the authored dance; None of a designed one.
    """

    rig: Rig
    motion: Motion
    schedule: Schedule
    shrink: float
    keyed: Keyed | None


def add_dance(parser: argparse.ArgumentParser) -> None:
    """The file of a dance."""
    words = "authored dance (.json), timeline (.timeline.npz) or designed dance (.npz)"
    parser.add_argument("dance", type=Path, metavar="DANCE", help=words)


def add_authored(parser: argparse.ArgumentParser) -> None:
    """The file of a dance with keys."""
    words = "authored dance (.json) or timeline of a scene (.timeline.npz)"
    parser.add_argument("dance", type=Path, metavar="DANCE", help=words)


def add_answer(parser: argparse.ArgumentParser) -> None:
    """Where the changed dance goes."""
    words = "folder for the dance (it appears complete or not at all), or a .json file for its keys alone"
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help=words)
    parser.add_argument(
        "--rate", type=number, default=100.0, metavar="HZ", help="of the samples written (default: 100)"
    )


def add_checks(parser: argparse.ArgumentParser) -> None:
    """What a dance is checked against."""
    group = parser.add_argument_group("checks")
    group.add_argument("--shrink", type=number, metavar="SHARE", help="of the support polygon (default: the dance's)")
    group.add_argument("--friction", type=number, default=0.5, metavar="MU", help="coefficient (default: 0.5)")
    group.add_argument("--pairs", choices=("all", "paper"), default="all", help="links that must not touch")


def add_patience(parser: argparse.ArgumentParser) -> None:
    """How long a repair may search."""
    words = f"search no longer, and write the best found (default: {PATIENCE:g})"
    parser.add_argument("--seconds", type=number, default=PATIENCE, metavar="S", help=words)


def repair_options(options: argparse.Namespace) -> RepairOptions:
    """The repair as asked for."""
    from ..dance.authoring.repair import RepairOptions

    if not options.seconds > 0.0:
        raise InvalidValue(f"--seconds must be positive, got {options.seconds:g}")
    return RepairOptions(patience=options.seconds)


def load(path: Path, rate: float) -> Loaded:
    """Read a dance and sample it.

    Raises:
        InputError: no dance, or damaged.
        InvalidValue: a timeline that contradicts itself, or a rate that is not positive.
    """
    if not rate > 0.0:
        raise InvalidValue(f"--rate must be positive, got {rate:g}")
    if path.suffix.lower() == ARCHIVE and "dance" in _holds(path):
        from ..dance.design.dance_file import read_dance
        from ..rigs import build

        dance = read_dance(path)
        rig = build(dance.rig)
        return Loaded(rig, dance.sample(rig, rate), dance.schedule, dance.shrink, None)
    keyed = load_keyed(path)
    return Loaded(keyed.rig, keyed.motion(rate), keyed.schedule, 0.0, keyed)


def load_keyed(path: Path) -> Keyed:
    """Read a dance that has keys.

    Raises:
        InputError: a designed dance, no dance, or damaged.
        InvalidValue: a timeline that contradicts itself.
    """
    suffix = path.suffix.lower()
    if suffix == AUTHORED:
        from ..dance.authoring.keyed_file import read_keyed

        return read_keyed(path)
    if suffix == ARCHIVE:
        from ..dance.authoring.timeline import keyed_of
        from ..scene.timeline import read_timeline

        names = _holds(path)
        if "timeline" in names:
            return keyed_of(read_timeline(path))
        if "dance" in names:
            remedy = f"Name an authored dance ({AUTHORED}) or a timeline (.timeline.npz)"
            raise InputError(path, "is a designed dance, without keys to change", remedy=remedy)
        what = "a motion without contact strips" if "rotations" in names else f"{', '.join(sorted(names)) or 'nothing'}"
        raise InputError(path, f"holds no dance but {what}", remedy=REMEDY)
    raise InputError(path, "is no dance", remedy=REMEDY)


def _holds(path: Path) -> set[str]:
    """Names of the arrays of an archive: what kind of file it is, whatever its suffix."""
    from ..formats.archive import read_archive

    return set(read_archive(path)[0])


def check_options(options: argparse.Namespace, shrink: float) -> CheckOptions:
    """The checks as asked for."""
    from ..feasibility import CheckOptions

    wanted = shrink if options.shrink is None else options.shrink
    return CheckOptions(shrink=wanted, friction=options.friction, pairs=options.pairs)


def require_support(keyed: Keyed, *, jumps: bool = True) -> None:
    """Refuse a dance in which nothing stands on the floor where something must.

    Args:
        keyed: the dance.
        jumps: take spans without a planted foot as jumps, unchecked; else they must fall freely.

    Raises:
        InvalidValue: no contact strip at all, a span that is no jump, or a rig without contact patches.
    """
    from ..contacts.schedule import patch_names, require_contacts
    from ..feasibility import check_motion
    from ..feasibility.sentences import unsupported

    require_contacts(keyed.rig)
    phases = keyed.schedule.phases
    if all(phase.airborne for phase in phases):
        known = patch_names(keyed.rig)
        raise InvalidValue(
            f"nothing carries the body, from {keyed.start:.2f} to {keyed.stop:.2f} s: give each foot that stands "
            f"({', '.join(known)}) a contact strip, in Blender by keys of the armature's 'on floor: {known[0]}'"
        )
    if not jumps and any(phase.airborne for phase in phases):
        checks = check_motion(keyed.rig, keyed.motion(JUMPS), keyed.schedule)
        if hanging := unsupported(keyed.schedule, checks):
            raise InvalidValue("; ".join(hanging))


def verdict(checks: Checks) -> str:
    """A table of every check."""
    from ..formats.text_table import table

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
    return table(head, rows)
