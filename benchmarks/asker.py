"""A program that asks the live check: a child process, its lines, and patience for each answer."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0
"""[s] for the next answer on a busy machine."""


class Asker:
    """A running ``python -m solver live``, every line of which must be an answer.

    Attributes:
        process: that answers.
        complaints: what it wrote to its standard error, once it has ended.
    """

    def __init__(self, *arguments: str) -> None:
        command, pipe = [sys.executable, "-m", "solver", "live", *arguments], subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)
        self.complaints = ""
        self._answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._hear)]
        for thread in self._threads:
            thread.start()

    def tell(self, lines: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(lines)
        self.process.stdin.flush()

    def ask(self, *requests: Answer) -> None:
        """Send requests at once."""
        self.tell(b"".join(json.dumps(each).encode() + b"\n" for each in requests))

    def until(self, stop: Callable[[Answer], bool], patience: float = PATIENCE) -> list[Answer]:
        """Answers up to the one that is waited for.

        Raises:
            RuntimeError: none came for so long [s], or none comes any more.
        """
        found: list[Answer] = []
        while not (found and stop(found[-1])):
            try:
                answer = self._answers.get(timeout=patience)
            except queue.Empty:
                raise RuntimeError(f"no answer for {patience:g} s") from None
            if answer is None:
                raise RuntimeError("the live check ended")
            found.append(answer)
        return found

    def close(self) -> list[Answer]:
        """End the requests, without ending the process; all that it still answers."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        rest = list(iter(self._answers.get, None))
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
                pass  # it had unsent words

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)

    def _hear(self) -> None:
        assert self.process.stderr is not None
        self.complaints = self.process.stderr.read().decode(errors="replace")


__all__ = ["Answer", "Asker"]
