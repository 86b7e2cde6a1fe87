"""The two pipes of a program that serves another: requests read ahead, answers written behind, no wait for ever."""

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
"""Bytes of a request: a path, in which each character may stand as six."""

QUEUE_LENGTH = 256
"""Requests that are read before they are taken, and answers that are given before they are read."""
WRITE_TIMEOUT = 5.0
"""[s] that who asks no more may leave answers unread."""
POLL_INTERVAL = 0.1
"""[s] between looks at whether the input has ended."""
WRITE_POLL_INTERVAL = 0.002
"""[s] between looks at whether there is room for an answer."""


class RequestReader(Generic[T]):
    """Requests from a descriptor, up to its end or to the request to end.

    The descriptor is read directly, by a thread: one that waits in a buffered stream would hold its lock when Python
    ends.

    Args:
        descriptor: of the descriptor.
        parse: what a line asks for; None stands for one that is longer than `LONGEST`.
        is_last: whether a request is the one to end.
    """

    def __init__(self, descriptor: int, parse: Callable[[bytes | None], T], is_last: Callable[[T], bool]) -> None:
        self._descriptor, self._parse, self._is_last = descriptor, parse, is_last
        self._requests: queue.Queue[T] = queue.Queue(QUEUE_LENGTH)
        self._ended = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether no more requests come, though some may still wait to be taken."""
        return self._ended.is_set()

    def take(self, *, wait: bool) -> list[T]:
        """Requests that have come.

        Args:
            wait: until there is one, or none comes any more.
        """
        found: list[T] = []
        while True:
            over = self.ended  # asked first: what came before the end is found afterwards
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
            asked = self._parse(line)
            over = self._is_last(asked)
            if over:
                self._ended.set()
            self._requests.put(asked)
            if over:
                return
        self._ended.set()

    def _read(self, most: int) -> bytes:
        try:
            return os.read(self._descriptor, most)
        except OSError:
            return b""


class ResponseWriter:
    """Answers to a descriptor, written by a thread in their order.

    Args:
        descriptor: of the descriptor.
        input_ended: whether nobody asks any more: then answers that nobody reads are waited for only so long.
    """

    def __init__(self, descriptor: int, input_ended: Callable[[], bool]) -> None:
        self._descriptor, self._input_ended = descriptor, input_ended
        self._responses: queue.Queue[bytes] = queue.Queue(QUEUE_LENGTH)
        self._closed, self._last_write = False, time.monotonic()
        threading.Thread(target=self._run, daemon=True).start()

    def write(self, line: str) -> None:
        """Have a line written; waits while many are unread.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        # JSON's text may hold half of a surrogate pair, as names of files do that are not UTF-8: this is its escape
        content = line.encode("utf-8", errors="backslashreplace") + b"\n"
        self._wait(lambda: not self._responses.full())
        self._responses.put(content)

    def flush(self) -> None:
        """Wait until all is written.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        self._wait(lambda: not self._responses.unfinished_tasks)

    def _wait(self, reached: Callable[[], bool]) -> None:
        begun = time.monotonic()
        while True:
            if self._closed:
                raise BrokenPipeError("nobody reads the answers")
            if reached():
                return
            if self._input_ended() and time.monotonic() - max(begun, self._last_write) > WRITE_TIMEOUT:
                raise BrokenPipeError("the answers stay unread")
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


__all__ = ["MAX_LINE_BYTES", "RequestReader", "ResponseWriter"]
