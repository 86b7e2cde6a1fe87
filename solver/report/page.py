"""The report's page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files

import numpy as np

from ..identification.bounds import group_bounds
from ..study.residuals import FORCE_THRESHOLD, MOMENT_THRESHOLD
from ..version import VERSION
from . import figures, tables
from .content import Content, ResidualSummary, TrialErrors
from .tables import format_number

CAUSES_CAPTION = (
    "Standard deviation of each parameter, and the share of each cause in its variance. Noise: noise of plates and "
    "motion, and differences between blocks of time. Prior: spread of the population where the data determine "
    "nothing. Skin: soft-tissue motion of the markers. Skeleton: errors of joint centres and landmarks."
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

    def add_caption(self, kind: str, body: str, caption: str) -> str:
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
    return build_document(content.title, _render_head(content), sections)


def build_document(title: str, head: str, sections: Sequence[tuple[str, str]]) -> str:
    """A self-contained page from its header and its sections (title, markup), with the style sheet."""
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


def _render_head(content: Content) -> str:
    label = '<span class="simulated">simulated data</span>' if content.simulated else ""
    return (
        f"<header><h1>{escape(content.title)} {label}</h1><p>{escape(content.subject)}</p>"
        f'<div class="cards">{"".join(_render_cards(content))}</div></header>'
    )


def _render_cards(content: Content) -> list[str]:
    spread = f" ± {format_number(content.mass_std, 2)}" if np.isfinite(content.mass_std) else ""
    cards = [
        render_card("total mass", f"{format_number(content.mass, 2)}{spread}&nbsp;kg", "from all trials given"),
        render_card("method", *_split_method(content)),
    ]
    for used, title in ((False, "trials not used"), (True, "trials used")):
        some = [error for error in content.errors if error.used == used]
        if some:
            cards.append(render_card(title, *_summarise_errors(some)))
    if content.residuals:
        cards.append(render_card("usual thresholds", *_summarise_thresholds(content.residuals)))
    if content.tracking:
        total = 1e3 * float(np.mean([trial.total for trial in content.tracking]))
        cards.append(
            render_card("marker error", f"{format_number(total, 1)} mm", "RMSE over markers and frames, mean of trials")
        )
    return cards


def _summarise_thresholds(left: Sequence[ResidualSummary]) -> tuple[str, str]:
    """How many trials are within the usual thresholds, and the peaks of the worst one."""
    met = sum(row.meets for row in left)
    force, moment = (max(shares, default=np.nan, key=np.nan_to_num) for shares in (
        [row.force_share[1] for row in left], [row.moment_share[1] for row in left]
    ))  # fmt: skip
    value = "met" if met == len(left) else f"met by {met} of {len(left)}"
    text = (
        f"peak residual force at most {format_number(100.0 * force, 1)} % of the peak (usual: "
        f"{100.0 * FORCE_THRESHOLD:g} %), "
        f"moment {format_number(100.0 * moment, 1)} % of CoM height times peak ({100.0 * MOMENT_THRESHOLD:g} %); "
        f"trials used"
    )
    return value, text


def _split_method(content: Content) -> tuple[str, str]:
    """Name of the method, and its variant with the consistency of the result."""
    name, _, variant = content.method.replace("_", " ").partition(", ")
    return escape(name), escape(f"{variant}; {content.satisfies}" if variant else content.satisfies)


def render_card(title: str, value: str, note: str) -> str:
    """A card: one of the figures that a reader should see first."""
    return f'<div class="card"><h3>{title}</h3><p class="value">{value}</p><p class="note">{note}</p></div>'


def _summarise_errors(errors: Sequence[TrialErrors]) -> tuple[str, str]:
    """RMSE of force and moment, means over axes and trials, and the prior's; the ratio comes last."""
    ours, prior, unweighted = (
        f"{format_number(tables.finite_mean(mean[:3]), 1)}&nbsp;N, "
        f"{format_number(tables.finite_mean(mean[3:]), 1)}&nbsp;N&nbsp;m"
        for mean in (
            tables.finite_mean([getattr(error, name) for error in errors])
            for name in ("identified_rmse", "prior_rmse", "unweighted_rmse")
        )
    )
    ratio = tables.finite_mean(np.concatenate([error.identified_rmse / error.prior_rmse for error in errors]))
    text = (
        f"RMSE of forces and moments, mean of axes and of {len(errors)} trial{'s' * (len(errors) != 1)}; "
        f"prior {prior}, without frequency weights {unweighted}; mean ratio to the prior {format_number(ratio, 2)}"
    )
    return ours, text


