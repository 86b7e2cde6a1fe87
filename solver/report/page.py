"""The report's page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files

import numpy as np

from ..identification.bounds import gathered
from ..study.residuals import MOST_FORCE, MOST_MOMENT
from ..version import VERSION
from . import figures, tables
from .content import Content, Errors, Left
from .tables import number

LIMITS = (
    "What limits each number: one standard deviation, and the share that each cause has in its square. Noise: of "
    "plates and motion, and blocks of time that disagree. Prior: what the data leave to how people scatter. Skin: "
    "markers that move over the bones. Skeleton: joint centres and landmarks that may lie elsewhere."
)
LEGEND = (
    '<p class="legend"><span class="key measured"></span>measured'
    '<span class="key identified"></span>reconstructed, identified'
    '<span class="key prior"></span>reconstructed, prior'
    '<span class="box left-out"></span>left out</p>'
)


class Numbering:
    """Consecutive numbers of figures and tables."""

    def __init__(self) -> None:
        self._counts = {"Figure": 0, "Table": 0}

    def show(self, kind: str, body: str, caption: str) -> str:
        """A numbered figure or table with its caption."""
        self._counts[kind] += 1
        text = f"<figcaption><b>{kind} {self._counts[kind]}.</b> {caption}</figcaption>"
        order = (text, body) if kind == "Table" else (body, text)
        return f'<figure class="{kind.lower()}">{order[0]}{order[1]}</figure>'


def render(content: Content) -> str:
    """The whole page."""
    numbering = Numbering()
    sections = [(title, make(content, numbering)) for title, make in SECTIONS]
    sections = [(title, body) for title, body in sections if body]
    return document(content.title, _head(content), sections)


def document(title: str, head: str, sections: Sequence[tuple[str, str]]) -> str:
    """A page that needs nothing else: head and sections (title, markup), the style within."""
    links = "".join(f'<a href="#s{index}">{escape(name)}</a>' for index, (name, _) in enumerate(sections))
    body = "".join(
        f'<section id="s{index}"><h2>{escape(name)}</h2>{text}</section>' for index, (name, text) in enumerate(sections)
    )
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main>"
        f"{head}<nav>{links}</nav>{body}"
        f"<footer>exciting_dance {VERSION}. SI units; z up; moments about the base link's origin.</footer>"
        "</main></body></html>\n"
    )


def _head(content: Content) -> str:
    label = '<span class="simulated">simulated data</span>' if content.simulated else ""
    return (
        f"<header><h1>{escape(content.title)} {label}</h1><p>{escape(content.subject)}</p>"
        f'<div class="cards">{"".join(_cards(content))}</div></header>'
    )


def _cards(content: Content) -> list[str]:
    spread = f" ± {number(content.mass_std, 2)}" if np.isfinite(content.mass_std) else ""
    cards = [
        card("total mass", f"{number(content.mass, 2)}{spread}&nbsp;kg", "from all trials given"),
        card("method", *_method(content)),
    ]
    for used, title in ((False, "trials not used"), (True, "trials used")):
        some = [error for error in content.errors if error.used == used]
        if some:
            cards.append(card(title, *_errors(some)))
    if content.left:
        cards.append(card("thresholds of the field", *_thresholds(content.left)))
    if content.tracking:
        total = 1e3 * float(np.mean([trial.total for trial in content.tracking]))
        cards.append(card("marker error", f"{number(total, 1)} mm", "RMSE over markers and frames, mean of trials"))
    return cards


def _thresholds(left: Sequence[Left]) -> tuple[str, str]:
    """How many trials meet the usual thresholds, and how far the worst is from them."""
    met = sum(row.meets for row in left)
    force, moment = (max(shares, default=np.nan, key=np.nan_to_num) for shares in (
        [row.force_share[1] for row in left], [row.moment_share[1] for row in left]
    ))  # fmt: skip
    value = "met" if met == len(left) else f"met by {met} of {len(left)}"
    text = (
        f"peak residual force at most {number(100.0 * force, 1)} % of the peak (usual: {100.0 * MOST_FORCE:g} %), "
        f"moment {number(100.0 * moment, 1)} % of CoM height times peak ({100.0 * MOST_MOMENT:g} %); trials used"
    )
    return value, text


def _method(content: Content) -> tuple[str, str]:
    """Name of the method, and its variant with what the result satisfies."""
    name, _, variant = content.method.replace("_", " ").partition(", ")
    return escape(name), escape(f"{variant}; {content.satisfies}" if variant else content.satisfies)


def card(title: str, value: str, note: str) -> str:
    """One figure that a reader should see first."""
    return f'<div class="card"><h3>{title}</h3><p class="value">{value}</p><p class="note">{note}</p></div>'


def _errors(errors: Sequence[Errors]) -> tuple[str, str]:
    """RMSE of force and moment, means over axes and trials, and the prior's; the ratio comes last."""
    ours, prior, unweighted = (
        f"{number(tables.known_mean(mean[:3]), 1)}&nbsp;N, {number(tables.known_mean(mean[3:]), 1)}&nbsp;N&nbsp;m"
        for mean in (
            tables.known_mean([getattr(error, name) for error in errors])
            for name in ("identified_rmse", "prior_rmse", "unweighted_rmse")
        )
    )
    ratio = tables.known_mean(np.concatenate([error.identified_rmse / error.prior_rmse for error in errors]))
    text = (
        f"RMSE of forces and moments, mean of axes and of {len(errors)} trial{'s' * (len(errors) != 1)}; "
        f"prior {prior}, without frequency weights {unweighted}; mean ratio to the prior {number(ratio, 2)}"
    )
    return ours, text


