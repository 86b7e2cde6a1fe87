"""Slow an authored dance down to the limits of its joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...base.errors import checked
from ...base.progress import Progress, silent
from ...feasibility import CheckOptions, Checks, check_motion
from ...feasibility.messages import describe_unsupported, format_check_table
from ...formats.text_table import format_table
from ...options.checks import VERIFICATION_RATE
from ...scene.summary import Status
from ..authoring.authored_dance import AuthoredDance
from ..authoring.retime import TimeScaling, retime, retime_dance
from .edited_dance import EditedDance
from .loading import load_authored_dance, require_support
from .summaries import Conclusion, summarise_authored

SLOWED_TOLERANCE = 1e-3
"""Relative increase of a span's duration from which it counts as slowed."""


@checked
def slow(
    dance: AuthoredDance | str | Path,
    checks: CheckOptions | None = None,
    *,
    dynamics: bool = False,
    progress: Progress = silent,
) -> EditedDance:
    """Slow every span between two rests as much as the joints' speed limits require; never speed it up.

    Args:
        dance: authored dance, or its file (.json, .timeline.npz).
        checks: of the slower dance; by default those stored with the dance.
        dynamics: slow down for torques, balance and friction too.
        progress: receives the progress; may cancel.

    Raises:
        InputError: not an authored dance, or a damaged file.
        InvalidValue: with ``dynamics``, no foot is on the floor.

    Example:
        >>> solver.slow("keyed.json").message  # doctest: +SKIP
    """
    keyed = (dance if isinstance(dance, AuthoredDance) else load_authored_dance(dance)).with_checks(checks)
    if dynamics:
        require_support(keyed)
    progress(0.0, "checking the speeds")
    found = retime(keyed.rig, keyed.motion(VERIFICATION_RATE), keyed.schedule if dynamics else None, keyed.checks)
    slower = retime_dance(keyed, found)
    progress(0.6, "checking the slower dance")
    judged = check_motion(keyed.rig, slower.motion(VERIFICATION_RATE), slower.schedule, keyed.checks)
    troubles = describe_unsupported(slower.schedule, judged)
    message = describe_slowing(keyed, found, judged, troubles)
    status: Status = "slowed" if _is_slowed(found) else "unchanged"
    summary = summarise_authored(Conclusion("slow", status, message, troubles), slower, judged)
    return EditedDance(slower, judged, summary, format_slowing_report(message, found, judged), found)


def describe_slowing(keyed: AuthoredDance, found: TimeScaling, checks: Checks, problems: tuple[str, ...]) -> str:
    """The result in one sentence."""
    before, after = (float(times[-1] - times[0]) for times in (found.before, found.after))
    slowest = max(found.spans, key=lambda span: span.factor)
    if _is_slowed(found):
        done = f"Lasts {after:.2f} s instead of {before:.2f} s"
        done += f", most slowed {slowest.factor:.2f} times from {slowest.start:.2f} s on ({slowest.reason})"
    elif not np.isfinite(keyed.rig.limits.speed).any():
        done = f"Nothing slowed: rig {keyed.rig.name!r} has no speed limits"
    else:
        done = f"Nothing to slow: the duration remains {before:.2f} s"
    if checks.feasible:
        return f"{done}; every check holds"
    return f"{done}; still to repair: {problems[0] if problems else checks.worst_failures[0]}"


def format_slowing_report(sentence: str, found: TimeScaling, checks: Checks) -> str:
    """The report, plain text."""
    rows = [
        (f"{s.start:.2f} to {s.stop:.2f}", f"{s.factor:.3f}", s.reason)
        for s in found.spans
        if s.factor > 1.0 + SLOWED_TOLERANCE or s.reason
    ]
    parts = [sentence, "", format_check_table(checks)]
    if rows:
        parts += ["", format_table(("span [s]", "times as long", "for"), rows)]
    return "\n".join([*parts, *(f"note: {note}" for note in checks.notes)])


def _is_slowed(found: TimeScaling) -> bool:
    return any(span.factor > 1.0 + SLOWED_TOLERANCE for span in found.spans)
