"""Progress of long work, and its cancellation."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Protocol, TextIO


class Progress(Protocol):
    """Receives progress; may raise `Cancelled` to stop the work at a safe point."""

    def __call__(self, fraction: float, message: str) -> None:
        """Report that ``fraction`` in [0, 1] of the work is done."""


def silent(fraction: float, message: str) -> None:
    """Discard progress."""


def write_lines(fraction: float, message: str) -> None:
    """Write progress to the error output, one line per step."""
    print(f"[{100 * fraction:3.0f} %] {message}", file=sys.stderr, flush=True)


def write_json_lines(fraction: float, message: str, stream: TextIO | None = None) -> None:
    """Write progress to a stream, by default the output, one JSON object per line, for a process that reads a pipe."""
    print(json.dumps({"fraction": round(fraction, 4), "message": message}), file=stream, flush=True)


@dataclass
class PartialProgress:
    """Maps progress of a part to the interval [start, stop] of a larger job's progress."""

    parent: Progress
    start: float
    stop: float

    def __call__(self, fraction: float, message: str) -> None:
        self.parent(self.start + (self.stop - self.start) * fraction, message)


def halves(progress: Progress) -> tuple[PartialProgress, PartialProgress]:
    """Progress of two parts of a job that follow each other."""
    return PartialProgress(progress, 0.0, 0.5), PartialProgress(progress, 0.5, 1.0)
