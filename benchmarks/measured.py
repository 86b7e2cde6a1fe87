"""Writes the tables of README.md and docs/measured.md from files of benchmarks: ``python -m benchmarks measured``.

A table of a page is between two comments, ``<!-- table: NAME -->`` and ``<!-- end of table -->``, and is made from
docs/measured/NAME.json, which ``python -m benchmarks VERB --output docs/measured/NAME.json`` wrote; or from
docs/measured/NAME.txt, where ``{FILE: WHAT}`` or ``{FILE: WHAT | DATA}`` is the value of the row of FILE.json whose
first column is WHAT, and whose second contains DATA.

docs/papers.md has blocks of docs/measured/papers.json, which ``python -m benchmarks papers`` wrote. Between ``<!--
block: PAPER: WORDS | WORDS -->`` and ``<!-- end of block -->`` is the block of that paper with all these words.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

import numpy as np

from .figures.figure import Bound, Figure, FigureStatus
from .figures.table import MeasuredTable
from .reference import ORDINARY

ROOT = Path(__file__).resolve().parents[1]
PAGES = tuple(
    ROOT / page for page in ("README.md", "docs/measured.md", "docs/papers.md", "docs/limits.md", "paper/paper.md")
)
TABLES = ROOT / "docs" / "measured"
PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
BLOCK = re.compile(r"(<!-- block: (\w+): (.+?) -->\n).*?(<!-- end of block -->)", re.DOTALL)
VALUE = re.compile(r"\{([\w-]+): ([^|{}]+?)(?: \| ([^{}]+))?\}")
INLINE = re.compile(r"[\d.]+( ?%?<!-- ([\w-]+): ([^|>]+?) -->)")
"""A value in a text, with the row that it is from behind it."""
MARKS = {FigureStatus.MISSED: "missed", FigureStatus.EDGE: "at the edge", FigureStatus.NOT_MEASURED: "not measured"}
"""What is added to the value of such a row; the worst first."""
ROWS = 5
"""Rows of a table; more where more are missed, at the edge or not measured."""
NOTE = 200
"""[characters] of a remark."""


def fill_tables(page: str, folder: Path) -> str:
    """The page with every table made from its file.

    Raises:
        OSError: a table of the page has no file.
        LookupError: a value of a table is that of no row, or of several.
    """
    page = INLINE.sub(lambda found: _find_value(folder, found[2], found[3], None) + found[1], page)
    page = PLACE.sub(lambda found: found[1] + _make_table(folder, found[2]) + found[3], page)
    return BLOCK.sub(lambda found: found[1] + _find_block(folder, found[2], found[3].split(" | ")) + found[4], page)


def _find_block(folder: Path, paper: str, words: list[str]) -> str:
    blocks = json.loads((folder / "papers.json").read_text(encoding="utf-8"))[paper]["blocks"]
    texts = ["\n".join(block) for block in blocks]
    found = [text for text in texts if all(word in text for word in words)]
    if len(found) != 1:
        raise LookupError(f"papers.json: {len(found)} blocks of {paper} contain {' and '.join(words)!r}")
    return f"```text\n{found[0]}\n```\n"


def _make_table(folder: Path, name: str) -> str:
    rows = folder / f"{name}.txt"
    if rows.exists():
        return VALUE.sub(lambda found: _find_value(folder, *found.groups()), rows.read_text(encoding="utf-8"))
    return format_table(MeasuredTable.read(folder / f"{name}.json"))


def _find_value(folder: Path, name: str, what: str, data: str | None) -> str:
    table = MeasuredTable.read(folder / f"{name}.json")
    found = [each for each in table.figures if each.what.strip() == what and (data or "") in each.data]
    if len(found) != 1 or found[0].value is None:
        raise LookupError(f"{name}.json: {len(found)} rows, or no value, of {what!r}, {data!r}")
    value = found[0].value_on(table.reference)
    assert value is not None
    return _number(value)


def format_table(table: MeasuredTable) -> str:
    """Markdown of a table: how it was measured, and a row for each quantity that is not met everywhere; with fewer than
    `ROWS` of these, also for others."""
    busy = "" if not table.load > 1.0 else f" on a machine with {table.load:.1f} processes per core"
    groups: dict[tuple[str, str], list[Figure]] = {}
    for figure in table.figures:
        groups.setdefault((_quantity(figure), figure.unit), []).append(figure)
    doubtful = [any(f.status_on(table.reference) in MARKS for f in each) for each in groups.values()]
    chosen = set(np.argsort(np.logical_not(doubtful), kind="stable")[: max(ROWS, sum(doubtful))])
    shown = [each for k, each in enumerate(groups.values()) if k in chosen]
    lines = [
        f"`python -m {table.command}`, {table.day}{busy}; {_duration(table.processor)} of processor "
        f"time. Times are those of an ordinary machine; here they are {table.reference / ORDINARY:.2f} times as long. "
        f"Of {len(table.figures)} figures, these rows show {sum(map(len, shown))}:",
        "",
        "| what | data | found | goal | aim | missed, or what to know |",
        "|---|---|---|---|---|---|",
        *(_format_group(figures, table.reference) for figures in shown),
    ]
    return "\n".join(lines) + "\n"


def _quantity(figure: Figure) -> str:
    """What was measured, without the subject before it and the remark after it."""
    return figure.what.strip().rpartition(": ")[2].partition(",")[0]


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} minutes"


def _format_group(figures: Sequence[Figure], reference: float) -> str:
    """The row of one quantity, measured once or several times."""
    first, several = figures[0], len(figures) > 1
    statuses = [figure.status_on(reference) for figure in figures]
    worst = next((k for mark in MARKS for k, status in enumerate(statuses) if status is mark), 0)
    values = [value for figure in figures if (value := figure.value_on(reference)) is not None]
    ends = dict.fromkeys(map(_number, (min(values), max(values)))) if values else {}
    text = f"{' to '.join(ends)} {first.unit}".strip() if ends else ""
    text = f"**{text}**" if FigureStatus.MISSED in statuses else text
    missed = [f"{f.what.strip()}, {f.data}" for f, status in zip(figures, statuses) if status is FigureStatus.MISSED]
    what = _quantity(first) if several else first.what.strip()
    note = first.note if not several else f"{len(missed)} missed: {'; '.join(missed[:3])}" if missed else ""
    data = f"{len(figures)} figures" if several else first.data
    bounds = (_bound(figures[worst].must), _bound(figures[worst].aim))
    cells = (
        what,
        data,
        ", ".join(filter(None, (text, MARKS.get(statuses[worst])))),
        *bounds,
        shorten(note, NOTE, placeholder=" ..."),
    )
    return f"| {' | '.join(cell if k == 2 else _escape(cell) for k, cell in enumerate(cells))} |"


def _escape(cell: str) -> str:
    for character, written in {"|": "\\|", "<": "&lt;", "*": "\\*", "\n": " "}.items():
        cell = cell.replace(character, written)
    return cell


def _number(value: float) -> str:
    """Four digits, without the exponents of whole numbers."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.3g}"


def _bound(bound: Bound | None) -> str:
    if bound is None:
        return ""
    if math.isinf(bound.low) and not math.isinf(bound.high):
        return f"≤ {bound.high:g}"
    if math.isinf(bound.high) and not math.isinf(bound.low):
        return f"≥ {bound.low:g}"
    return bound.text


def main(arguments: list[str]) -> int:
    """Write the pages; with ``--check`` 1 when one differs from its files."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks measured", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is not up to date")
    check = parser.parse_args(arguments).check
    old = {page: page.read_text(encoding="utf-8") for page in PAGES}
    new = {page: fill_tables(text, TABLES) for page, text in old.items()}
    for page in (page for page in PAGES if old[page] != new[page]):
        if not check:
            page.write_text(new[page], encoding="utf-8")
        print(f"{page.name} differs from its files" if check else f"wrote {page}")
    if old == new:
        print("up to date")
    return int(check and old != new)
