"""The table of a run: printed as it is measured, and written to a file from which the documentation is made."""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ..recordings import DATA
from ..reference import loop_seconds
from .figure import Bound, Figure, exit_code, heading, row, summary

PLACES = {
    "--output": "",
    "--data": "",
    "--models": "",
    "--robots": "FOLDER",
    "--wheel": "WHEEL",
    "--python": "PYTHON",
    "--characters": "WHEEL",
    "--window": "FILE",
}
"""Options that name a place on this machine: what the written command has in its stead; left out without."""


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """What a run measured, as it is written to a file.

    Attributes:
        command: after ``python -m``, without places on the machine.
        day: on which it was measured.
        reference: [s] of the reference loop there, see `reference`.
        load: processes that wanted to run, per core, when it began; NaN where the system does not count them.
        processor: [s] that the run took, child processes included.
        figures: its rows.
    """

    command: str
    day: str
    reference: float
    load: float
    processor: float
    figures: tuple[Figure, ...]

    def write(self, path: Path) -> None:
        """Write a JSON file, whole or not at all; numbers that are not finite as Python writes them."""
        content = json.dumps(asdict(self), indent=1, ensure_ascii=False, default=float)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        part.write_text(content + "\n", encoding="utf-8")
        part.replace(path)

    @staticmethod
    def read(path: Path) -> MeasuredTable:
        """Read what `write` wrote."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for each in content["figures"]:
            each |= {name: each[name] and Bound(**each[name]) for name in ("must", "aim")}
        return MeasuredTable(**{**content, "figures": tuple(Figure(**each) for each in content["figures"])})


class FigureTable:
    """Prints figures as soon as they are measured.

    Args:
        command: the verb and its words.
        output: file that receives the table when it is complete; None for none.
    """

    def __init__(self, command: Sequence[str], output: Path | None = None) -> None:
        self.figures: list[Figure] = []
        self._command, self._output = " ".join(["benchmarks", *_without_places(command)]), output
        self._load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else math.nan
        self._began, self._processor = time.perf_counter(), _processor_seconds()
        if self._load > 1.0:
            print("The machine is busy with other work: clock times are too long.")
        print(f"{heading()}", flush=True)

    def add(self, figures: Iterable[Figure]) -> None:
        """Print rows, each as soon as the iterable yields it."""
        for figure in figures:
            self.figures.append(figure)
            print(row(figure), flush=True)

    def measure(self, part: Callable[[], Iterable[Figure]]) -> None:
        """Add the rows of a function, and print how long it took."""
        began, processor = time.perf_counter(), _processor_seconds()
        self.add(part())
        used = _processor_seconds() - processor
        print(f"      ({time.perf_counter() - began:.1f} s, processor {used:.1f} s)", flush=True)

    def close(self) -> int:
        """Print the summary, write the file; the exit code of the run, see `figure.exit_code`."""
        print(f"\n{summary(self.figures)}\n{time.perf_counter() - self._began:.0f} s")
        if self._output is not None:
            used = _processor_seconds() - self._processor
            day = date.today().isoformat()
            MeasuredTable(self._command, day, loop_seconds(), self._load, used, tuple(self.figures)).write(self._output)
            print(f"wrote {self._output}")
        return exit_code(self.figures)


def table_parser(verb: str, description: str | None, *, data: bool = False, quick: str = "") -> argparse.ArgumentParser:
    """Options of ``python -m benchmarks VERB``: ``--output FILE``, and if wanted ``--data`` and ``--quick``."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {verb}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if quick:
        parser.add_argument("--quick", action="store_true", help=quick)
    if data:
        parser.add_argument("--data", type=Path, default=DATA, help="folder of the recordings (default: %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the table to this JSON file")
    return parser


def _processor_seconds() -> float:
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system


def _without_places(command: Sequence[str]) -> list[str]:
    kept: list[str] = []
    words = iter(command)
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in PLACES:
            kept.append(word)
            continue
        if not equals:
            next(words, None)
        if PLACES[option]:
            kept += [option, PLACES[option]]
    return kept
