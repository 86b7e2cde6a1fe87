"""Pipes of a server process: requests are read ahead, responses written in the background, and waits are bounded."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from .line_reader import bounded_lines

T = TypeVar("T")
MAX_LINE_BYTES = 1 << 16
"""Bytes of a request: a path, in which each character may be escaped by six."""

QUEUE_LENGTH = 256
"""Most requests that wait to be processed, and most responses that wait to be read."""
WRITE_TIMEOUT = 5.0
"""[s] For so long responses may stay unread after the input has ended."""
POLL_INTERVAL = 0.1
"""[s] Interval of checks whether the input has ended."""
WRITE_POLL_INTERVAL = 0.002
"""[s] Interval of checks whether another response fits into the queue."""


class RequestReader(Generic[T]):
    """Reads requests from a file descriptor, up to its end or to the request to end.

    A thread reads the descriptor directly, because a thread that waits in a buffered stream holds its lock when Python
    ends.

    Args:
        descriptor: number of the file descriptor.
        parse: returns the request of a line; None is a line longer than `MAX_LINE_BYTES`.
        is_last: returns whether a request is the one to end.
    """

    def __init__(self, descriptor: int, parse: Callable[[bytes | None], T], is_last: Callable[[T], bool]) -> None:
        self._descriptor, self._parse, self._is_last = descriptor, parse, is_last
        self._requests: queue.Queue[T] = queue.Queue(QUEUE_LENGTH)
        self._ended = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether the input has ended; requests may still wait to be processed."""
        return self._ended.is_set()

    def take(self, *, wait: bool) -> list[T]:
        """The requests that have arrived.

        Args:
            wait: until there is one, or the input ends.
        """
        found: list[T] = []
        while True:
            over = self.ended  # first, so that requests before the end are found below
            try:
                while len(found) < QUEUE_LENGTH:
                    idle = wait and not over and not found
                    found.append(self._requests.get(timeout=POLL_INTERVAL) if idle else self._requests.get_nowait())
                return found
            except queue.Empty:
                if found or over or not wait:
                    return found

    def _run(self) -> None:
        for line in bounded_lines(self._read, MAX_LINE_BYTES):
            request = self._parse(line)
            over = self._is_last(request)
            if over:
                self._ended.set()
            self._requests.put(request)
            if over:
                return
        self._ended.set()

    def _read(self, most: int) -> bytes:
        try:
            return os.read(self._descriptor, most)
        except OSError:
            return b""


class ResponseWriter:
    """Writes responses to a file descriptor, in order and by a thread.

    Args:
        descriptor: number of the file descriptor.
        input_ended: whether the input has ended; then unread responses are waited for only until a timeout.
    """

    def __init__(self, descriptor: int, input_ended: Callable[[], bool]) -> None:
        self._descriptor, self._input_ended = descriptor, input_ended
        self._responses: queue.Queue[bytes] = queue.Queue(QUEUE_LENGTH)
        self._closed, self._last_write = False, time.monotonic()
        threading.Thread(target=self._run, daemon=True).start()

    def write(self, line: str) -> None:
        """Write a line; waits while many are unread.

        Raises:
            BrokenPipeError: the reader has closed the pipe, or the responses stay unread.
        """
        # JSON text may contain half a surrogate pair, from file names that are not UTF-8; it is written as its escape
        content = line.encode("utf-8", errors="backslashreplace") + b"\n"
        self._wait(lambda: not self._responses.full())
        self._responses.put(content)

    def flush(self) -> None:
        """Wait until all is written.

        Raises:
            BrokenPipeError: the reader has closed the pipe, or the responses stay unread.
        """
        self._wait(lambda: not self._responses.unfinished_tasks)

    def _wait(self, reached: Callable[[], bool]) -> None:
        begun = time.monotonic()
        while True:
            if self._closed:
                raise BrokenPipeError("the reader has closed the pipe")
            if reached():
                return
            if self._input_ended() and time.monotonic() - max(begun, self._last_write) > WRITE_TIMEOUT:
                raise BrokenPipeError("the responses stay unread")
            time.sleep(WRITE_POLL_INTERVAL)

    def _run(self) -> None:
        while True:
            left = memoryview(self._responses.get())
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
                    self._last_write = time.monotonic()
            except OSError:
                self._closed = True
                return
            self._responses.task_done()
