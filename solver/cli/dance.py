"""``dance``: design a dance that excites a body's inertias, verify it, and write it for robots, people and Blender."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from itertools import cycle, islice
from typing import TYPE_CHECKING

from ..base.errors import Cancelled, InvalidValue
from ..base.progress import Progress
from ..base.termination import NOTHING
from ..options.checks import DANCE_CHECKS, CheckOptions
from ..options.dances import DanceOptions, human_options
from .argument_types import add_options, by_name, effort, given, natural, path, rate
from .bodies import add_body, body_of
from .dances import add_checks
from .exit_codes import INCOMPLETE, OK
from .options import add_output, add_verb
from .settings_file import show_only

if TYPE_CHECKING:
    from ..skeleton.rig import Rig

WRITING = 0.97
POSTURES = "--postures", "a whole number, or FEET=NUMBER each", natural
"""Of `by_name`."""
LONGEST_SEARCH = 600.0
"""[s] Longest search at an effort of one. Chosen so that a quick look at Romeo, 0.2, lasts two minutes."""
SHARED = ("both", "left", "both", "right")
"""Foot configurations to which a number of phrases is dealt out."""
EXPLANATION = """
A dance of phrases of eight counts, four on one foot: each goes from home by a posture and back, excites masses and
inertias as much as the limits allow, in balance and without collisions, and is danced once more in the mirror; a person
rests after each pair. Verified at 500 samples a second. The same seed gives the same dance.

Written to DIR: dance.npz (read by check, export and this package), dance.json (what it holds, in numbers), report.txt,
rig.json, summary.json and dance.motion.npz (for Blender), dance.joints.csv (joint angles and speeds at --rate)
and dance.joints.mot.

Ctrl-C during the search for phrases writes a partial dance, which is marked as such, unless DIR contains results of
an earlier run.

Exit codes: 0 all phrases are danced and every link is determined, 1 not so (the partial dance is written), 2 wrong
input or no dance at all, 130 stopped.

Examples:
  python -m solver dance hoap3 --postures 60 --seed 1 --output out
  python -m solver dance human --height 1.7 --mass 65 --sex female --postures both=6 right=3 left=3 --output out
  python -m solver dance hrp2 --postures 20 --shrink 0.4 --output out
  python -m solver dance robot.urdf --output out
  python -m solver dance human --height 1.7 --mass 65 --sex female --bpm 110 --skill beginner --output out
  python -m solver dance human --height 1.7 --mass 65 --sex female --music song.wav --output out
  python -m solver dance human --height 1.7 --mass 65 --sex female --poses poses.json --output out
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "dance", "design a dance that excites every link", EXPLANATION, run)
    add_body(parser)
    group = parser.add_argument_group("dance")
    group.add_argument(
        "--postures", nargs="+", default=[], metavar="N",
        help="number of phrases, mirrored ones included: half on both feet, the others on either foot (default: 8 for "
        "a person, 60 for a robot); or as both=10 right=5 left=5 right_forward=2",
    )  # fmt: skip
    add_options(group, DanceOptions)
    group.add_argument(
        "--poses", type=path, metavar="DANCE",
        help="authored dance (.json) or timeline whose named keys are danced, varied in amplitude and side",
    )  # fmt: skip
    group.add_argument(
        "--music", type=path, metavar="WAV", help="sound file whose tempo the dance takes, instead of --bpm"
    )
    group.add_argument(
        "--effort",
        type=effort,
        default=1.0,
        metavar="X",
        help="effort of the search, which begins nothing new after X times ten minutes; 0.2 for a quick look",
    )
    group.add_argument("--rate", type=rate, default=100.0, metavar="HZ", help="of dance.joints.csv and .mot (100)")
    add_checks(parser, f"conditions that the dance keeps and stores (default: {DANCE_CHECKS.words})")
    add_output(parser)
    own = ("postures", "poses", "music", "effort", "rate")
    show_only(parser, "height", "mass", "sex", "packages", "feet", *own)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.design import design
    from ..storage.manifest import files_written
    from .printed import warn

    progress(0.0, "building the rig")
    rig = body_of(options)
    found = design(rig, dance_options(options, rig), progress)
    notes, summary = found.dance.notes, found.summary
    stopped = any(note.startswith("cancelled") for note in notes)
    if stopped and files_written(options.output):
        raise Cancelled(f"{NOTHING}: {options.output} keeps the results of an earlier run")
    found.write(options.output, options.rate)
    warn(notes)
    tempo = f"tempo of {options.music}: {found.options.bpm:.1f} beats a minute\n" if options.music else ""
    print(f"{found.report}\n\n{tempo}{summary.message}\nwritten: {options.output}")
    if stopped:
        raise Cancelled(
            f"stopped; a partial dance of {len(found.dance.postures)} phrases was written: {options.output}"
        )
    return OK if summary.delivered else INCOMPLETE


def dance_options(options: argparse.Namespace, rig: Rig) -> DanceOptions:
    """Options of the dance."""
    from ..dance.design.body_parts import require_danceable
    from ..dance.workflows.loading import load_named_poses
    from ..signals.tempo import read_tempo

    require_danceable(rig)
    kind, effort = rig.provenance.get("kind"), options.effort
    changes: dict[str, object] = {
        "checks": DANCE_CHECKS.changed(**given(options, CheckOptions)),
        "poses": () if options.poses is None else load_named_poses(options.poses, rig),
    }
    if options.postures:
        changes["postures"] = _postures(options.postures)
    if kind not in ("hoap3", "human"):
        changes["step"] = None  # by the sole's length
    changes |= given(options, DanceOptions)
    if options.music is not None:
        if options.bpm is not None:
            raise InvalidValue("--music and --bpm both state a tempo: give one of them")
        changes["bpm"] = read_tempo(options.music)
    found = (human_options if rig.is_person else DanceOptions)(**changes)  # type: ignore[arg-type]
    pool, rounds = max(int(found.pool * effort), 8), max(int(found.rounds * effort), 1)
    return replace(found, pool=pool, rounds=rounds, seconds=LONGEST_SEARCH * effort)


def _postures(words: list[str]) -> dict[str, int]:
    """Number per foot configuration; one number is dealt out to some in turn."""
    if len(words) == 1 and "=" not in words[0]:
        return dict(Counter(islice(cycle(SHARED), *by_name([f"phrases={words[0]}"], *POSTURES).values())))
    return by_name(words, *POSTURES)
