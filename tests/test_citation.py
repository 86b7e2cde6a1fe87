"""CITATION.cff follows the Citation File Format 1.2.0 and cites the papers that the software implements."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from solver.version import __version__

FILE = Path(__file__).resolve().parents[1] / "CITATION.cff"
REQUIRED = {"authors", "cff-version", "message", "title"}
ALLOWED = REQUIRED | {"abstract", "keywords", "license", "references", "type", "version"}
OF_A_REFERENCE = {
    *("authors", "doi", "end", "issue", "journal", "notes", "number", "start", "title", "type", "volume", "year"),
}
WHOLE_NUMBERS = {"year", "volume"}
PAPERS = ("Jovic", "Bonnet", "Rapetti", "Bailly", "Ayusawa")
"""First authors of the five papers."""


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_the_software_is_described(citation: dict[str, Any]) -> None:
    """The file has every required key, no unknown one, and this version and licence."""
    assert citation.keys() >= REQUIRED
    assert citation.keys() <= ALLOWED
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["version"] == __version__
    assert citation["license"] == "GPL-3.0-or-later"
    assert [set(author) for author in citation["authors"]] == [{"name"}]


def test_the_five_papers_are_named(citation: dict[str, Any]) -> None:
    """Each paper has a title and every author's full name, with keys of the format."""
    firsts = tuple(reference["authors"][0]["family-names"] for reference in citation["references"])
    assert firsts == PAPERS
    for reference in citation["references"]:
        assert {"authors", "title", "type"} <= reference.keys() <= OF_A_REFERENCE
        assert reference["type"] in ("article", "generic")
        assert all(set(author) == {"family-names", "given-names"} for author in reference["authors"])
        assert all(isinstance(reference[key], int) for key in WHOLE_NUMBERS & reference.keys())


def test_articles_can_be_found(citation: dict[str, Any]) -> None:
    """Journal articles have year, pages or number, and a valid identifier."""
    articles = [reference for reference in citation["references"] if reference["type"] == "article"]
    assert len(articles) == 4
    for article in articles:
        assert re.fullmatch(r"10\.\d{4,9}/\S+", article["doi"])
        assert 1990 < article["year"] < 2100
        assert {"start", "end"} <= article.keys() or "number" in article
