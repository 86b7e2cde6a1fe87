"""Tables of a report as data, formats of their cells, and their HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from ..scene.labels import display_name
from .svg import DASH, MINUS

Format = Callable[[Any], str]
"""From a cell's value to HTML."""
WIDE_TABLE_COLUMNS = 12
"""Number of columns above which a table is set closer, so that it fits the page's width."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: with its unit.
        format: of its cells; by default they are text.
        above: title that spans this column and its neighbours with the same.
    """

    title: str
    format: Format = escape
    above: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as data.

    Attributes:
        caption: as HTML.
        columns: C; the first contains the names of the rows.
        rows: of C values in the units of the titles, None for an empty cell.
        row_formats: of the numbers of each row, if the rows, not the columns, are different quantities.
        has_text_column: the second column contains text and is left-aligned.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    row_formats: Sequence[Format] = ()
    has_text_column: bool = False


def render_table(table: Table) -> str:
    """A table as HTML, without its caption."""
    head = "".join(f"<th>{escape(column.title)}</th>" for column in table.columns)
    if any(column.above for column in table.columns):
        spans = groupby(column.above for column in table.columns)
        above = "".join(f'<th colspan="{len(list(same))}" class="span">{escape(title)}</th>' for title, same in spans)
        head = f"{above}</tr><tr>{head}"
    body = ""
    for index, row in enumerate(table.rows):
        first, *rest = (
            "" if value is None
            else (table.row_formats[index] if table.row_formats and isinstance(value, float) else column.format)(value)
            for column, value in zip(table.columns, row, strict=True)
        )  # fmt: skip
        body += f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"
    kinds = ["words"] * table.has_text_column + ["wide"] * (len(table.columns) > WIDE_TABLE_COLUMNS)
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def format_number(value: float, digits: int) -> str:
    """A number with a true minus sign; a dash if it is not finite."""
    return DASH if not np.isfinite(value) else f"{value:.{digits}f}".replace("-", MINUS)


def format_with_interval(pair: tuple[float, float], digits: int) -> str:
    """Value and half of its 95 % interval."""
    value, half = pair
    if not np.isfinite(half):
        return format_number(value, digits)
    return f'{format_number(value, digits)}<span class="std"> ± {format_number(half, digits)}</span>'


def number(digits: int) -> Format:
    """Format of numbers."""
    return partial(format_number, digits=digits)


def with_interval(digits: int) -> Format:
    """Format of pairs: value and half of its 95 % interval."""
    return partial(format_with_interval, digits=digits)


def change(value: float) -> str:
    """A relative change, as signed per cent."""
    return DASH if not np.isfinite(value) else f"{100.0 * value:+.0f} %".replace("-", MINUS)


def ratio(value: float) -> str:
    """A ratio, coloured by whether it is below one."""
    if not np.isfinite(value):
        return DASH
    return f'<span class="{"better" if value < 1.0 else "worse"}">{value:.2f}</span>'


def link(name: str) -> str:
    """A link's name for people."""
    return escape(display_name(name))


def yes_no(value: bool) -> str:
    """A truth value."""
    return "yes" if value else "no"


def emphasised(pair: tuple[str, bool]) -> str:
    """A text, bold if the reader must be warned."""
    text, is_warning = pair
    return f"<b>{escape(text)}</b>" if is_warning else escape(text)


def relative_change(found: float, before: float) -> float:
    """Relative change; NaN if the earlier value is zero."""
    return found / before - 1.0 if before else float("nan")


def finite_mean(values: Sequence[np.ndarray] | np.ndarray) -> Any:
    """Mean over the first axis of finite values; NaN if there are none."""
    values = np.asarray(values, float)
    known = np.isfinite(values)
    return np.where(known, values, 0.0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
