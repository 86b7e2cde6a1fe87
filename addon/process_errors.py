"""What a child process that failed said, without what Python and Blender wrap around it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

SHOWN_LINES = 6
"""Lines of a failed child's words that are shown."""
ERROR_PREFIX = "error: "
TRACEBACK = "Traceback (most recent call last):"
SHELL_SIGNAL_OFFSET = 128
"""A shell, or a container, adds it to the number of the signal that ended its program."""
LAST_SIGNAL = 65
MEMORY_REMEDY = "usually the memory was used up; close other programs, or give it less to do at once"
CRASH_REMEDY = "a library crashed; start it again, and should it crash again, tell us of it with the files"
SIGNALS = {
    4: ("stopped by an instruction that this processor does not know", "install the libraries for this machine"),
    6: ("aborted by a library", CRASH_REMEDY),
    7: ("crashed by a bad memory access", "look whether the disk is full, then start it again"),
    8: ("crashed in arithmetic", CRASH_REMEDY),
    9: ("killed by the system", MEMORY_REMEDY),
    11: ("crashed by a bad memory access", CRASH_REMEDY),
    15: ("ended by another program", "start it again"),
}
"""Numbers that POSIX fixes, as not every system names them all: what happened, and what to do."""
WINDOWS_STATUSES = {
    0xC0000005: ("crashed by a bad memory access", CRASH_REMEDY),
    0xC0000017: ("ended for want of memory", MEMORY_REMEDY),
    0xC000012D: ("ended for want of memory", MEMORY_REMEDY),
    0xC00000FD: ("crashed for want of stack", CRASH_REMEDY),
    0xC0000135: ("could not start for want of a library", "install the Solver Python's packages again"),
    0xC000013A: ("ended by Ctrl-C", "start it again"),
    0xC0000409: ("aborted by a library", CRASH_REMEDY),
}
"""Statuses of Windows."""
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[^']+)'")
NO_LIBRARY = re.compile(r"ImportError: (?P<why>.+)", re.DOTALL)
INSTALL_REMEDY = (
    "install the extension from its zip again, which brings all it needs along; where the preferences name a Solver "
    "Python, install {what} there"
)
"""What to do about a package that is not there."""
BLENDER_LINES = re.compile(
    r"Error: script failed, (expr|file): |Blender quit$|Saved session recovery to |Writing: .*crash"
)
"""Lines in which Blender tells of a script's end: the first holds the script itself."""


def describe_failure(lines: Sequence[str], code: int | None, *, activity: str = "") -> str:
    """Why a child ended, as far as it said so.

    Args:
        lines: of its standard error, indentation included.
        code: with which it ended; negative of the signal that ended it.
        activity: what it did last, as far as it is known.
    """
    said = [line.rstrip() for line in lines if line.strip() and not BLENDER_LINES.match(line)]
    starts = [index for index, line in enumerate(said) if line == TRACEBACK]
    if starts:  # the exception stands after the last frame, whose lines are indented
        ends = [line for line in said[starts[-1] + 1 :] if not line.startswith(" ")]
        if ends:
            end = " ".join(line.strip() for line in ends[:SHOWN_LINES])
            return describe_import_error(end) or f"internal error: {end}"
    told = [index for index, line in enumerate(said) if line.startswith(ERROR_PREFIX)]
    words = said[told[-1] :] if told else said[-SHOWN_LINES:]
    last = " ".join(line.strip() for line in words).removeprefix(ERROR_PREFIX)
    killed = _describe_signal(code)
    if killed is None:
        return last or f"ended with code {code}"
    what, remedy = killed
    return f"{what}{f' while {activity!r}' if activity else ''}: {remedy}" + (
        f". Its last words: {last}" if last else ""
    )


def describe_import_error(text: str) -> str:
    """What is not installed as it should be, and what to do, of an import that failed; empty of any other error.

    Args:
        text: type and message of the error, as a traceback ends.
    """
    if found := NO_MODULE.match(text):
        name = found["name"].partition(".")[0]
        return f"the package {name!r} is missing: {INSTALL_REMEDY.format(what=name)}"
    if found := NO_LIBRARY.match(text):
        return f"a package cannot be loaded ({found['why']}): {INSTALL_REMEDY.format(what='it')}"
    return ""


def name_job_files(text: str, folder: Path, names: Mapping[str, str]) -> str:
    """Words about files in a job's own folder, which the user never saw, with what those files are in their place.

    Args:
        text: as the child said them.
        folder: of the job.
        names: what each file is to the user: ``{"scene.timeline.npz": "the timeline"}``.
    """
    for file, name in names.items():
        text = text.replace(str(folder / file), name)
    text = text.replace(f"{folder}{os.sep}", "")
    return text[:1].upper() + text[1:] if text.startswith(tuple(names.values())) else text


def _describe_signal(code: int | None) -> tuple[str, str] | None:
    """What ended a process that did not end itself, and what the user can do; None when it did."""
    if code is None:
        return None
    unsigned = code & 0xFFFFFFFF  # Windows
    if unsigned in WINDOWS_STATUSES:
        return f"{WINDOWS_STATUSES[unsigned][0]} (code 0x{unsigned:08X})", WINDOWS_STATUSES[unsigned][1]
    number = -code if code < 0 else code - SHELL_SIGNAL_OFFSET
    if not 0 < number < LAST_SIGNAL:
        return None
    what, remedy = SIGNALS.get(number, ("was ended", "start it again"))
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"{what} ({name})", remedy