def _warnings(content: Content, numbering: Numbering) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in content.warnings)
    return f'<ul class="warnings">{items}</ul>' if items else ""


def _parameters(content: Content, numbering: Numbering) -> str:
    truth = " Black ticks: the truth of the simulation." if content.truth is not None else ""
    legend = (
        '<p class="legend"><span class="disc identified"></span>identified<span class="disc prior"></span>prior</p>'
    )
    figure = numbering.show(
        "Figure",
        legend + figures.masses(content),
        "Mass of every link: prior (open) and identified (filled) with its 95 % interval; at the right "
        f"the change against the prior, which is scaled to the measured mass.{truth}",
    )
    from_data = "“From data” is the share that the recording determined; the prior supplied the rest."
    masses = numbering.show(
        "Table",
        tables.mass_table(content),
        f"Mass and centre of mass of every link, ± one standard deviation. {from_data}",
    )
    inertias = numbering.show(
        "Table",
        tables.inertia_table(content),
        "Principal inertias about the centre of mass. The spread is the standard deviation of the three diagonal "
        f"elements about the link's origin, added in squares. {from_data}",
    )
    limits = ""
    if content.limits:
        limits = numbering.show("Table", tables.limits_table(content), LIMITS)
    bounds = "".join(f"<li>{escape(words.replace('_', ' '))}</li>" for words in gathered(content.on_bounds))
    text = f"<p><b>On a bound</b> (the data would have these further out than the limits allow):</p><ul>{bounds}</ul>"
    return figure + masses + inertias + limits + (text if bounds else "<p>No parameter ended on a bound.</p>")


def _load(content: Content, numbering: Numbering) -> str:
    if not content.loads:
        return ""
    if not content.loads[0].link:
        return "<p>The recordings with and without load do not differ by any: no load was found.</p>"
    caption = (
        "What the later recordings carry and the earlier ones did not, on the likeliest of the smallest sets of links "
        "that explain it, ± one standard deviation by the residuals; and how probable each link is, if one alone "
        "carries all of it. "
        "A constant offset of the plates between both would look the same."
    )
    listed = "".join(f"<li>{tables.link_name(name)}</li>" for name in content.loads[0].alternatives)
    others = f"<p>Not excluded by the data at 95 %, the whole load on:</p><ul>{listed}</ul>"
    only = "<p>No other link, and no other two that share it, explain the data as well.</p>"
    return numbering.show("Table", tables.load_table(content), caption) + (others if listed else only)


def _truth(content: Content, numbering: Numbering) -> str:
    if content.truth is None:
        return ""
    caption = "Error against the truth that the simulation was made with, identified beside prior."
    return numbering.show("Table", tables.truth_table(content), caption)


def _fit(content: Content, numbering: Numbering) -> str:
    if not content.errors:
        return ""
    ratios = numbering.show(
        "Table",
        tables.mean_error_table(content.errors),
        "RMSE of the reconstructed wrench with identified inertials and with the prior scaled to the same mass; same "
        "motion, filter and frames. Each has frequency weights of its own, estimated from the plates of the same "
        "trials; without weights, all of the tracked motion counts. A ratio below one: the first explains more.",
    )
    detail = numbering.show(
        "Table",
        tables.error_table(content.errors),
        "Measured against reconstructed external wrench per axis: root mean square error and Pearson's correlation. "
        "“Not used” means that the parameters compared there were fitted without that trial.",
    )
    return ratios + detail + _left(content, numbering)


def _left(content: Content, numbering: Numbering) -> str:
    if not content.left:
        return ""
    caption = (
        "What the identified parameters leave unexplained of the trials used: root mean square in body weights (BW) "
        "and body weights times heights (BW h), and, root mean square and peak, against the thresholds that the field "
        f"usually accepts: {100.0 * MOST_FORCE:g} % of the peak force, {100.0 * MOST_MOMENT:g} % of the mean height of "
        "the centre of mass times that force (Hicks et al. 2015)."
    )
    return numbering.show("Table", tables.left_table(content), caption)


