"""Writes the tables of README.md and docs/measured.md from files of benchmarks: ``python -m benchmarks measured``.

A table of a page is between two comments, ``<!-- table: NAME -->`` and ``<!-- end of table -->``, and is made from
docs/measured/NAME.json, which ``python -m benchmarks VERB --output docs/measured/NAME.json`` wrote; or from
docs/measured/NAME.txt, where ``{FILE: WHAT}`` or ``{FILE: WHAT | DATA}`` is the value of the row of FILE.json whose
first column is WHAT, and whose second contains DATA.
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

from .figures.figure import Bound, Figure, FigureStatus
from .figures.table import MeasuredTable
from .reference import ORDINARY

ROOT = Path(__file__).resolve().parents[1]
PAGES, TABLES = (ROOT / "README.md", ROOT / "docs" / "measured.md"), ROOT / "docs" / "measured"
PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
VALUE = re.compile(r"\{([\w-]+): ([^|{}]+?)(?: \| ([^{}]+))?\}")
MARKS = {FigureStatus.MISSED: "missed", FigureStatus.EDGE: "at the edge", FigureStatus.NOT_MEASURED: "not measured"}
"""What is added to the value of such a row."""


def fill_tables(page: str, folder: Path) -> str:
    """The page with every table made from its file.

    Raises:
        OSError: a table of the page has no file.
        LookupError: a value of a table is that of no row, or of several.
    """
    return PLACE.sub(lambda found: found[1] + _make_table(folder, found[2]) + found[3], page)


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
    """Markdown of a table: how it was measured, and its rows; values that miss their goal are bold."""
    busy = "" if not table.load > 1.0 else f" on a machine with {table.load:.1f} processes per core"
    lines = [
        f"`python -m {table.command}`, {table.day}{busy}; {_duration(table.processor)} of processor "
        f"time. Times are those of an ordinary machine; here they are {table.reference / ORDINARY:.2f} times as long.",
        "",
        "| what | data | value | goal | aim | remarks |",
        "|---|---|---|---|---|---|",
        *(_format_row(figure, table.reference) for figure in table.figures),
    ]
    return "\n".join(lines) + "\n"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} minutes"


def _format_row(figure: Figure, reference: float) -> str:
    status = figure.status_on(reference)
    value, mark = figure.value_on(reference), MARKS.get(status)
    text = "" if value is None else f"{_number(value)} {figure.unit}".strip()
    text = f"**{text}**" if status is FigureStatus.MISSED else text
    bounds = (_bound(figure.must), _bound(figure.aim))
    cells = (_escape(figure.what.strip()), _escape(figure.data), ", ".join(filter(None, (text, mark))), *bounds)
    return f"| {' | '.join(cells)} | {_escape(figure.note)} |"


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