def _render_warnings(content: Content, numbering: Numbering) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in content.warnings)
    return f'<ul class="warnings">{items}</ul>' if items else ""


def _render_parameters(content: Content, numbering: Numbering) -> str:
    truth = " Black ticks: the truth of the simulation." if content.truth is not None else ""
    legend = (
        '<p class="legend"><span class="disc identified"></span>identified<span class="disc prior"></span>prior</p>'
    )
    figure = numbering.add_caption(
        "Figure",
        legend + figures.draw_masses(content),
        "Mass of every link: prior (open) and identified (filled) with its 95 % interval; at the right "
        f"the change against the prior, which is scaled to the measured mass.{truth}",
    )
    from_data = "“From data” is the share that the recording determined; the rest comes from the prior."
    masses = numbering.add_caption(
        "Table",
        tables.mass_table(content),
        f"Mass and centre of mass of every link, ± one standard deviation. {from_data}",
    )
    inertias = numbering.add_caption(
        "Table",
        tables.inertia_table(content),
        "Principal inertias about the centre of mass. The spread is the standard deviation of the three diagonal "
        f"elements about the link's origin, added in squares. {from_data}",
    )
    limits = ""
    if content.std_by_source:
        limits = numbering.add_caption("Table", tables.std_by_source_table(content), CAUSES_CAPTION)
    bounds = "".join(f"<li>{escape(words.replace('_', ' '))}</li>" for words in group_bounds(content.on_bounds))
    text = f"<p><b>On a bound</b> (without the bound, the data would give a more extreme value):</p><ul>{bounds}</ul>"
    return figure + masses + inertias + limits + (text if bounds else "<p>No parameter ended on a bound.</p>")


def _render_load(content: Content, numbering: Numbering) -> str:
    if not content.loads:
        return ""
    if not content.loads[0].link:
        return "<p>The recordings with and without load do not differ: no load was found.</p>"
    caption = (
        "Load that is carried in the later recordings but not in the earlier ones, on the most likely of the smallest "
        "sets of links that explain it, ± one standard deviation from the residuals; and the probability of each link "
        "if a single link carries all of it. "
        "A constant offset of the plates between both would look the same."
    )
    listed = "".join(f"<li>{tables.link_name(name)}</li>" for name in content.loads[0].alternatives)
    others = f"<p>Not excluded by the data at 95 %, the whole load on:</p><ul>{listed}</ul>"
    only = "<p>No other link, and no other two that share it, explain the data as well.</p>"
    return numbering.add_caption("Table", tables.load_table(content), caption) + (others if listed else only)


def _render_truth(content: Content, numbering: Numbering) -> str:
    if content.truth is None:
        return ""
    caption = "Errors of the identified and the prior parameters with respect to the simulation's true ones."
    return numbering.add_caption("Table", tables.truth_table(content), caption)


def _render_fit(content: Content, numbering: Numbering) -> str:
    if not content.errors:
        return ""
    ratios = numbering.add_caption(
        "Table",
        tables.mean_error_table(content.errors),
        "RMSE of the reconstructed wrench with identified inertials and with the prior scaled to the same mass; same "
        "motion, filter and frames. Each has frequency weights of its own, estimated from the plates of the same "
        "trials; without weights, all of the tracked motion counts. If a ratio is below one, the first explains more.",
    )
    detail = numbering.add_caption(
        "Table",
        tables.error_table(content.errors),
        "Reconstructed and measured external wrench per axis: root mean square error and Pearson's correlation. “Not "
        "used” means that the parameters compared there were fitted without that trial.",
    )
    return ratios + detail + _render_residuals(content, numbering)


def _render_residuals(content: Content, numbering: Numbering) -> str:
    if not content.residuals:
        return ""
    caption = (
        "Residual force and moment of the trials used: root mean square in body weights (BW) and body weights times "
        "heights (BW h); root mean square and peak compared with the usual thresholds: "
        f"{100.0 * FORCE_THRESHOLD:g} % of the peak force, {100.0 * MOMENT_THRESHOLD:g} % of the "
        f"mean height of "
        "the centre of mass times that force (Hicks et al. 2015)."
    )
    return numbering.add_caption("Table", tables.residual_table(content), caption)


def _render_signals(content: Content, numbering: Numbering) -> str:
    shown = []
    for index, signals in enumerate(content.signals):
        lag = (
            f" The plates lag the motion by {format_number(1e3 * signals.lag, 1)} ms, which was removed."
            if np.isfinite(signals.lag)
            else ""
        )
        caption = f"External wrench during <b>{escape(signals.trial)}</b>.{lag}"
        shown.append(numbering.add_caption("Figure", LEGEND + figures.draw_wrenches(signals, str(index)), caption))
    return "".join(shown)