def _signals(content: Content, numbering: Numbering) -> str:
    shown = []
    for index, signals in enumerate(content.signals):
        lag = (
            f" Plates behind the motion by {number(1e3 * signals.lag, 1)} ms, taken off."
            if np.isfinite(signals.lag)
            else ""
        )
        caption = f"External wrench during <b>{escape(signals.trial)}</b>.{lag}"
        shown.append(numbering.show("Figure", LEGEND + figures.wrenches(signals, str(index)), caption))
    return "".join(shown)


def _windows(content: Content, numbering: Numbering) -> str:
    if not content.signals:
        return ""
    strips = "".join(figures.timeline(signals) for signals in content.signals)
    caption = (
        "Frames that count (blue) and frames left out, above all because a contact with the world was not measured."
    )
    figure = numbering.show("Figure", f'<div class="strips">{strips}</div>', caption)
    rows = []
    for signals in content.signals:
        for state, name in enumerate(signals.state_names):
            count = int(np.sum(signals.states == state))
            if count:
                first = "" if np.any(signals.states < state) else escape(signals.trial)
                box = f'<span class="box state-{state}"></span>{escape(name)}'
                rows.append([first, box, str(count), number(100.0 * count / len(signals.states), 1)])
    return figure + numbering.show(
        "Table",
        tables.table(["trial", "", "frames", "share [%]"], rows, words=True),
        "Counted and excluded frames, with reasons.",
    )


def _tracking(content: Content, numbering: Numbering) -> str:
    if not content.tracking:
        return ""
    table = numbering.show("Table", tables.tracking_table(content), "Distance of measured from tracked markers.")
    if not any(np.isfinite(1e3 * trial.rmse).any() for trial in content.tracking):
        return table
    caption = "RMSE of every marker: bar, the mean over trials; dots, each trial."
    return table + numbering.show("Figure", figures.marker_errors(content.tracking), caption)


def _mass(content: Content, numbering: Numbering) -> str:
    if not content.weighings:
        return ""
    caption = (
        "What the plates say about the mass, trial by trial, and the constant bias taken off each group of trials."
    )
    return numbering.show("Table", tables.weighing_table(content), caption)


def _plates(content: Content, numbering: Numbering) -> str:
    if not content.suspected:
        return ""
    caption = (
        "What was looked at in the plates before anything was fitted: the number that tells, its interval, and what "
        "was done. <code>--free-moment</code> and <code>--overrule</code> decide otherwise."
    )
    return numbering.show("Table", tables.suspected_table(content), caption)


def _flight(content: Content, numbering: Numbering) -> str:
    if not content.flights:
        return ""
    caption = "In flight only gravity acts: both quantities should be zero. RMS over the flight frames."
    return numbering.show("Table", tables.flight_table(content), caption)


def _from_flight(content: Content, numbering: Numbering) -> str:
    found = content.from_flight
    if found is None:
        return ""
    caption = (
        "Flights found from the motion, by a centre of mass that falls freely; no force entered. The equations of what "
        f"nothing touches have a null space, here of dimension {found.dimension}"
        + (f" (gap {found.gap:.3g})" if found.gap < float("inf") else "")
        + ", and the body's parameters lie in it: the total mass tells how long they are."
    )
    return f"<p>{escape(found.told)}.</p>" + numbering.show("Table", tables.spans_table(found), caption)


def _rank(content: Content, numbering: Numbering) -> str:
    parts = []
    if len(content.singular_values):
        caption = "Singular values of the weighted regressor, relative to the largest; open: beyond the numerical rank."
        parts.append(numbering.show("Figure", figures.singular_values(content), caption))
    if content.base:
        caption = "Base parameters, the best determined first; standard deviations corrected for correlated residuals."
        parts.append(numbering.show("Table", tables.base_table(content), caption))
    return "".join(parts)


def _methods(content: Content, numbering: Numbering) -> str:
    rows = "".join(f"<dt>{escape(what)}</dt><dd>{escape(how)}</dd>" for what, how in content.methods)
    notes = "".join(f"<li>{escape(note)}</li>" for note in content.notes)
    return f"<dl>{rows}</dl>" + (f"<h3>Notes</h3><ul>{notes}</ul>" if notes else "")


SECTIONS: tuple[tuple[str, Callable[[Content, Numbering], str]], ...] = (
    ("Warnings", _warnings),
    ("Identified parameters", _parameters),
    ("Added load", _load),
    ("Against the truth", _truth),
    ("Explained forces and moments", _fit),
    ("Forces and moments over time", _signals),
    ("Frames", _windows),
    ("From flight alone", _from_flight),
    ("Flight", _flight),
    ("Plates under suspicion", _plates),
    ("Body mass", _mass),
    ("Marker tracking", _tracking),
    ("What the motion determines", _rank),
    ("Methods", _methods),
)
