"""What a child process that failed said, without what Python and Blender wrap around it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

LAST_LINES = 6
"""Lines of a failed child's words that are shown."""
PREFIX = "error: "
TRACEBACK = "Traceback (most recent call last):"
SHELL = 128
"""A shell, or a container, adds it to the number of the signal that ended its program."""
LAST_SIGNAL = 65
MEMORY = "usually the memory was used up; close other programs, or give it less to do at once"
CRASH = "a library crashed; start it again, and should it crash again, tell us of it with the files"
SIGNALS = {
    4: ("stopped by an instruction that this processor does not know", "install the libraries for this machine"),
    6: ("aborted by a library", CRASH),
    7: ("crashed by a bad memory access", "look whether the disk is full, then start it again"),
    8: ("crashed in arithmetic", CRASH),
    9: ("killed by the system", MEMORY),
    11: ("crashed by a bad memory access", CRASH),
    15: ("ended by another program", "start it again"),
}
"""Numbers that POSIX fixes, as not every system names them all: what happened, and what to do."""
WINDOWS = {
    0xC0000005: ("crashed by a bad memory access", CRASH),
    0xC0000017: ("ended for want of memory", MEMORY),
    0xC000012D: ("ended for want of memory", MEMORY),
    0xC00000FD: ("crashed for want of stack", CRASH),
    0xC0000135: ("could not start for want of a library", "install the Solver Python's packages again"),
    0xC000013A: ("ended by Ctrl-C", "start it again"),
    0xC0000409: ("aborted by a library", CRASH),
}
"""Statuses of Windows."""
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[^']+)'")
NO_LIBRARY = re.compile(r"ImportError: (?P<why>.+)", re.DOTALL)
AGAIN = (
    "install the extension from its zip again, which brings all it needs along; where the preferences name a Solver "
    "Python, install {what} there"
)
"""What to do about a package that is not there."""
BLENDER = re.compile(r"Error: script failed, (expr|file): |Blender quit$|Saved session recovery to |Writing: .*crash")
"""Lines in which Blender tells of a script's end: the first holds the script itself."""


def last_words(lines: Sequence[str], code: int | None, *, doing: str = "") -> str:
    """Why a child ended, as far as it said so.

    Args:
        lines: of its standard error, indentation included.
        code: with which it ended; negative of the signal that ended it.
        doing: what it did last, as far as it is known.
    """
    said = [line.rstrip() for line in lines if line.strip() and not BLENDER.match(line)]
    starts = [index for index, line in enumerate(said) if line == TRACEBACK]
    if starts:  # the exception stands after the last frame, whose lines are indented
        ends = [line for line in said[starts[-1] + 1 :] if not line.startswith(" ")]
        if ends:
            end = " ".join(line.strip() for line in ends[:LAST_LINES])
            return missing(end) or f"internal error: {end}"
    told = [index for index, line in enumerate(said) if line.startswith(PREFIX)]
    words = said[told[-1] :] if told else said[-LAST_LINES:]
    last = " ".join(line.strip() for line in words).removeprefix(PREFIX)
    killed = _killed(code)
    if killed is None:
        return last or f"ended with code {code}"
    what, remedy = killed
    return f"{what}{f' while {doing!r}' if doing else ''}: {remedy}" + (f". Its last words: {last}" if last else "")


def missing(words: str) -> str:
    """What is not installed as it should be, and what to do, of an import that failed; empty of any other error.

    Args:
        words: type and message of the error, as a traceback ends.
    """
    if found := NO_MODULE.match(words):
        name = found["name"].partition(".")[0]
        return f"the package {name!r} is missing: {AGAIN.format(what=name)}"
    if found := NO_LIBRARY.match(words):
        return f"a package cannot be loaded ({found['why']}): {AGAIN.format(what='it')}"
    return ""


def by_name(words: str, folder: Path, names: Mapping[str, str]) -> str:
    """Words about files in a job's own folder, which the user never saw, with what those files are in their place.

    Args:
        words: as the child said them.
        folder: of the job.
        names: what each file is to the user: ``{"scene.timeline.npz": "the timeline"}``.
    """
    for file, name in names.items():
        words = words.replace(str(folder / file), name)
    words = words.replace(f"{folder}{os.sep}", "")
    return words[:1].upper() + words[1:] if words.startswith(tuple(names.values())) else words


def _killed(code: int | None) -> tuple[str, str] | None:
    """What ended a process that did not end itself, and what the user can do; None when it did."""
    if code is None:
        return None
    unsigned = code & 0xFFFFFFFF  # Windows
    if unsigned in WINDOWS:
        return f"{WINDOWS[unsigned][0]} (code 0x{unsigned:08X})", WINDOWS[unsigned][1]
    number = -code if code < 0 else code - SHELL
    if not 0 < number < LAST_SIGNAL:
        return None
    what, remedy = SIGNALS.get(number, ("was ended", "start it again"))
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"{what} ({name})", remedy
