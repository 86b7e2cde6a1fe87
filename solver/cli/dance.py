"""``dance``: design a dance that excites a body's inertias, verify it, and write it for robots, people and Blender."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..errors import Cancelled, InvalidValue
from ..options.checks import DANCE_CHECKS, CheckOptions
from ..progress import PartialProgress, Progress
from .argument_types import by_name, count, effort, not_negative, number, part, path, positive, rate, seed
from .bodies import add_body, body_of
from .dances import add_checks
from .declared import given
from .exit_codes import exit_code
from .options import add_output, add_verb
from .settings_file import show_only

if TYPE_CHECKING:
    from ..dance.design.options import DanceOptions
    from ..dance.design.style import Style
    from ..rig import Rig

WRITING = 0.97
RATE = 50.0
"""[1/s] at which dances danced before are sampled."""
POSTURES = 60
EXPLANATION = """
Chooses static postures in four foot configurations and joins them by motions that excite masses and inertias, within
all limits, in balance and without collisions; verified at 500 samples a second. The same seed gives the same dance.

Written to DIR: dance.npz (read by check, export and this package), dance.json (what it holds, in numbers), report.txt,
rig.json, summary.json and dance.motion.npz (for Blender), dance.csv (joint angles and speeds at --rate) and dance.mot.

Ctrl-C during the search for transitions writes a partial dance, which is marked as such.

Exit codes: 0 all postures are danced, 1 some only (the partial dance is written), 2 wrong input or no dance at all,
130 stopped.

Examples:
  python -m solver dance hoap3 --postures 60 --seed 1 --output out
  python -m solver dance human --height 1.7 --mass 65 --sex female --postures both=8 right=4 left=4 --output out
  python -m solver dance hrp2 --postures 20 --emphasise right_arm=3 --shrink 0.4 --output out
  python -m solver dance robot.urdf --output out
  python -m solver dance human --height 1.7 --mass 65 --sex female --bpm 110 --skill beginner --output out
  python -m solver dance human --height 1.7 --mass 65 --sex female --poses poses.json --postures both=6 --output out
  python -m solver dance hoap3 --paper --output out
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "dance", "design a dance that excites every link", EXPLANATION, run)
    add_body(parser)
    group = parser.add_argument_group("dance")
    group.add_argument(
        "--postures", nargs="+", default=[str(POSTURES)], metavar="N",
        help=(f"number of postures (default: {POSTURES}), over both, "
            f"right_forward, right and left; or as both=10 right=5 ..."),
    )  # fmt: skip
    group.add_argument("--seed", type=seed, default=0, help="of every random choice (default: 0)")
    group.add_argument(
        "--emphasise", nargs="+", default=[], metavar="PART=FACTOR",
        help="weight of a link, or of right_arm, left_arm, right_leg, left_leg or trunk, in the criterion",
    )  # fmt: skip
    group.add_argument("--step", type=number, metavar="M", help="by which the right foot goes forward")
    group.add_argument(
        "--min-duration",
        dest="shortest",
        type=positive,
        metavar="S",
        help="least duration of a transition (1, human 2; paper 5, human 2)",
    )
    group.add_argument(
        "--speed", type=positive, metavar="RAD/S", help="speed limit of every joint, in addition to its own"
    )
    group.add_argument(
        "--passes", type=count, metavar="N",
        help="odd number of times that each transition is danced; three give three times the information (1)",
    )  # fmt: skip
    group.add_argument(
        "--knot-spacing", dest="spacing", type=positive, metavar="S",
        help="between the knots of a transition: who is limited in speed is excited by turning often (0.2, human 0.28)",
    )  # fmt: skip
    group.add_argument("--hold", type=positive, metavar="S", help="each posture is held (0.2; --paper: 1, human 5)")
    group.add_argument(
        "--paper",
        action="store_true",
        help="settings of Bonnet et al. 2016 (criterion, tempo, step, two via points); identifies less well",
    )
    group.add_argument(
        "--objective", choices=("sigma", "criterion"),
        help=("criterion of the transitions: geometric mean of the expected "
            "standard deviations (default), or the paper's"),
    )  # fmt: skip
    group.add_argument(
        "--torque-reserve", type=part, metavar="SHARE", help="of every joint's torque, left to a controller (0.1)"
    )
    group.add_argument(
        "--balance-reserve", type=not_negative, metavar="M",
        help="by which the zero-moment point stays inside the shrunk polygon (0.003)",
    )  # fmt: skip
    group.add_argument(
        "--foot-clearance",
        dest="swing",
        type=not_negative,
        metavar="M",
        help="height by which a lifted foot clears the floor (0.02)",
    )
    group.add_argument(
        "--recorded", nargs="+", type=path, default=[], metavar="DANCE",
        help="motions of this rig that are recorded already (.motion.npz, or the folder of one trial) or dances "
        "(.npz): the dance is chosen to add most to them",
    )  # fmt: skip
    group.add_argument(
        "--poses", type=path, metavar="DANCE",
        help="authored dance (.json) or timeline whose named keys are danced, varied in amplitude, side and "
        "timing",
    )  # fmt: skip
    style = parser.add_argument_group(
        "style", "each of them makes a dance on counts, in phrases of eight, with mirrored motifs"
    )
    style.add_argument("--bpm", type=positive, metavar="N", help="beats a minute (120): postures land on beats")
    style.add_argument(
        "--skill", choices=("beginner", "intermediate", "expert"),
        help=("comfortable joint ranges; beginner: no one-legged postures, no "
            "bending backwards (expert: anatomical ranges)"),
    )  # fmt: skip
    style.add_argument("--no-mirror", action="store_true", help="do not mirror motifs")
    group.add_argument(
        "--effort", type=effort, default=1.0, metavar="X", help="effort of the search; 0.2 for a quick look"
    )
    group.add_argument("--rate", type=rate, default=100.0, metavar="HZ", help="of dance.csv and dance.mot (100)")
    group.add_argument("--workers", type=count, default=2, metavar="N", help="processes (2)")
    add_checks(parser, f"conditions that the dance keeps and stores (default: {DANCE_CHECKS.words})")
    add_output(parser)
    show_only(parser, "height", "mass", "sex", "packages", "feet", "postures", "seed", "emphasise", "bpm", "skill",
              "poses", "recorded", "paper", "effort", "rate")  # fmt: skip


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.design import design
    from ..dance.workflows.loading import load_dance
    from .words import warn

    progress(0.0, "building the rig")
    rig = body_of(options)
    recorded = [load_dance(place).motion(RATE) for place in options.recorded]
    found = design(rig, dance_options(options, rig), PartialProgress(progress, 0.0, WRITING), recorded)
    progress(WRITING, "writing")
    found.write(options.output, options.rate)
    progress(1.0, "done")
    notes, summary = found.dance.notes, found.summary
    warn(notes)
    print(f"{found.report}\n\n{summary.message}\nwritten: {options.output}")
    if any(note.startswith("cancelled") for note in notes):
        raise Cancelled(
            f"stopped; a partial dance of {len(found.dance.postures)} postures was written: {options.output}"
        )
    return exit_code(summary)


