"""The cards at the top of a report."""

from __future__ import annotations

import re

import pytest

from solver.report.document import LARGEST_ROW, render_cards


@pytest.mark.parametrize("count", range(2, 13))
def test_no_card_stands_alone(count: int) -> None:
    """Every row of cards has at least two, and no more than fit."""
    page = render_cards([("title", "1", "note")] * count)
    columns = int(re.findall(r"cards in-(\d+)", page)[0])
    assert page.count('class="card"') == count
    assert columns <= LARGEST_ROW
    assert count % columns != 1
