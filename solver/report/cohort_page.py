"""Renders the page of a cohort: identified subjects with their errors, masses and priors, and failures with reasons."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from urllib.parse import quote

import numpy as np

from ..scene.study_folder import REPORT_FILE
from . import cohort_figures as figures
from .cohort_content import Cohort, CohortMember
from .document import Numbering, build_document, render_card, render_cards
from .svg import DASH
from .tables import format_number, format_percent, format_ratio, format_with_std, link_name, render_table


def render_cohort(cohort: Cohort) -> str:
    """The whole page, with links to the subjects' own reports in the folders next to it."""
    numbering = Numbering()
    sections = [(title, body) for title, make in SECTIONS if (body := make(cohort, numbering))]
    head = (
        f"<header><h1>{escape(cohort.title)}</h1><p>{len(cohort.members) + len(cohort.failed)} subjects</p>"
        f"{render_cards(_render_cards(cohort))}</header>"
    )
    return build_document(cohort.title, head, sections)


def _render_cards(cohort: Cohort) -> list[str]:
    kept = sum(not member.is_new for member in cohort.members)
    note = f"{kept} of them reused from an earlier run" if kept else "all of them in this run"
    cards = [render_card("identified", str(len(cohort.members)), note if cohort.members else "none")]
    if cohort.failed:
        cards.append(render_card("failed", str(len(cohort.failed)), "reasons below"))
    for title, values, digits, unit, words in (
        ("force, not used", [float(np.mean(m.rmse[:3])) for m in cohort.members], 1, " N", "RMSE, mean of axes"),
        ("moment, not used", [float(np.mean(m.rmse[3:])) for m in cohort.members], 1, " N m", "RMSE, mean of axes"),
        ("trials not used", [m.mean_ratio for m in cohort.members], 2, "", "RMSE identified / prior over six axes"),
        ("marker error", [1e3 * m.marker_error for m in cohort.members], 1, " mm", "RMSE over markers and frames"),
    ):
        known = [value for value in values if np.isfinite(value)]
        if known:
            spread = f"{format_number(min(known), digits)} to {format_number(max(known), digits)}"
            median = f"{format_number(float(np.median(known)), digits)}{unit}"
            cards.append(render_card(title, median, f"{words}; median of {len(known)} subjects, {spread}"))
    return cards


def _render_failed(cohort: Cohort, numbering: Numbering) -> str:
    items = "".join(f"<li><b>{escape(item.name)}</b>: {escape(item.reason)}</li>" for item in cohort.failed)
    return f'<ul class="warnings">{items}</ul>' if items else ""


def _render_subjects(cohort: Cohort, numbering: Numbering) -> str:
    if not cohort.members:
        return ""
    head = ["subject", "person", "mass [kg]", "Fx", "Fy", "Fz", "% BW", "Mx", "My", "Mz", "ratio", "ratio",
            "markers [mm]", "trials", "warnings"]  # fmt: skip
    above = [("", 3), ("RMSE on trials not used [N, N m]: identified (prior, prior without weights)", 7),
             ("not used", 1), ("used", 1), ("", 3)]  # fmt: skip
    rows = [
        [
            f'<a href="{_report_address(member)}">{escape(member.name)}</a>',
            escape(member.subject),
            format_with_std(member.mass, member.mass_std, 2),
            *(_format_rmse(member, axis) for axis in range(3)),
            format_number(100.0 * member.force_in_body_weights, 1),
            *(_format_rmse(member, axis) for axis in range(3, 6)),
            format_ratio(member.mean_ratio),
            format_ratio(member.mean_ratio_used),
            format_number(1e3 * member.marker_error, 1),
            str(len(member.trials)),
            str(len(member.warnings)) if member.warnings else DASH,
        ]
        for member in cohort.members
    ]
    caption = (
        "All subjects; each name links to the subject's own report. The parameters compared on trials not used were "
        "fitted without them. Ratio: RMSE with the identified over RMSE with the prior inertials, each with frequency "
        "weights of its own, mean of six axes. % BW: RMSE of the force, mean of three axes, in body weights."
    )
    listed = numbering.add_caption(
        "Table", render_table(head, rows, spanning_titles=above, has_text_column=True), caption
    )
    drawn = numbering.add_caption(
        "Figure",
        figures.draw_subjects(cohort.members),
        "Each subject's RMSE ratio on trials not used (filled) and used (open), force error in body weights, and error "
        "of the markers.",
    )
    return listed + drawn


