"""Cells and tables of a report, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..scene.labels import display_name
from .svg import DASH, MINUS

WIDE_TABLE_COLUMNS = 12
"""Number of columns above which a table is set closer, so that it fits the page's width."""


def format_number(value: float, digits: int) -> str:
    """A number with a true minus sign; a dash if it is not finite."""
    return DASH if not np.isfinite(value) else f"{value:.{digits}f}".replace("-", MINUS)


def format_percent(value: float) -> str:
    """A signed change in per cent."""
    return DASH if not np.isfinite(value) else f"{100.0 * value:+.0f} %".replace("-", MINUS)


def relative_change(found: float, before: float) -> float:
    """Relative change; NaN if the earlier value is zero."""
    return found / before - 1.0 if before else float("nan")


def format_with_std(value: float, std: float, digits: int) -> str:
    """Value and standard deviation."""
    if not np.isfinite(std):
        return format_number(value, digits)
    return f'{format_number(value, digits)}<span class="std"> ± {format_number(std, digits)}</span>'


def render_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    spanning_titles: Sequence[tuple[str, int]] = (),
    has_text_column: bool = False,
) -> str:
    """A table from cells that are already escaped; the first column is a heading.

    Args:
        head: column titles.
        rows: cells.
        spanning_titles: titles that span several columns, (title, columns).
        has_text_column: the second column contains text and is left-aligned.
    """
    spans = "".join(f'<th colspan="{count}" class="span">{title}</th>' for title, count in spanning_titles)
    top = (
        (f"<tr>{spans}</tr>" if spanning_titles else "")
        + "<tr>"
        + "".join(f"<th>{title}</th>" for title in head)
        + "</tr>"
    )
    body = "".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    kinds = [name for name, wanted in (("words", has_text_column), ("wide", len(head) > WIDE_TABLE_COLUMNS)) if wanted]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'<div class="scroll"><table{kind}><thead>{top}</thead><tbody>{body}</tbody></table></div>'


def link_name(name: str) -> str:
    """A link's name for people."""
    return escape(display_name(name))


def render_share_bar(value: float) -> str:
    """A small bar: how much of a parameter the data determined."""
    width = 100.0 * float(np.clip(value, 0.0, 1.0))
    return f'<span class="share" title="{width:.0f} %"><i style="width:{width:.0f}%"></i></span>'


def finite_mean(values: Sequence[np.ndarray] | np.ndarray) -> Any:
    """Mean over the first axis of finite values; NaN if there are none."""
    values = np.asarray(values, float)
    known = np.isfinite(values)
    return np.where(known, values, 0.0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)


def format_ratio(value: float) -> str:
    """A ratio, coloured by whether it is below one."""
    if not np.isfinite(value):
        return DASH
    return f'<span class="{"better" if value < 1.0 else "worse"}">{value:.2f}</span>'