def _render_windows(content: Content, numbering: Numbering) -> str:
    if not content.signals:
        return ""
    strips = "".join(figures.draw_timeline(signals) for signals in content.signals)
    caption = (
        "Frames that count (blue) and frames left out, mostly because a contact with the environment was not measured."
    )
    figure = numbering.add_caption("Figure", f'<div class="strips">{strips}</div>', caption)
    rows = []
    for signals in content.signals:
        for state, name in enumerate(signals.state_names):
            count = int(np.sum(signals.states == state))
            if count:
                first = "" if np.any(signals.states < state) else escape(signals.trial)
                box = f'<span class="box state-{state}"></span>{escape(name)}'
                rows.append([first, box, str(count), format_number(100.0 * count / len(signals.states), 1)])
    return figure + numbering.add_caption(
        "Table",
        tables.render_table(["trial", "", "frames", "share [%]"], rows, has_text_column=True),
        "Counted and excluded frames, with reasons.",
    )


def _render_tracking(content: Content, numbering: Numbering) -> str:
    if not content.tracking:
        return ""
    table = numbering.add_caption(
        "Table", tables.tracking_table(content), "Distance between measured and tracked markers."
    )
    if not any(np.isfinite(1e3 * trial.rmse).any() for trial in content.tracking):
        return table
    caption = "RMSE of every marker: mean over trials (bar) and each trial (dots)."
    return table + numbering.add_caption("Figure", figures.draw_marker_errors(content.tracking), caption)


def _render_mass(content: Content, numbering: Numbering) -> str:
    if not content.weighings:
        return ""
    caption = (
        "Body mass measured by the plates, trial by trial, and the constant bias removed from each group of trials."
    )
    return numbering.add_caption("Table", tables.weighing_table(content), caption)


def _render_plates(content: Content, numbering: Numbering) -> str:
    if not content.plate_findings:
        return ""
    caption = (
        "Checks of the plates before the identification: the number that decides, its interval, and what was done. "
        "<code>--free-moment</code> and <code>--report-only</code> override it."
    )
    return numbering.add_caption("Table", tables.plate_findings_table(content), caption)


def _render_flight(content: Content, numbering: Numbering) -> str:
    if not content.flights:
        return ""
    caption = "In flight only gravity acts: both quantities should be zero. RMS over the flight frames."
    return numbering.add_caption("Table", tables.flight_table(content), caption)


def _render_flight_identification(content: Content, numbering: Numbering) -> str:
    found = content.from_flight
    if found is None:
        return ""
    caption = (
        "Flights detected from the motion, by the free fall of the centre of mass; no forces were used. The equations "
        f"of a body without contact have a null space, here of dimension {found.dimension}"
        + (f" (gap {found.gap:.3g})" if found.gap < float("inf") else "")
        + ". The body's parameters lie in it, scaled by the total mass."
    )
    return f"<p>{escape(found.summary)}.</p>" + numbering.add_caption(
        "Table", tables.flight_intervals_table(found), caption
    )


def _render_rank(content: Content, numbering: Numbering) -> str:
    parts = []
    if len(content.singular_values):
        caption = "Singular values of the weighted regressor, relative to the largest; open: beyond the numerical rank."
        parts.append(numbering.add_caption("Figure", figures.draw_singular_values(content), caption))
    if content.base:
        caption = "Base parameters, best determined first; standard deviations corrected for correlated residuals."
        parts.append(numbering.add_caption("Table", tables.base_table(content), caption))
    return "".join(parts)


def _render_methods(content: Content, numbering: Numbering) -> str:
    rows = "".join(f"<dt>{escape(what)}</dt><dd>{escape(how)}</dd>" for what, how in content.methods)
    notes = "".join(f"<li>{escape(note)}</li>" for note in content.notes)
    return f"<dl>{rows}</dl>" + (f"<h3>Notes</h3><ul>{notes}</ul>" if notes else "")


SECTIONS: tuple[tuple[str, Callable[[Content, Numbering], str]], ...] = (
    ("Warnings", _render_warnings),
    ("Identified parameters", _render_parameters),
    ("Added load", _render_load),
    ("Comparison with the truth", _render_truth),
    ("Explained forces and moments", _render_fit),
    ("Forces and moments over time", _render_signals),
    ("Frames", _render_windows),
    ("Identification from flight", _render_flight_identification),
    ("Flight", _render_flight),
    ("Plate checks", _render_plates),
    ("Body mass", _render_mass),
    ("Marker tracking", _render_tracking),
    ("What the motion determines", _render_rank),
    ("Methods", _render_methods),
)
