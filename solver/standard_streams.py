"""Standard streams that cannot end the work: one that is closed, full or gone loses words, never results."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from .errors import Cancelled
from .progress import Progress


class RobustStream(io.RawIOBase):
    """A file descriptor that is written to for as long as it takes what it is given.

    Attributes:
        lost: why it no longer does; None while it does.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.lost: OSError | None = None

    def writable(self) -> bool:
        """Always, as far as who writes can tell."""
        return True

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether somebody looks at it."""
        return os.isatty(self._descriptor)

    def write(self, data: Any) -> int:
        """Write what the descriptor takes, or lose all."""
        while self.lost is None:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:  # a parent's pipe that is full and does not wait
                select.select((), (self._descriptor,), ())
            except OSError as error:
                self.lost = error
        return memoryview(data).nbytes


@contextmanager
def robust_streams() -> Iterator[None]:
    """Within the block, the process's own standard streams lose what they cannot take; others stay as they are.

    What the encoding does not know is written as its escape. A stream that was closed takes everything and keeps
    nothing; its number is taken, so that no file that is opened later gets what is meant for the stream.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    with open(os.devnull, "r+", encoding="utf-8") as nothing:
        for number, stream in enumerate(before):
            if stream is None:
                _occupy(number)
        if sys.stdin is None:
            sys.stdin = nothing
        sys.stdout = _robust(sys.stdout, sys.__stdout__) or nothing
        sys.stderr = _robust(sys.stderr, sys.__stderr__) or nothing
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def response_descriptor() -> Iterator[int]:
    """Descriptor of answers; all else that would be printed, by libraries too, goes to the standard error meanwhile."""
    sys.stdout.flush()
    number, stream = sys.stdout.fileno(), sys.stdout
    own = os.dup(number)
    os.dup2(sys.stderr.fileno(), number)
    sys.stdout = sys.stderr
    try:
        yield own
    finally:
        sys.stdout = stream
        os.dup2(own, number)
        os.close(own)


def write_error(stream: TextIO) -> OSError | None:
    """Why a `lasting` stream no longer takes words; None while it does, and of other streams."""
    with suppress(ValueError):  # closed
        stream.flush()
    found = getattr(getattr(getattr(stream, "buffer", None), "raw", None), "lost", None)
    return found if isinstance(found, OSError) else None


def cancel_when_unread(progress: Progress) -> Progress:
    """Progress on the standard output that cancels the work when nobody is left to read it."""

    def tell(fraction: float, message: str) -> None:
        progress(fraction, message)
        if write_error(sys.stdout) is not None:
            raise Cancelled("stopped; nobody reads the progress any more")

    return tell


def _robust(stream: TextIO | None, own: TextIO | None) -> TextIO | None:
    """A stream of the process in its lasting form; one that somebody put in its place is theirs."""
    if stream is None or stream is not own:
        return stream
    with suppress(OSError, ValueError):
        stream.flush()
    try:
        outlet = RobustStream(stream.fileno())
    except (OSError, ValueError):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(outlet), stream.encoding, "backslashreplace", line_buffering=outlet.isatty()
    )


def _occupy(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing != number:
            os.dup2(nothing, number)
            os.close(nothing)
