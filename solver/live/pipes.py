"""The two pipes of a program that serves another: requests read ahead, answers written behind, no wait for ever."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from .lines import bounded_lines

T = TypeVar("T")
LONGEST = 1 << 16
"""Bytes of a request: a path, in which each character may stand as six."""

AHEAD = 256
"""Requests that are read before they are taken, and answers that are given before they are read."""
PATIENCE = 5.0
"""[s] that who asks no more may leave answers unread."""
LOOK_EVERY = 0.1
"""[s] between looks at whether the input has ended."""
SHORT = 0.002
"""[s] between looks at whether there is room for an answer."""


class Inbox(Generic[T]):
    """Requests from a descriptor, up to its end or to the request to end.

    The descriptor is read directly, by a thread: one that waits in a buffered stream would hold its lock when Python
    ends.

    Args:
        number: of the descriptor.
        understood: what a line asks for; None stands for one that is longer than `LONGEST`.
        last: whether a request is the one to end.
    """

    def __init__(self, number: int, understood: Callable[[bytes | None], T], last: Callable[[T], bool]) -> None:
        self._number, self._understood, self._last = number, understood, last
        self._requests: queue.Queue[T] = queue.Queue(AHEAD)
        self._over = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether no more requests come, though some may still wait to be taken."""
        return self._over.is_set()

    def take(self, *, wait: bool) -> list[T]:
        """Requests that have come.

        Args:
            wait: until there is one, or none comes any more.
        """
        found: list[T] = []
        while True:
            over = self.over  # asked first: what came before the end is found afterwards
            try:
                while len(found) < AHEAD:
                    idle = wait and not over and not found
                    found.append(self._requests.get(timeout=LOOK_EVERY) if idle else self._requests.get_nowait())
                return found
            except queue.Empty:
                if found or over or not wait:
                    return found

    def _run(self) -> None:
        for line in bounded_lines(self._read, LONGEST):
            asked = self._understood(line)
            over = self._last(asked)
            if over:
                self._over.set()
            self._requests.put(asked)
            if over:
                return
        self._over.set()

    def _read(self, most: int) -> bytes:
        try:
            return os.read(self._number, most)
        except OSError:
            return b""


class Outbox:
    """Answers to a descriptor, written by a thread in their order.

    Args:
        number: of the descriptor.
        over: whether nobody asks any more: then answers that nobody reads are waited for only so long.
    """

    def __init__(self, number: int, over: Callable[[], bool]) -> None:
        self._number, self._over = number, over
        self._answers: queue.Queue[bytes] = queue.Queue(AHEAD)
        self._gone, self._read = False, time.monotonic()
        threading.Thread(target=self._run, daemon=True).start()

    def say(self, line: str) -> None:
        """Have a line written; waits while many are unread.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        # JSON's text may hold half of a surrogate pair, as names of files do that are not UTF-8: this is its escape
        content = line.encode("utf-8", errors="backslashreplace") + b"\n"
        self._wait(lambda: not self._answers.full())
        self._answers.put(content)

    def flush(self) -> None:
        """Wait until all is written.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        self._wait(lambda: not self._answers.unfinished_tasks)

    def _wait(self, reached: Callable[[], bool]) -> None:
        begun = time.monotonic()
        while True:
            if self._gone:
                raise BrokenPipeError("nobody reads the answers")
            if reached():
                return
            if self._over() and time.monotonic() - max(begun, self._read) > PATIENCE:
                raise BrokenPipeError("the answers stay unread")
            time.sleep(SHORT)

    def _run(self) -> None:
        while True:
            left = memoryview(self._answers.get())
            try:
                while left:
                    left = left[os.write(self._number, left) :]
                    self._read = time.monotonic()
            except OSError:
                self._gone = True
                return
            self._answers.task_done()


__all__ = ["LONGEST", "Inbox", "Outbox"]
