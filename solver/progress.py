"""Progress of long work, and its cancellation."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Protocol, TextIO


class Progress(Protocol):
    """Receives progress; may raise `Cancelled` to stop the work at a safe point."""

    def __call__(self, fraction: float, message: str) -> None:
        """Report that ``fraction`` in [0, 1] of the work is done."""


def silent(fraction: float, message: str) -> None:
    """Discard progress."""


@dataclass
class Console:
    """Writes progress as one line per step to a text stream."""

    stream: TextIO = field(default_factory=lambda: sys.stderr)

    def __call__(self, fraction: float, message: str) -> None:
        print(f"[{100 * fraction:3.0f} %] {message}", file=self.stream, flush=True)


@dataclass
class JsonLines:
    """Writes progress as one JSON object per line, for a parent process that reads a pipe."""

    stream: TextIO = field(default_factory=lambda: sys.stdout)

    def __call__(self, fraction: float, message: str) -> None:
        print(json.dumps({"fraction": round(fraction, 4), "message": message}), file=self.stream, flush=True)


@dataclass
class PartialProgress:
    """Maps progress of a part to the interval [start, stop] of a larger job's progress."""

    parent: Progress
    start: float
    stop: float

    def __call__(self, fraction: float, message: str) -> None:
        self.parent(self.start + (self.stop - self.start) * fraction, message)
