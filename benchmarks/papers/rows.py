"""A row of a comparison with a paper: quantity, data, the paper's number, ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WIDTHS = (92, 34, 12, 12)
TITLES = ("what", "data", "paper", "ours")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        what: was measured, with its unit.
        data: on which; simulated data say so.
        ours: measured; None where it could not be, and then the note says why.
        paper: printed there; None where it prints none.
        met: whether a must is met; None where there is no must.
        note: what a careful reader must know.
    """

    what: str
    data: str
    ours: float | None
    paper: float | None = None
    met: bool | None = None
    note: str = ""

    def __str__(self) -> str:
        cells = (self.what, self.data, number(self.paper), number(self.ours))
        status = {None: "", True: "must met", False: "MUST MISSED"}[self.met]
        return f"{_line(cells)}  {status}".rstrip() + (f"\n      {self.note}" if self.note else "")


def number(value: float | None) -> str:
    """Four digits, or a dash."""
    return "-" if value is None else f"{value:.4g}"


def table(title: str, rows: Iterable[Row]) -> str:
    """A titled table of rows."""
    return "\n".join([f"\n{title}", _line(TITLES), "-" * (sum(WIDTHS) + 2 * len(WIDTHS)), *map(str, rows)])


def _line(cells: Iterable[str]) -> str:
    widths = iter(WIDTHS)
    return "  ".join(f"{cell:<{next(widths)}}" for cell in cells).rstrip()
