"""What a child process that failed said, without what Python and Blender wrap around it."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

LAST_LINES = 6
"""Lines of a failed child's words that are shown."""
PREFIX = "error: "
TRACEBACK = "Traceback (most recent call last):"
BLENDER = re.compile(r"Error: script failed, (expr|file): |Blender quit$|Saved session recovery to |Writing: .*crash")
"""Lines in which Blender tells of a script's end: the first holds the script itself."""


def last_words(lines: Sequence[str], code: int | None) -> str:
    """Why a child ended, as far as it said so.

    Args:
        lines: of its standard error, indentation included.
        code: with which it ended; negative of the signal that ended it.
    """
    said = [line.rstrip() for line in lines if line.strip() and not BLENDER.match(line)]
    starts = [index for index, line in enumerate(said) if line == TRACEBACK]
    if starts:  # the exception stands after the last frame, whose lines are indented
        ends = [line for line in said[starts[-1] + 1 :] if not line.startswith(" ")]
        if ends:
            return f"internal error: {' '.join(line.strip() for line in ends[:LAST_LINES])}"
    told = [index for index, line in enumerate(said) if line.startswith(PREFIX)]
    words = said[told[-1] :] if told else said[-LAST_LINES:]
    return " ".join(line.strip() for line in words).removeprefix(PREFIX) or _ended(code)


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"ended by {signal.Signals(-code).name}"
        except ValueError:
            pass
    return f"ended with code {code}"
