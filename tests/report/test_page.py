"""Laws of the report's page and its figures."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from solver.calibration.body_mass import MassEstimate, MassGroup
from solver.calibration.trial_mass import TrialMass
from solver.identification.comparison import Comparison, FlightCheck, WrenchFit
from solver.report import Content, render
from solver.report.charts import draw_panels
from solver.report.content import Signals, TrackingErrors
from solver.report.figures import draw_masses
from solver.report.svg import round_ticks, thin_line
from solver.scene.determined import MASS_KIND, MOMENT_KIND, SHAPE, TABLES, DeterminedQuantity
from solver.scene.labels import display_name
from solver.study.plates.finding import Action, Finding
from solver.values.inertials import InertialParameters

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


def bodies(seed: int, links: int = 15) -> InertialParameters:
    """Random solid bodies."""
    generator = np.random.default_rng(seed)
    names = ["pelvis", *(f"left_link_{index}" for index in range(1, links))]
    coms = 0.1 * generator.standard_normal((links, 3))
    inertias = np.array([np.diag(d) for d in generator.uniform(0.05, 0.09, (links, 3))])
    return InertialParameters.from_com(names, generator.uniform(1.0, 9.0, links), coms, inertias)


def trial_signals(name: str, frames: int = 1300) -> Signals:
    """A squat-like wrench with its first second left out."""
    generator = np.random.default_rng(4)
    times = np.arange(frames) / 100.0
    shape = np.sin(2 * np.pi * 0.4 * times)[:, None] * np.array([30.0, 15.0, 200.0, 8.0, 25.0, 5.0])
    measured = shape + np.array([0.0, 0.0, 620.0, 0.0, 0.0, 0.0]) + generator.standard_normal((frames, 6))
    counted = times >= 1.0
    states, names = np.where(counted, 0, 1), ("every contact measured", "unmeasured support")
    return Signals(name, times, measured, 0.98 * measured, 0.9 * measured, counted, states, names, 0.005)


@pytest.fixture
def content() -> Content:
    """A page with every section."""
    generator = np.random.default_rng(3)
    identified, prior = bodies(1), bodies(2)
    fit = WrenchFit(np.full(6, 123.4), np.full(6, 0.97))
    markers = tuple(f"M{index}" for index in range(40))
    return Content(
        title="A study",
        subject="human 1.75 m",
        simulated=True,
        method="consistent",
        satisfies="every link's pseudo-inertia is positive semi-definite",
        identified=identified,
        prior=prior,
        half_widths=np.abs(0.1 * identified.values),
        determined=tuple(
            DeterminedQuantity(MOMENT_KIND, link, (link,), TABLES, *np.full((3, 3), 12.3456))
            for link in identified.links
        ),
        prior_source="the mean of four segment tables",
        on_bounds=("m_left_link_3",),
        truth=bodies(1),
        comparisons=tuple(Comparison(name, name == "squats1", 1200, fit, fit, fit) for name in ("squats1", "walking1")),
        signals=(trial_signals("squats1"),),
        tracking=(TrackingErrors("squats1", markers, generator.uniform(0.004, 0.03, 40), np.ones(40), 0.012),),
        weighing=MassEstimate(
            60.0,
            0.2,
            (MassGroup(("static1",), 60.0, 0.1),),
            (TrialMass("static1", 60.0, 0.1, None, 3.0),),
            (),
        ),
        flights=(FlightCheck("DJ1", 40, (0.8, 1.0), (18.0, 32.0)),),
        methods=(("filter", "human_8hz"),),
        warnings=("plates <disagree> & so on",),
    )


def test_page_is_complete_and_self_contained(content: Content) -> None:
    """Every element is closed, nothing is fetched, and every link has a target on the page."""
    page = render(content)
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


def test_tables_fit_the_page(content: Content) -> None:
    """Every table fits a page of 1,280 pixels, with what the data determine and plate findings."""
    text = "the free moment has the wrong sign: it enters the vertical moment with -0.97 instead of 1"
    row = Finding("free-moment", ("squats1",), -0.97, (-1.33, -0.6), "", Action.UNDONE, text)
    content = replace(content, findings=(row,))
    inner = style("main", "max-width") - 2.0 * 32.0
    found = widths(render(content))
    assert inner < 1280.0
    assert len(found) > 6
    assert max(found) < 1.08 * inner  # lower-case letters are narrower than the digits assumed here
    assert max(found) > 0.8 * inner


def test_masses_begin_at_a_line_and_limbs_are_above_the_links(content: Content) -> None:
    """The figure of masses has a line at zero, at its tick, and ticks at least 45 px apart; a limb is drawn first, at
    the sum of its links."""
    links = content.identified.links[2:5]
    limb = DeterminedQuantity(MASS_KIND, "a limb", links, SHAPE, *np.array([[3.0], [0.5], [1.0]]))
    content = replace(content, determined=(limb,))
    figure = draw_masses(content)
    assert re.findall(r'class="label"[^>]*>([^<]*)<', figure)[:2] == [
        "a limb",
        display_name(content.identified.links[0]),
    ]
    assert f"a limb: identified {content.identified.masses[2:5].sum():.3f} kg" in figure
    (place,) = re.findall(r'<text class="tick" x="([\d.]+)"[^>]*>0</text>', figure)
    assert re.search(rf'<line class="mark" x1="{place}" y1="[\d.]+" x2="{place}"', figure)
    ticks = np.array(re.findall(r'<line class="grid" x1="([\d.]+)"', figure), float)
    assert np.diff(ticks).min() > 45.0
    assert 'text-anchor="end">a limb' in figure
    assert 'text-anchor="end">a limb' not in draw_masses(content, width=390.0)  # above its row, not at the left


def test_page_escapes_names_from_files(content: Content) -> None:
    """Names from files cannot become markup."""
    hostile = "<script>alert(1)</script>"
    page = render(replace(content, title=hostile, signals=(replace(content.signals[0], trial=hostile),)))
    assert "<script>" not in page
    assert "plates &lt;disagree&gt; &amp; so on" in page


def test_page_has_no_empty_sections(content: Content) -> None:
    """A section with nothing to show is absent, as is the label of a simulation."""
    assert "simulated data" in render(content)
    page = render(replace(content, simulated=False, flights=(), tracking=(), weighing=None, truth=None, warnings=()))
    assert all(f"<h2>{title}</h2>" not in page for title in ("Flight", "Marker tracking", "Body mass", "Warnings"))
    assert "<h2>Methods</h2>" in page
    assert "simulated data" not in page


def test_thinning_keeps_peaks() -> None:
    """A thinned curve keeps its largest and its smallest sample."""
    generator = np.random.default_rng(0)
    ys = generator.standard_normal(10_000)
    _, thinned = thin_line(np.arange(10_000.0), ys, 100)
    assert len(thinned) < 500
    assert np.max(thinned) == np.max(ys)
    assert np.min(thinned) == np.min(ys)


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


@pytest.mark.parametrize("width", [1000.0, 390.0])
def test_panels_lie_beside_and_below_each_other(width: float) -> None:
    """A curve that rises from 1 to 8 and its band of 1 span a panel but for its first sample, which is unknown; the
    panel's range has 6 % more at either end.

    At 1,000 px three panels of 270 px lie beside each other, 62 px apart; at 390 px each has a row of its own.
    """
    panel = ("force [N]", [(np.array([np.nan, *range(1, 9)]), np.ones(9), "prior")], 0.0)
    words = ("time [s]", np.linspace(0.0, 2.0, 9))
    drawn = draw_panels("forces", words, [panel] * 5, [("curve prior", "prior")], columns=3, width=width)
    beside, across = (3, 270.0) if width == 1000.0 else (1, 324.0)
    level = 104.0 / (1.12 * 9.0)
    first = across / 8.0
    expected = [(54.0 + first + 332.0 * (k % beside), 40.0 + 104.0 + 130.0 * (k // beside)) for k in range(5)]
    ends = re.findall(r'class="curve prior" d="M([\d.]+) ([\d.]+)L.*?([\d.]+) ([\d.]+)"', drawn)
    curves = [(x, y - 1.54 * level, x + 7.0 * first, y - 8.54 * level) for x, y in expected]
    np.testing.assert_allclose(np.array(ends, float), curves, atol=0.06)
    ends = re.findall(r'class="band prior" d="M([\d.]+) ([\d.]+)L.*?L([\d.]+) ([\d.]+)Z"', drawn)
    np.testing.assert_allclose(np.array(ends, float), [(x, y - 2.54 * level, x, y - 0.54 * level) for x, y in expected],
                               atol=0.06)  # fmt: skip
    rows = 2 if beside == 3 else 5
    assert f'viewBox="0 0 {width:g} {40 + 130 * rows - 26 + 40}"' in drawn
    assert len(re.findall("time", drawn)) == len(re.findall(">0.5<", drawn)) == min(beside, 5)  # below the last ones
