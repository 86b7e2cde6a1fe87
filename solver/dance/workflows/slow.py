"""Make an authored dance as slow as its joints need."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...feasibility import CheckOptions, Checks, check_motion
from ...feasibility.sentences import unsupported
from ...formats.text_table import table
from ...progress import Progress, silent
from ...scene.summary import Status
from ..authoring.keys import Keyed
from ..authoring.retime import Pace, Retimed, retimed, retimed_keys
from .answer import Answer
from .check import VERIFIED, verdict_table
from .reading import load_keyed, require_support
from .summaries import Conclusion, keyed_summary

SLOWER = 1e-3
"""Share by which a span must last longer to count as slowed."""


def slow(
    dance: Keyed | str | Path,
    checks: CheckOptions | None = None,
    *,
    dynamics: bool = False,
    progress: Progress = silent,
) -> Answer:
    """Dance every span between two rests as much more slowly as the joints' speed limits need, never faster.

    Args:
        dance: authored dance, or its file (.json, .timeline.npz).
        checks: what the slower dance is judged by; by default what the dance carries.
        dynamics: slow down for torques, balance and friction too.
        progress: told about the progress; may cancel.

    Raises:
        InputError: no authored dance, or damaged.
        InvalidValue: with ``dynamics``, nothing stands on the floor.

    Example:
        >>> solver.slow("keyed.json").message  # doctest: +SKIP
    """
    keyed = (dance if isinstance(dance, Keyed) else load_keyed(dance)).held_to(checks)
    if dynamics:
        require_support(keyed)
    progress(0.0, "looking at the speeds")
    found = retimed(keyed.rig, keyed.motion(VERIFIED), keyed.schedule if dynamics else None, keyed.checks)
    slower = retimed_keys(keyed, found.pace)
    progress(0.6, "checking the slower dance")
    judged = check_motion(keyed.rig, slower.motion(VERIFIED), slower.schedule, keyed.checks)
    troubles = unsupported(slower.schedule, judged)
    message = slowing_sentence(keyed, found, judged, troubles)
    status: Status = "slowed" if _changed(found) else "unchanged"
    summary = keyed_summary(Conclusion("slow", status, message, troubles), slower, judged)
    return Answer(slower, judged, summary, slowing_report(message, found, judged), found)


def slowed(keyed: Keyed, options: CheckOptions | None = None) -> tuple[Keyed, Pace]:
    """The dance at the pace of its joints' speed limits, and that pace."""
    pace = retimed(keyed.rig, keyed.motion(VERIFIED), None, options).pace
    return retimed_keys(keyed, pace), pace


def slowing_sentence(keyed: Keyed, found: Retimed, checks: Checks, troubles: tuple[str, ...]) -> str:
    """What was done, in one sentence."""
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
    return f"{done}; left to repair: {troubles[0] if troubles else checks.worst_failures[0]}"


def slowing_report(said: str, found: Retimed, checks: Checks) -> str:
    """The report for people, plain text."""
    rows = [
        (f"{s.start:.2f} to {s.stop:.2f}", f"{s.factor:.3f}", s.reason)
        for s in found.spans
        if s.factor > 1.0 + SLOWER or s.reason
    ]
    parts = [said, "", verdict_table(checks)]
    if rows:
        parts += ["", table(("span [s]", "times as long", "for"), rows)]
    return "\n".join([*parts, *(f"note: {note}" for note in checks.notes)])


def _changed(found: Retimed) -> bool:
    return any(span.factor > 1.0 + SLOWER for span in found.spans)
