"""The table of options has a row for every declared option, and the page names no option that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

from docs.option_table import format_options
from tests.options.test_declared import FIELDS

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/options.md"
REMOVED = {"--no-synchronisation", "--soft", "--together", "--hold-unshown", "--asymmetric"}


def test_the_page_lists_what_is_declared() -> None:
    """Every declared option of the command line is in the table with its words, and no removed one is."""
    table, page = format_options(), PAGE.read_text(encoding="utf-8")
    assert "{include} ../reference/options.txt" in page
    for _, declared in FIELDS:
        if not declared.option.in_code_only:
            assert any(f"| `{declared.flag}` | {declared.meaning}" in row for row in table.splitlines()), declared.flag
    flags = set(re.findall(r"^\| `(--[a-z-]+)`", table, re.M))
    assert set(re.findall(r"`(--[a-z-]+)", page)) - {"--help", "--help-all"} <= flags | REMOVED
    assert not flags & REMOVED
