"""``live``: check a timeline while somebody edits it."""

from __future__ import annotations

import argparse
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..progress import Progress
from .options import add_verb
from .rig import add_body, body_of

if TYPE_CHECKING:
    from ..live.server import LiveServer

BLOCK = 1 << 16
"""Bytes read from the input at once."""
EXPLANATION = """
Reads requests from the standard input and answers on the standard output, one JSON object a line, until the input
ends. Frames near the one that is looked at are checked first, and only those that an edit changed are checked again.
The lines are described in solver/scene/frame.py. Without BODY the timelines say which body it is.

Examples:
  python -m solver live
  python -m solver live hoap3.json
  python -m solver live human --height 1.75 --mass 70 --sex male
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "live", "check a timeline while it is edited, for other programs", EXPLANATION, run)
    add_body(parser, required=False)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Serve until the input ends."""
    with _answers() as answer:
        from ..live.server import LiveServer
        from ..threads import one_blas_thread

        rig = None if options.body is None else body_of(options)
        with one_blas_thread():
            _serve(LiveServer(answer, rig), _lines_of(sys.stdin.fileno()))


def _serve(server: LiveServer, lines: queue.SimpleQueue[str | None]) -> None:
    from ..live.protocol import End, request

    busy = False
    while True:
        requests = []
        for line in _waiting(lines, wait=not busy):
            asked = End() if line is None else request(line)
            if isinstance(asked, End):
                return
            requests.append(asked)
        server.take(requests)
        busy = server.work()


def _waiting(lines: queue.SimpleQueue[str | None], *, wait: bool) -> Iterator[str | None]:
    """Lines that have come; at least one if told to wait for it."""
    try:
        yield lines.get(block=wait)
        while True:
            yield lines.get_nowait()
    except queue.Empty:
        return


def _lines_of(number: int) -> queue.SimpleQueue[str | None]:
    """Lines of a file descriptor as they come, then None.

    The descriptor is read directly: a thread that waits in a buffered stream would hold its lock when Python ends.
    """
    found: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        rest = b""
        while True:
            try:
                block = os.read(number, BLOCK)
            except OSError:
                block = b""
            *lines, rest = (rest + block).split(b"\n")
            for line in [*lines, rest] if not block else lines:
                if line.strip():
                    found.put(line.decode("utf-8", errors="replace"))
            if not block:
                found.put(None)
                return

    threading.Thread(target=read, daemon=True).start()
    return found


@contextmanager
def _answers() -> Iterator[Callable[[str], None]]:
    """Where answers go; meanwhile all else that would be printed, by libraries too, goes to the standard error."""
    sys.stdout.flush()
    number, stream = sys.stdout.fileno(), sys.stdout
    own = os.dup(number)
    os.dup2(sys.stderr.fileno(), number)
    sys.stdout = sys.stderr

    def answer(line: str) -> None:
        left = memoryview(line.encode("utf-8") + b"\n")
        while left:
            left = left[os.write(own, left) :]

    try:
        yield answer
    finally:
        sys.stdout = stream
        os.dup2(own, number)
        os.close(own)