def _format_rmse(member: CohortMember, axis: int) -> str:
    """RMSE of one axis, followed in brackets by the prior's with and without frequency weights."""
    prior, unweighted = (format_number(float(rmse[axis]), 1) for rmse in (member.prior_rmse, member.unweighted_rmse))
    return f'{format_number(float(member.rmse[axis]), 1)} <span class="std">({prior}, {unweighted})</span>'


def _render_masses(cohort: Cohort, numbering: Numbering) -> str:
    groups: dict[tuple[str, ...], list[CohortMember]] = {}
    for member in cohort.members:
        groups.setdefault(member.links, []).append(member)
    return "".join(_render_masses_of_links(members, numbering) for members in groups.values())


def _render_masses_of_links(members: list[CohortMember], numbering: Numbering) -> str:
    found, prior = figures.mass_fractions(members)
    legend = (
        '<p class="legend"><span class="disc identified"></span>identified<span class="disc prior"></span>prior</p>'
    )
    figure = numbering.add_caption(
        "Figure",
        legend + figures.draw_masses(members),
        "Mass of every link as a share of the body mass: a filled dot for each subject, an open one for its prior; the "
        "bar shows the subjects' mean and one standard deviation between subjects.",
    )
    several = len(members) > 1
    rows = []
    for index, name in enumerate(members[0].links):
        mean, before = float(found[:, index].mean()), float(prior[:, index].mean())
        spread = float(found[:, index].std(ddof=1)) if several else np.nan
        prior_spread = float(prior[:, index].std(ddof=1)) if several else np.nan
        rows.append(
            [
                link_name(name),
                format_with_std(100.0 * mean, 100.0 * spread, 2),
                format_with_std(100.0 * before, 100.0 * prior_spread, 2),
                format_percent(mean / before - 1.0 if before else np.nan),
                format_number(100.0 * float(np.sqrt(np.mean([(m.std[index] / m.mass) ** 2 for m in members]))), 2),
            ]
        )
    head = ["link", "identified", "prior", "change", "within a subject"]
    caption = (
        f"Share of the body mass [%], mean of {len(members)} subject{'s' * several} ± one standard deviation between "
        "subjects; within a subject: the standard deviation of the identification, root mean square over subjects. If "
        "the spread between subjects is no larger than that within a subject, the data do not show how people differ."
    )
    return figure + numbering.add_caption(
        "Table", render_table(head, rows, spanning_titles=[("", 1), ("share of body mass [%]", 4)]), caption
    )


def _render_warnings(cohort: Cohort, numbering: Numbering) -> str:
    parts = []
    for member in cohort.members:
        if member.warnings:
            items = "".join(f"<li>{escape(text)}</li>" for text in member.warnings)
            count = f"{len(member.warnings)} warning{'s' * (len(member.warnings) > 1)}"
            parts.append(
                f"<details{' open' * (len(cohort.members) <= MAX_UNFOLDED)}><summary><b>{escape(member.name)}</b>: "
                f"{count}"
                f'</summary><ul class="warnings">{items}</ul></details>'
            )
    return "".join(parts)


def _render_methods(cohort: Cohort, numbering: Numbering) -> str:
    rows = "".join(f"<dt>{escape(what)}</dt><dd>{escape(how)}</dd>" for what, how in cohort.methods)
    return f"<dl>{rows}</dl>" if rows else ""


def _report_address(member: CohortMember) -> str:
    return f"{quote(member.name)}/{REPORT_FILE}"


MAX_UNFOLDED = 6
"""Largest number of subjects whose warnings are unfolded from the start."""
SECTIONS: tuple[tuple[str, Callable[[Cohort, Numbering], str]], ...] = (
    ("Failed", _render_failed),
    ("Subjects", _render_subjects),
    ("Masses", _render_masses),
    ("Warnings", _render_warnings),
    ("Methods", _render_methods),
)
