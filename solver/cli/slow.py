"""``slow``: make an authored dance as slow as its joints need."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from ..progress import Progress
from .dances import add_answer, add_authored, add_checks, check_options, load_keyed, require_support, verdict
from .options import add_verb

if TYPE_CHECKING:
    from ..dance.authoring.keys import Keyed
    from ..dance.authoring.retime import Pace, Retimed
    from ..feasibility import CheckOptions, Checks

VERIFIED = 500.0
"""[1/s] at which speeds are looked at."""
SLOWER = 1e-3
"""Share by which a span must last longer to count as slowed."""
EXPLANATION = """
Every span between two moments of rest is danced as much more slowly as the speed limits of the joints need, never
faster; keys and contact strips move along. With --dynamics torques, balance and friction count too, where standing
still does not fail them as well.

Written to DIR: dance.motion.npz (for Blender, at --rate), keyed.json (read by the other verbs), summary.json (what it
says, keys and contact strips) and report.txt. A DIR that ends in .json is a file and receives the keys alone.

Examples:
  python -m solver slow dance.timeline.npz --output slowed
  python -m solver slow dance.json --dynamics --output slowed
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "slow", "make an authored dance as slow as its joints need", EXPLANATION, run)
    add_authored(parser)
    parser.add_argument("--dynamics", action="store_true", help="slow down for torques, balance and friction too")
    add_answer(parser)
    add_checks(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Read, slow down, write, tell."""
    from ..dance.authoring.retime import retimed, retimed_keys
    from ..dance.workflows.summaries import keyed_summary, write_answer
    from ..feasibility import check_motion
    from ..feasibility.sentences import unsupported

    keyed = load_keyed(options.dance)
    wanted = check_options(options, 0.0)
    if options.dynamics:
        require_support(keyed)
    progress(0.0, "looking at the speeds")
    found = retimed(keyed.rig, keyed.motion(VERIFIED), keyed.schedule if options.dynamics else None, wanted)
    slower = retimed_keys(keyed, found.pace)
    progress(0.6, "checking the slower dance")
    checks = check_motion(keyed.rig, slower.motion(VERIFIED), slower.schedule, wanted)
    troubles = unsupported(slower.schedule, checks)
    said = message(keyed, found, checks, troubles)
    status = "slowed" if _changed(found) else "unchanged"
    summary = keyed_summary("slow", status, said, slower, checks, troubles=troubles)
    write_answer(options.output, slower, summary, report(said, found, checks), options.rate, progress)


def slowed(keyed: Keyed, options: CheckOptions | None = None) -> tuple[Keyed, Pace]:
    """The dance at the pace of its joints' speed limits, and that pace."""
    from ..dance.authoring.retime import retimed, retimed_keys

    pace = retimed(keyed.rig, keyed.motion(VERIFIED), None, options).pace
    return retimed_keys(keyed, pace), pace


def message(keyed: Keyed, found: Retimed, checks: Checks, troubles: tuple[str, ...]) -> str:
    """What was done, in one sentence."""
    from ..feasibility.sentences import fails

    before, after = (float(times[-1] - times[0]) for times in (found.pace.before, found.pace.after))
    slowest = max(found.spans, key=lambda span: span.factor)
    if _changed(found):
        done = f"Lasts {after:.2f} s instead of {before:.2f} s"
        done += f", most slowed {slowest.factor:.2f} times from {slowest.start:.2f} s on ({slowest.reason})"
    elif not np.isfinite(keyed.rig.limits.speed).any():
        done = f"Nothing slowed: rig {keyed.rig.name!r} states no speed limit"
    else:
        done = f"Nothing to slow: it keeps its {before:.2f} s"
    if checks.feasible:
        return f"{done}; every check holds"
    return f"{done}; left to repair: {troubles[0] if troubles else fails(checks.worst_failures[0])}"


def report(said: str, found: Retimed, checks: Checks) -> str:
    """The report for people, plain text."""
    from ..formats.text_table import table

    rows = [
        (f"{s.start:.2f} to {s.stop:.2f}", f"{s.factor:.3f}", s.reason)
        for s in found.spans
        if s.factor > 1.0 + SLOWER or s.reason
    ]
    parts = [said, "", verdict(checks)]
    if rows:
        parts += ["", table(("span [s]", "times as long", "for"), rows)]
    return "\n".join([*parts, *(f"note: {note}" for note in checks.notes)])


def _changed(found: Retimed) -> bool:
    return any(span.factor > 1.0 + SLOWER for span in found.spans)
