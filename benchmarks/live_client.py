"""Client of the live check: starts it as a child process, sends requests and receives responses."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Response = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0
"""[s] Longest wait for the next response on a busy machine."""


class LiveClient:
    """A running ``python -m solver live``; every line that it prints must be a response.

    Attributes:
        process: the child process.
        stderr: its standard error, once it has ended.
    """

    def __init__(self, *arguments: str) -> None:
        command, pipe = [sys.executable, "-m", "solver", "live", *arguments], subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)
        self.stderr = ""
        self._responses: queue.SimpleQueue[Response | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_stderr)]
        for thread in self._threads:
            thread.start()

    def send_bytes(self, lines: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(lines)
        self.process.stdin.flush()

    def send(self, *requests: dict[str, Any]) -> None:
        """Send requests at once."""
        self.send_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in requests))

    def receive_until(self, stop: Callable[[Response], bool], patience: float = PATIENCE) -> list[Response]:
        """Responses up to the first for which `stop` is true.

        Raises:
            RuntimeError: none came within `patience` [s], or the process ended.
        """
        found: list[Response] = []
        while not (found and stop(found[-1])):
            try:
                response = self._responses.get(timeout=patience)
            except queue.Empty:
                raise RuntimeError(f"no response for {patience:g} s") from None
            if response is None:
                raise RuntimeError("the live check ended")
            found.append(response)
        return found

    def close(self) -> list[Response]:
        """Close its standard input and return the remaining responses."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        rest = list(iter(self._responses.get, None))
        self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        return rest

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass  # unsent bytes

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._responses.put(json.loads(line))
        self._responses.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.read().decode(errors="replace")


__all__ = ["LiveClient", "Response"]
