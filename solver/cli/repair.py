"""``repair``: balance an authored dance by moving it as little as possible."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

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
    verdict,
)
from .options import add_verb

if TYPE_CHECKING:
    from ..dance.authoring.repair import Moved, Repair
    from ..rig import Rig

SHOWN = 8
WRITING = 0.95
SEEN = 5e-5
"""[m, rad] A move below this is not mentioned beside others."""
HURRIED = "the search ended because its time was over: more of --seconds may repair more"
EXPLANATION = """
Keeps planted feet planted, brings the zero-moment point and every joint within limits, and leaves fixed keys alone.
A timeline that leaves its first posture too abruptly to stand there is begun more gently. The result is verified at
500 samples a second before it is called feasible. What cannot be repaired is told: which fixed key stands in the way,
why, and by how much.

Written to DIR: dance.motion.npz (for Blender, at --rate), keyed.json (read by the other verbs), summary.json (what it
says, keys and contact strips) and report.txt. A DIR that ends in .json is a file and receives the keys alone.

Examples:
  python -m solver repair dance.timeline.npz --output repaired
  python -m solver repair dance.json --slow-down --output repaired.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    summary = "balance an authored dance by moving it as little as possible"
    parser = add_verb(verbs, "repair", summary, EXPLANATION, run)
    add_authored(parser)
    parser.add_argument("--slow-down", action="store_true", help="first make it as slow as the joints' speeds need")
    add_patience(parser)
    add_answer(parser)
    add_checks(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Read, repair, write, tell."""
    from ..dance.authoring.gentle_ends import with_gentle_ends
    from ..dance.authoring.repair import repair
    from ..dance.workflows.summaries import keyed_summary, write_answer
    from ..feasibility.sentences import unsupported
    from .slow import slowed

    progress(0.0, "reading the dance")
    keyed = load_keyed(options.dance)
    require_support(keyed, jumps=False)
    wanted = check_options(options, 0.0)
    notes: list[str] = []
    if options.slow_down:
        keyed, pace = slowed(keyed)
        notes += [f"it lasts {pace.after[-1] - pace.after[0]:.2f} s at the pace of its slowest joints"]
    keyed, gentle = with_gentle_ends(keyed, wanted)
    notes += [f"it {note}" for note in gentle]
    result = repair(keyed, wanted, repair_options(options), rate=max(options.rate, 100.0),
                    progress=Part(progress, 0.0, WRITING))  # fmt: skip
    notes += [HURRIED] * result.hurried
    troubles = [*unsupported(keyed.schedule, result.after), *explained(result)]
    said = message(keyed.rig, result, troubles) + ("; its start or end is gentler now" if gentle else "")
    summary = keyed_summary("repair", result.status, said, result.keyed, result.after, moved=result.moved,
                            troubles=troubles, notes=notes)  # fmt: skip
    write_answer(options.output, result.keyed, summary, report(said, result, troubles, notes), options.rate, progress)


def message(rig: Rig, result: Repair, troubles: list[str]) -> str:
    """What was done, in one sentence."""
    from ..dance.authoring.repair import FAILED, UNCHANGED
    from ..feasibility.sentences import listed, plain_names

    if result.status == UNCHANGED:
        return "Nothing to repair: every check holds as it is"
    failed, left = ({f.check for f in checks.first_failures} for checks in (result.before, result.after))
    gone = plain_names(f.check for f in result.before.first_failures if f.check not in left)
    if result.feasible:
        return f"Repaired ({listed(gone)}): moved at most {far(rig, result.moved)}"
    why = troubles[0] if troubles else remaining(result)
    if result.status == FAILED:
        return f"Not repaired: {why}"
    counted = f"{len(gone)} of {len(failed)} checks hold again" if gone else "less fails than before"
    return f"Only partly repaired, {counted}: {why}"


def remaining(result: Repair) -> str:
    """What fails most after the repair."""
    from ..feasibility.sentences import fails

    return fails(result.after.worst_failures[0])


def far(rig: Rig, moved: Moved) -> str:
    """The largest move and the largest turn, and what turned: ``"4.1 cm and 6.0 deg (left_knee)"``."""
    from ..coordinates import coordinate_links
    from ..feasibility.sentences import angle, length

    slides = [rig.model.joints[rig.joint(link)].shortname().startswith("JointModelP")
              for links in coordinate_links(rig) for link in links]  # fmt: skip
    sliding = np.array([True, False, *slides])
    shift = float(np.where(sliding, moved.largest, 0.0).max())
    turn = int(np.argmax(np.where(sliding, -1.0, moved.largest)))
    name = "the body" if turn == 1 else moved.names[turn]
    said = [length(shift)] if shift > SEEN else []
    if moved.largest[turn] > SEEN or not said:
        said.append(f"{angle(moved.largest[turn])} ({name})")
    return " and ".join(said)


def explained(result: Repair) -> list[str]:
    """Fixed keys that stand in the way, with what can be done."""
    from ..dance.authoring.repair import STATIC
    from ..feasibility.sentences import beyond

    still, fast = "change its posture or mark it as preferred", "move more gently there or mark it as preferred"
    return [f"{t.key}: {beyond(t.failure)}; {still if t.failure.check in STATIC else fast}" for t in result.troubles]


def report(said: str, result: Repair, troubles: list[str], notes: list[str]) -> str:
    """The report for people, plain text."""
    from ..formats.text_table import table

    moved = result.moved
    order = [k for k in np.argsort(-moved.rms)[:SHOWN] if moved.largest[k] > SEEN]
    rows = [(moved.names[k], f"{moved.largest[k]:.4f}", f"{moved.rms[k]:.4f}") for k in order]
    parts = [said, "", verdict(result.after), "", f"{result.status} in {result.iterations} steps"]
    parts += ["", "moved most [m, rad]", table(("", "at most", "rms"), rows)] if rows else []
    parts += [f"stands in the way: {trouble}" for trouble in troubles]
    parts += [f"note: {note}" for note in (*notes, *result.after.notes)]
    return "\n".join(parts)
