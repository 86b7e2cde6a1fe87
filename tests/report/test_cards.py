"""The cards at the top of a report, and the markup around its blocks."""

from __future__ import annotations

import re

import pytest

from solver.report.document import LARGEST_ROW, Figure, build_document, render_cards
from solver.report.tables import MINUS, Column, Table, number


@pytest.mark.parametrize("count", range(2, 13))
def test_no_card_stands_alone(count: int) -> None:
    """Every row of cards has at least two, and no more than fit."""
    page = render_cards([("title", "1", "note")] * count)
    columns = int(re.findall(r"cards in-(\d+)", page)[0])
    assert page.count('class="card"') == count
    assert columns <= LARGEST_ROW
    assert count % columns != 1


def test_tables_have_their_captions_above_and_figures_below() -> None:
    """Tables and figures are numbered by kind, and lines of a table may have formats of their own; a table without
    rows, and a section without anything, are left out.
    """
    columns = (Column("name"), Column("why"), *[Column("size", number(1), "of it")] * 2)
    rows = [("a<b", "so", 1.0, None), ("c", "or so", -2.0, 3.0)]
    table = Table("Sizes", columns, rows, (number(2), number(0)), has_text_column=True)
    empty = Table("None", columns, [])
    page = build_document(
        "title", "head", [("No", [empty, ""]), ("One & all", [table, Figure("Seen", "<svg/>"), table])]
    )
    shown = (
        '<figure class="table"><figcaption><b>Table {}.</b> Sizes</figcaption><div class="scroll"><table class="words">'
        '<thead><tr><th colspan="2" class="span"></th><th colspan="2" class="span">of it</th></tr>'
        "<tr><th>name</th><th>why</th><th>size</th><th>size</th></tr></thead>"
        '<tbody><tr><th scope="row">a&lt;b</th><td>so</td><td>1.00</td><td></td></tr>'
        f'<tr><th scope="row">c</th><td>or so</td><td>{MINUS}2</td><td>3</td></tr></tbody></table></div></figure>'
    )
    figure = '<figure class="figure"><svg/><figcaption><b>Figure 1.</b> Seen</figcaption></figure>'
    assert page.partition("head<nav>")[2].partition("<footer>")[0] == (
        '<a href="#s1">One &amp; all</a></nav><section id="s1"><h2>One &amp; all</h2>'
        f"{shown.format(1)}{figure}{shown.format(2)}</section>"
    )
