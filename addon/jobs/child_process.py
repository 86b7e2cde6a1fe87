"""Child processes that answer requests line by line. Threads read and write, so that Blender never waits."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from ..base.interpreter import Interpreter, start_error
from ..base.option_fields import use_field_labels
from ..base.process_errors import describe_failure
from ..base.solver_api import bounded_lines

T = TypeVar("T")
R = TypeVar("R")
END_TIMEOUT = 3.0
"""[s] Time for a child to end after SIGTERM, before it is killed."""
MAX_LINES = 100
"""Largest number of error lines that are stored."""
MAX_LINE_BYTES = 1 << 16
"""Longest error line [bytes]."""
MAX_RESPONSES = 4096
"""Largest number of unread responses; a child that sends more has to wait."""


class ServerProcess(Generic[T, R]):
    """A run of ``python -m solver VERB ...`` that answers requests.

    Args:
        interpreter: runs the process.
        arguments: the verb and its options.
        parse: parses a line of output; None stands for a line longer than ``max_bytes``.
        max_bytes: longest line [bytes].
        extra_environment: additional environment variables.
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
        """Process identifier."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    @property
    def failure(self) -> str:
        """Why the process ended, from its error output."""
        return use_field_labels(describe_failure(self._error_lines, self._process.poll()))

    def responses(self) -> list[T]:
        """Responses received since the last call."""
        found: list[T] = []
        try:
            while len(found) < MAX_RESPONSES:
                found.append(self._responses.get_nowait())
        except queue.Empty:
            pass
        return found

    def end(self, *, wait: bool = False) -> None:
        """Terminate the process, and kill it if it does not end in time. Returns at once unless ``wait``."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        reaper = threading.Thread(target=self._end_process, daemon=not wait)
        reaper.start()
        if wait:
            reaper.join()

    def has_request(self) -> bool:
        """Whether a request waits to be sent; called with the lock held."""
        raise NotImplementedError

    def next_request(self) -> R:
        """Remove and return the next request; called with the lock held."""
        raise NotImplementedError

    def encode_request(self, request: R) -> bytes | None:
        """A request as a line; None if it could not be written."""
        raise NotImplementedError

    def on_end(self) -> None:
        """Called after the process has ended."""

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
                pass  # unsent data was left
        self.on_end()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in bounded_lines(self._process.stdout.read1, self._max_bytes):  # type: ignore[attr-defined]
            self.put_response(self._parse(line))

    def put_response(self, found: T) -> None:
        """Queue a response; waits while the queue is full."""
        while not self._ending:
            try:
                return self._responses.put(found, timeout=1.0)
            except queue.Full:
                pass  # the queue was not read yet

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in bounded_lines(self._process.stderr.read1, MAX_LINE_BYTES):  # type: ignore[attr-defined]
            text = "(a line that is too long)" if line is None else line.decode("utf-8", errors="replace").rstrip()
            self._error_lines = [*self._error_lines[-MAX_LINES:], text]

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
                return  # the child has ended
