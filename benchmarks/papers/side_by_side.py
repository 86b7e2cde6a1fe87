"""The five papers beside ours: ``python -m benchmarks papers [NAME ...] [--quick] [--data DIR] [--output FILE]
[--figures DIR]``.

Prints each paper's tables as they are measured, and writes them to a file, in which the other papers stay, and the
figures to a folder. docs/papers.md is made from docs/measured/papers.json; it says what differs from the papers.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TextIO

from solver.storage.atomic import write_atomically

from ..recordings import DATA
from ..reference import reference_line

FIGURES = Path("out/papers")
PERSON, SEX = "subject_a", "female"
"""Whose recordings Table III of jovic2016 uses, and that person's sex."""
NOT_MEASURED = ("written: ", "reference loop ")
"""How lines begin that are not kept."""


def _call(module: str, *arguments: str) -> object:
    return import_module(f"benchmarks.papers.{module}").main(list(arguments))


def _quick(options: argparse.Namespace) -> tuple[str, ...]:
    return ("--quick",) if options.quick else ()


def _jovic(options: argparse.Namespace, folder: Path) -> None:
    person = options.data / PERSON
    parts = ("hrp2", "human", "belt") if person.is_dir() else ("hrp2", "belt")
    if not person.is_dir():
        print(
            f"missing: Table III and Figs. 8 to 10: there is no {person}: name the folder of the recordings with --data"
        )
    _call("jovic2016", *_quick(options), "--only", *parts, "--data", str(person), "--sex", SEX, "--output", str(folder))


def _bonnet(options: argparse.Namespace, folder: Path) -> None:
    _call("bonnet2016", *_quick(options), "--output", str(folder), "--dances", str(folder / "dances"))


def _with_data(module: str) -> Callable[[argparse.Namespace, Path], object]:
    return lambda options, folder: _call(module, *_quick(options), "--data", str(options.data), "--output", str(folder))


def _ayusawa(options: argparse.Namespace, folder: Path) -> None:
    _call("ayusawa", *_quick(options), "--output", str(folder))


PAPERS: Mapping[str, Callable[[argparse.Namespace, Path], object]] = {
    "ayusawa": _ayusawa,
    "bailly2019": _with_data("bailly2019"),
    "bonnet2016": _bonnet,
    "jovic2016": _jovic,
    "rapetti2020": _with_data("rapetti2020"),
}
"""By paper what prints its tables and writes its figures into a folder."""


class _Tee(io.TextIOBase):
    """Text that is both shown and kept."""

    def __init__(self, shown: TextIO) -> None:
        self._shown, self.kept = shown, io.StringIO()

    def write(self, text: str) -> int:
        self._shown.write(text)
        return self.kept.write(text)

    def flush(self) -> None:
        self._shown.flush()


def main(arguments: Sequence[str]) -> int:
    """Print and draw; 2 for an unknown paper."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks papers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PAPERS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer seeds, short motions, small dances")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real recordings (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="file that receives the tables, docs/measured/papers.json")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="folder of the figures (default: %(default)s)")
    options = parser.parse_args(list(arguments))
    if unknown := [name for name in options.names if name not in PAPERS]:
        parser.error(f"no paper {', '.join(unknown)}: choose from {', '.join(PAPERS)}")
    print(reference_line(), flush=True)
    for name in options.names or PAPERS:
        shown = _Tee(sys.stdout)
        with redirect_stdout(shown):
            PAPERS[name](options, options.figures / name)
        if options.output is not None:
            known = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
            known[name] = {"day": f"{date.today()}", "blocks": split_blocks(shown.kept.getvalue())}
            with write_atomically(options.output) as stream:
                stream.write(json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return 0


def split_blocks(text: str) -> list[list[str]]:
    """Lines of the blocks that empty lines divide, without those about the run."""
    lines = [line for line in text.splitlines() if not line.startswith(NOT_MEASURED)]
    blocks = ("\n".join(line.rstrip() for line in lines)).split("\n\n")
    return [block.strip("\n").splitlines() for block in blocks if block.strip()]
