"""Child processes that are asked and answer in lines, on threads, so that nothing waits for them."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from .interpreter import Interpreter, start_error
from .option_labels import use_field_labels
from .process_errors import describe_failure
from .solver_api import bounded_lines

T = TypeVar("T")
R = TypeVar("R")
END_TIMEOUT = 3.0
"""[s] a child has to end by itself after it was told to."""
MAX_LINES = 100
"""Of a child's complaints; it may live long."""
MAX_LINE_BYTES = 1 << 16
"""Bytes of one line of them."""
MAX_RESPONSES = 4096
"""Answers that wait to be taken; a child that says more waits itself."""


class ServerProcess(Generic[T, R]):
    """A run of ``python -m solver VERB ...`` that answers requests.

    Args:
        interpreter: that runs it.
        arguments: the verb and its options.
        parse: what a line of it says; None is one that is longer than ``longest``.
        max_bytes: [bytes] of a line.
        extra_environment: of its environment.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        arguments: tuple[str, ...],
        parse: Callable[[bytes | None], T],
        max_bytes: int,
        extra_environment: Mapping[str, str] | None = None,
    ) -> None:
        self._parse, self._max_bytes = parse, max_bytes
        self._error_lines: list[str] = []
        self._responses: queue.Queue[T] = queue.Queue(MAX_RESPONSES)
        self._changed, self._ending = threading.Condition(), False
        try:
            self._process = subprocess.Popen(
                interpreter.command(list(arguments)),
                env={**interpreter.environment, **(extra_environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            self.on_end()
            raise start_error(interpreter, error) from None
        self._threads = [
            threading.Thread(target=run, daemon=True)
            for run in (self._read_output, self._read_errors, self._write_requests)
        ]
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
    def failure(self) -> str:
        """Why it ended, as far as it said so."""
        return use_field_labels(describe_failure(self._error_lines, self._process.poll()))

    def responses(self) -> list[T]:
        """What came since the last call."""
        found: list[T] = []
        try:
            while len(found) < MAX_RESPONSES:
                found.append(self._responses.get_nowait())
        except queue.Empty:
            pass
        return found

    def end(self, *, wait: bool = False) -> None:
        """Let it end, by force if it does not hurry; returns at once unless asked to wait."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        reaper = threading.Thread(target=self._end_process, daemon=not wait)
        reaper.start()
        if wait:
            reaper.join()

    def has_request(self) -> bool:
        """Whether something is to be sent; asked while nothing changes."""
        raise NotImplementedError

    def next_request(self) -> R:
        """What is to be sent next, taken off; asked while nothing changes."""
        raise NotImplementedError

    def encode_request(self, request: R) -> bytes | None:
        """The line of a request; None where nothing came of it."""
        raise NotImplementedError

    def on_end(self) -> None:
        """Called when the process is gone."""

    def _end_process(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(END_TIMEOUT)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass  # it had unsent words
        self.on_end()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in bounded_lines(self._process.stdout.read1, self._max_bytes):  # type: ignore[attr-defined]
            self.put_response(self._parse(line))

    def put_response(self, found: T) -> None:
        """Have an answer taken."""
        while not self._ending:
            try:
                return self._responses.put(found, timeout=1.0)
            except queue.Full:
                pass  # nobody has looked yet

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in bounded_lines(self._process.stderr.read1, MAX_LINE_BYTES):  # type: ignore[attr-defined]
            words = "a line without end" if line is None else line.decode("utf-8", errors="replace").rstrip()
            self._error_lines = [*self._error_lines[-MAX_LINES:], words]

    def _write_requests(self) -> None:
        assert self._process.stdin is not None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ending or self.has_request())
                if self._ending:
                    return
                request = self.next_request()
            line = self.encode_request(request)
            if line is None:
                continue
            try:
                self._process.stdin.write(line + b"\n")
                self._process.stdin.flush()
            except (OSError, ValueError) as error:
                self._error_lines.append(str(error))
                return  # the child is gone
