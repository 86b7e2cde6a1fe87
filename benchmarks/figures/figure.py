"""A measured figure with its bound (must) and target (aim), and the summary of a table of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ..reference import reference_line, to_ordinary

UNMEASURED = 3
"""Exit code where recordings or models are missing; the notes of the figures say which."""


class FigureStatus(Enum):
    """What a row of the table says."""

    AIM = "aim met"
    MET = "met"
    EDGE = "met, at the edge"
    MISSED = "MISSED"
    NOT_MEASURED = "not measured"
    INFORMATION = "for information"


EDGE = 0.02
"""Distance from a limit, as a fraction of it, below which a must is met at the edge only."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A demand on a number.

    Attributes:
        low, high: between which it must lie, infinite where free; both ends count as inside.
        text: as it is printed.
    """

    low: float
    high: float
    text: str

    def holds(self, value: float) -> bool:
        """Whether the number meets the demand; NaN never does."""
        return self.low <= value <= self.high

    def is_at_edge(self, value: float) -> bool:
        """Whether the number is so near to an end that another run may be beyond; a whole number is a count."""
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        return not float(value).is_integer() and any(abs(value - end) < EDGE * abs(end) for end in ends)


def at_most(limit: float) -> Bound:
    """Not above the limit."""
    return Bound(-math.inf, limit, f"<= {limit:g}")


def at_least(limit: float) -> Bound:
    """Not below the limit."""
    return Bound(limit, math.inf, f">= {limit:g}")


def within(middle: float, distance: float) -> Bound:
    """Not farther from the middle than the distance."""
    return Bound(middle - distance, middle + distance, f"{middle:g} +- {distance:g}")


@dataclass(frozen=True, slots=True)
class Figure:
    """One row: what was measured, on which data, against which bounds.

    Attributes:
        what: in words.
        data: on which, and whether they are real or simulated.
        value: measured; None when it was not, and then `note` says why.
        unit: of the value.
        must: demanded; None for a row that only informs.
        aim: hoped for.
        note: what a careful reader must know.
        left_out: it was not requested in this run, as with --quick.
        timed: the value is a time of this machine's processor, which is compared as an ordinary machine's.
    """

    what: str
    data: str
    value: float | None
    unit: str = ""
    must: Bound | None = None
    aim: Bound | None = None
    note: str = ""
    left_out: bool = False
    timed: bool = False

    @property
    def compared_value(self) -> float | None:
        """The value that is compared with the bounds."""
        return self.value_on(None)

    @property
    def status(self) -> FigureStatus:
        """Met, missed, or why neither."""
        return self.status_on(None)

    def value_on(self, reference: float | None) -> float | None:
        """The value to compare with the bounds, measured where the reference loop takes so long [s]; None: here."""
        return to_ordinary(self.value, reference) if self.timed and self.value is not None else self.value

    def status_on(self, reference: float | None) -> FigureStatus:
        """Met, missed, or why neither, measured where the reference loop takes so long [s]; None: here."""
        compared_value = self.value_on(reference)
        if compared_value is None:
            return FigureStatus.NOT_MEASURED
        if self.must is not None and not self.must.holds(compared_value):
            return FigureStatus.MISSED
        if self.aim is not None and self.aim.holds(compared_value):
            return FigureStatus.AIM
        if self.must is None:
            return FigureStatus.INFORMATION
        return FigureStatus.EDGE if self.must.is_at_edge(compared_value) else FigureStatus.MET


WIDTHS = (64, 34, 14, 14, 12, 16)
TITLES = ("what", "data", "value", "must", "aim", "met?")


def row(figure: Figure) -> str:
    """One figure as a line, its note on a line below."""
    value = "-" if figure.compared_value is None else f"{figure.compared_value:.4g} {figure.unit}".strip()
    bounds = ("" if bound is None else bound.text for bound in (figure.must, figure.aim))
    line = _line((figure.what, figure.data, value, *bounds, figure.status.value))
    here = f"{figure.value:.4g} {figure.unit} on this machine" if figure.timed and figure.value is not None else ""
    note = "; ".join(filter(None, (here, figure.note)))
    return f"{line}\n      {note}" if note else line


def heading() -> str:
    """How fast this machine is, and the titles of the columns."""
    return f"{reference_line()}\n\n{_line(TITLES)}\n{'-' * (sum(WIDTHS) + 2 * len(WIDTHS))}"


def summary(figures: Sequence[Figure]) -> str:
    """How many musts were met, missed and not measured, and which."""
    demanded = [figure for figure in figures if figure.must is not None]
    lines = []
    for status in (FigureStatus.EDGE, FigureStatus.MISSED, FigureStatus.NOT_MEASURED):
        lines += [f"  {status.value}: {f.what} ({f.data})" for f in demanded if f.status is status]
    missed = _count(demanded, FigureStatus.MISSED)
    unmeasured = _count(demanded, FigureStatus.NOT_MEASURED)
    skipped = sum(figure.left_out for figure in demanded)
    aims = [figure for figure in figures if figure.aim is not None and figure.value is not None]
    reached = _count(aims, FigureStatus.AIM)
    total = (
        f"{len(demanded)} musts: {len(demanded) - missed - unmeasured} met, {missed} missed, {unmeasured} not measured"
        f"{f', {skipped} of them left out on purpose' if skipped else ''};"
        f" {reached} of {len(aims)} aims reached"
    )
    if exit_code(figures) == UNMEASURED:
        total += f"; exit code {UNMEASURED}, since recordings or models are missing"
    return "\n".join([*lines, total])


def exit_code(figures: Sequence[Figure]) -> int:
    """0 when every must is met, 1 when one is missed, else `NOT_MEASURED` when one was not measured."""
    if any(figure.status is FigureStatus.MISSED for figure in figures):
        return 1
    return UNMEASURED * any(f.must is not None and f.value is None and not f.left_out for f in figures)


def left_out(figures: Sequence[Figure], reason: str) -> list[Figure]:
    """The same rows, left out on purpose, and why."""
    return [replace(f, value=None, note=reason, left_out=True) for f in figures]


def missing(figures: Sequence[Figure], reason: str) -> list[Figure]:
    """The same rows, not measured, and why."""
    return [replace(f, value=None, note=reason) for f in figures]


def _count(figures: Sequence[Figure], status: FigureStatus) -> int:
    return sum(figure.status is status for figure in figures)


def _line(cells: Sequence[str]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()
