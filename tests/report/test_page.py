"""Laws of the report's page and its figures."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np

from solver.report import render
from solver.report.svg import round_ticks, thin_line
from solver.study.plates.finding import Action, Finding
from tests.report.test_tables import CONTENT

VOID = {"meta", "line", "rect", "circle", "path", "br", "img", "input", "link", "hr"}


class Balance(HTMLParser):
    """Checks that every element is closed by its own end tag, and collects the text and the references."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open, f"</{tag}> closes nothing"
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_page_is_complete_and_self_contained() -> None:
    """Every element is closed, nothing is fetched, and every link has a target on the page."""
    page = render(CONTENT)
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert not re.search(r"https?://|url\((?!#)|@import|<script", page)
    for reference in parser.references:
        assert reference.startswith("#")
        assert f'id="{reference[1:]}"' in page


LETTER = 0.64
"""[em] Width of a digit of DejaVu Sans, the widest of the page's fonts; its lower-case letters are narrower."""


def style(rule: str, name: str) -> float:
    """A length [px] of the style sheet: the last one in a rule's property."""
    text = files("solver.report").joinpath("style.css").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(rule)} {{[^}}]*\b{name}: [^;]*?([\d.]+)px[^\d]*;", text, re.MULTILINE)
    assert found, f"{rule} has no {name}"
    return float(found[1])


def widths(page: str) -> list[float]:
    """Width [px] of every table of a page, estimated from its longest words."""
    size, found = style("table", "font-size"), []
    for kind, body in re.findall(r"<table([^>]*)>(.*?)</table>", page, re.DOTALL):
        padding = style(":where(table.wide) :is(th, td)" if "wide" in kind else "th, td", "padding")
        columns: list[float] = []
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
            cells = re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row, re.DOTALL)
            if any("colspan" in attributes for attributes, _ in cells):
                continue
            bar = [46.0 if "share" in cell else 0.0 for _, cell in cells]
            words = [len(re.sub(r"<[^>]*>|&[a-z]*;", "", cell)) * LETTER * size for _, cell in cells]
            if "words" in kind:  # these break into lines
                words[1] = min(words[1], style("table.words td:nth-child(2)", "min-width"))
            now = [max(a, b) + 2.0 * padding for a, b in zip(words, bar, strict=True)]
            columns = [max(a, b) for a, b in zip(columns or now, now, strict=True)]
        found.append(sum(columns))
    return found


def test_tables_fit_the_page() -> None:
    """Every table fits a page of 1,280 pixels, with what the data determine and plate findings."""
    text = "the free moment has the wrong sign: it enters the vertical moment with -0.97 instead of 1"
    row = Finding("free-moment", ("squats1",), -0.97, (-1.33, -0.6), "", Action.UNDONE, text)
    inner = style("main", "max-width") - 2.0 * 32.0
    found = widths(render(replace(CONTENT, findings=(row,), determined=CONTENT.determined[-2:])))
    assert inner < 1280.0
    assert len(found) > 6
    assert max(found) < 1.08 * inner  # lower-case letters are narrower than the digits assumed here
    assert max(found) > 0.8 * inner


def test_page_escapes_names_from_files() -> None:
    """Names from files cannot become markup."""
    hostile = "<script>alert(1)</script>"
    page = render(replace(CONTENT, title=hostile, signals=(replace(CONTENT.signals[0], trial=hostile),)))
    assert "<script>" not in page
    assert "be &lt;careful&gt;" in page


def test_page_has_no_empty_sections() -> None:
    """A section with nothing to show is absent, as is the label of a simulation."""
    assert "simulated data" in render(CONTENT)
    page = render(replace(CONTENT, simulated=False, flights=(), tracking=(), weighing=None, truth=None, warnings=()))
    assert all(f"<h2>{title}</h2>" not in page for title in ("Flight", "Marker tracking", "Body mass", "Warnings"))
    assert "<h2>Frames</h2>" in page
    assert "simulated data" not in page


def test_thinning_keeps_peaks() -> None:
    """A curve of 10,000 samples on 100 pixels keeps the largest and the smallest of every hundred, and its ends."""
    generator = np.random.default_rng(0)
    ys = generator.standard_normal(10_000)
    places, thinned = thin_line(np.arange(10_000.0), ys, 100)
    hundreds, starts = ys.reshape(100, 100), 100 * np.arange(100)
    wanted = np.unique([0, 9_999, *(starts + hundreds.argmin(axis=1)), *(starts + hundreds.argmax(axis=1))])
    np.testing.assert_array_equal([places, thinned], [wanted, ys[wanted]])


def test_ticks_are_round_and_inside() -> None:
    """Ticks are multiples of 1, 2 or 5 times a power of ten within the limits, whatever the span."""
    for span in (3e-4, 0.7, 1.0, 12.0, 740.0, 1e6):
        ticks = round_ticks(-0.31 * span, 0.69 * span, 5)
        step = ticks[1] - ticks[0]
        mantissa = step / 10 ** np.floor(np.log10(step) + 1e-9)
        assert 3 <= len(ticks) <= 12
        assert np.isclose(mantissa, (1, 2, 5, 10)).any()
        assert ticks[0] >= -0.31 * span - 1e-9 * span
        assert ticks[-1] <= 0.69 * span + 1e-9 * span
