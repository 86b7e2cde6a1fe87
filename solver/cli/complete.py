"""``complete``: fill the free keys of an authored dance."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..errors import InvalidValue
from ..progress import Part, Progress
from .dances import (
    add_answer,
    add_authored,
    add_checks,
    add_patience,
    check_options,
    load_keyed,
    repair_options,
    require_support,
)
from .options import add_verb, number
from .repair import HURRIED, WRITING, explained, far, remaining, report

if TYPE_CHECKING:
    from ..dance.authoring.complete import Completed
    from ..dance.authoring.keys import Keyed

EXPLANATION = """
Gives every free key a posture that excites masses and inertias (or, with --calm, the calm way between its neighbours),
then repairs the dance. Fixed keys stay, preferred ones move as little as possible. The first and the last key must not
be free. The same seed fills the same way.

Written to DIR: dance.motion.npz (for Blender, at --rate), keyed.json (read by the other verbs), summary.json (what it
says, keys and contact strips) and report.txt. A DIR that ends in .json is a file and receives the keys alone.

Examples:
  python -m solver complete dance.timeline.npz --output completed
  python -m solver complete dance.json --share 0.5 --seed 3 --output completed
  python -m solver complete dance.json --calm --output completed
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "complete", "fill the free keys of an authored dance", EXPLANATION, run)
    add_authored(parser)
    group = parser.add_argument_group("filling")
    group.add_argument("--calm", action="store_true", help="the calm way between the other keys, nothing exciting")
    group.add_argument("--share", type=number, default=1.0, metavar="SHARE",
                       help="of the way from the calm posture to the exciting one, up to 1 (default: 1)")  # fmt: skip
    group.add_argument("--seed", type=int, default=0, help="of every random choice (default: 0)")
    group.add_argument("--pool", type=int, default=60, metavar="N",
                       help="postures drawn for each footing, to choose among (default: 60)")  # fmt: skip
    add_patience(parser)
    add_answer(parser)
    add_checks(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Read, fill, repair, write, tell."""
    from ..dance.authoring.complete import CompleteOptions, complete
    from ..dance.workflows.summaries import keyed_summary, write_answer
    from ..feasibility.sentences import unsupported

    progress(0.0, "reading the dance")
    keyed = load_keyed(options.dance)
    require_support(keyed)
    require_gaps(keyed)
    if options.pool < 1 or options.seed < 0:
        raise InvalidValue("--pool takes a number from 1, --seed one from 0")
    wanted = CompleteOptions(not options.calm, options.pool, share=options.share, seed=options.seed)
    done = complete(keyed, check_options(options, 0.0), wanted, repair_options(options), rate=max(options.rate, 100.0),
                    progress=Part(progress, 0.0, WRITING))  # fmt: skip
    result = done.repair
    troubles = [*unsupported(keyed.schedule, result.after), *explained(result)]
    said = message(keyed, done, options.calm, troubles)
    notes = [*done.notes, *[HURRIED] * result.hurried]
    status = "completed" if result.feasible else result.status
    summary = keyed_summary("complete", status, said, result.keyed, result.after, moved=result.moved,
                            troubles=troubles, notes=notes)  # fmt: skip
    text = report(said, result, troubles, notes)
    write_answer(options.output, result.keyed, summary, text, options.rate, progress)


def require_gaps(keyed: Keyed) -> None:
    """Refuse a dance without free keys, or with nothing to hold on to around them.

    Raises:
        InvalidValue: what is missing, and how to get it.
    """
    roles = [key.role for key in keyed.keys]
    if "free" not in roles:
        raise InvalidValue(
            f"dance {keyed.name!r} has no free key to complete: mark a key as free, in Blender by the keyframe type "
            "Breakdown"
        )
    if len(roles) - roles.count("free") < 2:
        raise InvalidValue(
            f"dance {keyed.name!r} has {len(roles) - roles.count('free')} keys that are not free: the first and the "
            "last key must be fixed or preferred"
        )
    for key, which in ((keyed.keys[0], "first"), (keyed.keys[-1], "last")):
        if key.role == "free":
            raise InvalidValue(f"{key} is the {which} one: make it fixed or preferred, what is free lies between keys")


def message(keyed: Keyed, done: Completed, calm: bool, troubles: list[str]) -> str:
    """What was done, in one sentence."""
    count = len(done.filled)
    exciting = 0 if calm else count - len(done.notes)
    filled = f"filled {count} free key{'' if count == 1 else 's'}"
    if 0 < exciting < count:
        filled += f", {exciting} with exciting postures and {count - exciting} the calm way"
    else:
        filled += " with exciting postures" if exciting else " the calm way"
    result = done.repair
    if not result.feasible:
        return f"Not feasible yet, {filled}: {troubles[0] if troubles else remaining(result)}"
    moved = (
        "" if result.status == "unchanged" else f", the postures moved at most {far(keyed.rig, result.moved)} for it"
    )
    return f"{filled[0].upper()}{filled[1:]}; every check holds{moved}"
