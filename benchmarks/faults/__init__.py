"""The figures of damaged input, stopped work and broken scenes: ``python -m benchmarks faults [--quick]``.

Each module of this package measures the rows that it names; the tests in ``tests/faults`` run short forms of the same.
``--quick`` ends within two minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from ..figures.figure import Figure
from ..figures.table import FigureTable, table_parser

Rows = Callable[[bool], list[Figure]]
"""Function that measures figures; its argument says whether to be quick."""

MEASURED = (
    "readers",
    "urdf",
    "c3d",
    "live",
    "scenes",
    "outputs",
    "traces",
    "stops",
)
"""Modules of this package that measure rows, in the order of the table."""


def measurements() -> Iterator[Rows]:
    """Functions of all rows, each imported before it runs."""
    for name in MEASURED:
        yield import_module(f".{name}", __package__).rows


def main(arguments: list[str]) -> int:
    """Print each row as soon as it is measured; 1 when a must is missed."""
    parser = table_parser("faults", __doc__, quick="fewer inputs and fewer stops")
    options = parser.parse_args(arguments)
    table = FigureTable(["faults", *arguments], options.output)
    for rows in measurements():
        table.add(rows(options.quick))
    return table.close()
