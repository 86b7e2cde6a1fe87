"""Error messages of failed child processes, without Python's traceback and Blender's own output."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

SHOWN_LINES = 6
"""Largest number of error lines that are shown."""
ERROR_PREFIX = "error: "
TRACEBACK = "Traceback (most recent call last):"
SHELL_SIGNAL_OFFSET = 128
"""A shell or container adds this to the number of the signal that ended its program."""
LAST_SIGNAL = 65
MEMORY_REMEDY = "the computer probably ran out of memory; close other programs, or process fewer recordings at once"
CRASH_REMEDY = "a library crashed; try again, and if it crashes again, please report it with the files"
SIGNALS = {
    4: ("stopped by an instruction that this processor does not support", "install the libraries for this machine"),
    6: ("aborted by a library", CRASH_REMEDY),
    7: ("crashed by an invalid memory access", "check whether the disk is full, then try again"),
    8: ("crashed by an arithmetic error", CRASH_REMEDY),
    9: ("killed by the system", MEMORY_REMEDY),
    11: ("crashed by an invalid memory access", CRASH_REMEDY),
    15: ("terminated by another program", "try again"),
}
"""By POSIX signal number: what happened, and what to do. Not every system names all of these signals."""
WINDOWS_STATUSES = {
    0xC0000005: ("crashed by an invalid memory access", CRASH_REMEDY),
    0xC0000017: ("ran out of memory", MEMORY_REMEDY),
    0xC000012D: ("ran out of memory", MEMORY_REMEDY),
    0xC00000FD: ("crashed by a stack overflow", CRASH_REMEDY),
    0xC0000135: ("could not start because a library is missing", "reinstall the packages of the Solver Python"),
    0xC000013A: ("stopped by Ctrl-C", "try again"),
    0xC0000409: ("aborted by a library", CRASH_REMEDY),
}
"""By Windows exit status: what happened, and what to do."""
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[^']+)'")
NO_LIBRARY = re.compile(r"ImportError: (?P<why>.+)", re.DOTALL)
INSTALL_REMEDY = (
    "reinstall the extension from its zip file, which contains all packages; if a Solver Python is set in the "
    "preferences, install {what} there"
)
"""What to do about a missing package."""
BLENDER_LINES = re.compile(
    r"Error: script failed, (expr|file): |Blender quit$|Saved session recovery to |Writing: .*crash"
)
"""Lines that Blender prints when a script ends; the first contains the script itself."""


def describe_failure(lines: Sequence[str], code: int | None, *, activity: str = "") -> str:
    """Why a child process ended, from its error output and exit code.

    Args:
        lines: of its standard error, with indentation.
        code: exit code; the negative signal number if a signal ended it.
        activity: what it was activity last, if known.
    """
    output = [line.rstrip() for line in lines if line.strip() and not BLENDER_LINES.match(line)]
    starts = [index for index, line in enumerate(output) if line == TRACEBACK]
    if starts:  # the exception follows the last stack frame, whose lines are indented
        ends = [line for line in output[starts[-1] + 1 :] if not line.startswith(" ")]
        if ends:
            end = " ".join(line.strip() for line in ends[:SHOWN_LINES])
            return describe_import_error(end) or f"internal error: {end}"
    error_lines = [index for index, line in enumerate(output) if line.startswith(ERROR_PREFIX)]
    shown = output[error_lines[-1] :] if error_lines else output[-SHOWN_LINES:]
    last = " ".join(line.strip() for line in shown).removeprefix(ERROR_PREFIX)
    signal_text = _describe_signal(code)
    if signal_text is None:
        return last or f"ended with code {code}"
    what, remedy = signal_text
    return f"{what}{f' while {activity!r}' if activity else ''}: {remedy}" + (f". Last output: {last}" if last else "")


def describe_import_error(text: str) -> str:
    """Which package is missing or broken after a failed import, and what to do; empty for any other error.

    Args:
        text: type and message of the error, as at the end of a traceback.
    """
    if found := NO_MODULE.match(text):
        name = found["name"].partition(".")[0]
        return f"the package {name!r} is missing: {INSTALL_REMEDY.format(what=name)}"
    if found := NO_LIBRARY.match(text):
        return f"a package cannot be loaded ({found['why']}): {INSTALL_REMEDY.format(what='it')}"
    return ""


def name_job_files(text: str, folder: Path, names: Mapping[str, str]) -> str:
    """Replace paths in a job's own folder, which the user does not know, by what the files contain.

    Args:
        text: message of the child process.
        folder: of the job.
        names: description of each file: ``{"scene.timeline.npz": "the timeline"}``.
    """
    for file, name in names.items():
        text = text.replace(str(folder / file), name)
    text = text.replace(f"{folder}{os.sep}", "")
    return text[:1].upper() + text[1:] if text.startswith(tuple(names.values())) else text


def _describe_signal(code: int | None) -> tuple[str, str] | None:
    """What ended a process from outside, and what the user can do; None if it ended by itself."""
    if code is None:
        return None
    unsigned = code & 0xFFFFFFFF  # Windows
    if unsigned in WINDOWS_STATUSES:
        return f"{WINDOWS_STATUSES[unsigned][0]} (code 0x{unsigned:08X})", WINDOWS_STATUSES[unsigned][1]
    number = -code if code < 0 else code - SHELL_SIGNAL_OFFSET
    if not 0 < number < LAST_SIGNAL:
        return None
    what, remedy = SIGNALS.get(number, ("was terminated", "try again"))
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"{what} ({name})", remedy
