"""Robust standard streams: a closed or broken stream loses output but does not end the work."""

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
    """A file descriptor that discards output after its first write error.

    Attributes:
        lost: the write error; None without one.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.lost: OSError | None = None

    def writable(self) -> bool:
        """Always True, also after a write error."""
        return True

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._descriptor)

    def write(self, data: Any) -> int:
        """Write as much as the descriptor accepts, or discard all after an error."""
        while self.lost is None:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:  # a full, non-blocking pipe
                select.select((), (self._descriptor,), ())
            except OSError as error:
                self.lost = error
        return memoryview(data).nbytes


@contextmanager
def robust_streams() -> Iterator[None]:
    """Within the block, the process's own standard streams discard what they cannot write; replaced streams stay.

    Characters that the encoding lacks are escaped. A closed stream is replaced by the null device, which also occupies
    its file descriptor, so that no file opened later receives the stream's output.
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
    """Descriptor of the standard output for responses; all other output, also of libraries, goes to standard error."""
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
    """The write error of a robust stream; None without one, and for other streams."""
    with suppress(ValueError):  # closed
        stream.flush()
    found = getattr(getattr(getattr(stream, "buffer", None), "raw", None), "lost", None)
    return found if isinstance(found, OSError) else None


def cancel_when_unread(progress: Progress) -> Progress:
    """Progress on the standard output that cancels the work when its reader has closed it."""

    def report(fraction: float, message: str) -> None:
        progress(fraction, message)
        if write_error(sys.stdout) is not None:
            raise Cancelled("stopped; the reader of the progress has closed the standard output")

    return report


def _robust(stream: TextIO | None, own: TextIO | None) -> TextIO | None:
    """The robust form of a stream of the process; a stream that replaces it is returned unchanged."""
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