def dance_options(options: argparse.Namespace, rig: Rig) -> DanceOptions:
    """Options of the dance; the defaults identify best, those of --paper are the paper's."""
    from ..dance.design.body_parts import link_emphasis, require_danceable
    from ..dance.design.options import DanceOptions, human_options, paper_options
    from ..dance.workflows.loading import load_named_poses

    require_danceable(rig)
    kind = rig.provenance.get("kind")
    usual, effort = DanceOptions(), options.effort
    changes: dict[str, object] = {
        "postures": _postures(options.postures),
        "emphasis": link_emphasis(rig, by_name(options.emphasise, "--emphasise")),
        "pool": max(int(usual.pool * effort), 8),
        "starts": max(int(usual.starts * effort), 1),
        "rounds": max(int(usual.rounds * effort), 1),
        "seed": options.seed,
        "workers": options.workers,
    }
    changes["style"] = _style(options)
    changes["poses"] = () if options.poses is None else load_named_poses(options.poses, rig)
    if kind not in ("hoap3", "human"):
        changes["step"] = None  # by the sole's length
    said = ("torque_reserve", "balance_reserve", "swing", "shortest", "passes", "spacing", "hold", "speed", "step",
            "objective")  # fmt: skip
    changes |= {name: value for name in said if (value := getattr(options, name)) is not None}
    changes |= given(options, CheckOptions)
    if options.paper:
        return paper_options("human" if kind == "human" else "hoap3", **changes)
    return (human_options if rig.is_person else DanceOptions)(**changes)  # type: ignore[arg-type]


def _style(options: argparse.Namespace) -> Style | None:
    """The style, where anything of it was said."""
    from ..dance.design.style import Style

    said = {name: value for name in ("bpm", "skill") if (value := getattr(options, name)) is not None}
    if not said and not options.no_mirror:
        return None
    return Style(**said, mirrored=not options.no_mirror)


def _postures(words: list[str]) -> dict[str, int]:
    """Number per foot configuration."""
    from ..contacts.schedule import FOOT_CONFIGURATIONS

    if len(words) == 1 and "=" not in words[0]:
        total = _whole(words[0], "--postures")
        share, rest = divmod(total, len(FOOT_CONFIGURATIONS))
        return {name: share + (place < rest) for place, name in enumerate(FOOT_CONFIGURATIONS)}
    return {name: _whole(str(value), "--postures") for name, value in by_name(words, "--postures").items()}


def _whole(text: str, option: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if value < 0 or value != int(value):
        raise InvalidValue(f"{option} takes whole numbers, not {text!r}")
    return int(value)
