"""The five papers beside ours: ``python -m benchmarks papers [NAME ...] [--quick] [--data DIR] [--output DIR]``.

Prints each paper's tables as they are measured and writes them to ``NAME.txt``, and with the figures that are drawn to
``index.html``. Every paper says which rows are its own program and which are ours, what differs from the paper,
and what is not shown.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TextIO

from solver.storage.atomic import write_atomically

from ..recordings import DATA
from ..reference import reference_line

OUTPUT = Path("out/papers")
HEAD = '<!doctype html><meta charset="utf-8"><title>Five papers beside ours</title>'
PERSON, SEX = "subject_a", "female"
"""Whose recordings Table III of jovic2016 uses, and that person's sex."""


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper.

    Attributes:
        run: prints its tables and writes its drawings.
        programs: which rows are the paper's program and which are ours.
        different: what differs here from the paper.
        missing: tables and figures of the paper that are neither printed nor drawn.
    """

    run: Callable[[argparse.Namespace, Path], object]
    programs: str
    different: str
    missing: str


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


PAPERS: Mapping[str, Paper] = {
    "ayusawa": Paper(
        _ayusawa,
        "Table I, rows `plain`, Fig. 5's row of that name: the paper's program; `noise`, `scaled`, `ours`: ours",
        "simulated throws of the chain whose parameters Table I prints, and a simulated jumper; markers with 1 mm of "
        "white noise, no moving skin, no error in the motion on which Fig. 5 is judged",
        "nothing of Table I and Fig. 5",
    ),
    "bailly2019": Paper(
        _with_data("bailly2019"),
        "complementary at the paper's stop, ekf: the paper's programs; all others: ours",
        "inertials 30 and 50 % wrong instead of 100 %, kinematic noise filtered before use",
        "the real walk of HRP-2, which is not public: Fig. 9 has a person's",
    ),
    "bonnet2016": Paper(
        _bonnet,
        "planar example, criterion, dance, least squares (7), Id (8): the paper's program; Id ours, checks: ours",
        "simulated in rigid contact, without the robot's stuck ankles; with --quick one posture on each foot "
        "configuration",
        "nothing of the tables and of Figs. 4 to 6, 8, 9, 12 and 13",
    ),
    "jovic2016": Paper(
        _jovic,
        "`paper's program`, `known place`: the paper's program; `ours`, `blind`: ours",
        "HRP-2 is a stand-in in simulation, nothing bends; skin moves in the last part of Table IV alone",
        "nothing of Tables I to IV and Figs. 5 to 13",
    ),
    "rapetti2020": Paper(
        _with_data("rapetti2020"),
        "dynamical, whole-body and pair-wise: the paper's programs, with our corrections of (9) and (12)",
        "a person's recorded walk and run with added noise instead of a suit, an exact T-pose; Fig. 8 ends in "
        "standing, because the models' zero is the T-pose",
        "what a real iCub did, in Figs. 3 and 9",
    ),
}


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
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder of index.html (default: %(default)s)")
    options = parser.parse_args(list(arguments))
    if unknown := [name for name in options.names if name not in PAPERS]:
        parser.error(f"no paper {', '.join(unknown)}: choose from {', '.join(PAPERS)}")
    print(reference_line(), flush=True)
    sections = []
    for name in options.names or PAPERS:
        paper, shown = PAPERS[name], _Tee(sys.stdout)
        began = time.process_time()
        with redirect_stdout(shown):
            print(f"\n== {name}\n{_describe(paper)}", flush=True)
            paper.run(options, options.output / name)
            print(f"processor {time.process_time() - began:.0f} s without child processes", flush=True)
        text = shown.kept.getvalue()
        _write(options.output / f"{name}.txt", text.lstrip())
        sections.append(_section(name, text, options.output))
        _write(options.output / "index.html", HEAD + "".join(sections))
    print(f"\nwritten: {options.output / 'index.html'}")
    return 0


def _describe(paper: Paper) -> str:
    return f"programs: {paper.programs}\ndiffers from the paper: {paper.different}\nnot shown: {paper.missing}"


def _section(name: str, text: str, output: Path) -> str:
    """A paper's text and its drawings."""
    drawings = sorted((output / name).glob("*.svg"))
    pictures = "".join(f'<p><img src="{name}/{path.name}" alt="{name}, {path.stem}"></p>' for path in drawings)
    return f"<h2>{escape(name)}</h2><pre>{escape(text)}</pre>{pictures}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as stream:
        stream.write(text)
