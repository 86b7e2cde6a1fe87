"""Loaded by every Python whose path begins with this folder, children too: records files that it writes and network
calls.

One line an event: ``written`` or ``network``, a tab, and what it concerns. The environment names the file of notes.
"""

from __future__ import annotations

import os
import sys

NOTES = os.open(os.environ["AUDIT_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {
    "os.mkdir": ((0, 2),), "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.truncate": ((0, None),),
    "os.rename": ((0, 2), (1, 3)), "os.link": ((1, 3),), "os.symlink": ((1, 2),),
}  # fmt: skip
"""Events that change a file: position of its name among their arguments, and the folder that it is relative to."""
CALLS = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}
LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "urllib.Request"}


def note(event: str, arguments: tuple) -> None:
    """Write down an event that matters."""
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes) and flags & WRITES:
            write_event("written", full_name(path, None))
    elif event in CHANGES:
        for place, relative in CHANGES[event]:
            path = full_name(arguments[place], None if relative is None else arguments[relative])
            if not (isinstance(arguments[place], int) or (event == "os.mkdir" and os.path.isdir(path))):
                write_event("written", path)
    elif event in LOOK_UPS:
        write_event("network", f"{event} {arguments[0]!r}")
    elif event in CALLS and arguments[0].family.name != "AF_UNIX":
        write_event("network", f"{event} {arguments[-1]!r}")


def full_name(path: object, folder: int | None) -> str:
    """The whole name of a file."""
    name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    start = os.readlink(f"/proc/self/fd/{folder}") if folder is not None and folder >= 0 else os.getcwd()
    return os.path.normpath(os.path.join(start, name))


def write_event(kind: str, what: str) -> None:
    """One line of the notes."""
    os.write(NOTES, f"{kind}\t{what}\n".encode(errors="replace"))


sys.addaudithook(note)
