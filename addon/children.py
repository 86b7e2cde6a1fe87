"""Child processes that are asked and answer in lines, on threads, so that nothing waits for them."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from .complaints import last_words
from .fields import in_window
from .interpreter import Interpreter, cannot_run
from .values import bounded_lines

T = TypeVar("T")
R = TypeVar("R")
PATIENCE = 3.0
"""[s] a child has to end by itself after it was told to."""
KEPT_LINES = 100
"""Of a child's complaints; it may live long."""
LONGEST_COMPLAINT = 1 << 16
"""Bytes of one line of them."""
MOST = 4096
"""Answers that wait to be taken; a child that says more waits itself."""


class Talking(Generic[T, R]):
    """A run of ``python -m solver VERB ...`` that answers requests.

    Args:
        interpreter: that runs it.
        arguments: the verb and its options.
        understood: what a line of it says; None is one that is longer than ``longest``.
        longest: [bytes] of a line.
        more: of its environment.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        arguments: tuple[str, ...],
        understood: Callable[[bytes | None], T],
        longest: int,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self._understood, self._longest = understood, longest
        self._words: list[str] = []
        self._answers: queue.Queue[T] = queue.Queue(MOST)
        self._changed, self._ended = threading.Condition(), False
        try:
            self._process = subprocess.Popen(
                interpreter.command(list(arguments)),
                env={**interpreter.environment, **(more or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            self.cleared()
            raise cannot_run(interpreter, error) from None
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._hear, self._write)]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it still answers."""
        return self._process.poll() is None

    @property
    def last_words(self) -> str:
        """Why it ended, as far as it said so."""
        return in_window(last_words(self._words, self._process.poll()))

    def answers(self) -> list[T]:
        """What came since the last call."""
        found: list[T] = []
        try:
            while len(found) < MOST:
                found.append(self._answers.get_nowait())
        except queue.Empty:
            pass
        return found

    def end(self, *, wait: bool = False) -> None:
        """Let it end, by force if it does not hurry; returns at once unless asked to wait."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        reaper = threading.Thread(target=self._reap, daemon=not wait)
        reaper.start()
        if wait:
            reaper.join()

    def waiting(self) -> bool:
        """Whether something is to be sent; asked while nothing changes."""
        raise NotImplementedError

    def next_request(self) -> R:
        """What is to be sent next, taken off; asked while nothing changes."""
        raise NotImplementedError

    def line_of(self, request: R) -> bytes | None:
        """The line of a request; None where nothing came of it."""
        raise NotImplementedError

    def cleared(self) -> None:
        """Called when the process is gone."""

    def _reap(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass  # it had unsent words
        self.cleared()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in bounded_lines(self._process.stdout.read1, self._longest):  # type: ignore[attr-defined]
            self.put(self._understood(line))

    def put(self, found: T) -> None:
        """Have an answer taken."""
        while not self._ended:
            try:
                return self._answers.put(found, timeout=1.0)
            except queue.Full:
                pass  # nobody has looked yet

    def _hear(self) -> None:
        assert self._process.stderr is not None
        for line in bounded_lines(self._process.stderr.read1, LONGEST_COMPLAINT):  # type: ignore[attr-defined]
            words = "a line without end" if line is None else line.decode("utf-8", errors="replace").rstrip()
            self._words = [*self._words[-KEPT_LINES:], words]

    def _write(self) -> None:
        assert self._process.stdin is not None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self.waiting())
                if self._ended:
                    return
                request = self.next_request()
            line = self.line_of(request)
            if line is None:
                continue
            try:
                self._process.stdin.write(line + b"\n")
                self._process.stdin.flush()
            except (OSError, ValueError) as error:
                self._words.append(str(error))
                return  # the child is gone
